//! `Refresh`, and `<meta http-equiv=refresh>`.

use std::time::Duration;

/// The longest delay that is told apart; longer ones count as this.
pub const REFRESH_DELAY_MAX: Duration = Duration::from_hours(24);

/// A page's wish to be replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refresh {
    /// After which time, in whole seconds, at most [`REFRESH_DELAY_MAX`].
    pub delay: Duration,
    /// By what, as it was written: relative to the page's base. Absent: by the page itself, loaded again.
    pub target: Option<String>,
}

/// Reads the value of a `Refresh` field, or the content of a `<meta http-equiv=refresh>`: the steps that the HTML
/// standard calls shared declarative refresh, which are the same for both. Absent if it is none.
#[must_use]
pub fn refresh(value: &str) -> Option<Refresh> {
    let value = trim_start(value);
    let (seconds, rest) = split_while(value, |c| c.is_ascii_digit());
    if seconds.is_empty() && !rest.starts_with('.') {
        return None;
    }
    // Only digits: what is too large to read is long, and what is empty stands before a fraction, which does not count.
    let delay = match seconds {
        "" => Duration::ZERO,
        seconds => seconds.parse().map_or(REFRESH_DELAY_MAX, Duration::from_secs).min(REFRESH_DELAY_MAX),
    };
    let (_, rest) = split_while(rest, |c| c.is_ascii_digit() || c == '.');
    if !rest.is_empty() && !rest.starts_with(|c: char| matches!(c, ';' | ',') || c.is_ascii_whitespace()) {
        return None;
    }
    let rest = trim_start(rest);
    let rest = trim_start(rest.strip_prefix([';', ',']).unwrap_or(rest));
    Some(Refresh { delay, target: target(rest).map(str::to_owned) })
}

/// The URL in what follows the delay; absent if it is empty.
fn target(text: &str) -> Option<&str> {
    // Without `url` and `=` the text is the URL: quotes belong to it if it starts with a `u`, and are removed if not.
    let text = match text.strip_prefix(['u', 'U']) {
        None => unquoted(text),
        Some(_) => after_url_sign(text).map_or(text, unquoted),
    };
    let text = text.trim_matches(|c: char| c.is_ascii_whitespace());
    (!text.is_empty()).then_some(text)
}

/// What follows `url`, blanks and `=`; absent if those are not all there.
fn after_url_sign(text: &str) -> Option<&str> {
    let (name, rest) = text.split_at_checked("url".len())?;
    let value = trim_start(rest).strip_prefix('=')?;
    name.eq_ignore_ascii_case("url").then(|| trim_start(value))
}

/// Without the quotes around it, and what stands behind them.
fn unquoted(text: &str) -> &str {
    let Some(quote @ ('"' | '\'')) = text.chars().next() else { return text };
    text[1..].split(quote).next().unwrap_or_default()
}

fn trim_start(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii_whitespace())
}

/// A text's leading characters of a kind, and what follows.
fn split_while(text: &str, is_kind: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !is_kind(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refreshes_are_read() {
        for (value, seconds, target, why) in [
            ("5", 5, None, "the page itself"),
            ("5;", 5, None, "the page itself"),
            ("0; url=/a", 0, Some("/a"), "the usual form"),
            ("0;URL=/a", 0, Some("/a"), "capitals"),
            ("0,url=/a", 0, Some("/a"), "a comma"),
            ("0 url=/a", 0, Some("/a"), "a blank"),
            (" 0 ; url = /a ", 0, Some("/a"), "blanks"),
            ("0; url='/a' b", 0, Some("/a"), "quotes end the URL"),
            ("0; url=\"/a", 0, Some("/a"), "or do not end"),
            ("0; /a", 0, Some("/a"), "no `url`"),
            ("0; '/a'", 0, Some("/a"), "no `url`, but quotes"),
            ("0; url/a", 0, Some("url/a"), "`url` without a sign is part of the URL"),
            ("0; urn:x", 0, Some("urn:x"), "another word with `u`"),
            ("0; u", 0, Some("u"), "a short one"),
            ("0; uü", 0, Some("uü"), "not cut within a character"),
            ("0; url=", 0, None, "an empty URL"),
            ("0; url=''", 0, None, "an empty URL in quotes"),
            ("1.9; url=/a", 1, Some("/a"), "fractions do not count"),
            (".5; url=/a", 0, Some("/a"), "even alone"),
            ("1..2.; url=/a", 1, Some("/a"), "however written"),
            ("99999999999999999999999; url=/a", 86_400, Some("/a"), "more than fits"),
            ("0; url=/ä?b;c,d", 0, Some("/ä?b;c,d"), "delimiters in the URL"),
        ] {
            let expected = Refresh { delay: Duration::from_secs(seconds), target: target.map(str::to_owned) };
            assert_eq!(refresh(value), Some(expected), "{value}: {why}");
        }
        for (value, why) in [
            ("", "nothing"),
            ("url=/a", "no delay"),
            ("-1; url=/a", "no number"),
            ("5s; url=/a", "a unit"),
            ("; url=/a", "no delay"),
        ] {
            assert_eq!(refresh(value), None, "{value}: {why}");
        }
    }
}
