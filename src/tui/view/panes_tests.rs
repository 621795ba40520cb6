//! The instruments drawn whole: their looks at the sizes of the layouts, and that no size and no look breaks them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color as Hue;

use super::shot::{drawn, styled, text};
use super::{Pane, compact, load, log, messages, pipeline, why};
use crate::context::{Guards, History, Limits, Profile, Stage, Trigger};
use crate::tui::app::Lit;
use crate::tui::mirror::Mirror;
use crate::tui::mirror::play::{Play, drawing};
use crate::tui::theme::{Color, Focus, Glyphs, Look, Motion};

type Draw = fn(&Pane<'_>, Rect, &mut Buffer);

/// Every instrument.
const ALL: [(&str, Draw); 8] = [
    ("load", load::render),
    ("messages", messages::render),
    ("pipeline", pipeline::render),
    ("why", why::render),
    ("log", |pane, area, buf| log::render(pane, 0, area, buf)),
    ("compact", compact::render),
    ("gauge", compact::gauge),
    ("caption", compact::caption),
];

const ASCII: Look = Look {
    glyphs: Glyphs::Ascii,
    color: Color::Ansi,
    motion: Motion::Full,
};
const COLOURLESS: Look = Look {
    glyphs: Glyphs::Unicode,
    color: Color::None,
    motion: Motion::Full,
};

fn pane(mirror: &Mirror, look: Look) -> Pane<'_> {
    Pane {
        mirror,
        look,
        lit: Lit::default(),
        focus: Focus::Elsewhere,
        skip: 0,
    }
}

fn shot(draw: Draw, mirror: &Mirror, size: (u16, u16)) -> Buffer {
    drawn(size, |area, buf| {
        draw(&pane(mirror, Look::default()), area, buf);
    })
}

/// Runs that leave something to show in every state.
fn mirrors() -> Vec<Mirror> {
    let mut budget = Play::new(Profile::Lesson);
    budget.ask("read");
    budget.read("big.json", 210_000);
    budget.pipeline();
    let mut summary = history();
    summary.fail(Stage::CompactHistory, "the server hung up");
    let mut running = Play::new(Profile::Lesson);
    running.ask("read");
    running.tell(crate::event::AgentEvent::StageStarted {
        call: 1,
        stage: Stage::CompactHistory,
        trigger: Trigger::Pipeline,
        size: 52_904,
    });
    let mut kept = Play::new(Profile::Lesson);
    kept.ask("read");
    kept.kept(Guards {
        unread: 1,
        paths: 2,
        carried: true,
    });
    vec![
        Mirror::new(),
        Play::new(Profile::Session).mirror,
        drawing().mirror,
        budget.mirror,
        history().mirror,
        summary.mirror,
        reactive().mirror,
        running.mirror,
        kept.mirror,
    ]
}

fn history() -> Play {
    let mut play = Play::new(Profile::Lesson);
    play.ask("compare");
    for path in ["a.rs", "b.rs", "c.rs"] {
        play.read(path, 20_000);
    }
    play.pipeline();
    play
}

fn reactive() -> Play {
    let mut play = Play::new(Profile::Lesson);
    play.ask("compare");
    for path in ["a.rs", "b.rs", "c.rs", "d.rs"] {
        play.read(path, 4_000);
    }
    play.pipeline();
    play.send();
    play.refused();
    play
}

#[test]
fn panes_of_the_standard_layout() {
    let play = drawing();
    for (name, draw, size) in [
        ("load", load::render as Draw, (58, 9)),
        ("load_three_rows", load::render, (58, 8)),
        ("messages", messages::render, (58, 7)),
        ("pipeline", pipeline::render, (58, 9)),
        ("why", why::render, (58, 6)),
    ] {
        insta::assert_snapshot!(name, styled(&shot(draw, &play.mirror, size)));
    }
    let log = drawn((62, 14), |area, buf| {
        log::render(&pane(&play.mirror, Look::default()), 0, area, buf);
    });
    insta::assert_snapshot!("log", styled(&log));
}

#[test]
fn rows_of_the_compact_layout() {
    let mirror = drawing().mirror;
    insta::assert_snapshot!("compact", styled(&shot(compact::render, &mirror, (80, 5))));
    let why = shot(compact::caption, &mirror, (78, 2));
    insta::assert_snapshot!("compact_why", text(&why));
}

