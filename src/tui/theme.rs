//! Glyphs and styles by meaning: what a kind, a lamp, the load line, a frame, a selection look like.
//!
//! Only the terminal's own 16 colours, of those only the ones that can be seen on dark and light palettes alike. Nothing is
//! said by colour alone: without colours letters take the place of fills. No pane writes a glyph of its own with a colour.

use std::borrow::Cow;

use ratatui::style::{Color as Hue, Modifier, Style};
use ratatui::symbols::border;

use crate::context::Kind;

/// How the program draws: chosen once from options and environment, changed by `/ascii` and `/motion`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Which glyphs.
    pub glyphs: Glyphs,
    /// Whether colours are used.
    pub color: Color,
    /// Whether anything moves by itself.
    pub motion: Motion,
}

/// The set of glyphs that the program draws its own signs with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Glyphs {
    /// Box drawing, blocks, arrows.
    #[default]
    Unicode,
    /// Bytes below 128 only; for terminals that draw the others two cells wide, or not at all.
    Ascii,
}

/// Whether colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// The terminal's own colours.
    #[default]
    Ansi,
    /// None (`NO_COLOR`, `--color never`): bold and reversed stay, letters take the place of fills.
    None,
}

/// Whether anything moves by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Motion {
    /// Lamps are held, a spinner turns.
    #[default]
    Full,
    /// Nothing but the clock, once a second.
    Reduced,
}

/// The state of a stage's lamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Lamp {
    /// Its turn has not come.
    #[default]
    Waiting,
    /// At work now.
    Running,
    /// Looked, and there was no need.
    Unneeded,
    /// Changed the context.
    Fired,
    /// Changed the context, and that cost a model call.
    FiredByCall,
    /// Should have changed the context and could not.
    Failed,
    /// Passed over by the user.
    Skipped,
}

impl Lamp {
    /// Whether the stage changed the context.
    #[must_use]
    pub(crate) fn fired(self) -> bool {
        match self {
            Self::Fired | Self::FiredByCall => true,
            Self::Waiting | Self::Running | Self::Unneeded | Self::Failed | Self::Skipped => false,
        }
    }
}

/// Where the load stands to the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// Not known yet: drawn as `-`, never as 0.
    Unknown,
    /// Under 80 %.
    Under,
    /// 80 % and up.
    Near,
    /// Above the line.
    Over,
}

impl Level {
    /// Where `size` stands to `limit`; over is decided by the numbers, never by the rounded percent.
    #[must_use]
    pub(crate) fn of(size: Option<usize>, limit: usize) -> Self {
        match size {
            None => Self::Unknown,
            Some(size) if size > limit => Self::Over,
            Some(size) if size.saturating_mul(100) >= limit.saturating_mul(80) => Self::Near,
            Some(_) => Self::Under,
        }
    }
}

/// Whether a pane has the focus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Focus {
    /// Keys go elsewhere.
    #[default]
    Elsewhere,
    /// Keys go here.
    Here,
}

/// A sign in its two forms.
type Pair = (&'static str, &'static str);

