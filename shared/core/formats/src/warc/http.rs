//! HTTP messages as blocks of records.
//!
//! A message is stored in its HTTP/1.1 form, with the content coding but without the transfer
//! coding, which is removed before the body gets here. Two fields are renamed if they are no longer
//! true, so that readers do not undo the coding again or wait for missing bytes: see
//! [`http_response_head`].

use super::limits::{HEAD_BYTES_MAX, HEAD_FIELDS_MAX, REASON_BYTES_MAX};
use crate::http_fields::Headers;

/// The prefix for the name of a field that is no longer true of the stored message, from the
/// Wayback Machine.
const ORIGINAL_PREFIX: &str = "X-Archive-Orig-";
/// Room in a head for a length that may be added, and for the empty line.
const LENGTH_BYTES_MAX: usize = 64;

/// A response read back from its block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResponse<'a> {
    /// The status code, 0 to 999.
    pub status: u16,
    /// The reason phrase; often empty.
    pub reason: String,
    /// The fields in order, including `X-Archive-Orig-` names.
    pub headers: Headers,
    /// The body in its content coding.
    pub body: &'a [u8],
}

/// The reason why a block is not a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpResponseError {
    /// It does not begin with `HTTP/`, a version and a status of up to three digits.
    #[error("the block does not begin with an HTTP status line")]
    NoStatusLine,
    /// Status line and fields are longer than [`HEAD_BYTES_MAX`] or more than [`HEAD_FIELDS_MAX`].
    #[error("the fields of the HTTP message are too long or too many")]
    HeadTooLarge,
}

/// Builds the head of a `response` record's block, up to the empty line; the body, of this length,
/// follows it.
///
/// - The status line says `HTTP/1.1` whatever the protocol was, as readers expect no other.
/// - `Transfer-Encoding` is renamed `X-Archive-Orig-Transfer-Encoding`.
/// - A `Content-Length` that is not the length of the body (it was cut short, or several lengths
///   contradict each other) is renamed `X-Archive-Orig-Content-Length`, and the true one added
///   last.
/// - Characters that would end a line or a name early are replaced: by spaces in values, by `_` in
///   names.
/// - A reason is cut at [`REASON_BYTES_MAX`]; fields beyond [`HEAD_FIELDS_MAX`] and
///   [`HEAD_BYTES_MAX`] are left out, as they could not be read back.
#[must_use]
pub fn http_response_head(status: u16, reason: &str, headers: &Headers, body_bytes: u64) -> Vec<u8> {
    let length = body_bytes.to_string();
    let mut is_length_wrong = false;
    let mut head = Head::begin(status, reason);
    for (name, value) in headers.iter() {
        let is_wrong = name.eq_ignore_ascii_case("content-length") && value.trim_ascii() != length.as_bytes();
        is_length_wrong |= is_wrong;
        head.push(name, value, if is_wrong { Truth::Past } else { field_truth(name) });
    }
    let mut block = head.block;
    if is_length_wrong {
        push_header(&mut block, "Content-Length", length.as_bytes(), Truth::Present);
    }
    block.extend_from_slice(b"\r\n");
    block
}

/// Builds the block of a `revisit` record: like [`http_response_head`], but `Content-Length` stays
/// as received, as it describes the body that is stored elsewhere.
#[must_use]
pub fn http_revisit_head(status: u16, reason: &str, headers: &Headers) -> Vec<u8> {
    let mut head = Head::begin(status, reason);
    for (name, value) in headers.iter() {
        head.push(name, value, field_truth(name));
    }
    head.block.extend_from_slice(b"\r\n");
    head.block
}

/// Builds the block of a `request` record without a body; `target` is path and query.
#[must_use]
pub fn http_request_block(method: &str, target: &str, headers: &Headers) -> Vec<u8> {
    let mut block = Vec::with_capacity(256);
    push_name(&mut block, method);
    block.push(b' ');
    block.extend_from_slice(super::TargetUri::new(target).as_str().as_bytes());
    block.extend_from_slice(b" HTTP/1.1\r\n");
    for (name, value) in headers.iter() {
        push_header(&mut block, name, value, Truth::Present);
    }
    block.extend_from_slice(b"\r\n");
    block
}

/// Parses the block of a `response` or `revisit` record, our own or another writer's.
///
/// Lines may end in LF alone, and values may continue on the next line; lines without a colon are
/// skipped; if the head never ends, there is no body.
///
/// # Errors
///
/// Fails if there is no status line, or the head exceeds the limits.
pub fn parse_http_response(block: &[u8]) -> Result<HttpResponse<'_>, HttpResponseError> {
    let mut rest = block;
    let (status, reason) = parse_status_line(next_line(&mut rest)).ok_or(HttpResponseError::NoStatusLine)?;
    let headers = parse_fields(block, &mut rest)?;
    Ok(HttpResponse { status, reason, headers, body: rest })
}

