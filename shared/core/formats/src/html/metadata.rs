//! The metadata of a page: title, description, language, robots, canonical URL, base.

use dragline_domain::language::canonical_tag;
use url::Url;

use super::page::RobotsMeta;
use super::resolve::{Resolver, without_fragment};
use super::tag::{Attribute, Tag};
use super::words::TextBuffer;
use super::{HtmlLimits, Syntax};
use crate::http_fields::refresh;
use crate::use_preferences::TDM_RESERVATION;

/// The limit on canonical links that are kept: if they differ, none applies, but some may be the
/// same once they are resolved.
const CANONICALS_MAX: usize = 8;

/// The metadata found so far; its URLs are not resolved yet.
#[derive(Debug)]
pub(super) struct Metadata<'l> {
    limits: &'l HtmlLimits,
    open_title: TextBuffer,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    html_language: Option<String>,
    pragma_language: Option<String>,
    /// The `xml:lang` of a page in HTML, where it has no meaning.
    xml_language: Option<String>,
    pub(super) robots: Vec<RobotsMeta>,
    robots_bytes: usize,
    canonicals: Vec<String>,
    base: Option<String>,
}

impl<'l> Metadata<'l> {
    pub(super) const fn new(limits: &'l HtmlLimits) -> Self {
        Self {
            limits,
            open_title: TextBuffer::new(limits.title_bytes_max),
            title: None,
            description: None,
            html_language: None,
            pragma_language: None,
            xml_language: None,
            robots: Vec::new(),
            robots_bytes: 0,
            canonicals: Vec::new(),
            base: None,
        }
    }

    /// Adds a piece of a `<title>`.
    pub(super) fn title_text(&mut self, piece: &[u8]) {
        if self.title.is_none() {
            self.open_title.push(piece);
        }
    }

    /// Ends a `<title>`, also at the end of the page.
    pub(super) fn end_title(&mut self) {
        if self.title.is_none() {
            self.title = self.open_title.take();
        }
    }

    /// Reads `<html>`. In XHTML, `xml:lang` takes precedence over `lang` (WHATWG HTML, "the
    /// language of a node"). In HTML, browsers ignore it; if nothing else declares a language, it
    /// shows the author's intention.
    pub(super) fn html(&mut self, tag: &Tag, syntax: Syntax) {
        let [lang, xml_lang] = [Attribute::Lang, Attribute::XmlLang].map(|name| tag.text(name).and_then(canonical_tag));
        match syntax {
            Syntax::Xhtml => keep_first(&mut self.html_language, xml_lang.or(lang).as_deref()),
            Syntax::Html => {
                keep_first(&mut self.html_language, lang.as_deref());
                keep_first(&mut self.xml_language, xml_lang.as_deref());
            }
        }
    }

    /// Reads `<base>`: only the first one with an `href` applies.
    pub(super) fn base(&mut self, tag: &Tag) {
        keep_first(&mut self.base, tag.whole(Attribute::Href));
    }

    /// Reads `<link rel=canonical>` in the head.
    pub(super) fn canonical(&mut self, tag: &Tag) {
        if let Some(reference) = tag.whole(Attribute::Href)
            && self.canonicals.len() < CANONICALS_MAX
        {
            let reference = without_fragment(reference);
            if !self.canonicals.iter().any(|known| known == reference) {
                self.canonicals.push(reference.to_owned());
            }
        }
    }

    /// Reads `<meta>`. Returns the reference of a refresh, which is a link.
    pub(super) fn meta<'t>(&mut self, tag: &'t Tag) -> Option<&'t str> {
        let content = tag.text(Attribute::Content)?;
        if let Some(pragma) = tag.text(Attribute::HttpEquiv) {
            if pragma.eq_ignore_ascii_case("refresh") {
                return refresh(tag.whole(Attribute::Content)?);
            }
            if pragma.eq_ignore_ascii_case("content-language") {
                keep_first(&mut self.pragma_language, pragma_language(content).as_deref());
            }
        }
        let name = tag.text(Attribute::Name)?.trim_ascii();
        if name.eq_ignore_ascii_case("description") {
            if self.description.is_none() {
                let mut words = TextBuffer::new(self.limits.description_bytes_max);
                words.push(content.as_bytes());
                self.description = words.take();
            }
        } else if speaks_to_robots(name, content) {
            self.robots(name, content.trim_ascii());
        }
        None
    }

    fn robots(&mut self, name: &str, content: &str) {
        let bytes = size_of::<RobotsMeta>() + name.len() + content.len();
        if bytes <= self.limits.robots_bytes_max - self.robots_bytes {
            self.robots_bytes += bytes;
            self.robots.push(RobotsMeta { agent: name.to_ascii_lowercase(), content: content.to_owned() });
        }
    }

    pub(super) fn language(&mut self) -> Option<String> {
        self.html_language.take().or_else(|| self.pragma_language.take()).or_else(|| self.xml_language.take())
    }

    /// Returns the base URL of the page's links (WHATWG HTML, "set the frozen base URL").
    pub(super) fn resolved_base(&self, page: Resolver<'_>) -> Url {
        self.base.as_ref().and_then(|base| page.resolve(base).ok()).unwrap_or_else(|| page.base.clone())
    }

    pub(super) fn resolved_canonical(&self, resolver: Resolver<'_>) -> Option<Url> {
        let mut urls = self.canonicals.iter().filter(|reference| !reference.is_empty());
        let first = urls.find_map(|reference| resolver.resolve(reference).ok())?;
        let is_contradicted = urls.any(|reference| resolver.resolve(reference).is_ok_and(|url| url != first));
        if is_contradicted { None } else { Some(first) }
    }
}

fn keep_first(field: &mut Option<String>, value: Option<&str>) {
    if field.is_none() {
        *field = value.map(str::to_owned);
    }
}

/// WHATWG HTML, "content language state": several languages mean none; of several words, the first
/// applies.
fn pragma_language(content: &str) -> Option<String> {
    if content.contains(',') { None } else { canonical_tag(content.split_ascii_whitespace().next()?) }
}

/// Whether a `<meta>` is for robots. A robot may have any name, so names other than `robots` are
/// recognised by the content.
fn speaks_to_robots(name: &str, content: &str) -> bool {
    const ASKED: [&str; 9] =
        ["all", "follow", "index", "noai", "noarchive", "nofollow", "noimageai", "noindex", "none"];
    const FREE_TEXT: [&str; 2] = ["author", "keywords"];
    let is_one_of = |word: &str, words: &[&str]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
    name.eq_ignore_ascii_case("robots")
        || name.eq_ignore_ascii_case(TDM_RESERVATION)
        || !is_one_of(name, &FREE_TEXT) && content.split(',').any(|word| is_one_of(word.trim_ascii(), &ASKED))
}
