//! Forgetting URLs: everything that is stored of them.
//!
//! Effects in order: the records in each object are overwritten; the rows are deleted. Whatever it dies after, the next run ends the same.

use dragline_domain::frontier::ObjectKey;
use dragline_domain::ids::CrawlId;
use dragline_domain::url::CrawlUrl;
use dragline_formats::warc::{
    BLOCK_BYTES_MAX, ExtensionName, Overwritten, ReadLimits, RecordId, StoredRecord, TargetUri, WarcReader, tombstone,
};
use jiff::Timestamp;
use serde_json::Value;

use dragline_ports::archive::Archive;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::retention::{Forgetting, Forgotten};

/// The largest object that is read: a segment ends soon after 32 MB of bodies, the last of which may be as large as any.
const OBJECT_BYTES_MAX: u64 = 2 * BLOCK_BYTES_MAX;

/// The field of a visit, and of the block of a `metadata` record, that names the page which led to it.
const VIA: &str = "via";

/// A visit of which nobody knows where it was found.
const NO_VIA: &str = "\"via\":null";

/// Forgets these URLs. No iteration of the crawl may be open: its turns may know them.
///
/// In WARC objects, each record of the URLs is overwritten by one that says nothing, and where other records name them as the page on which they were
/// found, that is left out. All other records keep their offsets, and what they say.
///
/// # Errors
/// Returns the ports' errors, and one of kind `Corrupt` if an object cannot be read.
pub async fn forget(
    forgetting: &impl Forgetting,
    archive: &impl Archive,
    crawl: &CrawlId,
    urls: &[CrawlUrl],
) -> PortResult<Forgotten> {
    let names: Vec<Name<'_>> = urls.iter().map(Name::of).collect();
    let mut after = None;
    loop {
        let naming = forgetting.objects_naming(crawl, urls, after.as_ref()).await?;
        for object in &naming.objects {
            let Some(bytes) = archive.get(object, OBJECT_BYTES_MAX).await? else { continue };
            if let Some(overwritten) = overwrite(object, &bytes, &names)? {
                archive.replace(object, overwritten.into()).await?;
            }
        }
        match naming.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    forgetting.forget_urls(crawl, urls).await
}

/// A URL as objects name it.
struct Name<'u> {
    url: &'u str,
    target: TargetUri,
    /// In the JSON of a visit that was found on it.
    via: String,
}

impl<'u> Name<'u> {
    fn of(url: &'u CrawlUrl) -> Self {
        let url = url.as_str();
        Self { url, target: TargetUri::new(url), via: format!("\"{VIA}\":{}", Value::from(url)) }
    }
}

/// Returns an object without these URLs; `None` if it has none of them.
fn overwrite(object: &ObjectKey, bytes: &[u8], names: &[Name<'_>]) -> PortResult<Option<Vec<u8>>> {
    let failed = |kind, why: String| PortError::new(kind, "forget records", object, why);
    let mut overwritten: Option<Vec<u8>> = None;
    let mut date = Timestamp::UNIX_EPOCH;
    for record in WarcReader::new(bytes, ReadLimits::default()) {
        let record = record.map_err(|error| failed(PortErrorKind::Corrupt, error.to_string()))?;
        if record.span.offset == 0 {
            date = record.date().unwrap_or(date);
        }
        let is_target = record.target_uri().is_some_and(|uri| names.iter().any(|name| name.target.as_str() == uri));
        let too_long = || {
            let why = format!("the record at byte {} has no room to be overwritten", record.span.offset);
            failed(PortErrorKind::Other, why)
        };
        let member = if is_target {
            let id = record.id().unwrap_or_else(|| RecordId::from_bits(u128::from(record.span.offset)));
            tombstone(id, date, record.span.length).ok_or_else(too_long)?
        } else {
            match without_via(&record, names) {
                Overwritten::Unchanged => continue,
                Overwritten::By(member) => member,
                Overwritten::TooLong => return Err(too_long()),
            }
        };
        let all = overwritten.get_or_insert_with(|| bytes.to_vec());
        let start = usize::try_from(record.span.offset).expect("it is within the bytes");
        all[start..start + member.len()].copy_from_slice(&member);
    }
    Ok(overwritten)
}

/// Returns the record without naming the page that led to it, if that is one of these.
fn without_via(record: &StoredRecord, names: &[Name<'_>]) -> Overwritten {
    // A quotation mark within a text of the JSON is escaped, so this can only be the key with its value.
    let visit_without = |field: &str, visit: &str| {
        let mut named = names.iter().filter(|_| field == ExtensionName::VISIT.as_str()).map(|name| name.via.as_str());
        named.find(|via| visit.contains(via)).map(|via| visit.replacen(via, NO_VIA, 1))
    };
    record.overwritten(visit_without, |line, value| line == VIA && names.iter().any(|name| name.url == value))
}
