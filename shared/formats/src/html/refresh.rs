//! `<meta http-equiv=refresh>`: a redirect by the page itself.

/// The URL that the content of a refresh leads to, `None` if it is malformed or only loads the page again (WHATWG HTML,
/// "shared declarative refresh steps").
pub(super) fn url(content: &str) -> Option<&str> {
    let content = content.trim_ascii_start();
    let after_time = content.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if after_time.len() == content.len() {
        return None;
    }
    let separated = after_time.trim_ascii_start();
    let target = separated.strip_prefix([';', ',']).unwrap_or(separated);
    if target.len() == after_time.len() {
        return None;
    }
    let target = target.trim_ascii();
    let target = without_key(target).unwrap_or(target);
    let target = match target.strip_prefix(['"', '\'']) {
        Some(quoted) => quoted.split(&target[..1]).next().unwrap_or(quoted),
        None => target,
    };
    if target.is_empty() { None } else { Some(target) }
}

/// What follows `url=`.
fn without_key(target: &str) -> Option<&str> {
    let (key, after) = target.split_at_checked(3)?;
    let value = after.trim_ascii_start().strip_prefix('=')?;
    if key.eq_ignore_ascii_case("url") { Some(value.trim_ascii_start()) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents() {
        let cases: &[(&str, Option<&str>, &str)] = &[
            ("0;url=/a", Some("/a"), "plain"),
            ("0; URL = /a ", Some("/a"), "case and spaces"),
            (" 5 ,url=/a", Some("/a"), "a comma will do"),
            ("5 /a", Some("/a"), "so will a space"),
            ("0;/a", Some("/a"), "without `url=`"),
            ("0.5;url=/a", Some("/a"), "a fraction"),
            (".;url=/a", Some("/a"), "a fraction of nothing"),
            ("0;url='/a'", Some("/a"), "quoted"),
            ("0;url=\"/a\" and more", Some("/a"), "what follows the quote is dropped"),
            ("0;url='/a", Some("/a"), "a quote that never ends"),
            ("0;'/a b'", Some("/a b"), "quoted, without `url=`"),
            ("0;urls=/a", Some("urls=/a"), "another word"),
            ("0;url", Some("url"), "a page called url"),
            ("0;ür=/a", Some("ür=/a"), "not in ASCII"),
            ("5", None, "loads itself again"),
            ("5;", None, "loads itself again"),
            ("5;url=", None, "names nothing"),
            ("", None, "empty"),
            ("url=/a", None, "no time"),
            ("-1;url=/a", None, "a negative time"),
            ("5x;url=/a", None, "no separator"),
        ];
        for (content, expected, why) in cases {
            assert_eq!(url(content), *expected, "{why}: {content}");
        }
    }
}
