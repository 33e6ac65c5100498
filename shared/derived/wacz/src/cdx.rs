//! The index of captures in CDXJ: one line each, with the key of the URL, the time, and the
//! location of the record.

use data_encoding::HEXLOWER;
use dragline_formats::warc::{RecordType, StoredRecord, parse_http_response};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::io::Write as _;
use url::Url;

use crate::captures::Captures;
use crate::error::ArchiveError;
use crate::surt::surt;

/// The number of lines per compressed block. Readers fetch one block per lookup.
const BLOCK_LINES: usize = 3_000;

/// The fields of a line. Numbers are texts, as in other writers.
#[derive(Serialize)]
struct Capture<'c> {
    url: &'c str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    length: String,
    offset: String,
    filename: &'c str,
}

/// Returns the line of a record: its key and time, and the rest. `None` if the record is not an
/// answer of a server.
pub(crate) fn line(
    record: &StoredRecord,
    record_type: &RecordType,
    filename: &str,
    offset: u64,
    length: u64,
) -> Result<Option<(String, String)>, ArchiveError> {
    if !matches!(record_type, RecordType::Response | RecordType::Revisit) {
        return Ok(None);
    }
    let (Some(target), Some(date)) = (record.target_uri(), record.date()) else { return Ok(None) };
    let Ok(url) = Url::parse(target) else { return Ok(None) };
    let response = parse_http_response(&record.block).ok();
    let content_type = response.as_ref().and_then(|response| {
        if let Some(declared) = response.headers.content_type() {
            return Some(declared.essence);
        }
        let value = String::from_utf8_lossy(response.headers.get("content-type")?).into_owned();
        Some(value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()).filter(|mime| !mime.is_empty())
    });
    let mime = match record_type {
        RecordType::Revisit => Some("warc/revisit".to_owned()),
        _ => content_type,
    };
    let capture = Capture {
        url: target,
        mime,
        status: response.map(|response| response.status.to_string()),
        digest: record.payload_digest().map(|digest| digest.to_string()),
        length: length.to_string(),
        offset: offset.to_string(),
        filename,
    };
    let key = format!("{} {}", surt(&url), date.strftime("%Y%m%d%H%M%S"));
    Ok(Some((key, serde_json::to_string(&capture)?)))
}

/// A writer of the index in compressed blocks, with a list of them.
pub(crate) struct Blocks {
    /// The lines of the list.
    list: String,
    bytes: u64,
}

/// A line of the list of blocks.
#[derive(Serialize)]
struct Block {
    offset: u64,
    length: u64,
    digest: String,
    filename: &'static str,
}

/// The file with the blocks.
pub(crate) const INDEX: &str = "index.cdx.gz";

impl Blocks {
    /// Writes the index in compressed blocks, and returns the list of them.
    pub(crate) fn write(
        captures: &Captures,
        mut write: impl FnMut(&[u8]) -> Result<(), ArchiveError>,
    ) -> Result<String, ArchiveError> {
        let mut blocks =
            Self { list: format!("!meta 0 {{\"format\": \"cdxj-gzip-1.0\", \"filename\": \"{INDEX}\"}}\n"), bytes: 0 };
        let (mut first, mut lines, mut number) = (String::new(), String::new(), 0);
        captures.each_line(|key, json| {
            if number == 0 {
                key.clone_into(&mut first);
            }
            lines.push_str(key);
            lines.push(' ');
            lines.push_str(json);
            lines.push('\n');
            number += 1;
            if number == BLOCK_LINES {
                write(&blocks.add(&first, &lines)?)?;
                lines.clear();
                number = 0;
            }
            Ok(())
        })?;
        if number > 0 {
            write(&blocks.add(&first, &lines)?)?;
        }
        Ok(blocks.list)
    }

    fn add(&mut self, first: &str, lines: &str) -> Result<Vec<u8>, ArchiveError> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(lines.as_bytes())?;
        let block = encoder.finish()?;
        let length = block.len() as u64;
        let digest = format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(&block)));
        let json = serde_json::to_string(&Block { offset: self.bytes, length, digest, filename: INDEX })?;
        self.list.push_str(&format!("{first} {json}\n"));
        self.bytes += length;
        Ok(block)
    }
}
