//! Character sets.

use dragline_formats::charset::{CharsetSource, decode};
use encoding_rs::{Encoding, UTF_8};

/// Input: a header's `charset` on the first line, and a body below it.
///
/// The text is the body in the named encoding, its length is limited, damage is marked, and the
/// stated source is present.
///
/// # Panics
/// If one of these does not hold.
pub fn charset(data: &[u8]) {
    let line_end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (first, rest) = data.split_at(line_end);
    let label = String::from_utf8_lossy(first);
    let body = rest.get(1..).unwrap_or_default();
    for header in [None, Some(&*label)] {
        check(body, header);
    }
}

fn check(body: &[u8], header: Option<&str>) {
    let decoded = decode(body, header);
    let mark = Encoding::for_bom(body);
    let content = &body[mark.map_or(0, |(_, bytes)| bytes)..];

    let encoding = Encoding::for_label(decoded.encoding.as_bytes()).expect("a name of the standard");
    let (text, had_errors) = encoding.decode_without_bom_handling(content);
    assert_eq!(decoded.text, text, "not in {}", decoded.encoding);
    assert!(!had_errors || text.contains('\u{FFFD}'), "damage without a mark");
    assert!(text.len() <= 3 * body.len() + 3, "{} bytes of {}", text.len(), body.len());

    assert_eq!(decoded.source == CharsetSource::Bom, mark.is_some(), "a byte order mark decides");
    match decoded.source {
        CharsetSource::Bom => assert_eq!(Some(encoding), mark.map(|(encoding, _)| encoding)),
        CharsetSource::Header => assert!(header.is_some(), "nothing was in the header"),
        CharsetSource::Meta => assert!(body.contains(&b'<'), "nothing was declared"),
        CharsetSource::Utf8Valid => assert_eq!((encoding, had_errors), (UTF_8, false)),
        CharsetSource::Detected => {}
    }
}
