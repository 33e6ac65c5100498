//! The end of a body, if the client would find another end than browsers do.

use dragline_ports::fetcher::Truncation;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, Version};

use crate::failure;

/// How the end of a body is found (RFC 9112, section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// By its length, its chunks or its frames, which the client counts.
    Counted,
    /// By the end of the connection.
    UntilClosed,
    /// By its length, despite the transfer coding `identity`, which is none. The client would wait
    /// for the end of the connection; browsers do not.
    Length(usize),
}

impl Framing {
    pub(crate) fn from_response(response: &reqwest::Response) -> Self {
        match response.version() {
            Version::HTTP_10 | Version::HTTP_11 => Self::from_headers(response.headers()),
            _ => Self::Counted,
        }
    }

    fn from_headers(headers: &HeaderMap) -> Self {
        let length = || elements(headers, &CONTENT_LENGTH).next().and_then(|length| length.parse().ok());
        let mut codings = elements(headers, &TRANSFER_ENCODING).peekable();
        if codings.peek().is_none() {
            return if headers.contains_key(CONTENT_LENGTH) { Self::Counted } else { Self::UntilClosed };
        }
        let is_identity = codings.all(|coding| coding.eq_ignore_ascii_case("identity"));
        let is_chunked = elements(headers, &TRANSFER_ENCODING).any(|coding| coding.eq_ignore_ascii_case("chunked"));
        match length().filter(|_| is_identity) {
            Some(length) => Self::Length(length),
            None if is_chunked => Self::Counted,
            None => Self::UntilClosed,
        }
    }

    /// Returns the most bytes of the body that may still come.
    pub(crate) fn bytes_left(self, received: usize) -> usize {
        match self {
            Self::Counted | Self::UntilClosed => usize::MAX,
            Self::Length(length) => length.saturating_sub(received),
        }
    }

    /// Returns why a body is incomplete that the client considers complete.
    pub(crate) fn cut_at_end(self, received: usize) -> Option<Truncation> {
        let is_short = matches!(self, Self::Length(length) if received < length);
        is_short.then_some(Truncation::Disconnect)
    }

    /// Returns why a body that ended with this error is incomplete; `None` if it is complete. Many
    /// servers close a TLS connection without a closing alert (RFC 8446, section 6.1), which the
    /// client takes for an error. Browsers do not, and an attacker who can cut the connection can
    /// do the same to plain HTTP.
    pub(crate) fn cut_by(self, error: &reqwest::Error) -> Option<Truncation> {
        let is_end = self == Self::UntilClosed && failure::is_end(error);
        (!is_end).then_some(Truncation::Disconnect)
    }
}

/// Returns the elements of a list field.
fn elements<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim).filter(|element| !element.is_empty())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn the_end_is_where_browsers_find_it() {
        use Framing::{Counted, Length, UntilClosed};
        type Row = (&'static [&'static str], &'static [&'static str], Framing, &'static str);
        let table: [Row; 10] = [
            (&[], &[], UntilClosed, "neither"),
            (&[], &["5"], Counted, "a length, which the client counts"),
            (&["chunked"], &[], Counted, "chunks"),
            (&["chunked"], &["5"], Counted, "the chunks count"),
            (&["gzip, chunked"], &[], Counted, "chunks of gzip"),
            (&["identity"], &["5"], Length(5), "no transfer coding at all"),
            (&["Identity", ""], &["5, 5"], Length(5), "said twice, in any case"),
            (&["identity"], &[], UntilClosed, "no length either"),
            (&["identity"], &["five"], UntilClosed, "no length that can be read"),
            (&["gzip"], &["5"], UntilClosed, "the length of something else"),
        ];
        for (codings, lengths, expected, why) in table {
            let fields = |name: HeaderName, values: &[&'static str]| {
                values.iter().map(|value| (name.clone(), HeaderValue::from_static(value))).collect::<Vec<_>>()
            };
            let mut headers = HeaderMap::new();
            for (name, value) in fields(TRANSFER_ENCODING, codings).into_iter().chain(fields(CONTENT_LENGTH, lengths)) {
                headers.append(name, value);
            }
            assert_eq!(Framing::from_headers(&headers), expected, "{why}");
        }
    }
}
