//! Copying the records of all segments into fewer, larger WARC files.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::ops::ControlFlow;
use std::path::Path;

use dragline_domain::frontier::ObjectKey;
use dragline_domain::ids::CrawlId;
use dragline_formats::warc::{
    CaptureEvent, ExtensionField, ExtensionName, ReadLimits, Record, RecordType, RefersTo, Revisit, StoredRecord,
    TargetUri, WarcReader, WarcWriter, is_tombstone, parse_http_response,
};
use dragline_ports::archive::Archive;
use dragline_ports::reader::{Cursor, Filter, LogRow, Reader, each_row};

use crate::captures::{Captures, Written};
use crate::cdx;
use crate::error::ArchiveError;

/// The number of rows in one read of the log.
const BATCH_ROWS: usize = 500;

/// The largest object that is read: a segment is far smaller.
const OBJECT_BYTES_MAX: u64 = 4 << 30;

/// What was copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// How many answers of servers there are.
    pub captures: u64,
    /// How many of these refer to another one with the same body, which was left out.
    pub bodies_shared: u64,
    /// How many WARC files were written.
    pub files: u32,
    /// Their bytes.
    pub bytes: u64,
}

fn file_name(crawl: &CrawlId, number: u32) -> String {
    format!("{crawl}-{number:05}.warc.gz")
}

/// Where WARC files are written to.
pub(crate) trait Files {
    /// Begins a file.
    fn begin(&mut self, name: &str) -> Result<(), ArchiveError>;
    /// Writes to the file that was begun last.
    fn write(&mut self, bytes: &[u8]) -> Result<(), ArchiveError>;
}

/// Copies all records of a crawl, to files of about this size.
pub(crate) async fn copy(
    (reader, archive): (&impl Reader, &impl Archive),
    name: &CrawlId,
    file_bytes_max: u64,
    captures: &Captures,
    files: &mut impl Files,
) -> Result<Copied, ArchiveError> {
    note_objects(reader, captures).await?;
    let mut copying = Copying { name, file_bytes_max, captures, files, file: None, copied: Copied::default() };
    let mut last = String::new();
    while let Some(object) = captures.object_after(&last)? {
        let missing = || ArchiveError::Missing(object.clone());
        let key = ObjectKey::try_from(object.clone()).map_err(|_| missing())?;
        let bytes = archive.get(&key, OBJECT_BYTES_MAX).await?.ok_or_else(missing)?;
        copying.object(&object, &bytes)?;
        last = object;
    }
    Ok(copying.copied)
}

