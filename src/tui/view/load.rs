//! The load: how full the context is, with the line in it and what it is full of. All figures are `estimate_size`.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::context::Kind;
use crate::text::thousands;
use crate::tui::mirror::Mirror;
use crate::tui::text;
use crate::tui::texts;
use crate::tui::theme::{Color, Glyphs, Level, Look};

use super::bar::{Bar, Slot, line_at};
use super::paint::{Canvas, Pane};

/// Draws the pane.
pub(crate) fn render(pane: &Pane<'_>, area: Rect, buf: &mut Buffer) {
    let mut canvas = pane.framed("Load   estimate_size(messages), characters", area, buf);
    let (mirror, look) = (pane.mirror, pane.look);
    let height = canvas.height();
    let end = figures(&mut canvas, (0, 0), mirror, look);
    if let Some(before) = before(mirror) {
        canvas.put_right((end, 0), &before, 2);
    }
    let columns = canvas.width();
    bar(&mut canvas, (0, 1), columns, pane);
    // The scale gives way to the kinds where there is room for only one of them.
    let legend_at = if height >= 4 { 3 } else { 2 };
    if height >= 4 {
        scale(&mut canvas, 2, pane);
    }
    let rows = height.saturating_sub(legend_at);
    match rows {
        0 => {}
        1 | 2 => {
            legend_row(&mut canvas, (0, legend_at), mirror, look);
        }
        3 => legend(&mut canvas, legend_at, pane, 3),
        _ => legend(&mut canvas, legend_at, pane, 2),
    }
    if rows > 4 {
        let said = tokens(mirror);
        canvas.put((0, legend_at + 4), &said, Style::new());
    }
}

/// What the model calls of the session took, in tokens, and how many characters went into one.
fn tokens(mirror: &Mirror) -> String {
    let used = format!("tokens {}", texts::tokens(&mirror.usage));
    match mirror.measured {
        (_, 0) => used,
        (chars, tokens) => format!("{used}   {}", texts::chars_per_token(chars, tokens)),
    }
}

/// Writes the load, the limit and where the one stands to the other; hands out the column behind it.
pub(super) fn figures(
    canvas: &mut Canvas<'_>,
    at: (usize, usize),
    mirror: &Mirror,
    look: Look,
) -> usize {
    let limit = mirror.limit();
    let level = mirror.level();
    let text = level_text(mirror.load(), limit, level);
    canvas.put(at, &text, look.level(level))
}

/// `37,030 / 50,000  74%  room 12,970`: percent rounded down, near and over in words.
pub(super) fn level_text(load: Option<usize>, limit: usize, level: Level) -> String {
    let Some(load) = load else {
        return format!("- / {}", thousands(limit));
    };
    let percent = load.saturating_mul(100) / limit.max(1);
    let state = match level {
        Level::Unknown => String::new(),
        Level::Under => format!("room {}", thousands(limit.saturating_sub(load))),
        Level::Near => format!("NEAR  room {}", thousands(limit.saturating_sub(load))),
        Level::Over => format!("OVER by {}", thousands(load.saturating_sub(limit))),
    };
    format!(
        "{} / {}  {percent}%  {state}",
        thousands(load),
        thousands(limit)
    )
}

fn before(mirror: &Mirror) -> Option<String> {
    let (before, after) = (mirror.run.before?, mirror.run.after?);
    (before != after).then(|| format!("before {}", thousands(before)))
}

/// Draws the bar over `width` cells: 0 to 1.2 times the limit.
pub(super) fn bar(canvas: &mut Canvas<'_>, at: (usize, usize), width: usize, pane: &Pane<'_>) {
    let look = pane.look;
    let (x, y) = at;
    let bar = Bar::of(&pane.mirror.context.by_kind(), pane.mirror.limit(), width);
    for (at, cell) in bar.cells.iter().enumerate() {
        let (glyph, style) = match cell {
            Slot::Line => (look.line(), look.strong()),
            Slot::Beyond => (look.beyond(), look.strong()),
            Slot::Room => (look.room(), Style::new()),
            Slot::Behind => (" ", Style::new()),
            Slot::Filled(kind) => (look.fill(*kind), look.kind(*kind)),
        };
        canvas.put((x + at, y), glyph, style);
    }
    if look.glyphs == Glyphs::Unicode && look.color == Color::Ansi {
        let mut letter = [0; 4];
        for (at, kind) in bar.letters() {
            let letter = kind.letter().encode_utf8(&mut letter);
            canvas.put((x + at, y), letter, look.kind_letter(kind));
        }
    }
}

