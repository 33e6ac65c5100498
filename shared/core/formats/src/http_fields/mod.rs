//! HTTP header fields and their values: as text, and Location, Retry-After, Content-Type, Link,
//! Refresh and Set-Cookie.
//!
//! Each value is parsed by a pure function of the field, whose length the HTTP client has limited.

mod content_type;
mod cookies;
mod headers;
mod media_type;
mod references;

use std::time::Duration;

pub use content_type::{ContentType, content_type};
pub use cookies::cookies_for;
use dragline_domain::politeness::RETRY_AFTER_MAX;
pub use headers::{Headers, text};
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
pub use media_type::{MediaType, is_feed};
pub use references::{HEADER_LINKS_MAX, HeaderLink, link_header, location, refresh};

/// Whether this character is allowed in the name of a header field (RFC 9110 section 5.6.2).
const fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '!' | '#' | '$' | '%' | '&' | '\'' | '*' | '+' | '-' | '.' | '^' | '_' | '`' | '|' | '~')
}

/// Reads a quoted string from after its opening quote, and returns its text without escapes, and
/// the rest.
///
/// An unclosed string continues to the end.
fn quoted_string(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => value.extend(chars.next()),
            _ => value.push(c),
        }
    }
    (value, chars.as_str())
}

/// Returns how long a response's `Retry-After` fields ask us to wait from `now` (RFC 9110 section
/// 10.2.3), at most [`RETRY_AFTER_MAX`]: the longest of several. `None` if none is readable.
#[must_use]
pub fn retry_after(headers: &Headers, now: Timestamp) -> Option<Duration> {
    headers.texts("retry-after").filter_map(|value| wait(&value, now)).max().map(|wait| wait.min(RETRY_AFTER_MAX))
}

/// Reads seconds, also with a fraction, or a date; a past date means no wait.
fn wait(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    let (whole, fraction) = value.split_once('.').unwrap_or((value, "0"));
    if [whole, fraction].iter().all(|part| !part.is_empty() && part.bytes().all(|octet| octet.is_ascii_digit())) {
        let more = u64::from(fraction.bytes().any(|octet| octet != b'0'));
        // A number too large to parse is a long wait.
        return Some(whole.parse::<u64>().map_or(RETRY_AFTER_MAX, |s| Duration::from_secs(s.saturating_add(more))));
    }
    // A failed conversion means a negative wait: the date has passed.
    Some(Duration::try_from(date(value)?.duration_since(now)).unwrap_or(Duration::ZERO))
}

/// Reads a date in any of the three forms of HTTP, or in those of mail (RFC 5322) and of the web
/// (RFC 3339), which some programs use instead. A day name that contradicts its date is ignored.
fn date(value: &str) -> Option<Timestamp> {
    if let Ok(date) = httpdate::parse_http_date(value) {
        // A date too far away to convert is a long wait.
        return Some(Timestamp::try_from(date).unwrap_or(Timestamp::MAX));
    }
    let lenient = DateTimeParser::new().relaxed_weekday(true);
    let utc = ["UTC", "Z"].iter().find_map(|zone| value.strip_suffix(zone));
    let mail = utc.map_or_else(|| value.to_owned(), |date| format!("{date}GMT"));
    let web = || value.parse().ok();
    lenient.parse_timestamp(&mail).ok().or_else(web)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_read() {
        let now: Timestamp = "1994-11-06T08:49:00Z".parse().unwrap();
        for (value, expected, why) in [
            ("120", Some(120), "seconds"),
            (" 0 ", Some(0), "at once"),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(37), "the preferred form"),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(37), "RFC 850's form"),
            ("Sun Nov  6 08:49:37 1994", Some(37), "asctime's form"),
            ("Sun, 06 Nov 1994 08:48:37 GMT", Some(0), "a date that has passed"),
            ("86401", Some(86_400), "more than a day"),
            ("Sun, 06 Nov 2044 08:49:37 GMT", Some(86_400), "decades"),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(86_400), "the last date that can be written"),
            ("99999999999999999999999", Some(86_400), "more than fits"),
            ("", None, "nothing"),
            ("soon", None, "neither"),
            ("-1", None, "no number of seconds"),
            ("3.5", Some(4), "a fraction: the longer reading"),
            ("3.0", Some(3), "a fraction of nothing"),
            ("3.", None, "no number"),
            ("1.2.3", None, "nor is this"),
            ("Sun, 06 Nov 1994 08:49:37 UTC", Some(37), "as Python's email writes it"),
            ("Sun, 06 Nov 1994 08:49:37 +0000", Some(37), "as mail writes it"),
            ("Sun, 06 Nov 1994 09:49:37 +0100", Some(37), "in another zone"),
            ("Mon, 06 Nov 1994 08:49:37 GMT", Some(37), "the wrong day of the week"),
            ("Mon, 06 Nov 1994 08:49:37 UTC", Some(37), "both"),
            ("1994-11-06T08:49:37Z", Some(37), "as programs write it"),
            ("Sun, 06 Nov 1994 08:49:37 CET", Some(37), "a zone without a meaning is UTC (RFC 5322, section 4.3)"),
            ("Sun, 36 Nov 1994 08:49:37 GMT", None, "no such day"),
        ] {
            let headers = Headers::from_iter([("Retry-After", value.as_bytes())]);
            assert_eq!(retry_after(&headers, now), expected.map(Duration::from_secs), "{value:?}: {why}");
        }
        let several = Headers::from_iter(["3", "soon", "7"].map(|value| ("Retry-After", value.as_bytes())));
        assert_eq!(retry_after(&several, now), Some(Duration::from_secs(7)), "the longest of several");
    }
}
