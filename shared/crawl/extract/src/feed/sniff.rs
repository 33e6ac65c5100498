//! Recognising feeds by their beginning, also those that servers label as HTML (WHATWG, MIME
//! Sniffing, "sniffing a mislabeled feed").

/// How many bytes of a document are examined, as in the standard.
const LOOK_BYTES: usize = 1_445;

/// The namespaces of RSS 1.0, which other RDF lacks.
const NAMESPACES: [&str; 2] = ["http://purl.org/rss/1.0/", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"];

/// Whether a text begins like a feed in any format.
pub(super) fn begins_any(text: &str) -> bool {
    begins_xml(text) || begins_json(text)
}

/// Whether a text begins like a feed in JSON: its version is near the beginning, perhaps with its
/// slashes escaped.
pub(crate) fn begins_json(text: &str) -> bool {
    let beginning = &text[..text.floor_char_boundary(LOOK_BYTES)];
    beginning.trim_ascii_start().starts_with('{')
        && ["//jsonfeed.org/", r"\/\/jsonfeed.org\/"].iter().any(|version| beginning.contains(version))
}

/// Whether a text begins like a feed in XML: by its first element, after comments and the like.
pub(crate) fn begins_xml(text: &str) -> bool {
    let mut rest = &text[..text.floor_char_boundary(LOOK_BYTES)];
    loop {
        let Some(markup) = rest.trim_ascii_start().strip_prefix('<') else { return false };
        let end = match markup.as_bytes() {
            [b'!', b'-', b'-', ..] => "-->",
            [b'!', ..] => ">",
            [b'?', ..] => "?>",
            _ => {
                let is_rdf = markup.starts_with("rdf:RDF") && NAMESPACES.iter().all(|name| markup.contains(name));
                return is_rdf || markup.starts_with("rss") || markup.starts_with("feed");
            }
        };
        let Some((_, behind)) = markup.split_once(end) else { return false };
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::begins_xml;

    #[test]
    fn a_feed_labelled_html_is_recognised_by_its_first_element() {
        let rdf =
            r#"<rdf:RDF xmlns="http://purl.org/rss/1.0/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">"#;
        let late = format!("<!--{}--><rss>", "x".repeat(2_000));
        for (text, expected, why) in [
            ("<rss version='2.0'><channel>", true, "RSS"),
            (
                "<?xml version='1.0'?>\n<!-- ours -->\n<!DOCTYPE rss>\n<feed xmlns='http://www.w3.org/2005/Atom'>",
                true,
                "Atom",
            ),
            (rdf, true, "RSS 1.0"),
            ("<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>", false, "RDF of another kind"),
            ("<!DOCTYPE html><html><body><pre><rss></pre>", false, "a page"),
            ("<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'>", false, "a page in XML"),
            ("Read <rss>!", false, "text"),
            ("<!-- <rss>", false, "a comment without end"),
            (&late, false, "nobody looks so far"),
            ("", false, "nothing"),
        ] {
            assert_eq!(begins_xml(text), expected, "{why}");
        }
    }
}
