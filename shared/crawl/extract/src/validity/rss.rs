//! RSS 2.0, and 0.91 and 0.92 as far as they agree.

use super::dates::RFC_822;
use super::flaws::{Flaws, quoted};
use super::outline::{Element, OpenElement, Vocabulary, check_date, check_url, is_at};

/// The rules of RSS.
#[derive(Debug, Default)]
pub(super) struct Rss {
    /// Whether items must have a title or a description.
    is_2: bool,
    /// Whether the open `guid` is a URL.
    is_permalink: bool,
}

/// Elements that a channel must have.
const OF_CHANNEL: [&str; 3] = ["title", "link", "description"];

/// Elements that a channel or an item may have at most once.
const ONCE: [&str; 10] =
    ["title", "link", "description", "pubDate", "lastBuildDate", "guid", "language", "ttl", "generator", "comments"];

impl Vocabulary for Rss {
    fn start(&mut self, outer: &mut [OpenElement], element: &Element<'_>, flaws: &mut Flaws) {
        let name = element.name.local_name.as_str();
        let place = element.place;
        if outer.is_empty() {
            self.is_2 = element.attribute("version").is_some_and(|version| version.trim().starts_with('2'));
            match element.attribute("version") {
                None => flaws.add("missing-attribute", || place, || "`rss` has no `version`".to_owned()),
                Some("2.0" | "0.91" | "0.92" | "0.93" | "0.94") => {}
                Some(version) => {
                    flaws.add("bad-value", || place, || format!("{} is not a version of RSS", quoted(version)));
                }
            }
            return;
        }
        if is_at(outer, &["rss"]) && name == "channel" {
            outer[0].count_once("channel", place, flaws);
            return;
        }
        let is_of_item = is_at(outer, &["rss", "channel", "item"]);
        if !is_of_item && !is_at(outer, &["rss", "channel"]) {
            return;
        }
        if let (Some(once), Some(parent)) = (ONCE.into_iter().find(|once| *once == name), outer.last_mut()) {
            parent.count_once(once, place, flaws);
        }
        match name {
            "guid" => {
                self.is_permalink = true;
                match element.attribute("isPermaLink") {
                    None | Some("true") => {}
                    Some("false") => self.is_permalink = false,
                    Some(value) => {
                        let message = || format!("`isPermaLink` must be `true` or `false`: {}", quoted(value));
                        flaws.add("bad-value", || place, message);
                    }
                }
            }
            "enclosure" if is_of_item => {
                for required in ["url", "length", "type"] {
                    if element.attribute(required).is_none() {
                        flaws.add("missing-attribute", || place, || format!("`enclosure` has no `{required}`"));
                    }
                }
                if let Some(url) = element.attribute("url") {
                    check_url("`url` of `enclosure`", url.trim(), place, flaws);
                }
                if let Some(length) = element.attribute("length")
                    && (length.is_empty() || !length.bytes().all(|byte| byte.is_ascii_digit()))
                {
                    let message = || format!("`length` of `enclosure` must be a number of bytes: {}", quoted(length));
                    flaws.add("bad-value", || place, message);
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, outer: &mut [OpenElement], ended: &OpenElement, flaws: &mut Flaws) {
        let place = ended.place;
        if outer.is_empty() {
            ended.require(&["channel"], flaws);
        } else if is_at(outer, &["rss"]) && ended.name == "channel" {
            ended.require(&OF_CHANNEL, flaws);
        }
        let is_of_item = is_at(outer, &["rss", "channel", "item"]);
        if !is_of_item && !is_at(outer, &["rss", "channel"]) {
            return;
        }
        match ended.name.as_str() {
            "item" if self.is_2 && !ended.has("title") && !ended.has("description") => {
                let message = || "an `item` must have a `title` or a `description`".to_owned();
                flaws.add("missing-element", || place, message);
            }
            "link" | "comments" => check_url(&format!("`{}`", ended.name), &ended.text, place, flaws),
            "guid" if self.is_permalink => {
                check_url("`guid`, unless its `isPermaLink` is `false`,", &ended.text, place, flaws);
            }
            "pubDate" | "lastBuildDate" => check_date(&ended.name, &ended.text, RFC_822, place, flaws),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_flaws;
    use super::super::xml;
    use super::*;

    #[test]
    fn feeds_are_checked() {
        let channel = |more: &str| {
            format!(
                "<rss version='2.0'><channel>\n<title>T</title><link>https://a.example/</link><description/>\n{more}</channel></rss>"
            )
        };
        for (text, expected, why) in [
            (channel(""), &[][..], "valid"),
            (channel("<item><title>x</title><guid isPermaLink='false'>7</guid></item>"), &[], "an item"),
            (
                channel("<item><description>x</description><pubDate>Mon, 23 Nov 2026 10:00:00 GMT</pubDate></item>"),
                &[],
                "another",
            ),
            (
                channel("<a:link xmlns:a='http://www.w3.org/2005/Atom' href='x'/>"),
                &[],
                "other namespaces have other rules",
            ),
            (channel("<image><title/><link>x</link></image>"), &[], "of something else"),
            ("<rss/>".to_owned(), &["1:1 missing-attribute", "1:1 missing-element"], "nothing"),
            (
                "<rss version='3'><channel><link>x</link></channel></rss>".to_owned(),
                &["1:1 bad-value", "1:18 missing-element", "1:18 missing-element", "1:27 bad-url"],
                "hardly anything",
            ),
            (channel("<title/>"), &["3:1 duplicate-element"], "two titles"),
            (channel("<item/>"), &["3:1 missing-element"], "an empty item"),
            (channel("<item><title/><link>/x</link></item>"), &["3:15 bad-url"], "a relative link"),
            (channel("<item><title/><guid>7</guid></item>"), &["3:15 bad-url"], "not a URL"),
            (channel("<item><title/><guid isPermaLink='no'>a:b</guid></item>"), &["3:15 bad-value"], "neither"),
            (channel("<pubDate>2026-11-23</pubDate>"), &["3:1 bad-date"], "another form"),
            (
                channel("<item><title/><enclosure url='x' length='1 MB'/></item>"),
                &["3:15 bad-url", "3:15 bad-value", "3:15 missing-attribute"],
                "half an enclosure",
            ),
        ] {
            let mut flaws = Flaws::default();
            xml::check(&text, &mut flaws);
            assert_flaws(flaws, expected, &format!("{text}: {why}"));
        }
    }
}
