//! Output to people and programs: messages, colours, and the escaping of text from the network.

mod console;
mod escape;
mod human;
mod json;
mod style;
mod table;

pub(crate) use console::{Console, Form, Verbosity};
pub(crate) use escape::{safe, safe_lines};
pub(crate) use human::{bytes, count, duration, plural};
pub(crate) use json::write_json;
pub(crate) use style::{Colour, Shade};
pub(crate) use table::{Align, table};