/// The scale below the bar: 0, what is not counted, and the limit below the line.
fn scale(canvas: &mut Canvas<'_>, y: usize, pane: &Pane<'_>) {
    let look = pane.look;
    let end = canvas.put((0, y), "0", Style::new());
    let limit = format!("{} {}", thousands(pane.mirror.limit()), look.disc());
    let right = line_at(canvas.width()) + text::cells(look.disc()).div_ceil(2);
    let start = right
        .min(canvas.width())
        .saturating_sub(text::cells(&limit));
    if start > end {
        canvas.put((start, y), &limit, Style::new());
    }
    let Some(session) = &pane.mirror.session else {
        return;
    };
    let uncounted = thousands(session.system_chars + session.tools_chars);
    let notes = [
        format!("(+{uncounted} system+tools, not counted)"),
        format!("(+{uncounted} not counted)"),
    ];
    if let Some(note) = notes
        .iter()
        .find(|note| end + 2 + text::cells(note) < start)
    {
        canvas.put((end + 2, y), note, Style::new());
    }
}

/// The names of the kinds, in stack order, each from the longest to the shortest.
const NAMES: [[&str; 3]; 8] = [
    ["summary", "summary", "sum"],
    ["user", "user", "user"],
    ["assistant", "asst", "asst"],
    ["tool calls", "calls", "call"],
    ["tool results", "results", "res"],
    ["previews", "preview", "prev"],
    ["placeholders", "notes", "note"],
    ["JSON frame", "JSON", "JSON"],
];
/// In narrower columns the letters have to do.
const NAMED: usize = 16;

fn legend(canvas: &mut Canvas<'_>, top: usize, pane: &Pane<'_>, columns: usize) {
    let width = canvas.width() / columns;
    let sizes = pane.mirror.context.by_kind();
    for (at, (kind, names)) in Kind::ALL.into_iter().zip(NAMES).enumerate() {
        let (x, y) = (at % columns * width, top + at / columns);
        let key = key(pane.look, kind);
        let behind = canvas.put((x, y), &key, pane.look.kind(kind));
        let figure = thousands(sizes[at]);
        let room = (x + width).saturating_sub(behind + 1);
        // The name gives way, never the figure.
        // A third column leaves no room for the longest names.
        let names = names.iter().skip(columns.saturating_sub(2));
        let said = (names.filter(|_| width >= NAMED))
            .map(|name| format!(" {name} {figure}"))
            .chain([format!(" {figure}")])
            .find(|said| text::cells(said) <= room)
            .unwrap_or(figure);
        canvas.put((behind, y), &said, Style::new());
    }
}

/// Fill and letter of a kind; where the letter is the fill, once.
fn key(look: Look, kind: Kind) -> String {
    let fill = look.fill(kind);
    let letter = kind.letter();
    if fill.chars().eq([letter]) {
        fill.to_owned()
    } else {
        format!("{fill}{letter}")
    }
}

