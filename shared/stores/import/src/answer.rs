//! Reading an archived answer as if it had just arrived.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::Duration;

use dragline_formats::blob::{Blob, Spool, SpoolWriter};
use dragline_formats::content_coding::{ContentCodings, Cut, decoded_sha1, is_binary};
use dragline_formats::http_fields::Headers;
use dragline_formats::warc::{
    self, Extent, HEAD_BYTES_MAX, HttpResponse, OthersRecord, OthersResponse, ReadLimits, read_others_record_into,
    read_others_request, read_others_response,
};
use dragline_ports::fetcher::{BodyUse, FetchLimits, FetchOutcome, FetchedResponse, Truncation};

use crate::archives::RecordFile;
use crate::index::{Capture, Kind, RecordLocation};

/// Reads an answer, within the limits of a crawl.
///
/// # Errors
/// Returns why it cannot be read: its file is missing or has changed.
pub(crate) fn read(
    files: &[RecordFile],
    capture: &Capture,
    limits: &FetchLimits,
    spool: &Spool,
) -> Result<FetchOutcome, String> {
    let own = record(files, capture.place, limits, &mut io::sink())?;
    let remote = own.record.ip_address().map(|ip| SocketAddr::new(ip, capture.url.port()));
    let protocol = own.record.protocol();
    let message = match capture.kind {
        Kind::Response => Message::from_response(&own)?.with_rest(files, capture.place, limits, spool)?,
        Kind::Resource => Message::from_resource(&own).with_rest(files, capture.place, limits, spool)?,
        Kind::Revisit(place) => {
            let answer = Message::from_response(&record(files, place, limits, &mut io::sink())?)?;
            answer.with_rest(files, place, limits, spool)?.with_head_from(&own)
        }
    };
    let request_headers = match capture.request.map(|place| record(files, place, limits, &mut io::sink())) {
        Some(Ok(request)) => read_others_request(&request.record).map(|request| request.headers).unwrap_or_default(),
        Some(Err(_)) | None => Headers::default(),
    };
    Ok(FetchOutcome {
        request_headers,
        remote,
        first_byte: None,
        elapsed: Duration::ZERO,
        archived_at: Some(capture.at),
        unprocessed: None,
        result: Ok(message.within(limits, protocol).map_err(|error| error.to_string())?),
    })
}

/// Reads a record, up to the largest body that is parsed. The rest is written to `rest`.
fn record(
    files: &[RecordFile],
    place: RecordLocation,
    limits: &FetchLimits,
    rest: &mut dyn Write,
) -> Result<OthersRecord, String> {
    let file = files.get(place.file as usize).ok_or_else(|| "its file was not given".to_owned())?;
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", file.name);
    let from_offset = file.open_at(place.record.offset).map_err(|error| failed(&error))?;
    let block_bytes_max = (HEAD_BYTES_MAX + limits.body_bytes_max) as u64;
    let held = ReadLimits { block_bytes_max, ..ReadLimits::default() };
    read_others_record_into(from_offset, place.record, held, rest).map_err(|error| failed(&error))
}

/// An answer before the limits of a crawl are applied.
struct Message {
    status: u16,
    reason: String,
    headers: Headers,
    body: Blob,
    truncated: Option<Truncation>,
    /// The unread rest of the body.
    rest: Rest,
}

/// The unread rest of a body that is longer than pages that are parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// There is none.
    None,
    /// It follows in the record.
    Follows,
    /// It follows in chunks, which can only be joined in memory.
    InChunks,
}

impl Message {
    fn from_response(read: &OthersRecord) -> Result<Self, String> {
        let response = read_others_response(&read.record).map_err(|error| error.to_string())?;
        let OthersResponse { message: HttpResponse { status, reason, headers, body: message_body }, body, .. } =
            response;
        let message_bytes = message_body.len();
        let stated = read.record.truncated().map(stated);
        let truncated = match read.extent {
            Extent::Whole => stated.filter(|_| read.record.record_type == warc::RecordType::Response),
            Extent::CutShort { .. } => Some(Truncation::Disconnect),
            Extent::OverLimit { .. } => Some(Truncation::Length),
        };
        let rest = match read.extent {
            Extent::OverLimit { .. } if body.len() == message_bytes => Rest::Follows,
            Extent::OverLimit { .. } => Rest::InChunks,
            Extent::Whole | Extent::CutShort { .. } => Rest::None,
        };
        Ok(Self { status, reason, headers, body: body.into_owned().into(), truncated, rest })
    }

