//! Builds records to be written.

use std::io::{self, Write};
use std::net::IpAddr;
use std::time::Duration;

use jiff::Timestamp;

use super::digest::Sha1Digest;
use super::fields::{ExtensionField, ExtensionName, push_field, push_field_as_received};
use super::http::HttpResponse;
use super::ids::{HttpProtocol, RecordId, RecordType, RevisitProfile, TargetUri, Truncation};
use super::limits::{HEADER_BYTES_MAX, VALUE_BYTES_MAX};
use crate::blob::Blob;

/// The version of Dragline's layout of records and fields, in `Dragline-Format` of each `warcinfo`
/// record.
pub const FORMAT_VERSION: u32 = 2;

/// The common data of all records of one fetch: the standard's capture event (WARC 1.1 §5.4, §5.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureEvent {
    /// When the fetch began; written in UTC, as precisely as given, up to nanoseconds.
    pub date: Timestamp,
    /// The requested URL.
    pub target_uri: TargetUri,
    /// The server's address; `None` if there was no connection.
    pub ip_address: Option<IpAddr>,
    /// The protocol of the connection; `None` if there was none.
    pub protocol: Option<HttpProtocol>,
    /// The `warcinfo` record of the file, so that it can be found from a record that is read alone.
    pub warcinfo_id: Option<RecordId>,
}

/// The contents of a `warcinfo` record, about its file (WARC 1.1 §6.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WarcInfo {
    /// The name of the file, without folders; `None` if it is not known yet.
    pub filename: Option<String>,
    /// Name and version of the program, as in `dragline/0.1.0`.
    pub software: String,
    /// The maker of the file, and how to reach them.
    pub operator: Option<String>,
    /// Its publisher.
    pub publisher: Option<String>,
    /// Its contents and their purpose.
    pub description: Option<String>,
    /// The machine that made it.
    pub hostname: Option<String>,
    /// The `User-Agent` of its requests.
    pub user_agent: Option<String>,
    /// The rules for obeying robots.txt, as in `RFC 9309`.
    pub robots: Option<String>,
    /// The larger units that it belongs to: the crawl and its iteration, a collection.
    pub is_part_of: Vec<String>,
}

/// The earlier record that a `revisit` stands in for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefersTo {
    /// Its `WARC-Target-URI`.
    pub target_uri: TargetUri,
    /// Its `WARC-Date`.
    pub date: Timestamp,
}

/// The reason why a body is not stored again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revisit {
    /// The server answered 304.
    ServerNotModified {
        /// The digest of the confirmed payload, if known.
        payload_digest: Option<Sha1Digest>,
    },
    /// The body has the same digest as the earlier one.
    IdenticalPayload {
        /// That digest.
        payload_digest: Sha1Digest,
    },
}

/// The contents of a `metadata` record about a capture (WARC 1.1 §6.6).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The URL on which this one was found; `None` for a seed.
    pub via: Option<String>,
    /// The duration of the fetch; written in milliseconds.
    pub fetch_time: Option<Duration>,
}

/// A record to be written by [`super::WarcWriter`].
#[derive(Clone, Debug)]
pub struct Record {
    id: RecordId,
    date: Timestamp,
    kind: Kind,
    truncated: Option<Truncation>,
    refers_to: Option<RecordId>,
    extensions: Vec<ExtensionField>,
    /// The block, except for the body of a response.
    head: Vec<u8>,
    body: Blob,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    WarcInfo { filename: Option<String> },
    Request(Capture),
    Response(Capture),
    Revisit { capture: Capture, profile: RevisitProfile, refers_to: Option<RefersTo> },
    Metadata(Capture),
    Resource { capture: Capture, content_type: &'static str },
}

/// The common fields of `request`, `response`, `revisit` and `metadata`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Capture {
    event: CaptureEvent,
    concurrent_to: Vec<RecordId>,
    payload_digest: Option<Sha1Digest>,
}

