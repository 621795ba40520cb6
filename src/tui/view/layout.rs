//! Which part of the screen stands where: a pure function of the area and of what wants room.

use ratatui::layout::{Position, Rect, Size};

use super::compact;
use crate::tui::app::Pane;

/// Under this nothing can be shown but a notice.
pub(crate) const LEAST: Size = Size::new(40, 10);
/// From this on there is room for the gauge, its figures, the map and the stages in rows.
const COMPACT: Size = Size::new(80, 24);
/// From this on every instrument has a pane.
const STANDARD: Size = Size::new(120, 30);
/// Cells of the column of instruments.
const INSTRUMENTS: u16 = 58;

/// Rows of Pipeline: six stages and their sum.
const PIPELINE: u16 = 9;
/// Rows of Messages at most: higher bars would tell no more.
const MESSAGES: u16 = 24;

/// How much can be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A notice that it is too small.
    #[default]
    Notice,
    /// The gauge in a row, the conversation, the input.
    Tiny,
    /// Rows instead of panes.
    Compact,
    /// Panes.
    Standard,
}

/// What wants room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wants {
    /// Rows of the draft.
    pub(crate) input: u16,
    /// Rows of the box above the input, its frame included; 0 where there is none.
    pub(crate) gate: u16,
    /// The pane that has the focus.
    pub(crate) focus: Pane,
    /// Whether it is to be shown alone.
    pub(crate) alone: bool,
}

/// Where everything stands. What has no area is not drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) mode: Mode,
    pub(crate) area: Rect,
    pub(crate) header: Option<Rect>,
    /// The gauge's rows, and in compact the legend, the map and the stages below it.
    pub(crate) rows: Option<Rect>,
    pub(crate) conversation: Option<Rect>,
    pub(crate) load: Option<Rect>,
    pub(crate) messages: Option<Rect>,
    pub(crate) pipeline: Option<Rect>,
    pub(crate) why: Option<Rect>,
    pub(crate) log: Option<Rect>,
    pub(crate) gate: Option<Rect>,
    pub(crate) input: Option<Rect>,
    pub(crate) status: Option<Rect>,
    /// The pane that is shown alone.
    pub(crate) alone: Option<Pane>,
}

/// The layout of `area`.
pub(crate) fn layout(area: Rect, wants: Wants) -> Layout {
    let mode = mode(area);
    let mut layout = Layout {
        mode,
        area,
        ..Layout::default()
    };
    match mode {
        Mode::Notice => {}
        Mode::Tiny => rows(&mut layout, wants, 1),
        Mode::Compact => rows(&mut layout, wants, compact::HEIGHT),
        Mode::Standard => panes(&mut layout, wants),
    }
    if wants.focus != Pane::Input && (wants.alone || layout.of(wants.focus).is_none()) {
        maximise(&mut layout, wants.focus);
    }
    layout
}

impl Layout {
    /// Where a pane stands.
    pub(crate) fn of(&self, pane: Pane) -> Option<Rect> {
        match pane {
            Pane::Input => self.input,
            Pane::Conversation => self.conversation,
            Pane::Load => self.load,
            Pane::Messages => self.messages,
            Pane::Pipeline => self.pipeline,
            Pane::Why => self.why,
            Pane::Log => self.log,
        }
    }

    /// Cells and rows of the conversation's text; zeros where it is not shown.
    pub(crate) fn conversation_size(&self) -> (usize, usize) {
        let Some(area) = self.conversation else {
            return (0, 0);
        };
        let text = self.conversation_text(area);
        (usize::from(text.width), usize::from(text.height))
    }

    /// The part of the conversation's area that holds text: within its frame, below its rule, or all of it.
    pub(crate) fn conversation_text(&self, area: Rect) -> Rect {
        match self.mode {
            Mode::Standard => inner(area),
            Mode::Compact => below(area, 1),
            Mode::Tiny | Mode::Notice => area,
        }
    }

    /// The part of the input's area that holds the draft: behind the `>`.
    pub(crate) fn input_text(&self, area: Rect) -> Rect {
        let area = match self.mode {
            Mode::Standard => inner(area),
            Mode::Compact | Mode::Tiny | Mode::Notice => area,
        };
        Rect {
            x: area.x.saturating_add(2).min(area.right()),
            width: area.width.saturating_sub(2),
            ..area
        }
    }

