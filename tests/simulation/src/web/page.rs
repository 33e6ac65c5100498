//! What is at one URL, and how it answers.

use std::time::Duration;

use dragline_domain::url::CrawlUrl;
use dragline_ports::fetcher::{FetchFailureKind, UnprocessedReason};
use jiff::Timestamp;

use super::access::Sent;
use super::{Answer, Conditions, Edited, Response};

/// The truth about a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// What it is once it answers.
    pub kind: PageKind,
    /// How long each answer takes.
    pub think: Duration,
    /// What goes wrong first; `None` if nothing does.
    pub trouble: Option<Trouble>,
    /// What a request needs besides the URL.
    pub wants: Wants,
}

/// What a request needs besides the URL to be answered with what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wants {
    /// Nothing.
    Nothing,
    /// This path and query, which the crawler takes for the same URL: others are redirected there.
    Spelling(String),
    /// A cookie, which is set while the request is redirected to itself.
    Cookie,
    /// Both.
    SpellingAndCookie(String),
    /// No conditions: others are answered with 412.
    NoConditions,
}

/// The cookie that servers set, and want back.
const COOKIE: &str = "seen=yes";

impl Wants {
    /// Returns what a request gets that lacks something; `None` if it lacks nothing.
    fn instead(&self, arrival: &Arrival) -> Option<Response> {
        let Sent { target, cookie, conditions, .. } = &arrival.sent;
        let has_cookie = cookie.as_deref() == Some(COOKIE);
        let redirect = |to: &str| Response::new(302, "here").with("location", to);
        match self {
            Self::Nothing => None,
            Self::Spelling(spelling) => (target != spelling).then(|| redirect(spelling)),
            Self::Cookie => (!has_cookie).then(|| redirect(target).with("set-cookie", format!("{COOKIE}; Path=/"))),
            Self::SpellingAndCookie(spelling) => (target != spelling || !has_cookie)
                .then(|| redirect(spelling).with("set-cookie", format!("{COOKIE}; HttpOnly"))),
            Self::NoConditions => (*conditions != Conditions::default()).then(|| Response::new(412, "no")),
        }
    }
}

/// What a URL is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// An HTML page.
    Html {
        /// Where it links to, in order.
        links: Vec<CrawlUrl>,
        /// Its robots directive.
        directive: Directive,
        /// Its canonical URL, if it names one.
        canonical: Option<CrawlUrl>,
        /// How it changes.
        revision: Revision,
        /// What its references are resolved against: links that begin with it are written without
        /// it. `None` if all are written in full.
        base: Option<CrawlUrl>,
    },
    /// What is drawn for each edition.
    Edited(Edited),
    /// A body that is not a page.
    File,
    /// A redirect.
    Redirect {
        /// 301, 302, 303, 307 or 308.
        status: u16,
        /// Its target.
        to: CrawlUrl,
    },
    /// Always this status, such as 404 or 500.
    Refused(u16),
}

/// A robots directive of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directive {
    /// Nothing.
    None,
    /// `noindex`.
    NoIndex,
    /// `nofollow`.
    NoFollow,
}

/// How a page's body and validators change from edition to edition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revision {
    /// It never changes, and has no validators.
    Silent,
    /// It never changes, and has an `ETag`.
    Tagged,
    /// It never changes, and has a `Last-Modified`.
    Dated,
    /// It changes with each edition, and has an `ETag`.
    New,
    /// The same body as every other page of this kind.
    Twin,
}

/// What goes wrong with the first requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// How many requests go wrong.
    pub requests: u32,
    /// What goes wrong.
    pub kind: TroubleKind,
}

/// A way to go wrong that may be retried within an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TroubleKind {
    /// 503.
    Unavailable,
    /// 429 without `Retry-After`.
    RateLimited,
    /// 429 with `Retry-After` in seconds.
    RetryAfterSeconds(u32),
    /// 429 with `Retry-After` as a date this many seconds ahead.
    RetryAfterDate(u32),
    /// No connection.
    Refuses,
    /// The server does nothing with the request, and says so: it is there.
    Disregards,
    /// No answer within the request's time limit.
    Hangs,
    /// The connection ends before the body.
    BreaksOff,
}

/// What is known of a request when it arrives.
#[derive(Clone, Debug)]
pub(super) struct Arrival {
    pub(super) sent: Sent,
    /// Earlier requests for this URL.
    pub(super) earlier: u32,
    pub(super) edition: u32,
    pub(super) now: Timestamp,
}

const DATE: &str = "Sat, 01 Aug 2026 08:00:00 GMT";

impl Page {
    /// The answer; `None` if it never comes.
    pub(super) fn answer(&self, url: &CrawlUrl, arrival: &Arrival) -> Option<Answer> {
        let good = self.wants.instead(arrival).unwrap_or_else(|| self.kind.response(url, arrival));
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
            Self::Disregards => return Some(Answer::Unprocessed(UnprocessedReason::StreamRefused)),
            Self::Refuses => return Some(Answer::Nothing(FetchFailureKind::Connect)),
            Self::Hangs => return None,
        }))
    }
}

impl PageKind {
    fn response(&self, url: &CrawlUrl, arrival: &Arrival) -> Response {
        match self {
            Self::Html { links, directive, canonical, revision, base } => {
                let validator = revision.validator(arrival.edition);
                if validator.as_ref().is_some_and(|validator| validator.is_known_by(&arrival.sent.conditions)) {
                    return Response::new(304, "");
                }
                let body =
                    html(url, (base.as_ref(), links), *directive, canonical.as_ref(), *revision, arrival.edition);
                let response = Response::new(200, body).with("content-type", "text/html; charset=utf-8");
                match validator {
                    None => response,
                    Some(Validator::Tag(tag)) => response.with("etag", tag),
                    Some(Validator::Date) => response.with("last-modified", DATE),
                }
            }
            Self::Edited(edited) => edited.response(url, arrival),
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
    (base, links): (Option<&CrawlUrl>, &[CrawlUrl]),
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
    let reference = |to: &'_ CrawlUrl| match base.and_then(|base| to.as_str().strip_prefix(base.as_str())) {
        Some(rest) => rest.to_owned(),
        None => to.to_string(),
    };
    let links = links.iter().map(reference).map(|to| format!("<p><a href=\"{to}\">{to}</a>\n"));
    let (base, links) =
        (base.map(|base| format!("<base href=\"{base}\">")).unwrap_or_default(), links.collect::<String>());
    format!("<!doctype html><title>{name}</title>{base}{asks}{canonical}\n{links}")
}
