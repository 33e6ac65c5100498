//! Sitemaps (sitemaps.org, protocol 0.9) as XML, feeds and text, sitemap indexes, and the sitemaps
//! named in robots.txt.

mod feed;
#[cfg(test)]
mod tests;
mod urlset;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use dragline_domain::content::Content;
use dragline_domain::document::LinkKind;
use dragline_domain::frontier::ReadAs;
use dragline_domain::lastmod::LastMod;
use dragline_domain::markup::{LanguageLink, Markup};
use dragline_domain::url::CrawlUrl;
use dragline_formats::content_coding::{ContentCodings, Cut, decode_all};
use dragline_formats::robots::{ROBOTS_PATH, SITEMAP_PATH, sitemaps};
use quick_xml::events::BytesStart;

use self::feed::Feed;
use self::urlset::{Language, Urlset};
use crate::body::{Body, FoundLink, Unread};
use crate::fields::MediaType;
use crate::files::xml::{Visitor, walk};

/// The most URLs of one sitemap (a limit of the protocol).
const ENTRIES_MAX: usize = 50_000;

/// The longest URL read, in bytes (the protocol's limit is 2,048).
const URL_BYTES_MAX: usize = 8 << 10;

/// How many bytes of a body are examined before all of it is read.
const LOOK_BYTES: u64 = 4 << 10;

/// How often a body may be compressed, besides its content coding: a compressed file may be
/// compressed again by a server that does not know it is.
const GZIPS_MAX: usize = 2;

const GZIP_MARK: &[u8] = b"\x1f\x8b";

/// Why a body named as a sitemap lists nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NothingListed {
    /// It is robots.txt, which need not name any sitemap.
    InRobots,
    /// It is something else.
    NotASitemap,
    /// It is one, but has no URL that can be crawled.
    NoUrls,
    /// Its compression is damaged.
    Damaged,
}

impl fmt::Display for NothingListed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InRobots => "it names no sitemaps",
            Self::NotASitemap => "not a sitemap: neither XML of that kind, nor a feed, nor a list of URLs",
            Self::NoUrls => "a sitemap without URLs",
            Self::Damaged => "not readable as a sitemap: its gzip is damaged",
        })
    }
}

/// Whether a URL is where the sitemap of most sites is. Elsewhere its redirect may lead to a page.
pub(crate) fn is_tried(url: &CrawlUrl) -> bool {
    url.path_and_query() == SITEMAP_PATH
}

/// Returns what a body says that was named as a sitemap, or is robots.txt, whatever its media type.
pub(crate) fn read_named(body: &Body<'_>, read_as: ReadAs) -> Result<Unread, NothingListed> {
    let found = match read_as {
        ReadAs::Typed | ReadAs::Check | ReadAs::Robots | ReadAs::Feed => listing(body, parse_robots(body).into()),
        ReadAs::Sitemap | ReadAs::SitemapTrial => {
            let (bytes, is_damaged) = decompress(body, u64::MAX);
            let listed = parse_text(&body.text(&bytes).text);
            let is_sitemap = listed.is_some();
            let found = listing(body, listed.unwrap_or_default());
            match is_sitemap {
                _ if !found.links.is_empty() => found,
                _ if is_damaged => return Err(NothingListed::Damaged),
                false => return Err(NothingListed::NotASitemap),
                true => return Err(NothingListed::NoUrls),
            }
        }
    };
    if found.links.is_empty() { Err(NothingListed::InRobots) } else { Ok(found) }
}

/// What a list says, with URLs as written.
#[derive(Debug, Default)]
struct Listed {
    links: Vec<(LinkKind, String)>,
    /// The languages of its pages, by the pages' URLs.
    languages: Vec<(String, Language)>,
}

impl From<Vec<(LinkKind, String)>> for Listed {
    fn from(links: Vec<(LinkKind, String)>) -> Self {
        Self { links, languages: Vec::new() }
    }
}

/// Returns what a list says, with its links resolved.
fn listing(body: &Body<'_>, listed: Listed) -> Unread {
    let links = body.links(listed.links);
    let markup = Markup { languages: languages(body, &links, &listed.languages), ..Markup::default() };
    let content = (!markup.languages.is_empty() && !body.directives.noindex)
        .then(|| Box::new(Content { markup: Some(Box::new(markup)), ..Content::default() }));
    Unread { links, content, ..body.unread() }
}

