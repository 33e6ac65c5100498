//! `Refresh`, and `<meta http-equiv=refresh>`.

/// The URL that a `Refresh` field leads to, or the content of a `<meta http-equiv=refresh>`, as it was written: relative to the page's base.
/// Absent if it is no refresh, or one that loads the page itself again. How long it waits does not matter to a crawler.
///
/// These are the steps that the HTML standard calls shared declarative refresh, which are the same for both.
#[must_use]
pub fn refresh(value: &str) -> Option<&str> {
    let value = value.trim_ascii_start();
    // A fraction may stand alone.
    let behind_time = value.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if behind_time.len() == value.len() {
        return None;
    }
    let text = behind_time.trim_ascii_start();
    let text = text.strip_prefix([';', ',']).unwrap_or(text);
    if text.len() == behind_time.len() {
        return None;
    }
    let text = text.trim_ascii_start();
    // Without `url` and `=` the text is the URL: quotes belong to it if it starts with a `u`, and are removed if not.
    let url = match text.strip_prefix(['u', 'U']) {
        None => unquoted(text),
        Some(_) => after_url_sign(text).map_or(text, unquoted),
    };
    let url = url.trim_ascii();
    (!url.is_empty()).then_some(url)
}

/// What follows `url`, blanks and `=`; absent if those are not all there.
fn after_url_sign(text: &str) -> Option<&str> {
    let (name, rest) = text.split_at_checked("url".len())?;
    let value = rest.trim_ascii_start().strip_prefix('=')?;
    name.eq_ignore_ascii_case("url").then(|| value.trim_ascii_start())
}

/// Without the quotes around it, and what stands behind them.
fn unquoted(text: &str) -> &str {
    let Some(quote @ ('"' | '\'')) = text.chars().next() else { return text };
    text[1..].split(quote).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refreshes_lead_to_a_url() {
        for (value, target, why) in [
            ("5", None, "the page itself"),
            ("5;", None, "the page itself"),
            ("0; url=/a", Some("/a"), "the usual form"),
            ("0;URL=/a", Some("/a"), "capitals"),
            ("0,url=/a", Some("/a"), "a comma"),
            ("0 url=/a", Some("/a"), "a blank"),
            ("5 /a", Some("/a"), "a blank, and no `url`"),
            (" 0 ; url = /a ", Some("/a"), "blanks"),
            ("0; url='/a' b", Some("/a"), "quotes end the URL"),
            ("0; url=\"/a", Some("/a"), "or do not end"),
            ("0; /a", Some("/a"), "no `url`"),
            ("0; '/a b'", Some("/a b"), "no `url`, but quotes"),
            ("0; \"url=/a\"", Some("url=/a"), "a `url` within quotes is part of the URL"),
            ("0; url/a", Some("url/a"), "so is one without a sign"),
            ("0; urls=/a", Some("urls=/a"), "another word"),
            ("0; urn:x", Some("urn:x"), "another word with `u`"),
            ("0; u'a'", Some("u'a'"), "behind which quotes belong to it"),
            ("0; u", Some("u"), "a short one"),
            ("0; uü", Some("uü"), "not cut within a character"),
            ("0; ür=/a", Some("ür=/a"), "not in ASCII"),
            ("0; url=", None, "an empty URL"),
            ("0; url=''", None, "an empty URL in quotes"),
            ("0; url=' /a '", Some("/a"), "blanks within quotes"),
            ("1.9; url=/a", Some("/a"), "a fraction"),
            (".5; url=/a", Some("/a"), "a fraction alone"),
            (".;url=/a", Some("/a"), "a fraction of nothing"),
            ("1..2.; url=/a", Some("/a"), "however written"),
            ("99999999999999999999999; url=/a", Some("/a"), "a long time"),
            ("0; url=/ä?b;c,d", Some("/ä?b;c,d"), "delimiters in the URL"),
            ("", None, "nothing"),
            ("url=/a", None, "no time"),
            ("-1; url=/a", None, "no number"),
            ("5s; url=/a", None, "a unit"),
            ("; url=/a", None, "no time"),
        ] {
            assert_eq!(refresh(value), target, "{value}: {why}");
        }
    }
}
