//! A page's information about itself apart from its main part: headings, pictures, languages,
//! feeds, meta elements, and the language of its words.

use dom_query::{Document, NodeRef};
use dragline_domain::content::{About, Alternate, FeedLink, Heading, Image, Meta};
use dragline_domain::simhash::Simhash;
use dragline_domain::words::count_words;
use dragline_formats::http_fields::is_feed;
use dragline_formats::warc::Sha1Digest;
use url::Url;

use crate::tree::{element_text, in_one_line};

const HEADINGS_MAX: usize = 1_000;
const IMAGES_MAX: usize = 1_000;
const ALTERNATES_MAX: usize = 500;
const FEEDS_MAX: usize = 100;
const METAS_MAX: usize = 500;

/// The longest text kept, in bytes. A longer one is cut.
const TEXT_BYTES_MAX: usize = 4 << 10;

/// Longer URLs, in bytes, are left out: data URLs contain whole pictures.
const URL_BYTES_MAX: usize = 2 << 10;

/// The bytes of the text from which the language is detected.
const LANGUAGE_BYTES: usize = 4 << 10;

/// A page's information about itself, and whether it is complete.
#[derive(Debug, Default)]
pub(crate) struct PageAbout {
    pub(crate) about: About,
    /// Whether something was left out or cut at a limit.
    pub(crate) is_cut: bool,
}

/// Collects the information from a tree. URLs are resolved against `base`; `text` is the visible
/// text.
pub(crate) fn from_tree(document: &Document, base: &Url, text: &str) -> PageAbout {
    let mut found = PageAbout { about: from_text(text), is_cut: false };
    for node in document.root().descendants_it().filter(NodeRef::is_element) {
        found.add(&node, base);
    }
    found
}

/// Returns what the text alone reveals, of a page or of any other file.
pub(crate) fn from_text(text: &str) -> About {
    About {
        language_detected: language(text),
        words: u32::try_from(count_words(text)).unwrap_or(u32::MAX),
        text_sha1: Sha1Digest::compute(text.as_bytes()).to_hex(),
        simhash: Simhash::compute(text).to_string(),
        ..About::default()
    }
}

impl PageAbout {
    fn add(&mut self, node: &NodeRef<'_>, base: &Url) {
        let Some(name) = node.node_name() else { return };
        match &*name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = name.as_bytes()[1] - b'0';
                if let Some(text) = self.line(&element_text(node)) {
                    push(&mut self.about.headings, HEADINGS_MAX, Heading { level, text }, &mut self.is_cut);
                }
            }
            "img" => {
                if let Some(url) = node.attr("src").and_then(|url| self.url(&url, base)) {
                    let alt = node.attr("alt").and_then(|alt| self.line(&alt));
                    push(&mut self.about.images, IMAGES_MAX, Image { url, alt }, &mut self.is_cut);
                }
            }
            "link" => self.add_link(node, base),
            "meta" => {
                let name = node.attr("property").or_else(|| node.attr("name")).and_then(|name| self.line(&name));
                let content = node.attr("content").and_then(|content| self.line(&content));
                if let Some((name, content)) = name.zip(content) {
                    push(&mut self.about.meta, METAS_MAX, Meta { name, content }, &mut self.is_cut);
                }
            }
            _ => {}
        }
    }

    /// Adds a link to the page in another language, or to a feed.
    fn add_link(&mut self, node: &NodeRef<'_>, base: &Url) {
        let is_alternate = node
            .attr("rel")
            .is_some_and(|rel| rel.split_ascii_whitespace().any(|rel| rel.eq_ignore_ascii_case("alternate")));
        if !is_alternate {
            return;
        }
        let Some(url) = node.attr("href").and_then(|url| self.url(&url, base)) else { return };
        if node.attr("type").is_some_and(|media| is_feed(&media)) {
            let title = node.attr("title").and_then(|title| self.line(&title));
            push(&mut self.about.feeds, FEEDS_MAX, FeedLink { url, title }, &mut self.is_cut);
        } else if let Some(language) = node.attr("hreflang").and_then(|language| self.line(&language)) {
            push(&mut self.about.hreflang, ALTERNATES_MAX, Alternate { language, url }, &mut self.is_cut);
        }
    }

    /// Returns a text on one line, cut at the limit; `None` if it is empty.
    fn line(&mut self, text: &str) -> Option<String> {
        let mut text = in_one_line(text);
        if text.len() > TEXT_BYTES_MAX {
            text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
            self.is_cut = true;
        }
        (!text.is_empty()).then_some(text)
    }

    /// Returns an absolute http or https URL; `None` if it is not one, or too long.
    fn url(&mut self, reference: &str, base: &Url) -> Option<String> {
        if reference.len() > URL_BYTES_MAX {
            self.is_cut |= !reference.starts_with("data:");
            return None;
        }
        let url = base.join(reference.trim()).ok()?;
        matches!(url.scheme(), "http" | "https").then(|| url.into())
    }
}