#[test]
fn looks_without_colours_and_without_blocks() {
    let mirror = drawing().mirror;
    for (name, look) in [("colourless", COLOURLESS), ("ascii", ASCII)] {
        let all = drawn((58, 40), |_, buf| {
            let pane = Pane {
                focus: Focus::Here,
                ..pane(&mirror, look)
            };
            load::render(&pane, Rect::new(0, 0, 58, 9), buf);
            messages::render(&pane, Rect::new(0, 9, 58, 7), buf);
            pipeline::render(&pane, Rect::new(0, 16, 58, 9), buf);
            why::render(&pane, Rect::new(0, 25, 58, 6), buf);
            log::render(&pane, 0, Rect::new(0, 31, 58, 9), buf);
        });
        insta::assert_snapshot!(name, styled(&all));
    }
}

#[test]
fn a_summary_a_recovery_and_a_failure_are_told() {
    let mut failed = history();
    failed.pipeline();
    failed.fail(Stage::CompactHistory, "the server hung up");
    for (name, mirror) in [
        ("history", history().mirror),
        ("reactive", reactive().mirror),
        ("failed", failed.mirror),
    ] {
        let both = drawn((58, 15), |_, buf| {
            let pane = pane(&mirror, Look::default());
            pipeline::render(&pane, Rect::new(0, 0, 58, 9), buf);
            why::render(&pane, Rect::new(0, 9, 58, 6), buf);
        });
        insta::assert_snapshot!(name, text(&both));
    }
}

#[test]
fn no_size_breaks_a_pane() {
    let sizes = || (0..=12_u16).flat_map(|w| (0..=6_u16).map(move |h| (w, h)));
    for mirror in mirrors() {
        for look in [Look::default(), ASCII, COLOURLESS] {
            for (_, draw) in ALL {
                for size in sizes() {
                    drawn(size, |area, buf| draw(&pane(&mirror, look), area, buf));
                }
                // An area that leaves the screen is clipped to it.
                for (w, h) in [(0, 9), (5, 2), (6, 3), (70, 20)] {
                    drawn((8, 4), |_, buf| {
                        draw(&pane(&mirror, look), Rect::new(3, 2, w, h), buf);
                        draw(&pane(&mirror, look), Rect::new(60, 50, w, h), buf);
                    });
                }
            }
        }
    }
}

#[test]
fn nothing_is_drawn_outside_the_area() {
    let mirror = drawing().mirror;
    for (name, draw) in ALL {
        for (w, h) in [(0, 0), (1, 1), (7, 3), (40, 6), (58, 9)] {
            let buf = drawn((70, 14), |_, buf| {
                draw(&pane(&mirror, Look::default()), Rect::new(5, 2, w, h), buf);
            });
            let area = Rect::new(5, 2, w, h);
            for position in buf.area.positions().filter(|at| !area.contains(*at)) {
                assert_eq!(buf[position].symbol(), " ", "{name} at {position}");
            }
        }
    }
}

#[test]
fn ascii_has_only_bytes_below_128() {
    for mirror in mirrors() {
        for (name, draw) in ALL {
            for size in [(58, 9), (80, 5), (30, 12), (110, 30)] {
                let buf = drawn(size, |area, buf| draw(&pane(&mirror, ASCII), area, buf));
                assert!(text(&buf).is_ascii(), "{name}: {}", text(&buf));
            }
        }
    }
}

#[test]
fn without_colours_no_cell_has_one_and_letters_tell_the_kinds() {
    for mirror in mirrors() {
        for (name, draw) in ALL {
            let buf = drawn((80, 12), |area, buf| {
                draw(&pane(&mirror, COLOURLESS), area, buf);
            });
            for cell in &buf.content {
                assert_eq!((cell.fg, cell.bg), (Hue::Reset, Hue::Reset), "{name}");
                assert!(!"█▓▒░".contains(cell.symbol()) || name == "messages");
            }
        }
    }
}

