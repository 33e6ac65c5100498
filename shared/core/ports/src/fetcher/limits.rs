//! The limits of a request, and the limit that cut a body.

use std::time::Duration;

use dragline_domain::definition::{Fetch, Key};
use dragline_formats::http_fields::{Headers, MediaType};
use serde::{Deserialize, Serialize};

use super::{FetchedResponse, Truncation};

/// The limits of a GET request. Exceeding one cuts or ends only that request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchLimits {
    /// For name lookup, TCP and TLS together.
    pub connect_timeout: Duration,
    /// From the sending of the request to the end of the response header.
    pub first_byte_timeout: Duration,
    /// For the whole exchange. A body that it cuts is kept, flagged [`Truncation::Time`].
    pub total_timeout: Duration,
    /// The size of the header: all names, values and separators together. Independently of this,
    /// there are at most [`FIELDS_MAX`](dragline_formats::warc::FIELDS_MAX) fields.
    pub header_bytes_max: usize,
    /// The size of a body that is parsed, as received, with its content coding. Cut beyond this,
    /// flagged [`Truncation::Length`].
    pub body_bytes_max: usize,
    /// The same for a body that is not parsed; `None` if bodies of all types are.
    pub file_bytes_max: Option<u64>,
    /// The size of a parsed body without its content coding, counted while streaming: a
    /// decompression bomb is cut where it passes the limit. Other bodies are decoded only for
    /// counting, and their limit is this or the one on the received size, whichever is larger.
    pub decoded_bytes_max: u64,
}

/// The use of a body, which decides where it is buffered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BodyUse {
    /// It is parsed, so it stays in memory.
    Read,
    /// It is stored, and parsed only if it is short; a long one goes to disk.
    Kept,
}

/// The limits of one body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyLimits {
    /// The use of the body.
    pub body_use: BodyUse,
    /// The limit on its size as received.
    pub received_bytes_max: u64,
    /// The limit on its size without its content coding.
    pub decoded_bytes_max: u64,
}

impl FetchLimits {
    /// Returns the limits that a definition sets.
    #[must_use]
    pub const fn from_fetch(fetch: &Fetch) -> Self {
        Self {
            connect_timeout: fetch.connect_timeout,
            first_byte_timeout: fetch.first_byte_timeout,
            total_timeout: fetch.timeout,
            header_bytes_max: fetch.header_bytes_max,
            body_bytes_max: fetch.body_bytes_max,
            file_bytes_max: Some(fetch.file_bytes_max),
            decoded_bytes_max: fetch.decoded_bytes_max,
        }
    }

    /// Returns the limits of a request whose answer is parsed whatever its type.
    #[must_use]
    pub const fn reading_all(self) -> Self {
        Self { file_bytes_max: None, ..self }
    }

    /// Returns the limits of a request of whose body, whatever its type, no more than this is
    /// wanted.
    #[must_use]
    pub const fn reading_at_most(self, bytes: usize) -> Self {
        Self { body_bytes_max: bytes, file_bytes_max: None, decoded_bytes_max: bytes as u64, ..self }
    }

    /// Returns the limits of the body that follows a response header; its `Content-Type` decides
    /// whether it is parsed.
    #[must_use]
    pub fn for_body(&self, headers: &Headers) -> BodyLimits {
        let is_read = || MediaType::from_content_type(headers.content_type().as_ref()).is_read();
        match self.file_bytes_max {
            Some(file_bytes_max) if !is_read() => BodyLimits {
                body_use: BodyUse::Kept,
                received_bytes_max: file_bytes_max,
                decoded_bytes_max: self.decoded_bytes_max.max(file_bytes_max),
            },
            Some(_) | None => BodyLimits {
                body_use: BodyUse::Read,
                received_bytes_max: self.body_bytes_max as u64,
                decoded_bytes_max: self.decoded_bytes_max,
            },
        }
    }

    /// Returns the size limit that cut a body; `None` if none did.
    #[must_use]
    pub fn cutting_limit(&self, response: &FetchedResponse) -> Option<BodyLimit> {
        let BodyLimits { body_use, received_bytes_max, decoded_bytes_max } = self.for_body(&response.headers);
        match response.truncated? {
            Truncation::Length if response.body.len_bytes() >= received_bytes_max => Some(match body_use {
                BodyUse::Read => BodyLimit::Received,
                BodyUse::Kept => BodyLimit::File,
            }),
            Truncation::Length if response.decoded_bytes >= decoded_bytes_max => Some(BodyLimit::Decoded),
            Truncation::Length if response.body.in_memory().is_none() => Some(BodyLimit::Disk),
            Truncation::Length => Some(BodyLimit::Memory),
            Truncation::Time | Truncation::Disconnect | Truncation::Coding(_) => None,
        }
    }
}

/// A limit on the size of a stored body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyLimit {
    /// [`Key::FetchBodyBytesMax`]: a parsed body, as received.
    Received,
    /// [`Key::FetchFileBytesMax`]: a body that is not parsed, as received.
    File,
    /// [`Key::FetchDecodedBytesMax`]: the body without its content coding.
    Decoded,
    /// The memory of this process, when many large bodies arrive at once.
    Memory,
    /// The disk space for arriving bodies.
    Disk,
}

