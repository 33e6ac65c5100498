//! Copying the records of all segments into fewer, larger WARC files.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::ops::ControlFlow;
use std::path::Path;

use dragline_domain::frontier::ObjectKey;
use dragline_domain::ids::CrawlId;
use dragline_domain::outcome::Outcome;
use dragline_formats::warc::{
    ReadLimits, Record, RecordSpan, RecordType, StoredRecord, TargetUri, WarcReader, WarcWriter, is_tombstone,
    parse_http_response, read_record,
};
use dragline_ports::archive::Archive;
use dragline_ports::reader::{Cursor, Filter, LogRow, PageRow, Reader, each_row};

use crate::captures::{Captures, Confirmed, Written};
use crate::cdx;
use crate::error::ArchiveError;
use crate::revisit::{self, Identity};

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
    copy_objects(archive, &mut copying).await?;
    if captures.postponed_after(0)?.is_some() {
        // The log may have expired before the bodies that later visits refer to.
        note_objects_of_pages(reader, captures).await?;
        copy_objects(archive, &mut copying).await?;
    }
    let mut last = 0;
    while let Some((number, object, span)) = captures.postponed_after(last)? {
        let missing = || ArchiveError::Missing(object.clone());
        let key = ObjectKey::try_from(object.clone()).map_err(|_| missing())?;
        let end = span.offset.saturating_add(span.length);
        let bytes = archive.get_range(&key, span.offset..end).await?.ok_or_else(missing)?;
        copying.postponed(&object, &bytes)?;
        last = number;
    }
    Ok(copying.copied)
}

/// Copies the objects that were noted and not copied yet.
async fn copy_objects(archive: &impl Archive, copying: &mut Copying<'_, impl Files>) -> Result<(), ArchiveError> {
    let mut last = String::new();
    while let Some(object) = copying.captures.take_object(&mut last)? {
        let missing = || ArchiveError::Missing(object.clone());
        let key = ObjectKey::try_from(object.clone()).map_err(|_| missing())?;
        let bytes = archive.get(&key, OBJECT_BYTES_MAX).await?.ok_or_else(missing)?;
        copying.object(&object, &bytes)?;
    }
    Ok(())
}