impl Capture {
    fn new(event: &CaptureEvent, payload_digest: Option<Sha1Digest>) -> Self {
        Self { event: event.clone(), concurrent_to: Vec::new(), payload_digest }
    }
}

impl Record {
    fn new(id: RecordId, date: Timestamp, kind: Kind, head: Vec<u8>) -> Self {
        Self { id, date, kind, truncated: None, refers_to: None, extensions: Vec::new(), head, body: Blob::default() }
    }

    /// Creates the record about the file, by convention the first.
    #[must_use]
    pub fn warcinfo(id: RecordId, date: Timestamp, info: &WarcInfo) -> Self {
        let fields = [
            ("software", Some(info.software.as_str())),
            ("format", Some("WARC File Format 1.1")),
            ("conformsTo", Some("https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/")),
            ("operator", info.operator.as_deref()),
            ("publisher", info.publisher.as_deref()),
            ("description", info.description.as_deref()),
            ("hostname", info.hostname.as_deref()),
            ("http-header-user-agent", info.user_agent.as_deref()),
            ("robots", info.robots.as_deref()),
        ];
        let parts = info.is_part_of.iter().map(|whole| ("isPartOf", Some(whole.as_str())));
        let mut block = Vec::new();
        for (name, value) in fields.into_iter().chain(parts).filter_map(|(name, value)| Some((name, value?))) {
            push_field(&mut block, name, value);
        }
        Self::new(id, date, Kind::WarcInfo { filename: info.filename.clone() }, block)
            .extension(ExtensionField { name: ExtensionName::FORMAT, value: FORMAT_VERSION.to_string() })
    }

    /// Creates the record of a request, with a block from [`super::http_request_block`].
    #[must_use]
    pub fn request(id: RecordId, event: &CaptureEvent, block: Vec<u8>) -> Self {
        Self::new(id, event.date, Kind::Request(Capture::new(event, None)), block)
    }

    /// Creates the record of a response, whose block is a head from [`super::http_response_head`]
    /// and this body; the digest is that of the body, with its content coding. It has no digest of
    /// the block: that would be another pass over nearly the same bytes.
    #[must_use]
    pub fn response(id: RecordId, event: &CaptureEvent, head: Vec<u8>, body: Blob, payload_digest: Sha1Digest) -> Self {
        let kind = Kind::Response(Capture::new(event, Some(payload_digest)));
        Self { body, ..Self::new(id, event.date, kind, head) }
    }

    /// Creates the record of a response whose body is already stored, with a block from
    /// [`super::http_revisit_head`]. Without `refers_to`, readers must find the earlier record by
    /// the digest.
    #[must_use]
    pub fn revisit(
        id: RecordId,
        event: &CaptureEvent,
        block: Vec<u8>,
        revisit: &Revisit,
        refers_to: Option<RefersTo>,
    ) -> Self {
        // The standard requires an omitted body to be marked as truncated by length (§6.7.2).
        let (profile, payload_digest, truncated) = match revisit {
            Revisit::ServerNotModified { payload_digest } => (RevisitProfile::ServerNotModified, *payload_digest, None),
            Revisit::IdenticalPayload { payload_digest } => {
                (RevisitProfile::IdenticalPayload, Some(*payload_digest), Some(Truncation::Length))
            }
        };
        let kind = Kind::Revisit { capture: Capture::new(event, payload_digest), profile, refers_to };
        Self { truncated, ..Self::new(id, event.date, kind, block) }
    }

    /// Creates the record of a document that is no answer of a server (WARC 1.1 §6.5): it is the
    /// block as it stands, under a URI of its own.
    #[must_use]
    pub fn resource(id: RecordId, event: &CaptureEvent, content_type: &'static str, block: Vec<u8>) -> Self {
        let capture = Capture::new(event, Some(Sha1Digest::compute(&block)));
        Self::new(id, event.date, Kind::Resource { capture, content_type }, block)
    }