    fn of_mut(&mut self, pane: Pane) -> &mut Option<Rect> {
        match pane {
            Pane::Input => &mut self.input,
            Pane::Conversation => &mut self.conversation,
            Pane::Load => &mut self.load,
            Pane::Messages => &mut self.messages,
            Pane::Pipeline => &mut self.pipeline,
            Pane::Why => &mut self.why,
            Pane::Log => &mut self.log,
        }
    }
}

/// How much `area` can show.
pub(crate) fn mode(area: Rect) -> Mode {
    let fits = |least: Size| area.width >= least.width && area.height >= least.height;
    if fits(STANDARD) {
        Mode::Standard
    } else if fits(COMPACT) {
        Mode::Compact
    } else if fits(LEAST) {
        Mode::Tiny
    } else {
        Mode::Notice
    }
}

/// `area` without its frame.
pub(crate) fn inner(area: Rect) -> Rect {
    Rect {
        x: area.x.saturating_add(1).min(area.right()),
        y: area.y.saturating_add(1).min(area.bottom()),
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(2),
    }
}

/// `area` without its first `rows` rows.
pub(crate) fn below(area: Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    Rect {
        y: area.y + rows,
        height: area.height - rows,
        ..area
    }
}

/// Takes `rows` rows off the top of what is left, or fewer.
fn top(rest: &mut Rect, rows: u16) -> Rect {
    let taken = Rect {
        height: rows.min(rest.height),
        ..*rest
    };
    *rest = below(*rest, taken.height);
    taken
}

/// Takes `rows` rows off the bottom of what is left, or fewer.
fn bottom(rest: &mut Rect, rows: u16) -> Rect {
    let height = rows.min(rest.height);
    rest.height -= height;
    Rect {
        y: rest.bottom(),
        height,
        ..*rest
    }
}

/// Everything below each other, without frames; `gauge` rows for the instruments.
fn rows(layout: &mut Layout, wants: Wants, gauge: u16) {
    let mut rest = layout.area;
    if layout.mode == Mode::Compact {
        layout.header = Some(top(&mut rest, 1));
    }
    layout.rows = Some(top(&mut rest, gauge));
    layout.status = Some(bottom(&mut rest, 1));
    layout.input = Some(bottom(&mut rest, wants.input.clamp(1, 5)));
    // In a small screen a demo waits to be read, and the conversation behind it can wait.
    let gate = match layout.mode {
        Mode::Tiny => wants.gate.min(rest.height.saturating_sub(1)),
        Mode::Notice | Mode::Compact | Mode::Standard => wants.gate.min(rest.height / 2),
    };
    if gate > 1 {
        layout.gate = Some(bottom(&mut rest, gate));
    }
    if layout.mode == Mode::Compact {
        layout.why = Some(bottom(&mut rest, 3));
    }
    layout.conversation = Some(rest);
}

/// Conversation, log and input to the left, instruments to the right.
fn panes(layout: &mut Layout, wants: Wants) {
    let mut rest = layout.area;
    layout.header = Some(top(&mut rest, 1));
    layout.status = Some(bottom(&mut rest, 1));
    let wide = INSTRUMENTS.max(rest.width * 2 / 5).min(80);
    let mut right = Rect {
        x: rest.right() - wide,
        width: wide,
        ..rest
    };
    let mut left = Rect {
        width: rest.width - wide,
        ..rest
    };
    let most = (layout.area.height / 4).max(2);
    layout.input = Some(bottom(&mut left, wants.input.clamp(2, most) + 2));
    let gate = wants.gate.min(left.height / 2);
    if gate > 2 {
        layout.gate = Some(bottom(&mut left, gate));
    }
    if left.height >= 18 {
        let rows = log_rows(left.height);
        layout.log = Some(bottom(&mut left, rows));
    }
    layout.conversation = Some(left);

    // From 50 rows on what the session used has a row too.
    let load = if layout.area.height < 50 { 8 } else { 10 };
    layout.load = Some(top(&mut right, load));
    let rest = right.height.saturating_sub(PIPELINE);
    layout.why = Some(bottom(&mut right, why_rows(rest)));
    layout.pipeline = Some(bottom(&mut right, PIPELINE));
    layout.messages = Some(right);
}