/// Notes the objects that the log names, and which URLs are said to be unchanged. Other objects were left by a process that died before it committed
/// them.
async fn note_objects(reader: &impl Reader, captures: &Captures) -> Result<(), ArchiveError> {
    let all = &Filter::default();
    let log = |after: Option<Cursor>| async move { reader.log(all, after.as_ref(), BATCH_ROWS).await };
    let mut noted = Ok(());
    each_row(log, |row: LogRow| {
        noted = note_row(&row, captures);
        if noted.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
    .await?;
    noted
}

fn note_row(row: &LogRow, captures: &Captures) -> Result<(), ArchiveError> {
    // A 304 may end otherwise, as with a header that forbids to index the page.
    if row.outcome == Outcome::FileDidNotChange.code() || row.status == Some(304) {
        captures.add_unchanged(TargetUri::new(&row.url).as_str())?;
    }
    row.object.as_deref().map_or(Ok(()), |object| captures.add_object(object))
}

/// Notes the objects with the bodies that the site shows now.
async fn note_objects_of_pages(reader: &impl Reader, captures: &Captures) -> Result<(), ArchiveError> {
    let all = &Filter::default();
    let pages = |after: Option<Cursor>| async move { reader.pages(all, after.as_ref(), BATCH_ROWS).await };
    let mut noted = Ok(());
    each_row(pages, |row: PageRow| {
        noted = captures.add_object(&row.object);
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

/// How a record is written.
enum Form {
    /// As it is stored.
    AsStored,
    /// As these records, the first of which stands for it.
    As(Vec<Record>),
    /// Later, as what it refers to was not written yet.
    Later,
}

impl<F: Files> Copying<'_, F> {
    /// Copies the records of an object, all into one file, as they refer to its first.
    fn object(&mut self, object: &str, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.make_room(bytes.len())?;
        for record in WarcReader::new(bytes, ReadLimits::default()) {
            let record = record.map_err(|source| ArchiveError::Damaged { object: object.to_owned(), source })?;
            // Of what was forgotten, its place is left.
            if is_tombstone(&record) {
                continue;
            }
            match self.form(&record)? {
                Form::AsStored => self.append(&record, &record.record_type, stored(bytes, record.span))?,
                Form::As(records) => self.append_all(&record, &records)?,
                Form::Later => self.captures.postpone(object, record.span)?,
            }
        }
        Ok(())
    }

    /// Writes a record that was postponed.
    fn postponed(&mut self, object: &str, member: &[u8]) -> Result<(), ArchiveError> {
        let record = read_record(member, ReadLimits::default())
            .map_err(|source| ArchiveError::Damaged { object: object.to_owned(), source })?;
        if is_tombstone(&record) {
            return Ok(());
        }
        self.make_room(member.len())?;
        match self.form(&record)? {
            Form::As(records) => self.append_all(&record, &records),
            Form::AsStored => self.append(&record, &record.record_type, member),
            Form::Later => {
                let made = Identity::of(&record).and_then(|identity| revisit::bodiless((&identity, &record)));
                let Some(made) = made else { return self.append(&record, &RecordType::Metadata, member) };
                self.append(&record, &RecordType::Metadata, &written(&made))
            }
        }
    }

    /// Begins another file if this one is full.
    fn make_room(&mut self, bytes: usize) -> Result<(), ArchiveError> {
        let is_full = |part: &Part| part.bytes + bytes as u64 > self.file_bytes_max;
        if self.file.as_ref().is_none_or(is_full) {
            let name = file_name(self.name, self.copied.files);
            self.files.begin(&name)?;
            self.file = Some(Part { name, bytes: 0 });
            self.copied.files += 1;
        }
        Ok(())
    }

    /// Writes what stands for an answer whose body is in another record.
    fn append_all(&mut self, record: &StoredRecord, records: &[Record]) -> Result<(), ArchiveError> {
        self.copied.bodies_shared += 1;
        for (number, made) in records.iter().enumerate() {
            let record_type = if number == 0 { RecordType::Revisit } else { RecordType::Metadata };
            self.append_made(record, &record_type, made)?;
        }
        Ok(())
    }

    fn append_made(
        &mut self,
        record: &StoredRecord,
        record_type: &RecordType,
        made: &Record,
    ) -> Result<(), ArchiveError> {
        let bytes = written(made);
        // The index says what is in the record that was made.
        match read_record(&bytes, ReadLimits::default()) {
            Ok(made) => self.append(&made, record_type, &bytes),
            Err(_) => self.append(record, record_type, &bytes),
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

    fn form(&self, record: &StoredRecord) -> Result<Form, ArchiveError> {
        let Some(identity) = Identity::of(record) else { return Ok(Form::AsStored) };
        match record.record_type {
            RecordType::Response => self.form_of_response(&identity, record),
            RecordType::Revisit => self.form_of_revisit(&identity, record),
            _ => Ok(Form::AsStored),
        }
    }

    /// A body that was written before is left out.
    fn form_of_response(&self, identity: &Identity, record: &StoredRecord) -> Result<Form, ArchiveError> {
        let Some(payload_digest) = record.payload_digest() else { return Ok(Form::AsStored) };
        let Ok(response) = parse_http_response(&record.block) else { return Ok(Form::AsStored) };
        // A body that was cut does not stand for another, nor does one of no bytes.
        let may_be_shared = !response.body.is_empty() && record.truncated().is_none();
        let earlier = if may_be_shared { self.captures.body(&payload_digest)? } else { None };
        let itself = Written { url: identity.url.clone(), date: identity.date, id: identity.id };
        if may_be_shared && earlier.is_none() {
            self.captures.add_body(&payload_digest, &itself)?;
        }
        let head = revisit::head(record);
        let form = match &earlier {
            Some(earlier) => {
                Form::As(vec![revisit::same_body((identity, record), head.clone(), payload_digest, earlier)])
            }
            None => Form::AsStored,
        };
        let answer = Confirmed { head, payload_digest, body_in: earlier.unwrap_or(itself) };
        self.captures.add_answer(&identity.url, identity.date, &answer)?;
        Ok(form)
    }

    /// What was found unchanged refers to the record with the body, wherever that was written.
    fn form_of_revisit(&self, identity: &Identity, record: &StoredRecord) -> Result<Form, ArchiveError> {
        let digest = record.payload_digest();
        let confirmed = self.captures.confirmed(&identity.url, record.refers_to_date(), digest.as_ref())?;
        if revisit::is_not_modified(record) {
            let records = confirmed.map(|confirmed| revisit::not_modified((identity, record), confirmed));
            return Ok(records.map_or(Form::Later, Form::As));
        }
        let body_in = match (confirmed, &digest) {
            (Some(Confirmed { payload_digest, body_in, .. }), _) => Some((payload_digest, body_in)),
            (None, Some(digest)) => self.captures.body(digest)?.map(|body_in| (*digest, body_in)),
            (None, None) => None,
        };
        let Some((payload_digest, body_in)) = body_in else { return Ok(Form::Later) };
        let made = revisit::same_body((identity, record), revisit::head(record), payload_digest, &body_in);
        Ok(Form::As(vec![made]))
    }
}

/// Returns a record as it is stored in its object.
fn stored(object: &[u8], span: RecordSpan) -> &[u8] {
    let begin = usize::try_from(span.offset).unwrap_or(usize::MAX);
    let end = begin.saturating_add(usize::try_from(span.length).unwrap_or(usize::MAX));
    object.get(begin..end).unwrap_or_default()
}

fn written(record: &Record) -> Vec<u8> {
    let mut writer = WarcWriter::new();
    writer.write(record);
    writer.take_file()
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

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
