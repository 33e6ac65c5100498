//! 8: captures can be read back.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use dragline_formats::warc::{
    DigestCheck, ReadLimits, RecordType, Sha1Digest, StoredRecord, WarcReader, parse_http_response,
};
use rusqlite::Row;

use super::{Checked, Deaths, Evidence, Invariant, Violation};

struct Capture {
    url: String,
    object: String,
    object_bytes: u64,
    offset: u64,
    length: u64,
    payload_sha1: String,
}

impl Capture {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            url: row.get(0)?,
            object: row.get(1)?,
            object_bytes: row.get(2)?,
            offset: row.get(3)?,
            length: row.get(4)?,
            payload_sha1: row.get(5)?,
        })
    }
}

/// 8: every capture can be read from its object by offset and length, belongs to its URL and
/// matches its digests, and its body is one that the server sent for this URL. One without a body
/// refers to the record that holds it, so that all visits can be replayed.
///
/// # Errors
/// The database cannot be read.
pub fn captures_are_readable(evidence: &Evidence<'_>) -> Checked {
    let sql = "SELECT l.url, s.object, s.object_bytes, f.offset, f.length, f.payload_sha1
               FROM file f JOIN crawl_log l ON l.id = f.id JOIN segment s ON s.id = l.id >> 24
               JOIN origin o ON o.id = l.origin_id JOIN crawl c ON c.id = o.crawl_id
               WHERE c.name = ?1 AND l.iteration = ?2 ORDER BY l.id";
    let mut statement = evidence.database.prepare(sql)?;
    let captures = statement.query_map(evidence.crawl_and_iteration(), Capture::read)?;
    let sent = digests_sent(evidence);
    let mut wrong = Vec::new();
    for capture in captures {
        let capture = capture?;
        if evidence.lost.contains(&capture.object) {
            continue;
        }
        if let Err(what) = check(evidence, &capture, &sent) {
            wrong.push(Violation {
                invariant: Invariant::CapturesReadable,
                what: format!("{} at {} of {}: {what}", capture.url, capture.offset, capture.object),
            });
        }
    }
    Ok(wrong)
}

/// 8: what a page's server answered to its requests is in an object, where nothing died and nothing
/// is lost; and all that is stored of such answers, and of documents in browsers, can be read back
/// and matches its digests.
///
/// # Errors
/// The database cannot be read.
pub fn answers_to_pages_are_archived(evidence: &Evidence<'_>, deaths: Deaths) -> Checked {
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    let since = evidence.accesses.iter().skip(evidence.accesses_before).filter(|access| access.is_of_page());
    for access in since.filter(|access| access.response().is_some()) {
        *asked.entry(access.url.to_string()).or_default() += 1;
    }
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let (mut wrong, sent) = (Vec::new(), digests_sent(evidence));
    let objects = evidence.texts(
        "SELECT DISTINCT s.object FROM segment s JOIN origin o ON o.id = s.origin_id JOIN crawl c ON c.id = o.crawl_id
         WHERE c.name = ?1 AND s.iteration = ?2",
    )?;
    for object in objects.iter().filter(|object| !evidence.lost.contains(*object)) {
        match check_object(evidence, object, &sent) {
            Ok(urls) => urls.into_iter().for_each(|url| {
                asked.entry(url).and_modify(|times| *times = times.saturating_sub(1));
            }),
            Err(what) => wrong.push(format!("{object}: {what}")),
        }
    }
    if deaths == Deaths::None && evidence.lost.is_empty() {
        let left = asked.into_iter().filter(|(_, times)| *times > 0);
        wrong.extend(left.map(|(url, times)| format!("{times} answers of {url} to pages are in no object")));
    }
    Ok(wrong.into_iter().map(|what| Violation { invariant: Invariant::CapturesReadable, what }).collect())
}

/// Checks all records of an object, and returns the URLs of its responses.
fn check_object(
    evidence: &Evidence<'_>,
    object: &str,
    sent: &HashMap<String, Vec<Sha1Digest>>,
) -> Result<Vec<String>, String> {
    let file = fs::File::open(evidence.directory.join(object)).map_err(|error| error.to_string())?;
    let mut urls = Vec::new();
    for record in WarcReader::new(file, ReadLimits::default()) {
        let record = record.map_err(|error| error.to_string())?;
        let url = record.target_uri().unwrap_or_default().to_owned();
        let is_response = record.record_type == RecordType::Response;
        let check = if is_response { record.verify_payload_digest() } else { record.verify_block_digest() };
        if check != DigestCheck::Match {
            return Err(format!("the digest of {:?} {url}: {check:?}", record.record_type));
        }
        if is_response {
            let body = parse_http_response(&record.block).map_err(|error| error.to_string())?.body;
            if !sent.get(&url).is_some_and(|sent| sent.contains(&Sha1Digest::compute(body))) {
                return Err(format!("the server never sent the body of {url}"));
            }
            urls.push(url);
        }
    }
    Ok(urls)
}

