//! A crawl's archive, as far as it can be sent.

use std::io::{self, Cursor, ErrorKind, Seek, SeekFrom, Write};

use dragline_domain::ids::{CrawlId, Iteration};
use dragline_lambda::REPLY_BYTES_MAX;
use dragline_ports::archive::Archive;
use dragline_ports::clock::Clock;
use dragline_ports::reader::Reader;
use dragline_service::Problem;
use dragline_wacz::{About, Plan, Selection, write_wacz};

use super::printouts::{TooLarge, known_iteration};

/// The longest archive, in bytes: it is sent in Base64.
const ARCHIVE_BYTES_MAX: u64 = (REPLY_BYTES_MAX / 4 * 3) as u64;

/// Returns the archive of a crawl as WACZ: the visits of an iteration with what they need, or all.
///
/// # Errors
/// There is no such iteration, the crawl or an object cannot be read, or it is too long to be sent.
pub(crate) async fn wacz(
    (reader, archive): (&impl Reader, &impl Archive),
    crawl: &CrawlId,
    iteration: Option<Iteration>,
    clock: &impl Clock,
) -> Result<Vec<u8>, Problem> {
    known_iteration(reader, crawl, iteration).await?;
    let forgotten = reader.times_forgotten().await?;
    let software = concat!("Dragline/", env!("CARGO_PKG_VERSION"));
    let plan = Plan {
        about: About { crawl, created: clock.now(), software },
        selection: Selection { iteration, since: None, condition: None },
        file_bytes_max: ARCHIVE_BYTES_MAX,
    };
    let mut short = Short::new(ARCHIVE_BYTES_MAX);
    let written = write_wacz((reader, archive), &plan, &mut short).await;
    if short.is_exceeded() {
        return Err(TooLarge::Answer.into());
    }
    written.map_err(|error| {
        tracing::error!(%error, "an archive cannot be written");
        Problem::internal("the archive cannot be written; the function's log says why")
    })?;
    if reader.times_forgotten().await? != forgotten {
        return Err(Problem::conflict("URLs were forgotten meanwhile").with_hint("try again"));
    }
    Ok(short.bytes.into_inner())
}

/// A file in memory that fails when it would become too long. What is written after that is lost,
/// but counted: a ZIP file is completed even after an error, and its writer relies on positions.
struct Short {
    bytes: Cursor<Vec<u8>>,
    bytes_max: u64,
    /// The position and the length, once it is too long.
    lost: Option<(u64, u64)>,
}

impl Short {
    const fn new(bytes_max: u64) -> Self {
        Self { bytes: Cursor::new(Vec::new()), bytes_max, lost: None }
    }

    const fn is_exceeded(&self) -> bool {
        self.lost.is_some()
    }
}

impl Write for Short {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some((position, length)) = &mut self.lost {
            *position += bytes.len() as u64;
            *length = (*length).max(*position);
            return Ok(bytes.len());
        }
        if self.bytes.position() + bytes.len() as u64 > self.bytes_max {
            self.lost = Some((self.bytes.position(), self.bytes.get_ref().len() as u64));
            self.bytes = Cursor::default();
            return Err(ErrorKind::FileTooLarge.into());
        }
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Short {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let Some((position, length)) = &mut self.lost else { return self.bytes.seek(to) };
        let sought = match to {
            SeekFrom::Start(start) => Some(start),
            SeekFrom::Current(offset) => position.checked_add_signed(offset),
            SeekFrom::End(offset) => length.checked_add_signed(offset),
        };
        *position = sought.ok_or(ErrorKind::InvalidInput)?;
        Ok(*position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_becomes_too_long_fails_once_and_keeps_nothing() {
        let mut short = Short::new(4);
        short.write_all(b"abcd").unwrap();
        short.seek(SeekFrom::Start(1)).unwrap();
        short.write_all(b"xy").unwrap();
        assert_eq!(
            (short.bytes.get_ref().as_slice(), short.is_exceeded()),
            (b"axyd".as_slice(), false),
            "written over"
        );
        assert_eq!(short.write_all(b"zz").unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert!(short.is_exceeded() && short.bytes.get_ref().is_empty());
        short.write_all(b"the end of the list of files").unwrap();
        assert!(short.bytes.get_ref().is_empty(), "as a ZIP file is completed even after an error");
        let end = short.stream_position().unwrap();
        assert_eq!((end, short.seek(SeekFrom::Start(1)).unwrap()), (31, 1), "its positions are those of a file");
        assert_eq!(short.seek(SeekFrom::End(0)).unwrap(), 31);
    }
}
