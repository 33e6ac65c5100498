//! HTTP header fields, and their values: what text they are, Location, Retry-After, Content-Type, Link, Refresh.
//!
//! Each value is read by a pure function of the field, which the HTTP client has limited in length.

mod content_type;
mod headers;
mod link;
mod refresh;
mod retry_after;
mod text;

pub use content_type::{ContentType, content_type};
pub use headers::Headers;
pub use link::{HEADER_LINKS_MAX, HeaderLink, link_header};
pub use refresh::refresh;
pub use retry_after::retry_after;
pub use text::{location, text};

/// RFC 9110 section 5.6.2: what a name in a header field is made of.
const fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '!' | '#' | '$' | '%' | '&' | '\'' | '*' | '+' | '-' | '.' | '^' | '_' | '`' | '|' | '~')
}

/// The text of a quoted string, its escapes undone, and what follows; the text is what stands behind the opening quote.
///
/// A string that is not closed goes on to the end.
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
