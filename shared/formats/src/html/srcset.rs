//! `srcset`: several URLs of one image.

/// The URLs of a `srcset`, in order (WHATWG HTML, "parse a srcset attribute").
///
/// A comma separates only where it follows white space or a descriptor, or ends a URL; within one, such as
/// `data:image/png;base64,…`, it belongs to it. Descriptors are not checked.
pub(super) fn urls(srcset: &str) -> impl Iterator<Item = &str> {
    let mut rest = srcset;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        if rest.is_empty() {
            return None;
        }
        let (word, after) = rest.split_at(rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len()));
        let url = word.trim_end_matches(',');
        rest = if url.len() < word.len() { after } else { skip_descriptors(after) };
        Some(url)
    })
}

/// What follows the next comma that is not in parentheses.
fn skip_descriptors(text: &str) -> &str {
    let mut is_in_parentheses = false;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => is_in_parentheses = true,
            b')' => is_in_parentheses = false,
            b',' if !is_in_parentheses => return &text[index + 1..],
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates() {
        let cases: &[(&str, &[&str], &str)] = &[
            ("", &[], "nothing"),
            (" , ,, ", &[], "only separators"),
            ("a.png", &["a.png"], "one, without descriptor"),
            ("a.png 1x, b.png 2x", &["a.png", "b.png"], "densities"),
            ("a.png 100w,b.png 200w", &["a.png", "b.png"], "no space after the comma"),
            ("a.png,b.png", &["a.png,b.png"], "no space at all: one URL with a comma in it"),
            ("a.png, b.png", &["a.png", "b.png"], "a comma that ends a URL"),
            ("a.png,, b.png", &["a.png", "b.png"], "two of them"),
            ("data:image/png;base64,AAA 1x, b,c.png 2x", &["data:image/png;base64,AAA", "b,c.png"], "commas in URLs"),
            ("a.png (1,2) x, b.png", &["a.png", "b.png"], "a comma in parentheses"),
            ("a.png (1,2, b.png", &["a.png"], "parentheses that never close"),
            ("\n  a.png\t1x ,\n  b.png\n", &["a.png", "b.png"], "white space of every sort"),
        ];
        for (srcset, expected, why) in cases {
            assert_eq!(urls(srcset).collect::<Vec<_>>(), *expected, "{why}");
        }
    }
}
