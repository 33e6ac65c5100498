//! HTTP header fields and their values: as text, and Location, Retry-After, Content-Type, Link, Refresh and Set-Cookie.
//!
//! Each value is read by a pure function of the field, whose length the HTTP client has limited.

mod content_type;
mod cookies;
mod headers;
mod references;

use std::time::Duration;

pub use content_type::{ContentType, content_type};
pub use cookies::cookies_for;
use dragline_domain::politeness::RETRY_AFTER_MAX;
pub use headers::{Headers, text};
use jiff::Timestamp;
pub use references::{HEADER_LINKS_MAX, HeaderLink, link_header, location, refresh};

/// Whether a name in a header field may have this character (RFC 9110 section 5.6.2).
const fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '!' | '#' | '$' | '%' | '&' | '\'' | '*' | '+' | '-' | '.' | '^' | '_' | '`' | '|' | '~')
}

/// Reads a quoted string from after its opening quote: returns its text without escapes, and the rest.
///
/// A string that is not closed continues to the end.
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

/// Returns how long a `Retry-After` asks us to wait from `now` (RFC 9110 section 10.2.3), at most [`RETRY_AFTER_MAX`].
///
/// Whole seconds, or a date in any of the three forms of HTTP; a date that has passed means no wait. `None` if it is neither.
#[must_use]
pub fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    let wait = if !value.is_empty() && value.bytes().all(|octet| octet.is_ascii_digit()) {
        // A number too large to parse is a long wait.
        value.parse().map_or(RETRY_AFTER_MAX, Duration::from_secs)
    } else {
        let date = httpdate::parse_http_date(value).ok()?;
        // So is a date too far away.
        Timestamp::try_from(date).map_or(RETRY_AFTER_MAX, |date| {
            // What fails to convert is negative: the date has passed.
            Duration::try_from(date.duration_since(now)).unwrap_or(Duration::ZERO)
        })
    };
    Some(wait.min(RETRY_AFTER_MAX))
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
            ("1.5", None, "nor is a fraction"),
            ("Sun, 06 Nov 1994 08:49:37 CET", None, "HTTP's dates are in GMT"),
            ("Sun, 36 Nov 1994 08:49:37 GMT", None, "no such day"),
        ] {
            assert_eq!(retry_after(value, now), expected.map(Duration::from_secs), "{value:?}: {why}");
        }
    }
}