/// Returns the languages of a list's pages, by the positions of links.
fn languages(body: &Body<'_>, links: &[FoundLink], listed: &[(String, Language)]) -> Vec<LanguageLink> {
    if listed.is_empty() {
        return Vec::new();
    }
    let mut positions: HashMap<&CrawlUrl, u32> = HashMap::new();
    for (position, link) in (0..).zip(links) {
        if matches!(link.kind, LinkKind::Sitemap | LinkKind::Alternate) {
            positions.entry(&link.target).or_insert(position);
        }
    }
    let position = |written: &str| {
        let (target, _) = body.source.url.join_spelled(written, body.settings.url_rules).ok()?;
        positions.get(&target).copied()
    };
    let language = |(page, language): &(String, Language)| {
        let (page, link) = (position(page)?, position(&language.url)?);
        Some(LanguageLink { link, code: language.code.as_str().into(), page: Some(page) })
    };
    listed.iter().filter_map(language).collect()
}

/// Returns the entries of a body named as a sitemap, with when each changed last, as far as it says
/// so.
pub(crate) fn changes(body: &Body<'_>) -> Vec<(CrawlUrl, LastMod)> {
    let bytes = decompress(body, u64::MAX).0;
    let mut document = Document::new(Roots::WithFeeds);
    walk(&body.text(&bytes).text, &mut document);
    let List::Urlset(urlset) = document.list else { return Vec::new() };
    let resolve = |(url, lastmod): (String, LastMod)| {
        let (target, _) = body.source.url.join_spelled(&url, body.settings.url_rules).ok()?;
        Some((target, lastmod))
    };
    urlset.into_changes().into_iter().filter_map(resolve).collect()
}

/// Returns what a body says that is a sitemap or robots.txt by its media type and beginning; it has
/// no links if it is neither.
pub(crate) fn read(body: &Body<'_>) -> Unread {
    match body.media {
        MediaType::Plain | MediaType::Unknown if body.source.url.path_and_query() == ROBOTS_PATH => {
            listing(body, parse_robots(body).into())
        }
        MediaType::Xml | MediaType::Plain | MediaType::Unknown | MediaType::Binary | MediaType::Other => {
            // Most files of these types are something else, and not read any further.
            if may_be_one(&body.text(&decompress(body, LOOK_BYTES).0).text) {
                let bytes = decompress(body, u64::MAX).0;
                listing(body, in_xml(&body.text(&bytes).text, Roots::Sitemaps).unwrap_or_default())
            } else {
                body.unread()
            }
        }
        MediaType::Html | MediaType::Xhtml | MediaType::Json | MediaType::Pdf | MediaType::Office | MediaType::Css => {
            body.unread()
        }
    }
}

/// Returns the sitemaps named in robots.txt. After a redirect, relative URLs have no base.
fn parse_robots(body: &Body<'_>) -> Vec<(LinkKind, String)> {
    let is_in_its_place = body.source.url.path_and_query() == ROBOTS_PATH;
    let named = sitemaps(&body.decoded(), ENTRIES_MAX).into_iter();
    named.filter(|url| is_in_its_place || is_absolute(url)).map(|url| (LinkKind::SitemapFile, url)).collect()
}

/// Decompresses the beginning of a body, including compressed files. Also returns whether the
/// compression is damaged.
fn decompress<'b>(body: &Body<'b>, bytes_max: u64) -> (Cow<'b, [u8]>, bool) {
    let bytes_max = bytes_max.min(body.settings.decoded_bytes_max);
    let mut bytes = body.beginning(bytes_max);
    let mut is_damaged = false;
    for _ in 0..GZIPS_MAX {
        if !bytes.starts_with(GZIP_MARK) {
            break;
        }
        let Ok(gzip) = ContentCodings::parse([&b"gzip"[..]]) else { break };
        let whole = if bytes.len() as u64 >= bytes_max { body.decoded() } else { bytes };
        let decoded = decode_all(&gzip, &whole, bytes_max);
        is_damaged |= decoded.cut.is_some_and(|cut| cut != Cut::Limit);
        bytes = Cow::Owned(decoded.bytes.into_owned());
    }
    (bytes, is_damaged)
}

fn is_absolute(url: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| url.get(..scheme.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(scheme)))
}

/// Returns what a sitemap's text says; `None` if it is not a sitemap.
fn parse_text(text: &str) -> Option<Listed> {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '\u{feff}' | '\0'));
    // The URLs of a text list may contain anything, and XML may have anything before its root.
    let listed = if is_absolute(text) { None } else { in_xml(text, Roots::WithFeeds) };
    listed.or_else(|| if text.starts_with('<') { None } else { parse_lines(text).map(Listed::from) })
}

/// Returns the URLs of a text list, one a line; `None` if there is none.
fn parse_lines(text: &str) -> Option<Vec<(LinkKind, String)>> {
    let lines = text.split(['\n', '\r']).map(str::trim).filter(|line| is_absolute(line) && line.len() <= URL_BYTES_MAX);
    let urls: Vec<_> = lines.take(ENTRIES_MAX).map(|line| (LinkKind::Sitemap, line.to_owned())).collect();
    (!urls.is_empty()).then_some(urls)
}

