//! Sitemaps and sitemap indexes (sitemaps.org 0.9).

use super::dates::W3C;
use super::flaws::{Flaws, LineColumn, quoted};
use super::outline::{Element, OpenElement, Vocabulary, check_date, check_url, is_at};

const NAMESPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// The most entries of a sitemap or an index.
const ENTRIES_MAX: u32 = 50_000;

/// The most bytes of a sitemap or an index, uncompressed.
const BYTES_MAX: usize = 50 << 20;

/// A URL must have fewer characters than this.
const URL_CHARS_MAX: usize = 2_048;

const CHANGE_FREQUENCIES: [&str; 7] = ["always", "hourly", "daily", "weekly", "monthly", "yearly", "never"];

/// Elements that an entry may have at most once.
const ONCE: [&str; 4] = ["loc", "lastmod", "changefreq", "priority"];

/// The rules of sitemaps.
#[derive(Debug, Default)]
pub(super) struct Sitemap {
    entries: u32,
}

impl Sitemap {
    pub(super) fn check_size(bytes: usize, flaws: &mut Flaws) {
        if bytes > BYTES_MAX {
            flaws.add("too-large", || LineColumn::START, || "a sitemap must not be larger than 50 MB".to_owned());
        }
    }
}

fn is_entry(outer: &[OpenElement], name: &str) -> bool {
    is_at(outer, &["urlset"]) && name == "url" || is_at(outer, &["sitemapindex"]) && name == "sitemap"
}

impl Vocabulary for Sitemap {
    fn start(&mut self, outer: &mut [OpenElement], element: &Element<'_>, flaws: &mut Flaws) {
        let name = element.name.local_name.as_str();
        let place = element.place;
        if outer.is_empty() && element.name.namespace.as_deref() != Some(NAMESPACE) {
            flaws.add("namespace", || place, || format!("`{name}` must be of the namespace `{NAMESPACE}`"));
        }
        if is_entry(outer, name) {
            self.entries = self.entries.saturating_add(1);
            if self.entries == ENTRIES_MAX + 1 {
                flaws.add("too-many-urls", || place, || format!("there are more than {ENTRIES_MAX} entries"));
            }
        }
        if let (Some(once), [_, parent]) = (ONCE.into_iter().find(|once| *once == name), outer) {
            parent.count_once(once, place, flaws);
        }
    }

    fn end(&mut self, outer: &mut [OpenElement], ended: &OpenElement, flaws: &mut Flaws) {
        let (place, text) = (ended.place, ended.text.as_str());
        if is_entry(outer, &ended.name) {
            ended.require(&["loc"], flaws);
        }
        if !is_at(outer, &["urlset", "url"]) && !is_at(outer, &["sitemapindex", "sitemap"]) {
            return;
        }
        match ended.name.as_str() {
            "loc" => {
                check_url("`loc`", text, place, flaws);
                if text.chars().count() >= URL_CHARS_MAX {
                    flaws.add("too-long", || place, || format!("`loc` must have less than {URL_CHARS_MAX} characters"));
                }
            }
            "lastmod" => check_date("lastmod", text, W3C, place, flaws),
            "changefreq" if !CHANGE_FREQUENCIES.contains(&text) => {
                let known = CHANGE_FREQUENCIES.join(", ");
                flaws.add("bad-value", || place, || format!("`changefreq` must be one of {known}: {}", quoted(text)));
            }
            "priority" if !is_priority(text) => {
                flaws.add("bad-value", || place, || format!("`priority` must be from 0.0 to 1.0: {}", quoted(text)));
            }
            _ => {}
        }
    }
}

fn is_priority(text: &str) -> bool {
    // Rust also parses `inf` and `1e0`.
    let is_plain = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'+' | b'-'));
    is_plain && text.parse::<f64>().is_ok_and(|priority| (0.0..=1.0).contains(&priority))
}

#[cfg(test)]
mod tests {
    use super::super::tests::assert_flaws;
    use super::super::xml;
    use super::*;

    #[test]
    fn sitemaps_are_checked() {
        let urlset = |urls: &str| format!("<urlset xmlns='{NAMESPACE}'>\n{urls}</urlset>");
        let url = |more: &str| urlset(&format!("<url><loc>https://a.example/</loc>{more}</url>"));
        for (text, expected, why) in [
            (url(""), &[][..], "valid"),
            (
                url("<lastmod>2026-11-23</lastmod><changefreq>daily</changefreq><priority>0.5</priority>"),
                &[],
                "everything",
            ),
            (url("<i:image xmlns:i='x'><i:loc>y</i:loc></i:image>"), &[], "other namespaces have other rules"),
            (urlset("<url><loc>\n https://a.example/\n</loc></url>"), &[], "blanks around it"),
            (
                format!(
                    "<sitemapindex xmlns='{NAMESPACE}'><sitemap><loc>https://a.example/</loc></sitemap></sitemapindex>"
                ),
                &[],
                "an index",
            ),
            ("<urlset><url/></urlset>".to_owned(), &["1:1 namespace", "1:9 missing-element"], "nothing"),
            (urlset("<url><loc>/a</loc></url>"), &["2:6 bad-url"], "a relative URL"),
            (
                urlset(&format!("<url><loc>https://a.example/{}</loc></url>", "a".repeat(2_030))),
                &["2:6 too-long"],
                "a long one",
            ),
            (url("<loc>https://b.example/</loc>"), &["2:35 duplicate-element"], "two in one"),
            (url("<lastmod>23.11.2026</lastmod>"), &["2:35 bad-date"], "another form"),
            (url("<changefreq>Daily</changefreq>"), &["2:35 bad-value"], "in other letters"),
            (
                url("<priority>1.1</priority><priority>NaN</priority>"),
                &["2:35 bad-value", "2:59 bad-value", "2:59 duplicate-element"],
                "too much",
            ),
            (urlset(&"<url><loc>a:b</loc></url>\n".repeat(50_002)), &["50002:1 too-many-urls"], "too many"),
        ] {
            let mut flaws = Flaws::default();
            xml::check(&text, &mut flaws);
            assert_flaws(flaws, expected, &format!("{text:.200}: {why}"));
        }
    }
}
