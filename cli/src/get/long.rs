//! Prints a body that is too long for memory.

use std::io::{self, IsTerminal, Write};

use dragline_formats::content_coding::ContentCodings;
use dragline_service::stored::{Coding, Content, LoadedRecord, StoredError, codings, write_body};

use crate::args::Parts;

/// Writes the answer to standard output. The inner error is a failure of the output.
///
/// # Errors
/// The output is a terminal, or nothing of the body can be decoded.
pub(super) fn print(
    loaded: &LoadedRecord,
    content: &Content<'_>,
    parts: Parts,
    coding: Coding,
) -> Result<io::Result<()>, StoredError> {
    if io::stdout().is_terminal() {
        return Err(StoredError::TooLong);
    }
    let codings = match coding {
        Coding::Kept => ContentCodings::IDENTITY,
        Coding::Undone(_) => codings(&content.headers)?,
    };
    let mut out = io::stdout().lock();
    let head = match parts {
        Parts::Body => &[][..],
        Parts::All => content.head,
    };
    let written = out.write_all(head).and_then(|()| write_body(loaded, content.head.len() as u64, &codings, &mut out));
    Ok(written.and_then(|()| out.flush()))
}
