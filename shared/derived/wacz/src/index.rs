//! Writes an index of the stored segments, for programs that replay them in place.

use dragline_formats::blob::Blob;
use dragline_ports::archive::Archive;
use dragline_ports::reader::Reader;

use crate::captures::Captures;
use crate::cdx;
use crate::error::ArchiveError;
use crate::merge::{each_object, each_record, note_objects};
use crate::revisit;
use crate::selection::Selection;

/// Writes the index of all committed segments in CDXJ, sorted: a line for each answer that can be
/// replayed, with the key of its object as the file name. Returns the number of lines.
///
/// A 304 has no line: programs would show it as an empty page; without one, they show the answer
/// before it.
///
/// # Errors
/// The crawl cannot be read, an object is missing or damaged, or a line cannot be written.
pub async fn write_index(
    (reader, archive): (&impl Reader, &impl Archive),
    mut write: impl FnMut(&str) -> Result<(), ArchiveError>,
) -> Result<u64, ArchiveError> {
    let captures = Captures::new()?;
    note_objects(reader, &Selection::default(), &captures).await?;
    each_object(archive, &captures, |_| Ok(true), |object, stored| add_lines(object.key, stored, &captures)).await?;
    let mut lines = 0;
    captures.each_line(|key, json| {
        lines += 1;
        write(&format!("{key} {json}\n"))
    })?;
    Ok(lines)
}

fn add_lines(object: &str, stored: &Blob, captures: &Captures) -> Result<(), ArchiveError> {
    each_record(object, stored, |record| {
        if revisit::is_not_modified(&record) {
            return Ok(());
        }
        let (offset, length) = (record.span.offset, record.span.length);
        match cdx::line(&record, &record.record_type, object, offset, length)? {
            Some((key, json)) => captures.add_line(&key, &json),
            None => Ok(()),
        }
    })
}