/// 13: every object belongs to a segment, where nothing died in the middle of a turn and everything
/// is done.
///
/// # Errors
/// The database or the directory cannot be read.
///
/// # Panics
/// The directory cannot be read.
pub fn no_object_is_left(evidence: &Evidence<'_>) -> Checked {
    let referred: HashSet<PathBuf> =
        evidence.all_texts("SELECT object FROM segment")?.into_iter().map(PathBuf::from).collect();
    let mut objects = Vec::new();
    files(&evidence.directory.join("raw"), &mut objects).unwrap();
    let objects = objects.iter().filter_map(|path| path.strip_prefix(evidence.directory).ok());
    let left = objects.filter(|path| !referred.contains(*path));
    let what = |path: &Path| format!("{} belongs to no segment", path.display());
    Ok(left.map(|path| Violation { invariant: Invariant::NoObjectLeft, what: what(path) }).collect())
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() { files(&entry.path(), found)? } else { found.push(entry.path()) }
    }
    Ok(())
}

/// The digests of the bodies that servers sent, by URL.
fn digests_sent(evidence: &Evidence<'_>) -> HashMap<String, Vec<Sha1Digest>> {
    let mut sent: HashMap<String, Vec<Sha1Digest>> = HashMap::new();
    for access in evidence.accesses {
        if let Some(response) = access.response() {
            sent.entry(access.url.as_str().to_owned()).or_default().push(Sha1Digest::compute(&response.body));
        }
    }
    sent
}

fn check(evidence: &Evidence<'_>, capture: &Capture, sent: &HashMap<String, Vec<Sha1Digest>>) -> Result<(), String> {
    let object = fs::read(evidence.directory.join(&capture.object)).map_err(|error| error.to_string())?;
    if object.len() as u64 != capture.object_bytes {
        return Err(format!("the object has {} bytes, its row says {}", object.len(), capture.object_bytes));
    }
    let range = usize::try_from(capture.offset).ok().zip(usize::try_from(capture.offset + capture.length).ok());
    let member = range.and_then(|(start, end)| object.get(start..end)).ok_or("the object ends before the record")?;
    // Behind the answer of a rendered page is its document.
    let record = WarcReader::new(member, ReadLimits::default()).next().ok_or("there is no record")?;
    let record = record.map_err(|error| error.to_string())?;
    if record.target_uri() != Some(&capture.url) {
        return Err(format!("the record is of {:?}", record.target_uri()));
    }
    if record.record_type != RecordType::Response {
        return match record.verify_block_digest() {
            DigestCheck::Match => refers_to_body(evidence, &record),
            wrong => Err(format!("block digest: {wrong:?}")),
        };
    }
    if record.verify_payload_digest() != DigestCheck::Match {
        return Err(format!("payload digest: {:?}", record.verify_payload_digest()));
    }
    let body = parse_http_response(&record.block).map_err(|error| error.to_string())?.body;
    let digest = Sha1Digest::compute(body);
    let is_stated = format!("sha1:{}", capture.payload_sha1).parse() == Ok(digest);
    let was_sent = sent.get(&capture.url).is_some_and(|sent| sent.contains(&digest));
    match (is_stated, was_sent) {
        (false, _) => Err(format!("its body has {digest}, the log states {}", capture.payload_sha1)),
        (true, false) => Err("the server never sent its body".to_owned()),
        (true, true) => Ok(()),
    }
}

/// Finds the body of a revisit as programs do that replay archives: by URL and date.
fn refers_to_body(evidence: &Evidence<'_>, revisit: &StoredRecord) -> Result<(), String> {
    let sql =
        "SELECT s.object, f.payload_sha1 FROM file f JOIN visit v ON v.id = f.id JOIN segment s ON s.id = v.id >> 24
               WHERE f.record = 'response' AND v.url = ?1 AND v.at = ?2";
    let url = revisit.refers_to_target_uri().ok_or("it names no URL")?;
    let date = revisit.refers_to_date().ok_or("it names no date")?;
    let mut statement = evidence.database.prepare(sql).map_err(|error| error.to_string())?;
    let responses = statement.query_map((url, date.as_millisecond()), |row| Ok((row.get(0)?, row.get(1)?)));
    let mut responses = responses.map_err(|error| error.to_string())?;
    let Some(response) = responses.next() else {
        return Err(format!("it refers to {url} of {date}, which has no body"));
    };
    let (object, payload_sha1): (String, String) = response.map_err(|error| error.to_string())?;
    let is_same = revisit.payload_digest().is_some_and(|digest| digest.to_hex() == payload_sha1);
    if is_same || evidence.lost.contains(&object) { Ok(()) } else { Err(format!("the body of {date} is another one")) }
}
