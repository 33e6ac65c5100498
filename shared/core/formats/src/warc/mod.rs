//! WARC 1.1 (ISO 28500:2017, <https://iipc.github.io/warc-specifications/>): the file format of
//! captures.
//!
//! Build a [`Record`]; [`WarcWriter`] appends it as one gzip member and returns its [`RecordSpan`].
//! [`WarcReader`] reads a file record by record, [`read_record`] the range of one span.
//! `docs/reference/format-warc.md` lists every field.
//!
//! The crate `warc` 0.4 was unsuitable: it compresses a whole file as one gzip stream, so that
//! records cannot be read by their offsets; its writer drops the rest of a short write; and its
//! reader does not limit the size of a record.

mod digest;
mod fields;
mod http;
mod ids;
mod limits;
mod member;
mod others;
mod overwritten;
mod reader;
mod record;
mod stored;
#[cfg(test)]
mod tests;
mod writer;

/// What an archive has in place of a value that must not be kept.
pub const REDACTED: &[u8] = b"[redacted]";

pub use digest::{Sha1Digest, Sha1DigestError, Sha1Hasher};
pub use fields::{ExtensionField, ExtensionName};
pub use http::{
    HttpResponse, HttpResponseError, http_request_block, http_response_head, http_revisit_head, parse_http_response,
};
pub use ids::{HttpProtocol, RecordId, RecordType, RevisitProfile, TargetUri, Truncation};
pub use limits::{
    BLOCK_BYTES_MAX, FIELDS_MAX, HEAD_BYTES_MAX, HEAD_FIELDS_MAX, HEADER_BYTES_MAX, HELD_BYTES_MAX, REASON_BYTES_MAX,
    RECORD_BYTES_MAX, VALUE_BYTES_MAX,
};
pub use others::{
    Extent, OthersReader, OthersRecord, OthersRequest, OthersResponse, RecordPlace, read_others_record,
    read_others_record_into, read_others_request, read_others_response,
};
pub use overwritten::{OverwriteResult, Replacement, is_tombstone, tombstone};
pub use reader::{ReadLimits, WarcError, WarcFault, WarcReader, read_record, read_record_into};
pub use record::{CaptureEvent, FORMAT_VERSION, Metadata, Record, RefersTo, Revisit, WarcInfo};
pub use stored::{DigestCheck, StoredRecord};
pub use writer::{RecordSpan, WarcWriter};
