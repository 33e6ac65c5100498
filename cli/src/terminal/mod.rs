//! Output to people and programs: messages, colours, and the escaping of untrusted text.

mod console;
mod escape;
mod human;
mod json;
mod style;
mod table;
mod width;

use std::io::{self, ErrorKind};

pub(crate) use console::{Console, Form, Verbosity};
pub(crate) use escape::{safe, safe_lines, safe_text, xml_text};
pub(crate) use human::{bytes, count, duration, plural, time_of_day};
pub(crate) use json::write_json;
pub(crate) use style::{Colour, Shade};
pub(crate) use table::{Align, table};
pub(crate) use width::Width;

/// Treats a closed pipe on standard output as success: a reader such as `head` has seen enough.
pub(crate) fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
