//! What is drawn where: the layout as a pure function of the area, and the order of drawing.

pub(crate) mod compact;
pub(crate) mod load;
pub(crate) mod log;
pub(crate) mod messages;
mod paint;
#[cfg(test)]
mod panes_tests;
pub(crate) mod pipeline;
#[cfg(test)]
pub(crate) mod shot;
pub(crate) mod why;

pub(crate) use paint::Pane;