/// The elements that begin a sitemap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Roots {
    /// The root element of a sitemap.
    Sitemaps,
    /// The first element that begins a sitemap or a feed, whatever comes before it.
    WithFeeds,
}

/// Whether a document with this beginning may be a sitemap: its root is that of one, or comes
/// later.
fn may_be_one(beginning: &str) -> bool {
    let mut document = Document::new(Roots::Sitemaps);
    walk(beginning, &mut document);
    match document.list {
        List::Unseen => beginning.trim_start_matches('\u{feff}').trim_start().starts_with('<'),
        List::Urlset(_) | List::Feed(_) => true,
        List::Other => false,
    }
}

fn in_xml(text: &str, roots: Roots) -> Option<Listed> {
    let mut document = Document::new(roots);
    walk(text, &mut document);
    match document.list {
        List::Unseen | List::Other => None,
        List::Urlset(mut urlset) => {
            let languages = urlset.take_languages();
            Some(Listed { links: urlset.into_links(), languages })
        }
        List::Feed(feed) => Some(feed.links.into()),
    }
}

struct Document {
    roots: Roots,
    list: List,
}

/// The kind of an XML document.
enum List {
    /// The root has not appeared yet.
    Unseen,
    Urlset(Urlset),
    Feed(Feed),
    Other,
}

impl Document {
    const fn new(roots: Roots) -> Self {
        Self { roots, list: List::Unseen }
    }

    fn root(&self, name: &str, prefix: Option<&str>) -> List {
        let prefix = prefix.map(str::to_owned);
        match (name, self.roots) {
            ("urlset", _) => List::Urlset(Urlset::new(LinkKind::Sitemap, prefix)),
            ("sitemapindex", _) => List::Urlset(Urlset::new(LinkKind::SitemapFile, prefix)),
            ("rss" | "feed" | "rdf", Roots::WithFeeds) => List::Feed(Feed::new(prefix)),
            (_, Roots::WithFeeds) => List::Unseen,
            (_, Roots::Sitemaps) => List::Other,
        }
    }
}

impl Visitor for Document {
    fn start(&mut self, name: &str, element: &BytesStart<'_>) {
        let (name, prefix) = (lower(name), element.name().prefix());
        let prefix = prefix.as_ref().map(AsRef::as_ref);
        match &mut self.list {
            List::Unseen => self.list = self.root(&name, prefix),
            List::Urlset(urlset) => urlset.start(&name, prefix, element),
            List::Feed(feed) => feed.start(&name, prefix, element),
            List::Other => {}
        }
    }

    fn end(&mut self, name: &str) {
        match &mut self.list {
            List::Urlset(urlset) => urlset.end(&lower(name)),
            List::Feed(feed) => feed.end(&lower(name)),
            List::Unseen | List::Other => {}
        }
    }

    fn text(&mut self, text: &str) {
        match &mut self.list {
            List::Urlset(urlset) => urlset.text(text),
            List::Feed(feed) => feed.text(text),
            List::Unseen | List::Other => {}
        }
    }

    fn unknown_reference(&mut self, name: &str) {
        // An unescaped ampersand, before a parameter's name.
        self.text("&");
        self.text(name);
        self.text(";");
    }

    fn breaks_off(&mut self) {
        // Inside a tag, so that the text before it is complete.
        if let List::Urlset(urlset) = &mut self.list {
            urlset.flush();
        }
    }

    fn is_done(&self) -> bool {
        match &self.list {
            List::Unseen => false,
            List::Urlset(urlset) => urlset.links.len() >= ENTRIES_MAX,
            List::Feed(feed) => feed.links.len() >= ENTRIES_MAX,
            List::Other => true,
        }
    }
}

/// Returns an element's name in lower case, as some generators use upper case.
fn lower(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) { name.to_ascii_lowercase().into() } else { name.into() }
}

/// Text that may be a URL, up to the length limit.
#[derive(Debug, Default)]
struct UrlText(String);

impl UrlText {
    fn push(&mut self, text: &str) {
        if self.0.len() <= URL_BYTES_MAX {
            self.0.push_str(text);
        }
    }

    /// Takes the URL, trimmed and without line breaks; `None` if there is none, or it is too long.
    fn take(&mut self) -> Option<String> {
        let said = std::mem::take(&mut self.0);
        let url = match said.trim() {
            url if url.contains(['\n', '\r']) => url.split(['\n', '\r']).map(str::trim).collect(),
            url => url.to_owned(),
        };
        (!url.is_empty() && said.len() <= URL_BYTES_MAX).then_some(url)
    }
}
