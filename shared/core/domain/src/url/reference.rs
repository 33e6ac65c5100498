//! References that the URL parser reads differently from the standard.

use std::borrow::Cow;

/// Rewrites a reference on an http or https page so that the crate `url` parses it by the standard.
///
/// `///host/` is `//host/` (WHATWG URL, "special authority ignore slashes state"), also with
/// backslashes; the crate (as of 2.5) finds no host in it.
#[must_use]
pub fn web_reference(reference: &str) -> Cow<'_, str> {
    let trimmed = reference.trim_start_matches(|c: char| c <= ' ');
    let is_dropped = |c: char| matches!(c, '\t' | '\n' | '\r');
    let rest = trimmed.trim_start_matches(|c: char| matches!(c, '/' | '\\') || is_dropped(c));
    let slashes = trimmed[..trimmed.len() - rest.len()].chars().filter(|c| !is_dropped(*c)).count();
    if slashes > 2 { format!("//{rest}").into() } else { reference.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_two_slashes_are_two() {
        for (reference, expected, why) in [
            ("///host/a", "//host/a", "three"),
            ("//////host//a", "//host//a", "many; those behind the host stay"),
            ("\\\\/host", "//host", "leaning either way"),
            (" \n/\t/\n/\r\\host", "//host", "with what the parser drops between and before them"),
            ("///", "//", "nothing else: still no host"),
            ("//host/a", "//host/a", "two"),
            ("/a", "/a", "one"),
            ("/\t/host", "/\t/host", "two, apart"),
            ("a///b", "a///b", "elsewhere"),
            ("https:///host", "https:///host", "behind a scheme, where the parser knows"),
            ("?///", "?///", "in a query"),
            ("", "", "nothing"),
        ] {
            assert_eq!(web_reference(reference), expected, "{why}: {reference:?}");
        }
    }
}
