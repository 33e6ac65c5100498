//! Answers as people read them on a terminal.

use dragline_formats::http_fields;
use dragline_service::stored::{Content, StoredError};

use crate::terminal::safe_text;

/// Returns the status line, the header fields and the empty line, escaped for a terminal.
pub(super) fn head(content: &Content<'_>) -> String {
    let lines = content.head.split(|byte| *byte == b'\n').map(http_fields::text);
    safe_text(&lines.collect::<Vec<_>>().join("\n")).into_owned()
}

/// Returns the body in its declared character set, escaped for a terminal.
///
/// # Errors
/// It is not text.
pub(super) fn body(content: &Content<'_>) -> Result<String, StoredError> {
    Ok(safe_text(&content.decoded_text()?).into_owned())
}

#[cfg(test)]
mod tests {
    use dragline_formats::http_fields::Headers;
    use dragline_formats::warc::http_response_head;
    use dragline_service::stored::{Coding, content_in};

    use super::*;
    use crate::error::Failure;

    fn block(fields: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
        let headers: Headers = fields.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
        [http_response_head(200, "OK", &headers, body.len() as u64), body.to_vec()].concat()
    }

    #[test]
    fn control_characters_are_escaped_for_people() {
        let html = ("Content-Type", "text/html; charset=iso-8859-1");
        let image = ("Content-Type", "image/png");
        for (field, body, expected, why) in [
            (
                html,
                b"caf\xe9\r\n\ta\x1b[2J".as_slice(),
                Some("caf\u{e9}\n\ta\\u{1b}[2J"),
                "in the declared character set",
            ),
            (html, b"ding\x07", Some("ding\\u{7}"), "an odd character in a text"),
            (html, b"\0\0", None, "no text"),
            (("Content-Type", "application/ld+json"), b"{}", Some("{}"), "JSON"),
            (image, b"\x89PNG\r\n\x1a\n\0", None, "an image"),
            (image, b"<svg/>", Some("<svg/>"), "of the wrong type"),
            (("X", "no type"), b"plain \xc3\xa4", Some("plain \u{e4}"), "UTF-8"),
            (("X", "no type"), b"\x02", None, "no character of a text"),
            (("X", "no type"), b"", Some(""), "nothing"),
        ] {
            let block = block(&[field], body);
            let content = content_in(&block, None, Coding::Kept).unwrap();
            let refused =
                "error: the body is not text, which a terminal could not show\nhint: write it to a file: add `> FILE`";
            let text = super::body(&content).map_err(|error| Failure::from(error).shown());
            assert_eq!(text.as_deref(), expected.ok_or(&refused.to_owned()), "{why}");
        }
        let block = block(&[("X-Odd", "a\u{9b}2J"), ("Server", "caf\u{e9}")], b"text");
        let content = content_in(&block, None, Coding::Kept).unwrap();
        assert_eq!(
            head(&content),
            "HTTP/1.1 200 OK\nX-Odd: a\\u{9b}2J\nServer: caf\u{e9}\n\n",
            "each field on its line"
        );
        assert!(content.head.ends_with(b"Server: caf\xc3\xa9\r\n\r\n"), "programs get it as it is stored");
    }
}