/// Rows of the log in a column of that height: a call has up to nine rows of its own.
fn log_rows(height: u16) -> u16 {
    match height {
        0..30 => 6,
        30..36 => 9,
        _ => (height / 3).min(20),
    }
}

/// Rows of Why where it shares `rest` rows with the bars of Messages: what bars could not use is its own.
fn why_rows(rest: u16) -> u16 {
    match rest {
        0..17 => 5,
        17..23 => 8,
        _ => (rest / 3).max(rest.saturating_sub(MESSAGES)),
    }
}

/// Gives everything between the header and the input to one pane.
fn maximise(layout: &mut Layout, pane: Pane) {
    let first = layout.header.map_or(layout.area.y, Rect::bottom);
    let last = layout.input.map_or(layout.area.bottom(), |input| input.y);
    let area = Rect {
        x: layout.area.x,
        y: first,
        width: layout.area.width,
        height: last.saturating_sub(first),
    };
    for other in Pane::ALL {
        if other != Pane::Input {
            *layout.of_mut(other) = None;
        }
    }
    layout.rows = None;
    layout.gate = None;
    // The input keeps its rows and takes the whole width.
    if let Some(input) = &mut layout.input {
        input.x = layout.area.x;
        input.width = layout.area.width;
    }
    *layout.of_mut(pane) = Some(area);
    layout.alone = Some(pane);
}

/// `area` cut to what lies within `bounds`; `None` where nothing is left.
pub(crate) fn within(area: Rect, bounds: Rect) -> Option<Rect> {
    let area = area.intersection(bounds);
    (!area.is_empty()).then_some(area)
}

/// A rectangle of that size in the middle of `area`, cut to it.
pub(crate) fn centred(area: Rect, size: Size) -> Rect {
    let width = size.width.min(area.width);
    let height = size.height.min(area.height);
    let at = Position::new(
        area.x + (area.width - width) / 2,
        area.y + (area.height - height) / 2,
    );
    Rect::new(at.x, at.y, width, height)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(width: u16, height: u16) -> Layout {
        layout(Rect::new(0, 0, width, height), Wants::default())
    }

    #[test]
    fn each_size_has_its_mode() {
        let modes = [
            (39, 10),
            (40, 9),
            (40, 10),
            (79, 24),
            (80, 24),
            (119, 40),
            (120, 30),
        ]
        .map(|(width, height)| of(width, height).mode);
        assert_eq!(
            modes,
            [
                Mode::Notice,
                Mode::Notice,
                Mode::Tiny,
                Mode::Tiny,
                Mode::Compact,
                Mode::Compact,
                Mode::Standard
            ]
        );
    }

    #[test]
    fn the_standard_screen_is_filled_without_gap_or_overlap() {
        for (width, height) in [(120, 30), (120, 40), (200, 60), (500, 200)] {
            let layout = of(width, height);
            let areas = Pane::ALL
                .iter()
                .filter_map(|&pane| layout.of(pane))
                .chain(layout.header)
                .chain(layout.status);
            let cells: u32 = areas.clone().map(Rect::area).sum();
            assert_eq!(
                cells,
                u32::from(width) * u32::from(height),
                "{width}x{height}"
            );
            for (at, one) in areas.clone().enumerate() {
                for other in areas.clone().skip(at + 1) {
                    assert!(!one.intersects(other), "{one} {other}");
                }
            }
        }
    }

    #[test]
    fn a_pane_without_room_of_its_own_is_shown_alone() {
        let wants = Wants {
            focus: Pane::Log,
            ..Wants::default()
        };
        let layout = layout(Rect::new(0, 0, 80, 24), wants);
        assert_eq!(layout.alone, Some(Pane::Log));
        assert_eq!(layout.log, Some(Rect::new(0, 1, 80, 21)));
        assert_eq!(layout.conversation, None);
    }
}