/// Adds an entry if there is room.
fn push<T>(entries: &mut Vec<T>, entries_max: usize, entry: T, is_cut: &mut bool) {
    if entries.len() < entries_max {
        entries.push(entry);
    } else {
        *is_cut = true;
    }
}

/// Returns the language of a text, detected by its words, as ISO 639-3; `None` if it is uncertain.
fn language(text: &str) -> Option<String> {
    let beginning = &text[..text.floor_char_boundary(LANGUAGE_BYTES.min(text.len()))];
    let detected = whatlang::detect(beginning).filter(whatlang::Info::is_reliable)?;
    Some(detected.lang().code().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    fn about(html: &str) -> PageAbout {
        let base = Url::parse("https://a.example/b/").unwrap();
        let document = tree::parse(html).unwrap();
        from_tree(&document, &tree::base_url(&document, &base), "")
    }

    #[test]
    fn the_pages_information_is_extracted() {
        let html = "<base href=/c/><meta name=Author content=' A  B '><meta property=og:title content=T><meta name=empty content=''><meta content=x>
            <link rel=alternate hreflang=de href=de><link rel='ALTERNATE stylesheet' hreflang=fr href=//fr.example/>
            <link rel=alternate type=application/rss+xml title=News href=feed.xml><link rel=alternate href=other><link rel=next href=2>
            <h1>One<br>line</h1><h3> </h3><h6>Six <b>bold</b></h6>
            <img src=a.png alt='A  picture'><img src='data:image/png;base64,xx'><img alt=none><img src=b.png alt=''>";
        let PageAbout { about, is_cut } = about(html);
        assert!(!is_cut);
        let heading = |level, text: &str| Heading { level, text: text.into() };
        assert_eq!(about.headings, [heading(1, "One line"), heading(6, "Six bold")], "in order, empty ones left out");
        let image = |url: &str, alt: Option<&str>| Image { url: url.into(), alt: alt.map(str::to_owned) };
        let images = [image("https://a.example/c/a.png", Some("A picture")), image("https://a.example/c/b.png", None)];
        assert_eq!(about.images, images);
        let alternate = |language: &str, url: &str| Alternate { language: language.into(), url: url.into() };
        let alternates = [alternate("de", "https://a.example/c/de"), alternate("fr", "https://fr.example/")];
        assert_eq!(about.hreflang, alternates);
        assert_eq!(about.feeds, [FeedLink { url: "https://a.example/c/feed.xml".into(), title: Some("News".into()) }]);
        let meta = |name: &str, content: &str| Meta { name: name.into(), content: content.into() };
        assert_eq!(about.meta, [meta("Author", "A B"), meta("og:title", "T")]);
    }

    #[test]
    fn limits_are_kept_and_told() {
        let long = format!("<h1>{}</h1>", "x".repeat(TEXT_BYTES_MAX + 1));
        for (html, is_cut, why) in [
            ("<h2>x</h2>".repeat(HEADINGS_MAX), false, "as many as are kept"),
            ("<h2>x</h2>".repeat(HEADINGS_MAX + 1), true, "one more"),
            (long, true, "a long heading"),
            (format!("<img src=/{}>", "x".repeat(URL_BYTES_MAX)), true, "a long URL"),
            (format!("<img src=data:image/png,{}>", "x".repeat(URL_BYTES_MAX)), false, "a picture in the page"),
        ] {
            let found = about(&html);
            assert_eq!(found.is_cut, is_cut, "{why}");
            assert!(found.about.headings.len() <= HEADINGS_MAX, "{why}");
        }
    }

    #[test]
    fn words_are_counted_in_scripts_without_spaces() {
        for (text, expected, why) in [
            ("Nine words, as of whatever has spaces around it.", 9, "English"),
            ("すべての人間は、生まれながらにして自由であり", 21, "Japanese, each character without the comma"),
            ("人人生而自由，在尊严和权利上一律平等。", 17, "Chinese"),
            ("มนุษย์ทั้งหลายเกิดมามีอิสระ", 7, "Thai, each four of 27 characters"),
        ] {
            assert_eq!(from_text(text).words, expected, "{why}");
        }
    }

    #[test]
    fn languages_are_detected_by_words() {
        let german = "Die Würde des Menschen ist unantastbar. Sie zu achten und zu schützen ist Verpflichtung aller staatlichen Gewalt.";
        for (text, expected, why) in [
            (german, Some("deu"), "German"),
            ("Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv.", Some("ces"), "Czech"),
            ("すべての人間は、生まれながらにして自由であり", Some("jpn"), "by its script"),
            ("x1 y2", None, "no words"),
            ("", None, "nothing"),
        ] {
            assert_eq!(language(text).as_deref(), expected, "{why}");
        }
    }
}