impl Look {
    fn pick(self, (unicode, ascii): Pair) -> &'static str {
        match self.glyphs {
            Glyphs::Unicode => unicode,
            Glyphs::Ascii => ascii,
        }
    }

    fn hue(self, hue: Hue) -> Style {
        match self.color {
            Color::Ansi => Style::new().fg(hue),
            Color::None => Style::new(),
        }
    }

    /// What a cell of `kind` is filled with; its letter where there are no colours or no blocks.
    #[must_use]
    pub(crate) fn fill(self, kind: Kind) -> &'static str {
        let (fill, letter) = match kind {
            Kind::Summary => ("▓", "S"),
            Kind::User => ("█", "U"),
            Kind::Assistant => ("█", "A"),
            Kind::Calls => ("█", "C"),
            Kind::Results => ("█", "R"),
            Kind::Previews => ("▒", "P"),
            Kind::Placeholders => ("░", "c"),
            Kind::Frame => ("·", "J"),
        };
        match (self.glyphs, self.color) {
            (Glyphs::Unicode, Color::Ansi) => fill,
            (Glyphs::Ascii, _) | (_, Color::None) => letter,
        }
    }

    /// The hue of `kind`; the family of tool results shares one.
    #[must_use]
    pub(crate) fn kind(self, kind: Kind) -> Style {
        match kind {
            Kind::Summary => Style::new().add_modifier(Modifier::BOLD),
            Kind::User => self.hue(Hue::Green),
            Kind::Assistant => self.hue(Hue::LightBlue),
            Kind::Calls => self.hue(Hue::Yellow),
            Kind::Results | Kind::Previews | Kind::Placeholders => self.hue(Hue::Cyan),
            Kind::Frame => Style::new(),
        }
    }

    /// A letter of `kind` standing inside a bar: cut out of a full block, plain on the lighter fills.
    #[must_use]
    pub(crate) fn kind_letter(self, kind: Kind) -> Style {
        let solid = match kind {
            Kind::Summary | Kind::User | Kind::Assistant | Kind::Calls | Kind::Results => true,
            Kind::Previews | Kind::Placeholders | Kind::Frame => false,
        };
        let style = self.kind(kind);
        if solid && self.color == Color::Ansi {
            style.add_modifier(Modifier::REVERSED)
        } else {
            style
        }
    }

    /// The glyph of a lamp.
    #[must_use]
    pub(crate) fn lamp(self, lamp: Lamp) -> &'static str {
        self.pick(match lamp {
            Lamp::Waiting => ("·", "."),
            Lamp::Running => ("›", ">"),
            Lamp::Unneeded => ("○", "o"),
            Lamp::Fired => ("●", "*"),
            Lamp::FiredByCall => ("▲", "$"),
            Lamp::Failed => ("×", "x"),
            Lamp::Skipped => ("-", "-"),
        })
    }

    /// The style of a lamp: reversed while it is lit, bold while it runs.
    #[must_use]
    pub(crate) fn lamp_style(self, lamp: Lamp) -> Style {
        match lamp {
            Lamp::Waiting | Lamp::Unneeded | Lamp::Skipped => Style::new(),
            Lamp::Running => Style::new().add_modifier(Modifier::BOLD),
            Lamp::Fired | Lamp::FiredByCall => self
                .hue(Hue::Cyan)
                .add_modifier(Modifier::BOLD | Modifier::REVERSED),
            Lamp::Failed => self.hue(Hue::LightRed).add_modifier(Modifier::BOLD),
        }
    }

    /// The load line in a bar.
    #[must_use]
    pub(crate) fn line(self) -> &'static str {
        self.pick(("┃", "|"))
    }

    /// The load-line disc beside its number.
    #[must_use]
    pub(crate) fn disc(self) -> &'static str {
        self.pick(("⊖", "(-)"))
    }

    /// The empty part of a bar below the line.
    #[must_use]
    pub(crate) fn room(self) -> &'static str {
        self.pick(("─", "-"))
    }

    /// The last cell of a bar that goes on beyond its end.
    #[must_use]
    pub(crate) fn beyond(self) -> &'static str {
        self.pick(("»", ">"))
    }

    /// There is more to the left, to the right.
    #[must_use]
    pub(crate) fn more(self) -> (&'static str, &'static str) {
        (self.pick(("◂", "<")), self.pick(("▸", ">")))
    }

    /// `…`: where a text was cut.
    #[must_use]
    pub(crate) fn dots(self) -> &'static str {
        self.pick(("…", "..."))
    }

    /// `→`.
    #[must_use]
    pub(crate) fn arrow(self) -> &'static str {
        self.pick(("→", "->"))
    }

    /// `—`: no figure.
    #[must_use]
    pub(crate) fn none(self) -> &'static str {
        self.pick(("—", "-"))
    }

    /// A column of `eighths` eighths (0 to 8) of a cell.
    #[must_use]
    pub(crate) fn column(self, eighths: usize) -> &'static str {
        const BLOCKS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
        const STEPS: [&str; 9] = [" ", "_", "_", ".", ":", ":", "|", "|", "#"];
        match self.glyphs {
            Glyphs::Unicode => BLOCKS[eighths.min(8)],
            Glyphs::Ascii => STEPS[eighths.min(8)],
        }
    }

    /// A sentence of the program with its signs in the set in use. Letters of any language stay.
    #[must_use]
    pub(crate) fn words(self, text: &str) -> Cow<'_, str> {
        const SIGNS: [(char, &str); 20] = [
            ('→', "->"),
            ('≤', "<="),
            ('−', "-"),
            ('…', "..."),
            ('—', "-"),
            ('×', "x"),
            ('·', "."),
            ('›', ">"),
            ('○', "o"),
            ('●', "*"),
            ('▲', "$"),
            ('⊖', "(-)"),
            ('┃', "|"),
            ('»', ">"),
            ('◂', "<"),
            ('▸', ">"),
            ('━', "="),
            ('─', "-"),
            ('█', "#"),
            ('’', "'"),
        ];
        if self.glyphs == Glyphs::Unicode || text.is_ascii() {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match SIGNS.iter().find(|(sign, _)| *sign == c) {
                Some((_, ascii)) => out.push_str(ascii),
                None => out.push(c),
            }
        }
        Cow::Owned(out)
    }

    /// The frame of a pane.
    #[must_use]
    pub(crate) fn border(self, focus: Focus) -> border::Set<'static> {
        match (self.glyphs, focus) {
            (Glyphs::Unicode, Focus::Elsewhere) => border::PLAIN,
            (Glyphs::Unicode, Focus::Here) => border::THICK,
            (Glyphs::Ascii, Focus::Elsewhere) => frame_of("+", "-", "|"),
            (Glyphs::Ascii, Focus::Here) => frame_of("#", "=", "#"),
        }
    }

    /// The style of a pane's frame.
    #[must_use]
    pub(crate) fn border_style(self, focus: Focus) -> Style {
        match focus {
            Focus::Elsewhere => Style::new(),
            Focus::Here => self.hue(Hue::Cyan).add_modifier(Modifier::BOLD),
        }
    }

    /// The style of the load's figures.
    #[must_use]
    pub(crate) fn level(self, level: Level) -> Style {
        match level {
            Level::Unknown => Style::new(),
            Level::Under => Style::new().add_modifier(Modifier::BOLD),
            Level::Near => self.hue(Hue::Yellow).add_modifier(Modifier::BOLD),
            Level::Over => self
                .hue(Hue::LightRed)
                .add_modifier(Modifier::BOLD | Modifier::REVERSED),
        }
    }

    /// The selected row or cell.
    #[must_use]
    #[expect(clippy::unused_self, reason = "every style is asked for in one way")]
    pub(crate) fn selection(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// A line that a change takes away; its `-` is always printed.
    #[must_use]
    pub(crate) fn removed(self) -> Style {
        self.hue(Hue::LightRed)
    }

    /// A line that a change adds; its `+` is always printed.
    #[must_use]
    pub(crate) fn added(self) -> Style {
        self.hue(Hue::Green)
    }

    /// An error or a warning; the word says so too.
    #[must_use]
    pub(crate) fn warning(self) -> Style {
        self.hue(Hue::LightRed).add_modifier(Modifier::BOLD)
    }

    /// Words that lead: a title, a name.
    #[must_use]
    #[expect(clippy::unused_self, reason = "every style is asked for in one way")]
    pub(crate) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }
}

const fn frame_of(
    corner: &'static str,
    horizontal: &'static str,
    vertical: &'static str,
) -> border::Set<'static> {
    border::Set {
        top_left: corner,
        top_right: corner,
        bottom_left: corner,
        bottom_right: corner,
        vertical_left: vertical,
        vertical_right: vertical,
        horizontal_top: horizontal,
        horizontal_bottom: horizontal,
    }
}