    fn from_resource(read: &OthersRecord) -> Self {
        let content_type = read.record.fields.get("Content-Type").map(|value| ("Content-Type", value));
        let truncated = match read.extent {
            Extent::Whole => None,
            Extent::CutShort { .. } => Some(Truncation::Disconnect),
            Extent::OverLimit { .. } => Some(Truncation::Length),
        };
        Self {
            status: 200,
            reason: "OK".to_owned(),
            headers: Headers::from_iter(content_type),
            body: read.record.block.clone().into(),
            truncated,
            rest: if matches!(read.extent, Extent::OverLimit { .. }) { Rest::Follows } else { Rest::None },
        }
    }

    /// Replaces the head of the original answer by that of the revisit, if it has one.
    fn with_head_from(self, revisit: &OthersRecord) -> Self {
        match read_others_response(&revisit.record) {
            Ok(OthersResponse { message: HttpResponse { status, reason, headers, .. }, .. }) => {
                Self { status, reason, headers, ..self }
            }
            Err(_) => self,
        }
    }

    /// Reads the rest of a body that is too long to be parsed, if a crawl keeps it.
    fn with_rest(
        mut self,
        files: &[RecordFile],
        place: RecordLocation,
        limits: &FetchLimits,
        spool: &Spool,
    ) -> Result<Self, String> {
        let of_body = limits.for_body(&self.headers);
        if self.rest != Rest::Follows || of_body.body_use == BodyUse::Read {
            return Ok(self);
        }
        let failed = |error: io::Error| error.to_string();
        let mut writer =
            CappedWriter { writer: spool.begin(), left_bytes: of_body.received_bytes_max.saturating_add(1) };
        self.body.copy_to(&mut writer).map_err(failed)?;
        let read = record(files, place, limits, &mut writer)?;
        if matches!(read.extent, Extent::OverLimit { .. }) && writer.left_bytes > 0 {
            self.truncated = read.record.truncated().map(stated);
        }
        self.body = writer.writer.finish().map_err(failed)?;
        Ok(self)
    }

    /// Cuts the body where a crawl would, and measures it.
    fn within(mut self, limits: &FetchLimits, protocol: Option<warc::HttpProtocol>) -> io::Result<FetchedResponse> {
        let of_body = limits.for_body(&self.headers);
        if self.body.len_bytes() > of_body.received_bytes_max {
            self.body = self.body.part(0..of_body.received_bytes_max);
            self.truncated = Some(Truncation::Length);
        }
        let Self { status, reason, headers, body, truncated, .. } = self;
        let named = ContentCodings::parse(headers.all("content-encoding")).unwrap_or(ContentCodings::IDENTITY);
        let digest = decoded_sha1(&named, &body, of_body.decoded_bytes_max)?;
        let is_text = || headers.content_type().is_some_and(|kind| kind.is_text());
        let is_no_text = || body.beginning(LOOK_BYTES).is_ok_and(|bytes| is_binary(&bytes));
        let truncated = truncated.or_else(|| match digest.cut? {
            Cut::Limit => Some(Truncation::Length),
            // Some programs keep the header field after decoding the body.
            cut if cut.is_of_name() && !(is_text() && is_no_text()) => None,
            Cut::Failed(error) => Some(Truncation::Coding(error)),
        });
        Ok(FetchedResponse {
            status,
            reason,
            protocol,
            headers,
            body,
            truncated,
            decoded_sha1: *digest.sha1.as_bytes(),
            decoded_bytes: digest.decoded_bytes,
        })
    }
}

/// The number of bytes of a body that are checked for text.
const LOOK_BYTES: u64 = 4 << 10;

const fn stated(reason: warc::Truncation) -> Truncation {
    match reason {
        warc::Truncation::Length | warc::Truncation::Unspecified => Truncation::Length,
        warc::Truncation::Time => Truncation::Time,
        warc::Truncation::Disconnect => Truncation::Disconnect,
    }
}

/// Keeps this many bytes, and discards the rest.
struct CappedWriter {
    writer: SpoolWriter,
    left_bytes: u64,
}

impl Write for CappedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let kept = usize::try_from(self.left_bytes).unwrap_or(usize::MAX).min(bytes.len());
        self.writer.write_all(&bytes[..kept])?;
        self.left_bytes -= kept as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
