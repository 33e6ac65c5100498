//! What a visit of a URL can find out in one edition, determined from the site itself.

use std::collections::BTreeSet;

use dragline_domain::url::CrawlUrl;

use super::edited::{text_of, title_of};
use super::{Asks, Body, Edited, PageKind, Site, allows};

/// What a server says about a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Says {
    /// What is there.
    Content(Content),
    /// That it is gone.
    Gone,
    /// That it must not be asked for.
    Forbidden,
    /// Nothing lasting.
    Nothing,
}

/// The kind of what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentKind {
    /// A page.
    Page,
    /// A page that asks for noindex.
    NoIndex,
    /// A file that asks for noindex.
    NoIndexFile,
    /// A file that no extractor reads.
    File,
    /// A redirect for good.
    Moved,
    /// A redirect for now.
    Elsewhere,
}

/// How a page leads to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leads {
    /// By an ordinary link.
    A,
    /// By calling it canonical.
    Canonical,
    /// By redirecting.
    Redirect,
}

/// What is at a URL, as far as a crawl shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// What it is.
    pub kind: ContentKind,
    /// Its title; `None` if it is not a page, or asks for noindex.
    pub title: Option<String>,
    /// Its visible text, with single spaces; empty if it is not a page, or asks for noindex.
    pub text: String,
    /// Where it leads, each once.
    pub links: BTreeSet<(Leads, CrawlUrl)>,
    /// The number of a file's body.
    pub number: Option<u32>,
}

impl Content {
    /// The URL that stands for it, if it names one.
    #[must_use]
    pub fn stands_at(&self) -> Option<&CrawlUrl> {
        self.links.iter().find(|(leads, _)| *leads != Leads::A).map(|(_, to)| to)
    }

    /// Whether it is a redirect.
    #[must_use]
    pub fn redirects(&self) -> bool {
        matches!(self.kind, ContentKind::Moved | ContentKind::Elsewhere)
    }

    fn bare(kind: ContentKind) -> Self {
        Self { kind, title: None, text: String::new(), links: BTreeSet::new(), number: None }
    }
}

impl Site {
    /// What the servers say about a URL in this edition, once they answer.
    #[must_use]
    pub fn says(&self, url: &CrawlUrl) -> Says {
        let Some(page) = self.page(url) else { return Says::Gone };
        if page.trouble.is_some() {
            return Says::Nothing;
        }
        match &page.kind {
            PageKind::Edited(edited) => Says::Content(edited.content(url)),
            PageKind::Redirect { status, to } => {
                let kind = if matches!(status, 301 | 308) { ContentKind::Moved } else { ContentKind::Elsewhere };
                let links = BTreeSet::from([(Leads::Redirect, to.clone())]);
                Says::Content(Content { links, ..Content::bare(kind) })
            }
            PageKind::Refused(404 | 410) => Says::Gone,
            PageKind::Refused(401 | 403) => Says::Forbidden,
            PageKind::Refused(_) | PageKind::Html { .. } | PageKind::File => Says::Nothing,
        }
    }

    /// Whether this edition's robots.txt can be read, and forbids a URL to the crawler with this
    /// product token.
    #[must_use]
    pub fn forbids(&self, product_token: &str, url: &CrawlUrl) -> bool {
        let robots = self.hosts.get(&url.origin()).map(|host| &host.robots).filter(|robots| robots.trouble.is_none());
        robots.is_some_and(|robots| robots.phases.iter().any(|phase| !allows(&phase.txt, product_token, url)))
    }
}

impl Edited {
    fn content(&self, url: &CrawlUrl) -> Content {
        let asks_for_noindex = self.asks == Asks::NoIndex;
        match &self.body {
            Body::File { .. } if asks_for_noindex => Content::bare(ContentKind::NoIndexFile),
            Body::File { number } => Content { number: Some(*number), ..Content::bare(ContentKind::File) },
            Body::Page { title, text, links, canonical } => {
                let shown: Vec<&str> = links.iter().map(CrawlUrl::as_str).collect();
                let text = [&[text_of(*text).as_str()], shown.as_slice()].concat().join(" ");
                let canonical = canonical.iter().map(|to| (Leads::Canonical, to.clone()));
                let links = canonical.chain(links.iter().map(|to| (Leads::A, to.clone()))).collect();
                if asks_for_noindex {
                    Content { links, ..Content::bare(ContentKind::NoIndex) }
                } else {
                    let title = Some(title_of(url, *title));
                    Content { kind: ContentKind::Page, title, text, links, number: None }
                }
            }
        }
    }
}
