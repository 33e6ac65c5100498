//! What stands behind one URL, and how it answers.

use std::time::Duration;

use dragline_domain::url::CrawlUrl;
use dragline_ports::fetcher::FetchFailureKind;
use jiff::Timestamp;

use super::{Answer, Conditions, Response};

/// A URL's truth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// What it is once it answers.
    pub kind: PageKind,
    /// How long each answer takes.
    pub think: Duration,
    /// What goes wrong first; absent: nothing.
    pub trouble: Option<Trouble>,
}

/// What a URL is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// An HTML page.
    Html {
        /// Where it links to, in order.
        links: Vec<CrawlUrl>,
        /// What it asks of crawlers.
        directive: Directive,
        /// What it calls canonical; absent: nothing.
        canonical: Option<CrawlUrl>,
        /// How it changes.
        revision: Revision,
    },
    /// A body that is no page.
    File,
    /// A redirect.
    Redirect {
        /// 301, 302, 303, 307 or 308.
        status: u16,
        /// Where to.
        to: CrawlUrl,
    },
    /// Always this status, such as 404 or 500.
    Refused(u16),
}

/// What a page asks of crawlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directive {
    /// Nothing.
    None,
    /// Not to be indexed.
    NoIndex,
    /// Its links not to be followed.
    NoFollow,
}

/// How a page's body and validators change from edition to edition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revision {
    /// It stays as it is, and says so by neither field.
    Silent,
    /// It stays as it is, with an `ETag`.
    Tagged,
    /// It stays as it is, with a `Last-Modified`.
    Dated,
    /// It is another one in each edition, with an `ETag`.
    New,
    /// The same body as every other page of this kind.
    Twin,
}

/// What goes wrong with the first requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// With how many of them.
    pub requests: u32,
    /// What.
    pub kind: TroubleKind,
}

/// What goes wrong. All of it may be tried again within an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TroubleKind {
    /// 503.
    Unavailable,
    /// 429 without a word about when to come again.
    RateLimited,
    /// 429 with `Retry-After` in seconds.
    RetryAfterSeconds(u32),
    /// 429 with `Retry-After` as a date so many seconds ahead.
    RetryAfterDate(u32),
    /// No connection.
    Refuses,
    /// No answer before the crawler's patience with the one request ends.
    Hangs,
    /// The connection ends in the middle of the body.
    BreaksOff,
}

/// What is known of a request when it arrives.
#[derive(Clone, Debug)]
pub(super) struct Arrival {
    pub(super) conditions: Conditions,
    /// Earlier requests for this URL.
    pub(super) earlier: u32,
    pub(super) edition: u32,
    pub(super) now: Timestamp,
}

const DATE: &str = "Sat, 01 Aug 2026 08:00:00 GMT";

impl Page {
    /// The answer; `None` if there never is one.
    pub(super) fn answer(&self, url: &CrawlUrl, arrival: &Arrival) -> Option<Answer> {
        let good = self.kind.response(url, arrival);
        match self.trouble.filter(|trouble| arrival.earlier < trouble.requests) {
            None => Some(Answer::Response(good)),
            Some(trouble) => trouble.kind.answer(good, arrival.now),
        }
    }
}

impl TroubleKind {
    pub(super) fn answer(self, good: Response, now: Timestamp) -> Option<Answer> {
        let too_many = Response::new(429, "slow down");
        Some(Answer::Response(match self {
            Self::Unavailable => Response::new(503, "come again"),
            Self::RateLimited => too_many,
            Self::RetryAfterSeconds(seconds) => too_many.with("retry-after", seconds.to_string()),
            Self::RetryAfterDate(seconds) => {
                let date = dragline_domain::time::after(now, Duration::from_secs(seconds.into()));
                too_many.with("retry-after", httpdate::fmt_http_date(date.into()))
            }
            Self::BreaksOff => good.broken_off(),
            Self::Refuses => return Some(Answer::Nothing(FetchFailureKind::Connect)),
            Self::Hangs => return None,
        }))
    }
}

impl PageKind {
    fn response(&self, url: &CrawlUrl, arrival: &Arrival) -> Response {
        match self {
            Self::Html { links, directive, canonical, revision } => {
                let validator = revision.validator(arrival.edition);
                if validator.as_ref().is_some_and(|validator| validator.is_known_by(&arrival.conditions)) {
                    return Response::new(304, "");
                }
                let body = html(url, links, *directive, canonical.as_ref(), *revision, arrival.edition);
                let response = Response::new(200, body).with("content-type", "text/html; charset=utf-8");
                match validator {
                    None => response,
                    Some(Validator::Tag(tag)) => response.with("etag", tag),
                    Some(Validator::Date) => response.with("last-modified", DATE),
                }
            }
            Self::File => Response::new(200, format!("%PDF of {url}")).with("content-type", "application/pdf"),
            Self::Redirect { status, to } => Response::new(*status, "moved").with("location", to.as_str()),
            Self::Refused(status) => Response::new(*status, "no"),
        }
    }
}

enum Validator {
    Tag(String),
    Date,
}

impl Validator {
    fn is_known_by(&self, conditions: &Conditions) -> bool {
        match self {
            Self::Tag(tag) => conditions.if_none_match.as_ref() == Some(tag),
            Self::Date => conditions.if_modified_since.as_deref() == Some(DATE),
        }
    }
}

impl Revision {
    fn validator(self, edition: u32) -> Option<Validator> {
        match self {
            Self::Silent | Self::Twin => None,
            Self::Tagged => Some(Validator::Tag("\"same\"".to_owned())),
            Self::Dated => Some(Validator::Date),
            Self::New => Some(Validator::Tag(format!("\"edition-{edition}\""))),
        }
    }
}

fn html(
    url: &CrawlUrl,
    links: &[CrawlUrl],
    directive: Directive,
    canonical: Option<&CrawlUrl>,
    revision: Revision,
    edition: u32,
) -> String {
    let name = match revision {
        Revision::Twin => "twin".to_owned(),
        Revision::New => format!("{url}, edition {edition}"),
        Revision::Silent | Revision::Tagged | Revision::Dated => url.to_string(),
    };
    let asks = match directive {
        Directive::None => "",
        Directive::NoIndex => "<meta name=robots content=noindex>",
        Directive::NoFollow => "<meta name=robots content=nofollow>",
    };
    let canonical = canonical.map(|to| format!("<link rel=canonical href=\"{to}\">")).unwrap_or_default();
    let links: String = links.iter().map(|to| format!("<p><a href=\"{to}\">{to}</a>\n")).collect();
    format!("<!doctype html><title>{name}</title>{asks}{canonical}\n{links}")
}
