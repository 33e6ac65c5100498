//! What was seen of a site.

use std::collections::BTreeSet;
use std::time::Duration;

use dragline_domain::content::Content;
use dragline_domain::document::LinkKind;
use dragline_domain::scripted;
use dragline_domain::shown::one_line;
use dragline_domain::url::CrawlUrl;
use dragline_extract::{FoundLink, Look, Unread};

use super::platform::{self, FoundPlatform};
use crate::terminal::{count, plural};

/// The limit on a quoted text of the site, in characters.
const TEXT_CHARS_MAX: usize = 100;

/// The limit on listed languages, feeds or types.
const LISTED_MAX: usize = 8;

/// A site, as it answered a few requests.
#[derive(Clone, Debug)]
pub(super) struct Site {
    /// The URL that was given.
    pub(super) given: CrawlUrl,
    /// The URL that it leads to.
    pub(super) url: CrawlUrl,
    /// The answer of robots.txt about the page, on one line.
    pub(super) robots: String,
    /// The delay that robots.txt asks for; `None` if it asks for none.
    pub(super) crawl_delay: Option<Duration>,
    pub(super) sitemaps: SeenSitemaps,
    pub(super) page: SeenPage,
}

/// The sitemaps of a site, as far as they were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SeenSitemaps {
    /// Those that robots.txt names.
    pub(super) named: Vec<CrawlUrl>,
    /// One in the usual place that robots.txt does not name; `None` if there is none.
    pub(super) unnamed: Option<CrawlUrl>,
    /// How many files are known, including those that an index lists.
    pub(super) files: u64,
    /// How many of them were read.
    pub(super) files_read: u64,
    /// The URLs in those that were read.
    pub(super) urls: u64,
    /// How many of these are of other origins than the page.
    pub(super) urls_elsewhere: u64,
    /// Why one could not be read, on one line; `None` if all could.
    pub(super) unread: Option<String>,
}

impl SeenSitemaps {
    /// Counts what a sitemap lists, and returns the sitemaps among it.
    pub(super) fn count(&mut self, links: &[FoundLink], page: &CrawlUrl) -> Vec<CrawlUrl> {
        let urls = || links.iter().filter(|link| link.kind == LinkKind::Sitemap);
        let elsewhere = urls().filter(|link| link.target.origin() != page.origin());
        self.files_read += 1;
        self.urls += urls().count() as u64;
        self.urls_elsewhere += elsewhere.count() as u64;
        let inner: Vec<_> = links.iter().filter(|link| link.kind == LinkKind::SitemapFile).collect();
        self.files += inner.len() as u64;
        inner.into_iter().map(|link| link.target.clone()).collect()
    }

    /// Returns their size in words: `a sitemap of 1,234 URLs`.
    pub(super) fn size(&self) -> String {
        let urls = plural(self.urls, "URL");
        match (self.files, self.files_read) {
            (_, 0) => format!("{}, not counted", plural(self.files, "sitemap")),
            (1, _) => format!("a sitemap of {urls}"),
            (files, read) if files == read => format!("{} of {urls}", plural(files, "sitemap")),
            (files, read) => format!("{}, with {urls} in {} of them", plural(files, "sitemap"), count(read)),
        }
    }
}

/// What the page says of itself and its site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SeenPage {
    /// Why it is not read as a page, on one line; `None` if it is.
    pub(super) unread: Option<String>,
    /// Its title, on one line.
    pub(super) title: Option<String>,
    /// Its own language, as written.
    pub(super) language: Option<String>,
    /// The languages of its other versions, as written.
    pub(super) languages: Vec<String>,
    /// The URLs of its feeds.
    pub(super) feeds: Vec<CrawlUrl>,
    /// The program that made it.
    pub(super) platform: Option<FoundPlatform>,
    /// The element that scripts fill; `None` if the page does not need JavaScript.
    pub(super) scripted: Option<String>,
    /// The wall in its place, on one line; `None` if there is none.
    pub(super) wall: Option<String>,
    /// The types of its items.
    pub(super) items: Vec<String>,
}

impl SeenPage {
    /// Collects what is known of a page that was read.
    pub(super) fn from_look(look: &Look) -> Self {
        let Content { items, about, .. } = look.content();
        let about = about.unwrap_or_default();
        let extracted = &look.extracted;
        // A page with noindex has no other content, and still names its generator.
        let metas = look.markup.iter().flat_map(|markup| &markup.meta);
        let generators: Vec<_> = metas
            .filter(|(name, _)| name.eq_ignore_ascii_case("generator"))
            .map(|(_, content)| content.as_str())
            .collect();
        let is_resource =
            |kind| matches!(kind, LinkKind::Css | LinkKind::Script | LinkKind::Manifest | LinkKind::Other);
        let resources: Vec<_> = extracted
            .links
            .iter()
            .filter(|link| is_resource(link.kind) || link.kind == LinkKind::Sequence)
            .map(|link| link.target.as_str())
            .collect();
        let languages = about.hreflang.iter().map(|other| other.language.as_str());
        let feeds = about.feeds.into_iter().filter_map(|feed| CrawlUrl::try_from(feed.url).ok());
        Self {
            unread: None,
            title: extracted.page.title.as_deref().and_then(text),
            language: extracted.page.language.as_deref().and_then(text),
            languages: several(languages.filter(|tag| !tag.eq_ignore_ascii_case("x-default"))),
            feeds: feeds.take(LISTED_MAX).collect(),
            platform: platform::find(&generators, &resources),
            scripted: extracted.remark.as_deref().and_then(scripted::element_from_detail).and_then(text),
            wall: extracted.wall.map(|wall| wall.detail()),
            items: several(items.iter().filter_map(|item| item.types.first()).map(String::as_str)),
        }
    }

    /// Returns what is known of a body that is not a page.
    pub(super) fn from_unread(unread: &Unread) -> Self {
        let why = unread.detail.as_deref().and_then(text);
        Self { unread: Some(why.unwrap_or_else(|| "by its type".to_owned())), ..Self::default() }
    }
}

/// Returns a text of the site on one line, cut if it is long; `None` if it is empty.
fn text(written: &str) -> Option<String> {
    let line = one_line(written.trim(), TEXT_CHARS_MAX);
    (!line.is_empty()).then_some(line)
}

/// Returns the first texts, each once, in order.
fn several<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    texts.filter_map(text).filter(|text| seen.insert(text.clone())).take(LISTED_MAX).collect()
}
