//! The whole screen in paused time: keys and events in, frames and commands out.

mod agent;
mod demo;
mod desk;
mod dialog;
mod input;
mod lamps;
mod scroll;
mod shown;
mod sizes;
mod waits;