/// Notes the objects that the log names. Others were left by a process that died before it committed them.
async fn note_objects(reader: &impl Reader, captures: &Captures) -> Result<(), ArchiveError> {
    let all = &Filter::default();
    let log = |after: Option<Cursor>| async move { reader.log(all, after.as_ref(), BATCH_ROWS).await };
    let mut noted = Ok(());
    each_row(log, |row: LogRow| {
        noted = row.object.as_deref().map_or(Ok(()), |object| captures.add_object(object));
        if noted.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
    .await?;
    noted
}

/// The file that is being written.
struct Part {
    name: String,
    bytes: u64,
}

struct Copying<'c, F> {
    name: &'c CrawlId,
    file_bytes_max: u64,
    captures: &'c Captures,
    files: &'c mut F,
    file: Option<Part>,
    copied: Copied,
}

impl<F: Files> Copying<'_, F> {
    /// Copies the records of an object, all into one file, as they refer to its first.
    fn object(&mut self, object: &str, bytes: &[u8]) -> Result<(), ArchiveError> {
        let is_full = |part: &Part| part.bytes + bytes.len() as u64 > self.file_bytes_max;
        if self.file.as_ref().is_none_or(is_full) {
            let name = file_name(self.name, self.copied.files);
            self.files.begin(&name)?;
            self.file = Some(Part { name, bytes: 0 });
            self.copied.files += 1;
        }
        for record in WarcReader::new(bytes, ReadLimits::default()) {
            let record = record.map_err(|source| ArchiveError::Damaged { object: object.to_owned(), source })?;
            self.record(&record, bytes)?;
        }
        Ok(())
    }

    fn record(&mut self, record: &StoredRecord, object: &[u8]) -> Result<(), ArchiveError> {
        // Of what was forgotten, its place is left.
        if is_tombstone(record) {
            return Ok(());
        }
        let begin = usize::try_from(record.span.offset).unwrap_or(usize::MAX);
        let end = begin.saturating_add(usize::try_from(record.span.length).unwrap_or(usize::MAX));
        let as_stored = object.get(begin..end).unwrap_or_default();
        match self.revisit(record)? {
            Some(revisit) => {
                let mut writer = WarcWriter::new();
                writer.write(&revisit);
                self.copied.bodies_shared += 1;
                self.append(record, &RecordType::Revisit, &writer.take_file())
            }
            None => self.append(record, &record.record_type, as_stored),
        }
    }

    fn append(&mut self, record: &StoredRecord, record_type: &RecordType, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.files.write(bytes)?;
        let Some(part) = &mut self.file else { return Ok(()) };
        let (offset, length) = (part.bytes, bytes.len() as u64);
        part.bytes += length;
        self.copied.bytes += length;
        if let Some((key, json)) = cdx::line(record, record_type, &part.name, offset, length)? {
            self.captures.add_line(&key, &json)?;
            self.copied.captures += 1;
        }
        Ok(())
    }

    /// Returns what is written in place of a response whose body was written before; `None` if the record is copied.
    fn revisit(&self, record: &StoredRecord) -> Result<Option<Record>, ArchiveError> {
        let digest = record.payload_digest().filter(|_| record.record_type == RecordType::Response);
        let (Some(payload_digest), Some(url), Some(date), Some(id)) =
            (digest, record.target_uri(), record.date(), record.id())
        else {
            return Ok(None);
        };
        // A body that was cut does not stand for another, nor does one of no bytes.
        let Some(response) = parse_http_response(&record.block).ok().filter(|response| !response.body.is_empty())
        else {
            return Ok(None);
        };
        if record.truncated().is_some() {
            return Ok(None);
        }
        let written = Written { url: url.to_owned(), date: date.to_string() };
        let Some(earlier) = self.captures.body(&payload_digest, &written)? else { return Ok(None) };
        let event = CaptureEvent {
            date,
            target_uri: TargetUri::new(url),
            ip_address: record.ip_address(),
            protocol: record.protocol(),
            warcinfo_id: record.warcinfo_id(),
        };
        let refers_to =
            earlier.date.parse().ok().map(|date| RefersTo { target_uri: TargetUri::new(&earlier.url), date });
        let head = record.block[..record.block.len() - response.body.len()].to_vec();
        let revisit = Record::revisit(id, &event, head, &Revisit::IdenticalPayload { payload_digest }, refers_to);
        Ok(Some(match record.extension(ExtensionName::VISIT) {
            Some(value) => revisit.extension(ExtensionField { name: ExtensionName::VISIT, value: value.to_owned() }),
            None => revisit,
        }))
    }
}

/// Writes all records of a crawl to WARC files in a folder, `CRAWL-00000.warc.gz` and so on, of about this size. The folder is made if it is not
/// there; files with these names are replaced, and those that an earlier archive had after them are removed.
///
/// # Errors
/// The crawl cannot be read, an object is missing or damaged, or a file cannot be written.
pub async fn write_warc(
    (reader, archive): (&impl Reader, &impl Archive),
    name: &CrawlId,
    file_bytes_max: u64,
    folder: &Path,
) -> Result<Copied, ArchiveError> {
    let failed = |path: &Path, source| ArchiveError::File { path: path.to_owned(), source };
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let captures = Captures::new()?;
    let mut files = Folder { folder, file: None };
    let copied = copy((reader, archive), name, file_bytes_max, &captures, &mut files).await?;
    files.finish()?;
    remove_after(folder, name, copied.files)?;
    Ok(copied)
}

/// Removes the files that an earlier and larger archive had after these.
fn remove_after(folder: &Path, crawl: &CrawlId, files: u32) -> Result<(), ArchiveError> {
    for number in files.. {
        let path = folder.join(file_name(crawl, number));
        match std::fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => break,
            Err(source) => return Err(ArchiveError::File { path, source }),
        }
    }
    Ok(())
}

/// Files of a folder.
struct Folder<'f> {
    folder: &'f Path,
    file: Option<BufWriter<File>>,
}

impl Folder<'_> {
    fn finish(&mut self) -> Result<(), ArchiveError> {
        self.file.take().map_or(Ok(()), |mut file| Ok(file.flush()?))
    }
}

impl Files for Folder<'_> {
    fn begin(&mut self, name: &str) -> Result<(), ArchiveError> {
        self.finish()?;
        let path = self.folder.join(name);
        let file = File::create(&path).map_err(|source| ArchiveError::File { path, source })?;
        self.file = Some(BufWriter::new(file));
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.file.as_mut().map_or(Ok(()), |file| Ok(file.write_all(bytes)?))
    }
}