/// The kinds that are there, in one row; hands out the column behind them.
pub(super) fn legend_row(
    canvas: &mut Canvas<'_>,
    (mut x, y): (usize, usize),
    mirror: &Mirror,
    look: Look,
) -> usize {
    let mut letter = [0; 4];
    for (kind, size) in Kind::ALL.into_iter().zip(mirror.context.by_kind()) {
        if size == 0 {
            continue;
        }
        let figure = format!(" {}  ", thousands(size));
        if x + 1 + text::cells(figure.trim_end()) > canvas.width() {
            break;
        }
        let letter = kind.letter().encode_utf8(&mut letter);
        x = canvas.put((x, y), letter, look.kind(kind));
        x = canvas.put((x, y), &figure, Style::new());
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Profile;
    use crate::tui::app::Lit;
    use crate::tui::mirror::play::Play;
    use crate::tui::theme::Focus;
    use crate::tui::view::shot::{drawn, text as rows};

    fn shot(mirror: &Mirror, size: (u16, u16)) -> Vec<String> {
        let pane = Pane {
            mirror,
            look: Look::default(),
            lit: Lit::default(),
            focus: Focus::Elsewhere,
            skip: 0,
        };
        let shot = rows(&drawn(size, |area, buf| render(&pane, area, buf)));
        shot.lines().map(str::to_owned).collect()
    }

    #[test]
    fn no_figure_is_ever_cut() {
        for chars in [18_540, 121_123, 1_211_123] {
            let mut play = Play::new(Profile::Lesson);
            play.ask("read");
            play.read("a.rs", chars);
            let figures = play.mirror.context.by_kind().map(thousands);
            for size in [(38, 8), (40, 8), (48, 8), (58, 8), (58, 9), (78, 10)] {
                let all = shot(&play.mirror, size)[4..].join(" ");
                let mut words = all.split(|c: char| !c.is_ascii_digit() && c != ',');
                for figure in &figures {
                    assert!(words.any(|word| word == figure), "{size:?} {figure}: {all}");
                }
            }
        }
    }

    #[test]
    fn names_give_way_to_figures_and_then_to_letters() {
        let mut play = Play::new(Profile::Lesson);
        play.ask("read");
        play.read("a.rs", 121_123);
        let legend = |size| shot(&play.mirror, size)[5].clone();
        assert_eq!(
            legend((58, 8)),
            "│█C calls 13       █R res 121,123    ▒P preview 0        │"
        );
        assert_eq!(legend((40, 8)), "│█C 13       █R 121,123  ▒P 0          │");
    }

    #[test]
    fn what_the_session_used_has_a_row_where_there_is_room() {
        let mut play = Play::new(Profile::Lesson);
        let said = |play: &Play| {
            let rows = shot(&play.mirror, (78, 10));
            let said = rows.iter().find(|row| row.contains("tokens ")).cloned();
            said.unwrap_or_default().trim_matches(['│', ' ']).to_owned()
        };
        assert_eq!(said(&play), "tokens - in / - out");
        play.ask("hi");
        play.say("hello");
        play.say("there");
        let (chars, tokens) = play.mirror.measured;
        assert_eq!(
            said(&play),
            format!(
                "tokens {} in / 636 out   {}",
                thousands(usize::try_from(tokens).unwrap()),
                texts::chars_per_token(chars, tokens)
            )
        );
    }

    const LIMIT: usize = 50_000;

    #[test]
    fn states_are_told_in_words_and_percent_is_rounded_down() {
        let said = |load| {
            let level = Level::of(load, LIMIT);
            (level, level_text(load, LIMIT, level))
        };
        let text = |level, text: &str| (level, text.to_owned());
        assert_eq!(
            said(Some(37_030)),
            text(Level::Under, "37,030 / 50,000  74%  room 12,970")
        );
        assert_eq!(
            said(Some(39_999)),
            text(Level::Under, "39,999 / 50,000  79%  room 10,001")
        );
        assert_eq!(
            said(Some(43_800)),
            text(Level::Near, "43,800 / 50,000  87%  NEAR  room 6,200")
        );
        assert_eq!(
            said(Some(50_000)),
            text(Level::Near, "50,000 / 50,000  100%  NEAR  room 0")
        );
        assert_eq!(
            said(Some(50_001)),
            text(Level::Over, "50,001 / 50,000  100%  OVER by 1")
        );
        assert_eq!(
            said(Some(62_449)),
            text(Level::Over, "62,449 / 50,000  124%  OVER by 12,449")
        );
        assert_eq!(said(None), text(Level::Unknown, "- / 50,000"));
    }

    #[test]
    fn a_limit_that_moves_moves_the_state_at_the_same_size() {
        let at = |limit| Level::of(Some(30_000), limit);
        assert_eq!(
            [at(29_999), at(30_000), at(30_001)],
            [Level::Over, Level::Near, Level::Near]
        );
    }
}
