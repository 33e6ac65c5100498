//! The index entry of a page.

use std::borrow::Cow;

use dragline_domain::document::{Document, Page};
use dragline_domain::url::CrawlUrl;
use dragline_domain::use_preferences::{Purpose, UseStand, combined};
use jiff::civil::Date;
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use sha1::{Digest as _, Sha1};
use tantivy::TantivyDocument;

use crate::around::around;
use crate::fields::{Fields, Part};
use crate::words::{UNDETERMINED, in_language, primary_language};

/// How many bytes of a text are used to detect its language: the beginning usually suffices, and
/// more is read if it consists of names and numbers.
const LANGUAGE_BYTES: [usize; 2] = [4 << 10, 64 << 10];

/// The index entry of a page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) url: String,
    /// The host, and the port unless it is the default.
    pub(crate) site: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) headings: Vec<String>,
    pub(crate) text: String,
    /// The text around the main part, in pieces.
    pub(crate) around: Vec<String>,
    /// The most frequent anchor texts of links to it, without duplicates.
    pub(crate) anchors: Vec<String>,
    /// The primary language; `und` if unknown.
    pub(crate) language: String,
    /// The types of its items, without duplicates.
    pub(crate) types: Vec<String>,
    /// The purposes that its site reserves.
    #[serde(default)]
    pub(crate) reserved: Vec<Purpose>,
    /// The date in the page on which it was changed or published; otherwise the day of the request
    /// that found its current content.
    pub(crate) day: Option<Date>,
    /// Its rank among the pages of the site, rounded, so that changes elsewhere do not change every
    /// entry.
    pub(crate) rank: f64,
    /// How many pages link to it.
    pub(crate) linked_from: u64,
}

/// The figures of the link graph for a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LinkFigures {
    pub(crate) anchors: Vec<String>,
    pub(crate) rank: f64,
    pub(crate) linked_from: u64,
}

impl Entry {
    /// Returns the entry of a document; `None` if there is nothing to index: it is neither a page
    /// nor a readable file, asks for `noindex`, or its use is reserved.
    pub(crate) fn from_document(document: Document, standing: LinkFigures) -> Option<Self> {
        if document.reserved_by().is_some() {
            return None;
        }
        let said = combined(document.uses());
        let reserved = Purpose::ALL.into_iter().filter(|purpose| said.get(*purpose) == Some(UseStand::Reserved));
        let reserved = reserved.collect();
        let is_file = document.is_readable_file();
        let page = document.page.or_else(|| is_file.then(Page::default)).filter(|page| !page.directives.noindex)?;
        let content = document.content.map(|content| *content).unwrap_or_default();
        let about = content.about.unwrap_or_default();
        // Without navigation and the like, if the crawl extracted the main part.
        let main = content.main.map(|main| main.text).filter(|text| !text.is_empty());
        let (text, around) = match main {
            Some(main) => {
                let around = around(&page.text, &main);
                (main, around)
            }
            None => (page.text, Vec::new()),
        };
        let declared = page.language.as_deref().and_then(primary_language);
        let language = declared
            .or_else(|| about.language_detected.as_deref().and_then(primary_language))
            .or_else(|| detect_language(&text))
            .unwrap_or_else(|| UNDETERMINED.to_owned());
        let mut types = Vec::new();
        for kind in content.items.into_iter().flat_map(|item| item.types) {
            if !types.contains(&kind) {
                types.push(kind);
            }
        }
        let dated = about.modified.or(about.published).and_then(|date| day(&date));
        let LinkFigures { anchors, rank, linked_from } = standing;
        Some(Self {
            site: site(&document.url),
            url: document.url.as_str().to_owned(),
            title: page.title.or(about.title.filter(|_| is_file)),
            description: page.description,
            headings: about.headings.into_iter().map(|heading| heading.text).collect(),
            text,
            around,
            anchors,
            language,
            types,
            reserved,
            day: dated.or_else(|| document.body.and_then(|body| day(&body.at.to_string()))),
            rank: round_rank(rank),
            linked_from,
        })
    }

    /// Returns the texts of a part.
    pub(crate) fn texts(&self, part: Part) -> Vec<Cow<'_, str>> {
        fn borrowed(texts: &[String]) -> Vec<Cow<'_, str>> {
            texts.iter().map(|text| Cow::Borrowed(text.as_str())).collect()
        }
        match part {
            Part::Title => self.title.as_deref().map(Cow::Borrowed).into_iter().collect(),
            Part::Heading => borrowed(&self.headings),
            Part::Text => vec![Cow::Borrowed(&self.text)],
            Part::Around => borrowed(&self.around),
            Part::Anchor => borrowed(&self.anchors),
            Part::Url => vec![Cow::Owned(words_of_url(&self.url))],
        }
    }

    /// Returns the index document of the entry, given its stored form.
    pub(crate) fn into_document(self, fields: &Fields, stored: &StoredEntry) -> TantivyDocument {
        let mut document = TantivyDocument::with_capacity(stored.text.len() * 4);
        for part in Part::ALL {
            let texts = self.texts(part);
            if texts.iter().any(|text| !text.is_empty()) {
                document.add_text(fields.get(part), in_language(&self.language, &texts));
                texts.iter().for_each(|text| document.add_text(fields.written, text));
            }
        }
        document.add_text(fields.url, &self.url);
        document.add_text(fields.site, &self.site);
        domains(&self.site).into_iter().for_each(|domain| document.add_text(fields.domain, domain));
        document.add_text(fields.language, &self.language);
        self.types.iter().for_each(|kind| document.add_text(fields.kind, kind));
        self.reserved.iter().for_each(|purpose| document.add_text(fields.reserved, purpose.name()));
        if let Some(day) = self.day {
            document.add_i64(fields.day, days(day));
        }
        document.add_f64(fields.rank, self.rank);
        document.add_u64(fields.digest, stored.digest);
        document.add_u64(fields.tie, text_hash(&self.url));
        document.add_text(fields.shown, &stored.text);
        document
    }
}