#[test]
fn the_figures_of_the_panes_are_one() {
    for mirror in mirrors() {
        let Some(load) = mirror.load() else { continue };
        let sum: usize = mirror.context.by_kind().iter().sum();
        assert_eq!(sum, load);
        let shown = text(&shot(load::render, &mirror, (70, 10)));
        assert!(shown.contains(&format!("{} / ", crate::text::thousands(load))));
        let row = text(&shot(compact::render, &mirror, (90, 5)));
        assert!(row.contains(&format!("{} / ", crate::text::thousands(load))));
    }
}

#[test]
fn a_long_history_is_shown_through_a_window_at_its_end() {
    let mut history = History::new();
    for n in 0..1_006 {
        history.push_request(format!("request {n}"));
    }
    let play = Play::with(Profile::Session, Limits::of(Profile::Session), history);
    let rows = text(&shot(messages::render, &play.mirror, (58, 5)));
    let letters = rows.lines().nth(1).unwrap();
    assert_eq!(letters, format!("│◂ 956 {}│", "U".repeat(50)));
    let narrow = text(&shot(messages::render, &play.mirror, (7, 3)));
    assert_eq!(narrow.lines().nth(1), Some("│UUUUU│"));
}

fn lines(draw: Draw, mirror: &Mirror, size: (u16, u16), focus: Focus) -> Vec<String> {
    let buf = drawn(size, |area, buf| {
        let pane = Pane {
            focus,
            ..pane(mirror, Look::default())
        };
        draw(&pane, area, buf);
    });
    let lines = text(&buf);
    let inner = lines.lines().skip(1);
    inner
        .map(|line| line.trim_matches(['│', '┃', ' ']).to_owned())
        .collect()
}

#[test]
fn the_log_folds_what_was_not_needed_until_someone_looks_through_it() {
    let mut play = Play::new(Profile::Lesson);
    play.ask("read");
    for path in ["a", "b", "c", "d"] {
        play.read(path, 500);
    }
    play.pipeline();
    let draw: Draw = |pane, area, buf| log::render(pane, 0, area, buf);
    let folded = lines(draw, &play.mirror, (90, 9), Focus::Elsewhere);
    assert_eq!(
        folded[..6],
        [
            "#5  not needed: budget snip fit history",
            "#5  cache   kept up to m2",
            "#5  micro   ●    −450  m3 read a → placeholder   text 500 → 50   full text: session log",
            "#5  check   2,913 chars, 9 messages: under the line",
            "#4  usage   1,548 in / 318 out tokens = 6.0 chars/token",
            "#4  send    2,194 chars  (+ system 1,912 + tools 5,240)",
        ]
    );
    let all = lines(draw, &play.mirror, (90, 9), Focus::Here);
    assert_eq!(all[0], "#5  history ○ not needed   load 2,463 ≤ 50,000");
    assert_eq!(all.iter().filter(|row| row.contains('○')).count(), 4);
}

#[test]
fn an_idle_stage_keeps_a_reminder_of_its_last_firing() {
    let mut play = Play::new(Profile::Lesson);
    play.ask("read");
    for path in ["a", "b", "c", "d"] {
        play.read(path, 500);
    }
    play.say("well");
    play.say("done");
    let draw: Draw = pipeline::render;
    let said = |width| lines(draw, &play.mirror, (width, 9), Focus::Elsewhere)[2].clone();
    let idle = "3 micro    ○       —  no: older results are all ≤ 120 chars";
    assert_eq!(said(90), format!("{idle} · last fired #5 −450"));
    assert_eq!(said(80), format!("{idle} · last #5 −450"));
    assert_eq!(said(62), idle);
}

#[test]
fn guards_that_are_off_are_shown() {
    let title = |play: &Play, width| {
        let shot = shot(pipeline::render, &play.mirror, (width, 9));
        text(&shot).lines().next().unwrap_or_default().to_owned()
    };
    let mut play = Play::new(Profile::Lesson);
    play.ask("hi");
    play.pipeline();
    assert!(!title(&play, 58).contains("guards"));
    play.limits.guards = false;
    play.tell(crate::event::AgentEvent::LimitsChanged {
        limits: play.limits.clone(),
        reason: "the demo".to_owned(),
    });
    assert!(title(&play, 58).contains("Pipeline   before call 1   profile lesson   guards off "));
    assert!(title(&play, 44).contains("Pipeline   before call 1   guards off "));
}