    /// Creates a record with additional data about a capture, or with all data about a fetch
    /// without a response.
    #[must_use]
    pub fn metadata(id: RecordId, event: &CaptureEvent, metadata: &Metadata) -> Self {
        let mut block = Vec::new();
        if let Some(via) = &metadata.via {
            push_field(&mut block, "via", via);
        }
        if let Some(time) = metadata.fetch_time {
            push_field(&mut block, "fetchTimeMs", &time.as_millis().to_string());
        }
        Self::new(id, event.date, Kind::Metadata(Capture::new(event, None)), block)
    }

    /// Creates a record with only the head of a response, for which another record or none was
    /// written: its status and its fields as in a `response` record, one per line. It is not an
    /// HTTP message, as programs that index archives would replay that (WARC 1.1 §6.6).
    #[must_use]
    pub fn response_head(id: RecordId, event: &CaptureEvent, answer: &HttpResponse<'_>) -> Self {
        let mut block = Vec::new();
        push_field(&mut block, "http-status", &answer.status.to_string());
        push_field(&mut block, "http-reason", &answer.reason);
        for (name, value) in answer.headers.iter() {
            push_field_as_received(&mut block, &format!("http-header-{name}"), value);
        }
        Self::new(id, event.date, Kind::Metadata(Capture::new(event, None)), block)
    }

    /// Names the record for which a `revisit` stands in, or which a `metadata` record is about
    /// (WARC 1.1 §5.8).
    #[must_use]
    pub const fn referring_to(mut self, id: RecordId) -> Self {
        self.refers_to = Some(id);
        self
    }

    /// Names another record of the same fetch. A `warcinfo` record, for which the standard forbids
    /// this, stays as it is.
    #[must_use]
    pub fn concurrent_to(mut self, id: RecordId) -> Self {
        if let Some(capture) = self.kind.capture_mut() {
            capture.concurrent_to.push(id);
        }
        self
    }

    /// Marks the block as shorter than the server's response, with the reason.
    #[must_use]
    pub fn truncated(mut self, reason: Truncation) -> Self {
        self.truncated = Some(reason);
        self
    }

    /// Adds a custom field to the record's header.
    #[must_use]
    pub fn extension(mut self, field: ExtensionField) -> Self {
        self.extensions.push(field);
        self
    }

    /// Returns the record's id.
    #[must_use]
    pub const fn id(&self) -> RecordId {
        self.id
    }

    /// Returns the block that will be written.
    #[cfg(test)]
    pub(super) fn block(&self) -> Vec<u8> {
        [&self.head[..], &self.body.bytes().unwrap()].concat()
    }

    /// Returns the body of a response; empty for other records.
    pub(super) const fn body(&self) -> &Blob {
        &self.body
    }

    /// Writes the record as in the file, before compression: header, block and two empty lines.
    pub(super) fn write_to(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut head = Vec::new();
        self.push_head(&mut head);
        to.write_all(&head)?;
        self.body.copy_to(to)?;
        to.write_all(END)
    }

    /// Appends the same to a buffer, for a body that is in memory, too.
    pub(super) fn push_to(&self, body: &[u8], out: &mut Vec<u8>) {
        self.push_head(out);
        out.extend_from_slice(body);
        out.extend_from_slice(END);
    }

    /// Appends everything before the body.
    fn push_head(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(b"WARC/1.1\r\n");
        let mut push = |name: &str, value: &str| push_field(out, name, value);
        push("WARC-Type", self.kind.record_type().name());
        push("WARC-Record-ID", &self.id.to_string());
        push("WARC-Date", &self.date.to_string());
        self.kind.push_fields(&mut push);
        if let Some(id) = self.refers_to {
            push("WARC-Refers-To", &id.to_string());
        }
        if let Some(reason) = self.truncated {
            push("WARC-Truncated", reason.token());
        }
        for field in &self.extensions {
            push_if_room(out, start, field.name.as_str(), &field.value);
        }
        let mut push = |name: &str, value: &str| push_field(out, name, value);
        if !matches!(self.kind, Kind::Response(_)) {
            push("WARC-Block-Digest", &Sha1Digest::compute(&self.head).to_string());
        }
        push("Content-Type", self.kind.content_type());
        push("Content-Length", &(self.head.len() as u64 + self.body.len_bytes()).to_string());
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&self.head);
    }
}