/// The stored form of an entry, and its digest.
pub(crate) struct StoredEntry {
    pub(crate) text: String,
    pub(crate) digest: u64,
}

impl StoredEntry {
    /// # Errors
    /// None is expected.
    pub(crate) fn from_entry(entry: &Entry) -> Result<Self, serde_json::Error> {
        let text = serde_json::to_string(entry)?;
        Ok(Self { digest: text_hash(&text), text })
    }
}

/// Returns a hash of a text: the first bytes of its SHA-1.
fn text_hash(text: &str) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&Sha1::digest(text)[..8]);
    u64::from_be_bytes(first)
}

/// Returns the host, and the port unless it is the default.
fn site(url: &CrawlUrl) -> String {
    url.origin().written_port().map_or_else(|| url.host().to_owned(), |port| format!("{}:{port}", url.host()))
}

/// Returns all values of `site:` that match a site: itself, its host, and the parent domains, with
/// and without the port.
pub(crate) fn domains(site: &str) -> Vec<String> {
    // An IPv6 address ends with a bracket.
    let (host, port) = match site.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, Some(port)),
        _ => (site, None),
    };
    let is_name = host.parse::<std::net::Ipv4Addr>().is_err() && !host.starts_with('[');
    let mut names = vec![host];
    let mut rest = host;
    while let Some((_, parent)) = rest.split_once('.').filter(|_| is_name) {
        names.push(parent);
        rest = parent;
    }
    let with_ports = names.iter().filter_map(|name| port.map(|port| format!("{name}:{port}")));
    let with_ports: Vec<String> = with_ports.collect();
    names.into_iter().map(str::to_owned).chain(with_ports).collect()
}

/// Returns the words of a URL: without the scheme and without percent-encoding.
pub(crate) fn words_of_url(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    percent_decode_str(rest).decode_utf8_lossy().into_owned()
}

/// Parses the date at the beginning of a text.
fn day(text: &str) -> Option<Date> {
    text.get(..10)?.parse().ok()
}

/// Returns the days since 1970-01-01.
pub(crate) fn days(day: Date) -> i64 {
    let epoch = jiff::civil::date(1970, 1, 1);
    i64::from((day - epoch).get_days())
}

fn detect_language(text: &str) -> Option<String> {
    let detected = LANGUAGE_BYTES.into_iter().find_map(|bytes| {
        let beginning = &text[..text.floor_char_boundary(bytes.min(text.len()))];
        whatlang::detect(beginning).filter(whatlang::Info::is_reliable)
    })?;
    primary_language(detected.lang().code())
}

/// Rounds to a fifth of an order of magnitude, in three decimals.
fn round_rank(rank: f64) -> f64 {
    let rounded = if rank > 0.0 { 10_f64.powf((rank.log10() * 5.0).round() / 5.0) } else { 0.0 };
    (rounded * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_in_its_domains() {
        for (site, expected) in [
            ("docs.example.org", "docs.example.org example.org org"),
            (
                "docs.example.org:8080",
                "docs.example.org example.org org docs.example.org:8080 example.org:8080 org:8080",
            ),
            ("127.0.0.1:8801", "127.0.0.1 127.0.0.1:8801"),
            ("[::1]", "[::1]"),
            ("[::1]:80", "[::1] [::1]:80"),
        ] {
            assert_eq!(domains(site).join(" "), expected, "{site}");
        }
    }

    #[test]
    fn a_rank_that_hardly_changes_stays_the_same() {
        assert_eq!(round_rank(1.0), round_rank(1.1));
        assert!(round_rank(1.0) < round_rank(2.0) && round_rank(0.0) < round_rank(0.01));
    }

    #[test]
    fn a_day_is_counted_from_the_epoch() {
        for (text, expected) in [
            ("1970-01-02", Some(1)),
            ("2026-05-17T10:00:00Z", Some(20590)),
            ("1969-12-31", Some(-1)),
            ("May 2026", None),
            ("2026-13-01", None),
        ] {
            assert_eq!(day(text).map(days), expected, "{text}");
        }
    }
}
