//! Forgetting URLs: deletes everything stored about them.
//!
//! Effects in order: the records in each object are overwritten; the rows are deleted. After a
//! crash the next run ends the same.

use std::io;

use dragline_domain::frontier::ObjectKey;
use dragline_domain::ids::CrawlId;
use dragline_domain::url::CrawlUrl;
use dragline_formats::blob::{Blob, Spool};
use dragline_formats::warc::{
    ExtensionName, OverwriteResult, ReadLimits, RecordId, RecordSpan, Replacement, StoredRecord, TargetUri, WarcError,
    WarcReader, tombstone,
};
use jiff::Timestamp;
use serde_json::Value;

use dragline_ports::archive::Archive;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::retention::{ForgetTotals, Forgetting};

/// The most bytes of a body held in memory. A record with a longer one is copied from file to file.
const HELD_BYTES_MAX: u64 = 16 << 20;

/// The field with the page that led to a visit, in the visit and in the block of a `metadata`
/// record.
const VIA: &str = "via";

/// The field of a visit without a referring page.
const NO_VIA: &str = "\"via\":null";

/// Forgets these URLs. No iteration of the crawl may be open, as its turns may know them.
///
/// In WARC objects, each record of the URLs is overwritten by an empty one, and records of other
/// URLs that were found on them lose that reference. All other records keep their offsets and
/// content.
///
/// # Errors
/// Returns the ports' errors, and one of kind `Corrupt` if an object cannot be read.
pub async fn forget(
    forgetting: &impl Forgetting,
    archive: &impl Archive,
    crawl: &CrawlId,
    urls: &[CrawlUrl],
) -> PortResult<ForgetTotals> {
    let names: Vec<Name<'_>> = urls.iter().map(Name::from_url).collect();
    let mut after = None;
    loop {
        let naming = forgetting.objects_naming(crawl, urls, after.as_ref()).await?;
        for object in &naming.objects {
            let Some(stored) = archive.get(object, u64::MAX).await? else { continue };
            if let Some(overwritten) = overwrite(object, &stored, &names, &archive.spool())? {
                archive.replace(object, overwritten).await?;
            }
        }
        match naming.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    forgetting.forget_urls(crawl, urls).await
}

/// A URL as it occurs in objects.
struct Name<'u> {
    url: &'u str,
    target: TargetUri,
    /// Of the document that its scripts made, and of its picture.
    shown: [TargetUri; 2],
    /// In the JSON of a visit that was found on it.
    via: String,
}

impl<'u> Name<'u> {
    fn from_url(url: &'u CrawlUrl) -> Self {
        let url = url.as_str();
        let (target, shown) = (TargetUri::new(url), [TargetUri::for_dom(url), TargetUri::for_view(url)]);
        Self { url, target, shown, via: format!("\"{VIA}\":{}", Value::from(url)) }
    }
}

/// The replacement for one record of an object.
struct Patch {
    span: RecordSpan,
    by: Replacement,
}

/// Returns an object without these URLs; `None` if it contains none of them. Only the head of each
/// record is in memory.
fn overwrite(key: &ObjectKey, object: &Blob, names: &[Name<'_>], spool: &Spool) -> PortResult<Option<Blob>> {
    let failed = |kind, why: String| PortError::new(kind, "forget records", key, why);
    let mut patches = Vec::new();
    let mut date = Timestamp::UNIX_EPOCH;
    for record in WarcReader::new(object.reader(), ReadLimits::holding(HELD_BYTES_MAX)) {
        let record = record.map_err(|error| failed(PortErrorKind::Corrupt, error.to_string()))?;
        let span = record.span;
        if span.offset == 0 {
            date = record.date().unwrap_or(date);
        }
        let is_target = record.target_uri().is_some_and(|uri| {
            let is_of = |name: &Name<'_>| std::iter::once(&name.target).chain(&name.shown).any(|of| of.as_str() == uri);
            names.iter().any(is_of)
        });
        let too_long = || {
            failed(PortErrorKind::Other, format!("the record at byte {} has no room to be overwritten", span.offset))
        };
        let by = if is_target {
            let id = record.id().unwrap_or_else(|| RecordId::from_bits(u128::from(span.offset)));
            tombstone(id, date, span.length).ok_or_else(too_long)?
        } else {
            let member = object.part(span.offset..span.offset + span.length);
            let changed = without_via(&record, (&member, spool), names);
            match changed.map_err(|error| failed(PortErrorKind::Other, error.to_string()))? {
                OverwriteResult::Unchanged => continue,
                OverwriteResult::By(member) => member,
                OverwriteResult::TooLong => return Err(too_long()),
            }
        };
        patches.push(Patch { span, by });
    }
    if patches.is_empty() {
        return Ok(None);
    }
    apply_patches(object, &patches, spool).map(Some).map_err(|error| failed(PortErrorKind::Other, error.to_string()))
}

/// Returns an object with these patches applied, which are in object order.
fn apply_patches(object: &Blob, patches: &[Patch], spool: &Spool) -> io::Result<Blob> {
    let mut writer = spool.begin();
    let mut done = 0;
    for Patch { span, by } in patches {
        object.part(done..span.offset).copy_to(&mut writer)?;
        by.write_to(&mut writer)?;
        done = span.offset + span.length;
    }
    object.part(done..object.len_bytes()).copy_to(&mut writer)?;
    writer.finish()
}

/// Returns the record without the page that led to it, if that is one of these URLs.
fn without_via(record: &StoredRecord, rest: (&Blob, &Spool), names: &[Name<'_>]) -> Result<OverwriteResult, WarcError> {
    // Quotation marks within JSON strings are escaped, so this can only be the key with its value.
    let visit_without = |field: &str, visit: &str| {
        let mut named = names.iter().filter(|_| field == ExtensionName::VISIT.as_str()).map(|name| name.via.as_str());
        named.find(|via| visit.contains(via)).map(|via| visit.replacen(via, NO_VIA, 1))
    };
    record.overwrite(rest, visit_without, |line, value| line == VIA && names.iter().any(|name| name.url == value))
}