impl BodyLimit {
    /// Returns its name for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::File => "file",
            Self::Decoded => "decoded",
            Self::Memory => "memory",
            Self::Disk => "disk",
        }
    }

    /// Returns the reason for the cut and its remedy, for people.
    #[must_use]
    pub fn words(self) -> String {
        let raise =
            |what, key: Key| format!("{what} larger than `{0}`: raise `{0}` to keep all of such bodies", key.name());
        match self {
            Self::Received => raise("it is", Key::FetchBodyBytesMax),
            Self::File => raise("it is", Key::FetchFileBytesMax),
            Self::Decoded => raise("it is, once decompressed,", Key::FetchDecodedBytesMax),
            Self::Memory => {
                let key = Key::FetchBodyBytesMax.name();
                format!("there was no memory for the rest: visit fewer sites at once, or lower `{key}`")
            }
            Self::Disk => {
                let key = Key::FetchFileBytesMax.name();
                format!(
                    "there was no room on disk for the rest: free some, visit fewer sites at once, or lower `{key}`"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn a_type_that_is_read_has_one_limit_and_any_other_type_another() {
        let limits = FetchLimits::from_fetch(&Fetch {
            body_bytes_max: 10 << 20,
            file_bytes_max: 100 * MIB,
            decoded_bytes_max: 50 * MIB,
            ..Fetch::default()
        });
        let read = (BodyUse::Read, 10 * MIB, 50 * MIB);
        let kept = (BodyUse::Kept, 100 * MIB, 100 * MIB);
        for (content_type, expected, why) in [
            (Some("text/html; charset=utf-8"), read, "a page"),
            (Some("application/xhtml+xml"), read, "a page"),
            (Some("application/rss+xml"), read, "a feed"),
            (Some("image/svg+xml"), read, "XML, which may be a sitemap or a feed"),
            (Some("application/ld+json"), read, "JSON"),
            (Some("text/plain"), read, "text"),
            (Some("text/csv"), read, "a table"),
            (Some("text/css"), read, "it names further files"),
            (None, read, "it may be a page"),
            (Some("nonsense"), read, "the same"),
            (Some("application/unknown"), read, "the same"),
            (Some("image/png"), kept, "a picture"),
            (Some("video/mp4"), kept, "a video"),
            (Some("application/zip"), kept, "an archive"),
            (Some("application/gzip"), kept, "another"),
            (Some("application/octet-stream"), kept, "bytes"),
            (Some("application/pdf"), kept, "read only if it is short"),
            (Some("application/vnd.oasis.opendocument.text"), kept, "the same"),
            (Some("text/javascript"), kept, "a script, which nobody reads"),
        ] {
            let headers: Headers = content_type.map(|value| ("Content-Type", value)).into_iter().collect();
            let of = |limits: FetchLimits| {
                let BodyLimits { body_use, received_bytes_max, decoded_bytes_max } = limits.for_body(&headers);
                (body_use, received_bytes_max, decoded_bytes_max)
            };
            assert_eq!(of(limits), expected, "{content_type:?}: {why}");
            assert_eq!(of(limits.reading_all()), read, "{content_type:?}: what is named as a sitemap is read");
        }
        let wide = FetchLimits { decoded_bytes_max: 200 * MIB, ..limits };
        let headers = Headers::from_iter([("Content-Type", "application/zip")]);
        assert_eq!(wide.for_body(&headers).decoded_bytes_max, 200 * MIB, "no less than for what is read");
    }

    #[test]
    fn what_was_cut_says_by_which_limit_and_what_to_raise() {
        let limits = FetchLimits { file_bytes_max: Some(8), body_bytes_max: 4, decoded_bytes_max: 6, ..LIMITS };
        for (content_type, body, decoded_bytes, truncated, expected, said, why) in [
            (
                "text/html",
                "1234",
                4,
                Some(Truncation::Length),
                Some(BodyLimit::Received),
                "fetch.body_bytes_max",
                "a page",
            ),
            (
                "image/png",
                "12345678",
                8,
                Some(Truncation::Length),
                Some(BodyLimit::File),
                "fetch.file_bytes_max",
                "a picture",
            ),
            (
                "text/html",
                "123",
                6,
                Some(Truncation::Length),
                Some(BodyLimit::Decoded),
                "fetch.decoded_bytes_max",
                "packed",
            ),
            ("image/png", "123", 6, Some(Truncation::Length), Some(BodyLimit::Memory), "memory", "no limit of its own"),
            ("image/png", "12345678", 8, None, None, "", "just as long"),
            ("image/png", "1234", 4, Some(Truncation::Time), None, "", "late"),
        ] {
            let response = FetchedResponse {
                status: 200,
                reason: String::new(),
                protocol: None,
                headers: Headers::from_iter([("Content-Type", content_type)]),
                body: body.into(),
                truncated,
                decoded_sha1: [0; 20],
                decoded_bytes,
            };
            assert_eq!(limits.cutting_limit(&response), expected, "{why}");
            assert!(expected.is_none_or(|limit| limit.words().contains(said)), "{why}: {expected:?}");
        }
    }

    const LIMITS: FetchLimits = FetchLimits {
        connect_timeout: Duration::ZERO,
        first_byte_timeout: Duration::ZERO,
        total_timeout: Duration::ZERO,
        header_bytes_max: 0,
        body_bytes_max: 0,
        file_bytes_max: None,
        decoded_bytes_max: 0,
    };
}
