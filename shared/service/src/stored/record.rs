//! Reads the WARC record that has the body of a visit.

use std::io;

use dragline_domain::url::CrawlUrl;
use dragline_formats::blob::Blob;
use dragline_formats::warc::{
    DigestCheck, RECORD_BYTES_MAX, ReadLimits, RecordType, Sha1Digest, StoredRecord, TargetUri, WarcFault, WarcReader,
    parse_http_response, read_record_into,
};
use dragline_ports::archive::Archive;
use dragline_ports::reader::RecordPlace;
use jiff::Timestamp;

use super::choose::{Answer, ChosenAnswer};
use super::error::StoredError;

/// What is wrong with a WARC record.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// The length is impossible for a record.
    #[error("no record has {0} bytes")]
    Length(u64),
    /// It cannot be read.
    #[error("{0}")]
    Fault(#[from] WarcFault),
    /// It belongs to another URL.
    #[error("it is of another URL")]
    OfAnotherUrl,
    /// Its content does not match its digest, or states none.
    #[error("its {0} does not have the digest that it states")]
    Digest(&'static str),
    /// It is neither an answer nor a reference to an earlier one.
    #[error("it holds no HTTP response")]
    NoResponse,
}

/// A loaded record.
#[derive(Debug)]
pub struct LoadedRecord {
    /// The record, with the part of its block that is in memory.
    pub record: StoredRecord,
    /// The stored member, to read the rest.
    pub member: Blob,
    /// The record of the document that scripts made of the page; empty if it was not rendered.
    dom: Blob,
    /// The record of its picture; empty if there is none.
    screenshot: Blob,
}

impl LoadedRecord {
    /// Returns the document that scripts made of the page of this URL, which is stored behind its
    /// answer; `None` if it was not rendered.
    ///
    /// # Errors
    /// It is damaged.
    pub fn dom(&self, url: &CrawlUrl) -> Result<Option<Vec<u8>>, Damage> {
        read_resource(&self.dom, TargetUri::page_of_dom, url)
    }

    /// Returns the picture of the page, as PNG; `None` if there is none.
    ///
    /// # Errors
    /// It is damaged.
    pub fn screenshot(&self, url: &CrawlUrl) -> Result<Option<Vec<u8>>, Damage> {
        read_resource(&self.screenshot, TargetUri::page_of_view, url)
    }
}

/// Reads what is stored behind an answer for the page of this URL; `None` if nothing is.
fn read_resource(
    stored: &Blob,
    page: impl Fn(&str) -> Option<&str>,
    url: &CrawlUrl,
) -> Result<Option<Vec<u8>>, Damage> {
    if stored.len_bytes() == 0 {
        return Ok(None);
    }
    let record = read_record_into(stored.reader(), ReadLimits::default(), &mut io::sink());
    let record = record.map_err(|error| error.fault)?;
    if record.target_uri().and_then(page) != Some(url.as_str()) {
        return Err(Damage::OfAnotherUrl);
    }
    match record.verify_block_digest() {
        DigestCheck::Match => Ok(Some(record.block)),
        _ => Err(Damage::Digest("content")),
    }
}

/// Returns the record with the body of the chosen answer. If its record only says that the body was
/// unchanged, returns the record that it refers to.
///
/// # Errors
/// A record is missing or damaged, no record has the body, or the archive cannot be read.
pub async fn load_with_body(
    archive: &impl Archive,
    (url, held): (&CrawlUrl, ReadLimits),
    chosen: &ChosenAnswer<'_>,
) -> Result<LoadedRecord, StoredError> {
    let loaded = load(archive, (url, held), &chosen.answer).await?;
    let record = &loaded.record;
    if record.record_type == RecordType::Response {
        return Ok(loaded);
    }
    let (date, digest) = (record.refers_to_date(), record.payload_digest());
    for answer in chosen.earlier.iter().filter(|answer| may_be_meant(answer, date)) {
        let earlier = load(archive, (url, held), answer).await?;
        if has_body(&earlier.record, digest) {
            return Ok(earlier);
        }
    }
    Err(StoredError::NotStored { url: url.clone(), iteration: chosen.answer.visit.iteration })
}

/// Returns whether a reference with this date may mean this answer. Dates are stored in
/// milliseconds.
fn may_be_meant(answer: &Answer<'_>, date: Option<Timestamp>) -> bool {
    date.is_none_or(|date| answer.visit.at.as_millisecond() == date.as_millisecond())
}

/// Returns whether a record has the body with this digest; or any body, if the digest is not known.
fn has_body(record: &StoredRecord, digest: Option<Sha1Digest>) -> bool {
    record.record_type == RecordType::Response && (digest.is_none() || record.payload_digest() == digest)
}

/// Reads and checks an answer's record.
async fn load(
    archive: &impl Archive,
    (url, held): (&CrawlUrl, ReadLimits),
    answer: &Answer<'_>,
) -> Result<LoadedRecord, StoredError> {
    let RecordPlace { object, offset, length } = answer.record;
    let (offset, length) = (*offset, *length);
    let damaged = |damage| StoredError::Record { object: object.clone(), offset, damage };
    let end = offset.checked_add(length).filter(|_| (1..=RECORD_BYTES_MAX).contains(&length));
    let end = end.ok_or_else(|| damaged(Damage::Length(length)))?;
    let member = archive.get_range(object, offset..end).await?;
    let stored = member.ok_or_else(|| StoredError::Missing(object.clone()))?;
    match verify_record(stored.clone(), url, held) {
        Err(Damage::Fault(WarcFault::NotOneRecord)) => {
            let [member, dom, screenshot] = split(&stored, url).map_err(damaged)?;
            let loaded = verify_record(member, url, held).map_err(damaged)?;
            Ok(LoadedRecord { dom, screenshot, ..loaded })
        }
        read => read.map_err(damaged),
    }
}

/// Splits what is stored of a rendered page: its answer, its document, and its picture, which may
/// be empty.
fn split(stored: &Blob, url: &CrawlUrl) -> Result<[Blob; 3], Damage> {
    let mut records = WarcReader::new(stored.reader(), ReadLimits::holding(0));
    let mut next = || records.next().ok_or(WarcFault::NotOneRecord)?.map_err(|error| error.fault);
    let (answer, dom) = (next()?, next()?);
    if dom.target_uri().and_then(TargetUri::page_of_dom) != Some(url.as_str()) {
        return Err(WarcFault::NotOneRecord.into());
    }
    let dom_begins = answer.span.length;
    let dom_ends = dom_begins + dom.span.length;
    let parts = [0..dom_begins, dom_begins..dom_ends, dom_ends..stored.len_bytes()];
    Ok(parts.map(|part| stored.part(part)))
}

/// Returns the record in a gzip member, provided it answers a request for this URL and matches its
/// digests.
fn verify_record(member: Blob, url: &CrawlUrl, held: ReadLimits) -> Result<LoadedRecord, Damage> {
    let record = read_record_into(member.reader(), held, &mut io::sink()).map_err(|error| error.fault)?;
    if record.target_uri() != Some(TargetUri::new(url.as_str()).as_str()) {
        return Err(Damage::OfAnotherUrl);
    }
    let loaded = LoadedRecord { record, member, dom: Blob::default(), screenshot: Blob::default() };
    let record = &loaded.record;
    if record.record_type == RecordType::Response && !record.is_whole() {
        let response = parse_http_response(&record.block).map_err(|_| Damage::NoResponse)?;
        loaded.check_long((record.block.len() - response.body.len()) as u64)?;
        return Ok(loaded);
    }
    match record.verify_block_digest() {
        DigestCheck::Match => {}
        // The payload's digest has to do. Earlier versions wrote both.
        DigestCheck::NotStated if record.record_type == RecordType::Response => {}
        _ => return Err(Damage::Digest("content")),
    }
    match record.record_type {
        RecordType::Response if record.verify_payload_digest() != DigestCheck::Match => Err(Damage::Digest("body")),
        RecordType::Response | RecordType::Revisit => Ok(loaded),
        _ => Err(Damage::NoResponse),
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::outcome::Outcome;
    use dragline_domain::url::UrlRules;
    use dragline_formats::http_fields::Headers;
    use dragline_formats::warc::{CaptureEvent, Record, RecordId, Revisit, http_response_head, http_revisit_head};

    use super::*;
    use crate::stored::samples::{event, member, visit};

    const URL: &str = "https://example.org/a";

    fn response(event: &CaptureEvent, body: &[u8], digest: Sha1Digest) -> Record {
        let head = http_response_head(200, "OK", &Headers::default(), body.len() as u64);
        Record::response(RecordId::from_bits(1), event, head, body.to_vec().into(), digest)
    }

    #[test]
    fn only_an_undamaged_record_of_the_url_is_read() {
        let url = CrawlUrl::parse(URL, &UrlRules::default()).unwrap();
        let (event, digest) = (event(URL), Sha1Digest::compute(b"text"));
        let good = member(&response(&event, b"text", digest));
        let mut torn = good.clone();
        torn.truncate(good.len() - 9);
        let mut flipped = good.clone();
        let middle = flipped.len() / 2;
        flipped[middle] ^= 1;
        let head = http_revisit_head(304, "", &Headers::default());
        let revisit = Revisit::ServerNotModified { payload_digest: Some(digest) };
        let revisit = Record::revisit(RecordId::from_bits(1), &event, head, &revisit, None);
        for (bytes, expected, why) in [
            (good.clone(), Ok(RecordType::Response), "as it was written"),
            (member(&revisit), Ok(RecordType::Revisit), "a reference to another"),
            (torn, Err("the file ends within the record"), "the end is missing"),
            (flipped, Err("not a gzip member, or a damaged one"), "a bit is wrong"),
            ([good.clone(), good].concat(), Err("more than one record where one was expected"), "the place is wrong"),
            (Vec::new(), Err("the file ends within the record"), "the object is too short"),
            (
                member(&response(&event, b"text", Sha1Digest::compute(b"another"))),
                Err("its body does not have the digest that it states"),
                "the digest is that of another body",
            ),
            (
                member(&response(&super::super::samples::event("https://example.org/b"), b"text", digest)),
                Err("it is of another URL"),
                "the record of another URL",
            ),
        ] {
            let found = verify_record(bytes.into(), &url, ReadLimits::default())
                .map(|loaded| loaded.record.record_type)
                .map_err(|damage| damage.to_string());
            assert_eq!(found.as_ref().map_err(String::as_str), expected.as_ref().map_err(|told| *told), "{why}");
        }
    }

    #[test]
    fn a_reference_means_the_answer_of_its_date() {
        let row = visit(1, Outcome::FileIngested);
        let record = RecordPlace { object: "raw/o".to_owned().try_into().unwrap(), offset: 0, length: 1 };
        let (answer, at) = (Answer { visit: &row, record: &record }, row.at);
        for (date, expected, why) in [
            (None, true, "it names none"),
            (Some(at), true, "the date"),
            (Some(at + std::time::Duration::from_micros(900)), true, "the date, more precise than what is stored"),
            (Some(at + std::time::Duration::from_millis(1)), false, "another date"),
        ] {
            assert_eq!(may_be_meant(&answer, date), expected, "{why}");
        }
    }
}
