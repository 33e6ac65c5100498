//! Merges the records of all segments into fewer, larger WARC files.
//!
//! Only the head of each record is in memory, however long its body is.

use std::io::{self, Read as _};
use std::ops::ControlFlow;

use dragline_domain::frontier::ObjectKey;
use dragline_domain::ids::Iteration;
use dragline_formats::blob::Blob;
use dragline_formats::warc::{
    ReadLimits, Record, RecordType, StoredRecord, WarcInfo, WarcReader, WarcWriter, is_tombstone, parse_http_response,
    read_record_into,
};
use dragline_ports::archive::Archive;
use dragline_ports::reader::{Cursor, Filter, Reader, StoredSegment, each_row};

use crate::captures::{Captures, ConfirmedAnswer, WrittenBody};
use crate::cdx;
use crate::error::ArchiveError;
use crate::names;
use crate::package::About;
use crate::revisit::{self, Identity};
use crate::selection::{SelectedVisits, Selection};

/// The number of segments per read.
const BATCH_ROWS: usize = 500;

/// The part of each record in memory: its head, and whether it has a body.
const HELD: ReadLimits = ReadLimits::holding(1);

/// The size of the copy buffer, in bytes.
const WINDOW_BYTES: usize = 64 << 10;

/// The totals of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyTotals {
    /// The number of answers of servers.
    pub captures: u64,
    /// The number of those whose body was omitted in favour of a reference to another answer.
    pub bodies_shared: u64,
    /// The number of WARC files.
    pub files: u32,
    /// Their size, in bytes.
    pub bytes: u64,
}

/// The destination of WARC files.
pub(crate) trait Files {
    /// Begins a file.
    fn begin(&mut self, name: &str) -> Result<(), ArchiveError>;
    /// Writes to the current file.
    fn write(&mut self, bytes: &[u8]) -> Result<(), ArchiveError>;
}

/// The contents of an archive.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// Its metadata.
    pub about: About<'a>,
    /// The visits in it.
    pub selection: Selection,
    /// The approximate maximum size of a WARC file, in bytes.
    pub file_bytes_max: u64,
}

/// Copies the selected records of a crawl.
pub(crate) async fn copy(
    (reader, archive): (&impl Reader, &impl Archive),
    plan: &Plan<'_>,
    captures: &Captures,
    chosen: Option<&SelectedVisits>,
    files: &mut impl Files,
) -> Result<CopyTotals, ArchiveError> {
    note_objects(reader, &plan.selection, captures).await?;
    if let Some(chosen) = chosen {
        each_object(
            archive,
            captures,
            |_| Ok(true),
            |object, stored| each_record(object.key, stored, |record| chosen.add(&plan.selection, object, &record)),
        )
        .await?;
        chosen.complete(reader).await?;
    }
    let mut copying = Copier::new(plan, captures, chosen, files);
    let is_wanted = |object: &str| chosen.map_or(Ok(true), |chosen| chosen.uses(object));
    each_object(archive, captures, is_wanted, |object, stored| copying.object(object.key, stored)).await?;
    let mut last = 0;
    while let Some((number, object, span)) = captures.postponed_after(last)? {
        let missing = || ArchiveError::Missing(object.clone());
        let key = ObjectKey::try_from(object.clone()).map_err(|_| missing())?;
        let end = span.offset.saturating_add(span.length);
        let member = archive.get_range(&key, span.offset..end).await?.ok_or_else(missing)?;
        copying.write_postponed(&object, &member)?;
        last = number;
    }
    Ok(copying.copied)
}

/// A recorded object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object<'o> {
    pub(crate) key: &'o str,
    /// The iteration that committed it.
    pub(crate) iteration: Iteration,
}