/// The end of a record.
const END: &[u8] = b"\r\n\r\n";

/// Adds a custom field, unless the header would become larger than readers accept.
fn push_if_room(out: &mut Vec<u8>, start: usize, name: &str, value: &str) {
    let end = out.len();
    push_field(out, name, value);
    if out.len() - start > HEADER_BYTES_MAX - FIELDS_AFTER_BYTES_MAX {
        out.truncate(end);
    }
}

/// The limit on the other records of its fetch that a record names.
const COMPANIONS_MAX: usize = 64;

/// The most bytes after the custom fields: a digest of the block, type and length, and the empty
/// line.
const FIELDS_AFTER_BYTES_MAX: usize = 1 << 10;

// The two URLs of a revisit and other foreign values leave room for custom fields.
const _: () = assert!(HEADER_BYTES_MAX > 5 * VALUE_BYTES_MAX + COMPANIONS_MAX * 96 + 2 * FIELDS_AFTER_BYTES_MAX);

impl Kind {
    const fn record_type(&self) -> RecordType {
        match self {
            Self::WarcInfo { .. } => RecordType::WarcInfo,
            Self::Request(_) => RecordType::Request,
            Self::Response(_) => RecordType::Response,
            Self::Revisit { .. } => RecordType::Revisit,
            Self::Metadata(_) => RecordType::Metadata,
            Self::Resource { .. } => RecordType::Resource,
        }
    }

    const fn content_type(&self) -> &'static str {
        match self {
            Self::WarcInfo { .. } | Self::Metadata(_) => "application/warc-fields",
            Self::Request(_) => "application/http;msgtype=request",
            Self::Response(_) | Self::Revisit { .. } => "application/http;msgtype=response",
            Self::Resource { content_type, .. } => content_type,
        }
    }

    const fn capture_mut(&mut self) -> Option<&mut Capture> {
        match self {
            Self::WarcInfo { .. } => None,
            Self::Request(capture)
            | Self::Response(capture)
            | Self::Revisit { capture, .. }
            | Self::Metadata(capture)
            | Self::Resource { capture, .. } => Some(capture),
        }
    }

    fn push_fields(&self, push: &mut impl FnMut(&str, &str)) {
        match self {
            Self::WarcInfo { filename } => {
                if let Some(filename) = filename {
                    push("WARC-Filename", filename);
                }
            }
            Self::Request(capture)
            | Self::Response(capture)
            | Self::Metadata(capture)
            | Self::Resource { capture, .. } => capture.push_fields(push),
            Self::Revisit { capture, profile, refers_to } => {
                capture.push_fields(push);
                push("WARC-Profile", profile.token());
                if let Some(refers_to) = refers_to {
                    push("WARC-Refers-To-Target-URI", refers_to.target_uri.as_str());
                    push("WARC-Refers-To-Date", &refers_to.date.to_string());
                }
            }
        }
    }
}

impl Capture {
    fn push_fields(&self, push: &mut impl FnMut(&str, &str)) {
        let event = &self.event;
        push("WARC-Target-URI", event.target_uri.as_str());
        let optional = [
            ("WARC-IP-Address", event.ip_address.map(|address| address.to_string())),
            ("WARC-Protocol", event.protocol.map(|protocol| protocol.token().to_owned())),
            ("WARC-Warcinfo-ID", event.warcinfo_id.map(|id| id.to_string())),
            ("WARC-Payload-Digest", self.payload_digest.map(|digest| digest.to_string())),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                push(name, &value);
            }
        }
        for id in self.concurrent_to.iter().take(COMPANIONS_MAX) {
            push("WARC-Concurrent-To", &id.to_string());
        }
    }
}
