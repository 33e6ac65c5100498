//! Where a body ends, if the client would find another end than browsers do.

use dragline_ports::fetcher::Truncation;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, Version};

use crate::failure;

/// How the end of a body is found (RFC 9112, section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// By its length, its chunks or its frames, which the client counts.
    Counted,
    /// It ends with the connection.
    UntilClosed,
    /// By its length, although there is a transfer coding: `identity`, which is none. The client would wait until the
    /// connection ends; browsers do not.
    Length(usize),
}

impl Framing {
    pub(crate) fn from_response(response: &reqwest::Response) -> Self {
        match response.version() {
            Version::HTTP_10 | Version::HTTP_11 => Self::of_fields(response.headers()),
            _ => Self::Counted,
        }
    }

    fn of_fields(headers: &HeaderMap) -> Self {
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

    /// Returns how much of the body is still to come, at most.
    pub(crate) fn bytes_left(self, received: usize) -> usize {
        match self {
            Self::Counted | Self::UntilClosed => usize::MAX,
            Self::Length(length) => length.saturating_sub(received),
        }
    }

    /// Returns why a body is not whole that the client takes to be at its end.
    pub(crate) fn cut_at_end(self, received: usize) -> Option<Truncation> {
        let is_short = matches!(self, Self::Length(length) if received < length);
        is_short.then_some(Truncation::Disconnect)
    }

    /// Returns why a body is not whole that ended with this error; `None` if it is whole. Many servers close a TLS
    /// connection without saying so first (RFC 8446, section 6.1), which the client takes for an error. Browsers do
    /// not, and whoever can cut the connection can do as much to a body of plain HTTP.
    pub(crate) fn cut_by(self, error: &reqwest::Error) -> Option<Truncation> {
        let is_end = self == Self::UntilClosed && failure::is_end(error);
        (!is_end).then_some(Truncation::Disconnect)
    }
}

/// The elements of a field that is a list.
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
            assert_eq!(Framing::of_fields(&headers), expected, "{why}");
        }
    }
}