/// Parses the fields of a message, up to its empty line; `rest` is the part after its first line,
/// and then its body.
pub(super) fn parse_fields(block: &[u8], rest: &mut &[u8]) -> Result<Headers, HttpResponseError> {
    let mut headers: Headers = Headers::default();
    while !rest.is_empty() {
        let line = next_line(rest);
        if block.len() - rest.len() > HEAD_BYTES_MAX {
            return Err(HttpResponseError::HeadTooLarge);
        }
        if line.is_empty() {
            break;
        }
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            if let Some(value) = headers.last_mut() {
                value.push(b' ');
                value.extend_from_slice(line.trim_ascii());
            }
        } else if let Some(colon) = line.iter().position(|&byte| byte == b':') {
            if headers.len() == HEAD_FIELDS_MAX {
                return Err(HttpResponseError::HeadTooLarge);
            }
            let name = String::from_utf8_lossy(line[..colon].trim_ascii()).into_owned();
            headers.push(name, line[colon + 1..].trim_ascii());
        }
    }
    Ok(headers)
}

/// Takes a line off the front, without its line end.
pub(super) fn next_line<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let end = rest.iter().position(|&byte| byte == b'\n');
    let (line, after) = match end {
        Some(end) => (&rest[..end], &rest[end + 1..]),
        None => (*rest, &[][..]),
    };
    *rest = after;
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn parse_status_line(line: &[u8]) -> Option<(u16, String)> {
    let line = line.get(..line.len().min(HEAD_BYTES_MAX))?.strip_prefix(b"HTTP/")?;
    let text = String::from_utf8_lossy(line);
    let (_version, rest) = text.split_once(' ')?;
    let rest = rest.trim_start();
    let (code, reason) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_code = (1..=3).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_digit());
    Some((code.parse().ok().filter(|_| is_code)?, reason.trim_ascii().to_owned()))
}

/// A response's head in progress. Its source keeps these limits already; this makes sure.
struct Head {
    block: Vec<u8>,
    fields: usize,
}

impl Head {
    fn begin(status: u16, reason: &str) -> Self {
        let mut block = format!("HTTP/1.1 {status:03} ").into_bytes();
        block.extend(safe_value(&reason.as_bytes()[..reason.floor_char_boundary(REASON_BYTES_MAX)]));
        block.extend_from_slice(b"\r\n");
        Self { block, fields: 0 }
    }

    /// Adds a field if the head stays within the limits with it and with a length.
    fn push(&mut self, name: &str, value: &[u8], truth: Truth) {
        let end = self.block.len();
        if self.fields + 1 >= HEAD_FIELDS_MAX || end + name.len() + value.len() > HEAD_BYTES_MAX {
            return;
        }
        push_header(&mut self.block, name, value, truth);
        if self.block.len() + LENGTH_BYTES_MAX > HEAD_BYTES_MAX {
            self.block.truncate(end);
        } else {
            self.fields += 1;
        }
    }
}

/// Whether a field still describes the message as stored.
#[derive(Clone, Copy)]
enum Truth {
    Present,
    Past,
}

fn field_truth(name: &str) -> Truth {
    if name.eq_ignore_ascii_case("transfer-encoding") { Truth::Past } else { Truth::Present }
}

fn push_header(block: &mut Vec<u8>, name: &str, value: &[u8], truth: Truth) {
    if matches!(truth, Truth::Past) {
        block.extend_from_slice(ORIGINAL_PREFIX.as_bytes());
    }
    push_name(block, name);
    block.extend_from_slice(b": ");
    block.extend(safe_value(value));
    block.extend_from_slice(b"\r\n");
}

/// Appends a token (RFC 9110 §5.6.2): other characters become `_`.
fn push_name(block: &mut Vec<u8>, name: &str) {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    match name {
        "" => block.push(b'_'),
        name if name.chars().all(is_token) => block.extend_from_slice(name.as_bytes()),
        name => block.extend(name.chars().map(|c| u8::try_from(c).ok().filter(|_| is_token(c)).unwrap_or(b'_'))),
    }
}

/// Control characters other than the tab become spaces (RFC 9110 §5.5); bytes beyond ASCII stay as
/// received.
fn safe_value(value: &[u8]) -> impl Iterator<Item = u8> {
    value.iter().map(|&byte| if byte.is_ascii_control() && byte != b'\t' { b' ' } else { byte })
}