/// Calls back with each recorded object that may have selected records, older iterations and turns
/// first.
pub(crate) async fn each_object(
    archive: &impl Archive,
    captures: &Captures,
    is_wanted: impl Fn(&str) -> Result<bool, ArchiveError>,
    mut visit: impl FnMut(Object<'_>, &Blob) -> Result<(), ArchiveError>,
) -> Result<(), ArchiveError> {
    let mut last = String::new();
    while let Some((object, iteration)) = captures.next_object(&mut last)? {
        if !is_wanted(&object)? {
            continue;
        }
        let missing = || ArchiveError::Missing(object.clone());
        let key = ObjectKey::try_from(object.clone()).map_err(|_| missing())?;
        // However large it is, its records are read one after the other.
        let stored = archive.get(&key, u64::MAX).await?.ok_or_else(missing)?;
        visit(Object { key: &object, iteration }, &stored)?;
    }
    Ok(())
}

/// Calls back with the head of each record of an object. The gaps that forgotten records left are
/// skipped.
pub(crate) fn each_record(
    object: &str,
    stored: &Blob,
    mut visit: impl FnMut(StoredRecord) -> Result<(), ArchiveError>,
) -> Result<(), ArchiveError> {
    for record in WarcReader::new(stored.reader(), HELD) {
        let record = record.map_err(|source| ArchiveError::Damaged { object: object.to_owned(), source })?;
        if !is_tombstone(&record) {
            visit(record)?;
        }
    }
    Ok(())
}

/// Records the objects of committed segments that may have selected records. Other objects were
/// left by a process that died before it committed them.
pub(crate) async fn note_objects(
    reader: &impl Reader,
    selection: &Selection,
    captures: &Captures,
) -> Result<(), ArchiveError> {
    let all = &Filter::default();
    let segments = |after: Option<Cursor>| async move { reader.segments(all, after.as_ref(), BATCH_ROWS).await };
    let mut noted = Ok(());
    each_row(segments, |StoredSegment { iteration, object, .. }| {
        if selection.may_use(iteration) {
            noted = captures.add_object(object.as_str(), iteration);
        }
        if noted.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
    .await?;
    noted
}

/// The writer of the current file.
struct Part {
    name: String,
    bytes: u64,
}

struct Copier<'c, F> {
    plan: &'c Plan<'c>,
    captures: &'c Captures,
    /// The selected visits; `None` if all are.
    chosen: Option<&'c SelectedVisits>,
    files: &'c mut F,
    file: Option<Part>,
    /// The `warcinfo` of the last object.
    stored: WarcInfo,
    copied: CopyTotals,
}

/// How a record is written.
enum Form {
    /// As stored.
    AsStored,
    /// As these records, the first of which replaces it.
    As(Vec<Record>),
    /// Later, as it refers to a record that is not yet written.
    Later,
}

impl<'c, F: Files> Copier<'c, F> {
    fn new(plan: &'c Plan<'c>, captures: &'c Captures, chosen: Option<&'c SelectedVisits>, files: &'c mut F) -> Self {
        let (stored, copied) = (WarcInfo::default(), CopyTotals::default());
        Self { plan, captures, chosen, files, file: None, stored, copied }
    }

    /// Copies the records of an object, all into one file, as they refer to its first.
    fn object(&mut self, object: &str, stored: &Blob) -> Result<(), ArchiveError> {
        let mut has_room = false;
        each_record(object, stored, |record| {
            if self.chosen.map_or(Ok(false), |chosen| chosen.has(&record).map(|has| !has))? {
                return Ok(());
            }
            if let Some(info) = record.info() {
                self.stored = info;
            }
            if !std::mem::replace(&mut has_room, true) {
                self.make_room(stored.len_bytes())?;
            }
            match self.form(&record)? {
                Form::AsStored => {
                    let member = stored.part(record.span.offset..record.span.offset.saturating_add(record.span.length));
                    self.append(&record, &record.record_type, &member)
                }
                Form::As(records) => self.append_all(&record, &records),
                Form::Later => self.captures.postpone(object, record.span),
            }
        })
    }

    /// Writes a record that was postponed.
    fn write_postponed(&mut self, object: &str, member: &Blob) -> Result<(), ArchiveError> {
        let record = read_record_into(member.reader(), HELD, &mut io::sink())
            .map_err(|source| ArchiveError::Damaged { object: object.to_owned(), source })?;
        if is_tombstone(&record) {
            return Ok(());
        }
        self.make_room(member.len_bytes())?;
        match self.form(&record)? {
            Form::As(records) => self.append_all(&record, &records),
            Form::AsStored => self.append(&record, &record.record_type, member),
            Form::Later => {
                let made = Identity::from_record(&record).and_then(|identity| revisit::bodiless((&identity, &record)));
                let Some(made) = made else { return self.append(&record, &RecordType::Metadata, member) };
                self.append(&record, &RecordType::Metadata, &to_member(&made)?)
            }
        }
    }

    /// Begins another file if this one is full.
    fn make_room(&mut self, bytes: u64) -> Result<(), ArchiveError> {
        let is_full = |part: &Part| part.bytes + bytes > self.plan.file_bytes_max;
        if self.file.as_ref().is_none_or(is_full) {
            let name = names::file_name(&self.plan.about, self.copied.files, &self.stored);
            let info = names::describe(&self.plan.about, &name, &self.stored);
            let info = to_member(&Record::warcinfo(revisit::derived_id(&name), self.plan.about.created, &info))?;
            self.files.begin(&name)?;
            let bytes = write(self.files, &info)?;
            self.file = Some(Part { name, bytes });
            self.copied.files += 1;
            self.copied.bytes += bytes;
        }
        Ok(())
    }

    /// Writes the replacement of an answer whose body is in another record.
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
        let member = to_member(made)?;
        // The index describes the new record.
        match read_record_into(member.reader(), HELD, &mut io::sink()) {
            Ok(made) => self.append(&made, record_type, &member),
            Err(_) => self.append(record, record_type, &member),
        }
    }

    fn append(&mut self, record: &StoredRecord, record_type: &RecordType, member: &Blob) -> Result<(), ArchiveError> {
        let length = write(self.files, member)?;
        let Some(part) = &mut self.file else { return Ok(()) };
        let offset = part.bytes;
        part.bytes += length;
        self.copied.bytes += length;
        if let Some((key, json)) = cdx::line(record, record_type, &part.name, offset, length)? {
            self.captures.add_line(&key, &json)?;
            self.copied.captures += 1;
        }
        Ok(())
    }

    fn form(&self, record: &StoredRecord) -> Result<Form, ArchiveError> {
        let Some(identity) = Identity::from_record(record) else { return Ok(Form::AsStored) };
        match record.record_type {
            RecordType::Response => self.form_of_response(&identity, record),
            RecordType::Revisit => self.form_of_revisit(&identity, record),
            _ => Ok(Form::AsStored),
        }
    }

    /// Omits a body that is already written.
    fn form_of_response(&self, identity: &Identity, record: &StoredRecord) -> Result<Form, ArchiveError> {
        let Some(payload_digest) = record.payload_digest() else { return Ok(Form::AsStored) };
        let Ok(response) = parse_http_response(&record.block) else { return Ok(Form::AsStored) };
        // A body that was cut or is empty cannot replace another.
        let may_be_shared = !response.body.is_empty() && record.truncated().is_none();
        let earlier = if may_be_shared { self.captures.body(&payload_digest)? } else { None };
        let itself = WrittenBody { url: identity.url.clone(), date: identity.date, id: identity.id };
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
        let answer = ConfirmedAnswer { head, payload_digest, body_in: earlier.unwrap_or(itself) };
        self.captures.add_answer(&identity.url, identity.date, &answer)?;
        Ok(form)
    }

    /// Refers an unchanged answer to the record with its body, wherever that was written.
    fn form_of_revisit(&self, identity: &Identity, record: &StoredRecord) -> Result<Form, ArchiveError> {
        let digest = record.payload_digest();
        let confirmed = self.captures.confirmed_answer(&identity.url, record.refers_to_date(), digest.as_ref())?;
        if revisit::is_not_modified(record) {
            let records = confirmed.map(|confirmed| revisit::not_modified((identity, record), confirmed));
            return Ok(records.map_or(Form::Later, Form::As));
        }
        let body_in = match (confirmed, &digest) {
            (Some(ConfirmedAnswer { payload_digest, body_in, .. }), _) => Some((payload_digest, body_in)),
            (None, Some(digest)) => self.captures.body(digest)?.map(|body_in| (*digest, body_in)),
            (None, None) => None,
        };
        let Some((payload_digest, body_in)) = body_in else { return Ok(Form::Later) };
        let made = revisit::same_body((identity, record), revisit::head(record), payload_digest, &body_in);
        Ok(Form::As(vec![made]))
    }
}

/// Copies bytes to the current file through a buffer. Returns their number.
fn write(files: &mut impl Files, bytes: &Blob) -> Result<u64, ArchiveError> {
    let mut reader = bytes.reader();
    let mut window = vec![0; WINDOW_BYTES];
    loop {
        match reader.read(&mut window)? {
            0 => return Ok(bytes.len_bytes()),
            read => files.write(&window[..read])?,
        }
    }
}

fn to_member(record: &Record) -> Result<Blob, ArchiveError> {
    let mut writer = WarcWriter::new();
    writer.write(record);
    Ok(writer.take_file()?)
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
