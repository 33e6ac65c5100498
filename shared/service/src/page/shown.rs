//! How values are shown. All texts become HTML by `maud`, which escapes them: whoever forgets that
//! something comes from the web can do no harm.

use std::time::Duration;

use dragline_domain::ids::CrawlId;
use dragline_domain::shown::{one_line, plural};
use jiff::Timestamp;
use maud::{Markup, html};
use url::form_urlencoded::Serializer;

/// The limit on a title or an address that is shown, in characters.
const CHARS_MAX: usize = 300;

/// Returns a text of a site on one line. What a browser would obey instead of showing it, such as
/// a change of the direction of writing, is named.
pub(super) fn line(text: &str) -> String {
    one_line(text, CHARS_MAX)
}

/// Returns a link to a page of the web. Other schemes, which a browser might run, are only text.
pub(super) fn external(url: &str) -> Markup {
    let is_web = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
    html! {
        @if is_web { a href=(url) rel="noreferrer noopener" { (line(url)) } } @else { (line(url)) }
    }
}

/// Returns the address of a view of a crawl, with the parameters that have a value.
pub(super) fn target(crawl: &CrawlId, view: &str, parameters: &[(&str, Option<&str>)]) -> String {
    address(&format!("/view/{crawl}{}{view}", if view.is_empty() { "" } else { "/" }), parameters)
}

/// Returns a path with the parameters that have a value.
pub(super) fn address(path: &str, parameters: &[(&str, Option<&str>)]) -> String {
    let mut query = Serializer::new(String::new());
    for (name, value) in parameters {
        if let Some(value) = value {
            query.append_pair(name, value);
        }
    }
    let query = query.finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// Returns a time, for people and programs.
pub(super) fn time(at: Timestamp) -> Markup {
    html! { time datetime=(format!("{at:.0}")) { (at.strftime("%Y-%m-%d %H:%M UTC")) } }
}

/// Returns a time, and how far away it is.
pub(super) fn time_and_distance(at: Timestamp, now: Timestamp) -> Markup {
    html! { (time(at)) " " span.distance { "(" (distance(at, now)) ")" } }
}

/// Returns how far away a time is, in words.
pub(super) fn distance(at: Timestamp, now: Timestamp) -> String {
    let seconds = at.as_second() - now.as_second();
    let words = rough(seconds.unsigned_abs());
    match seconds {
        -5..=0 => "just now".to_owned(),
        1.. => format!("in {words}"),
        _ => format!("{words} ago"),
    }
}

/// Returns the time between two times, in words.
pub(super) fn between(from: Timestamp, to: Timestamp) -> String {
    match u64::try_from(to.as_second() - from.as_second()) {
        Err(_) | Ok(0) => "less than a second".to_owned(),
        Ok(seconds) => rough(seconds),
    }
}

/// Returns a number of seconds in the largest unit that fits, rounded down.
fn rough(seconds: u64) -> String {
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute")];
    match units.into_iter().find(|(length, _)| seconds >= *length) {
        Some((length, unit)) => plural(seconds / length, unit),
        None => plural(seconds, "second"),
    }
}

/// Returns a duration in words, exactly for those that people write.
pub(super) fn span(length: Duration) -> String {
    let milliseconds = u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
    let units = [(86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second")];
    match units.into_iter().find(|(unit, _)| milliseconds >= *unit && milliseconds.is_multiple_of(*unit)) {
        Some((unit, name)) => plural(milliseconds / unit, name),
        None => plural(milliseconds, "millisecond"),
    }
}

/// Returns a number of bytes with a unit.
pub(super) fn bytes(number: u64) -> String {
    let units = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(size, _)| number >= *size) {
        // Tenths are cut off, so that nothing is shown as more than it is.
        Some((size, unit)) => format!("{}.{} {unit}", number / size, number % size * 10 / size),
        None => format!("{number} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_the_web_is_only_text() {
        for (text, expected, why) in [
            ("<script>x</script>", "&lt;script&gt;x&lt;/script&gt;", "an element"),
            ("\"><img onerror=x>", "&quot;&gt;&lt;img onerror=x&gt;", "the end of an attribute"),
            ("a & b", "a &amp; b", "a reference"),
            ("a\u{202e}b", "a\\u{202e}b", "the direction of writing"),
        ] {
            assert_eq!(html! { (line(text)) }.into_string(), expected, "{why}");
            let attribute = html! { input value=(line(text)); }.into_string();
            assert_eq!(attribute, format!("<input value=\"{expected}\">"), "{why}, in an attribute");
        }
    }

    #[test]
    fn only_addresses_of_the_web_are_links() {
        for (url, is_link, why) in [
            ("https://a.example/?q=\"><script>", true, "escaped"),
            ("http://a.example/", true, "without TLS"),
            ("javascript:alert(1)", false, "a browser would run it"),
            ("data:text/html,x", false, "it would be shown as ours"),
            (" https://a.example/", false, "not what it begins with"),
        ] {
            let link = external(url).into_string();
            assert_eq!(link.starts_with("<a href"), is_link, "{url}: {why}");
            assert!(!link.contains("<script") && (!is_link || link.contains("noopener")), "{link}");
        }
    }

    #[test]
    fn parameters_are_encoded() {
        let crawl: CrawlId = "docs".parse().unwrap();
        assert_eq!(target(&crawl, "", &[]), "/view/docs");
        let url = Some("https://a.example/?b=1&c=\"'");
        let expected = "/view/docs/page?url=https%3A%2F%2Fa.example%2F%3Fb%3D1%26c%3D%22%27";
        assert_eq!(target(&crawl, "page", &[("url", url), ("iteration", None)]), expected);
    }

    #[test]
    fn numbers_are_shown_in_units() {
        for (number, expected) in [(0, "0 B"), (1_023, "1023 B"), (1_536, "1.5 KiB"), (5 << 30, "5.0 GiB")] {
            assert_eq!(bytes(number), expected);
        }
        let now: Timestamp = "2026-03-01T00:00:00Z".parse().unwrap();
        for (at, expected) in [
            ("2026-03-01T00:00:00Z", "just now"),
            ("2026-03-01T03:59:00Z", "in 3 hours"),
            ("2026-02-27T00:00:00Z", "2 days ago"),
            ("2026-02-28T23:59:00Z", "1 minute ago"),
        ] {
            assert_eq!(distance(at.parse().unwrap(), now), expected);
        }
        for (millis, expected) in [(500, "500 milliseconds"), (1_000, "1 second"), (90_000, "90 seconds")] {
            assert_eq!(span(Duration::from_millis(millis)), expected);
        }
    }
}
