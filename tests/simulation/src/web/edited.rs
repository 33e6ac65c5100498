//! A URL whose content is drawn for each edition.

use dragline_domain::url::CrawlUrl;
use jiff::{Span, Timestamp};

use super::page::Arrival;
use super::{Conditions, Response};

/// What is at a URL in one edition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The number of its version, which its validator states. Another body has another number; the
    /// same body may have one, too.
    pub version: u32,
    /// What it says.
    pub body: Body,
    /// What its header asks of crawlers.
    pub asks: Asks,
    /// How a client finds out that it has not changed.
    pub validation: Validation,
}

/// What a body says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// An HTML page.
    Page {
        /// The number in its title.
        title: u32,
        /// The number in its text.
        text: u32,
        /// Where it links to, in order, each once.
        links: Vec<CrawlUrl>,
        /// Its canonical URL, which is another one; `None` if it names none.
        canonical: Option<CrawlUrl>,
    },
    /// A file that no extractor reads.
    File {
        /// The number in it.
        number: u32,
    },
}

/// What a header asks of crawlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// Nothing.
    Nothing,
    /// `X-Robots-Tag: noindex`.
    NoIndex,
}

/// How a client finds out that a body has not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validation {
    /// By comparing it.
    Body,
    /// By its `ETag`.
    Tag,
    /// By its `Last-Modified`.
    Date,
}

/// When the first version was made.
const FIRST: Timestamp = Timestamp::constant(1_780_000_000, 0);

impl Edited {
    pub(super) fn response(&self, url: &CrawlUrl, arrival: &Arrival) -> Response {
        let response = match self.is_known_by(&arrival.sent.conditions) {
            true => Response::new(304, ""),
            false => self.whole(url),
        };
        match self.asks {
            Asks::Nothing => response,
            Asks::NoIndex => response.with("x-robots-tag", "noindex"),
        }
    }

    fn whole(&self, url: &CrawlUrl) -> Response {
        let (kind, body) = match &self.body {
            Body::Page { title, text, links, canonical } => {
                let links: String = links.iter().map(|to| format!("<p><a href=\"{to}\">{to}</a>\n")).collect();
                let canonical = canonical.as_ref().map(|to| format!("<link rel=canonical href=\"{to}\">"));
                let canonical = canonical.unwrap_or_default();
                let (title, text) = (title_of(url, *title), text_of(*text));
                let head = format!("<!doctype html><!-- version {} --><title>{title}</title>{canonical}", self.version);
                ("text/html; charset=utf-8", format!("{head}<p>{text}\n{links}"))
            }
            Body::File { number } => ("application/pdf", format!("%PDF {number} of {url}")),
        };
        let response = Response::new(200, body).with("content-type", kind);
        match self.validation {
            Validation::Body => response,
            Validation::Tag => response.with("etag", self.tag()),
            Validation::Date => response.with("last-modified", self.date()),
        }
    }

    fn is_known_by(&self, conditions: &Conditions) -> bool {
        match self.validation {
            Validation::Body => false,
            Validation::Tag => conditions.if_none_match.as_ref() == Some(&self.tag()),
            Validation::Date => conditions.if_modified_since.as_ref() == Some(&self.date()),
        }
    }

    fn tag(&self) -> String {
        format!("\"version-{}\"", self.version)
    }

    fn date(&self) -> String {
        let at = FIRST.checked_add(Span::new().hours(i64::from(self.version))).expect("few versions");
        httpdate::fmt_http_date(at.into())
    }
}

/// The title of a page with this number in it.
pub(crate) fn title_of(url: &CrawlUrl, number: u32) -> String {
    format!("{url}, title {number}")
}

/// The text of a page with this number in it, but for the links: of three numbers in a row one says
/// little, and the others are about two subjects.
pub(crate) fn text_of(number: u32) -> String {
    let about = match number % 3 {
        0 => String::new(),
        subject => (0..60).map(|n| format!(" subject-{subject}-{n}")).collect(),
    };
    format!("This is text {number}.{about}")
}
