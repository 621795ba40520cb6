//! What is drawn where: the layout as a pure function of the area, and the order of drawing.

pub(crate) mod compact;
pub(crate) mod load;
pub(crate) mod log;
pub(crate) mod messages;
mod paint;
pub(crate) mod pipeline;
pub(crate) mod why;

pub(crate) use paint::Pane;
