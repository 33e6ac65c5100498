//! Tests of robots.txt as a whole, and of malicious bodies.

mod google;
mod oracle;
mod rfc;
mod statements;

use proptest::prelude::*;

use super::{BODY_BYTES_MAX, Robots};

/// Whether a crawler with this product token may fetch this path and query.
fn allowed(body: &str, product_token: &str, path_and_query: &str) -> bool {
    Robots::parse(body.as_bytes(), product_token).verdict(path_and_query).is_allowed()
}

/// Matches by the definition, in exponential time. Both sides are compared as written.
pub(super) fn matches_by_definition(pattern: &[u8], path: &[u8]) -> bool {
    match (pattern, path) {
        ([], _) => true,
        ([b'$'], path) => path.is_empty(),
        ([b'*', rest @ ..], path) => (0..=path.len()).any(|i| matches_by_definition(rest, &path[i..])),
        ([p, rest @ ..], [c, path @ ..]) => p == c && matches_by_definition(rest, path),
        (_, []) => false,
    }
}

#[test]
fn long_lines_of_multibyte_characters_are_read() {
    // The parser by itself would cut such a line inside a character, and panic.
    let body = format!("User-agent: us\nDisallow: /{}\nDisallow: /b\n", "a".repeat(16_660) + &"ツ".repeat(5_000));
    assert!(!Robots::parse(body.as_bytes(), "us").verdict("/b").is_allowed());
}

#[test]
fn a_megabyte_of_any_content_is_read() {
    for octet in [b'*', b'%', b'/', b'\r', b'\n', b':', b'#', b' ', 0x00, 0x80, 0xEF, 0xFF] {
        let mut body = b"User-agent: us\nDisallow: /b\nDisallow: /".to_vec();
        body.resize(2 * BODY_BYTES_MAX, octet);
        assert!(!Robots::parse(&body, "us").verdict("/b").is_allowed(), "{octet:#04x}");
    }
}

proptest! {
    #[test]
    fn bytes_never_panic(body in prop::collection::vec(any::<u8>(), 0..400), path in "\\PC{0,40}") {
        let mut file = b"User-agent: us\nDisallow: ".to_vec();
        file.extend(body);
        let _ = Robots::parse(&file, "us").verdict(&path).to_string();
    }

    #[test]
    fn a_longest_rule_that_allows_all_wins(body in "(allow|disallow): /[ab*]{0,6}\n", path in "/[ab]{0,6}") {
        let file = format!("user-agent: us\n{body}allow: *******/\n");
        prop_assert!(Robots::parse(file.as_bytes(), "us").verdict(&path).is_allowed());
    }
}
