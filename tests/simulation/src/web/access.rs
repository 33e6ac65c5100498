//! The servers' own log, against which the crawler is checked.

use dragline_domain::url::CrawlUrl;
use dragline_ports::fetcher::FetchRequest;
use jiff::Timestamp;

use super::Answer;

/// One request. The log is in the order in which requests began.
#[derive(Clone, Debug)]
pub struct Access {
    /// The URL requested.
    pub url: CrawlUrl,
    /// When the request began.
    pub begun: Timestamp,
    /// What the client's clock showed then.
    pub shown: Timestamp,
    /// When the client last looked at the clock before. It is not responsible for the time that the
    /// request took to the server.
    pub set_out: Timestamp,
    /// Path and query as they were sent.
    pub target: String,
    /// The `Cookie` sent; `None` if there was none.
    pub cookie: Option<String>,
    /// The conditional header fields sent.
    pub conditions: Conditions,
    /// What made it.
    pub sender: Sender,
    /// How it ended; `None` if the client was gone before.
    pub ended: Option<Ended>,
}

/// What a request asks for, besides its URL.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) target: String,
    pub(crate) cookie: Option<String>,
    pub(crate) conditions: Conditions,
    pub(crate) sender: Sender,
}

/// What makes a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// A crawler that visits the URL, or reads robots.txt.
    Crawler,
    /// A page that is rendered.
    Page,
}

impl Sent {
    pub(crate) fn from_request(request: &FetchRequest) -> Self {
        let FetchRequest { url, target, cookie, if_none_match, if_modified_since, page, .. } = request;
        Self {
            target: target.clone().unwrap_or_else(|| url.path_and_query().to_owned()),
            cookie: cookie.as_ref().map(|cookie| cookie.as_sent().to_owned()),
            conditions: Conditions {
                if_none_match: if_none_match.clone(),
                if_modified_since: if_modified_since.clone(),
            },
            sender: if page.is_some() { Sender::Page } else { Sender::Crawler },
        }
    }
}

/// The conditional header fields of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// `If-None-Match`.
    pub if_none_match: Option<String>,
    /// `If-Modified-Since`.
    pub if_modified_since: Option<String>,
}

/// The end of a request.
#[derive(Clone, Debug)]
pub struct Ended {
    /// When it ended.
    pub at: Timestamp,
    /// The answer.
    pub answer: Answer,
}

impl Access {
    /// Whether it was for an origin's robots.txt.
    #[must_use]
    pub fn is_robots_txt(&self) -> bool {
        self.url.path_and_query() == "/robots.txt"
    }

    /// Whether it was for an address that cannot exist, by which a server shows what it answers for
    /// missing pages.
    #[must_use]
    pub fn is_for_missing(&self) -> bool {
        is_for_missing(&self.url)
    }

    /// Whether a page made it that is rendered.
    #[must_use]
    pub fn is_of_page(&self) -> bool {
        self.sender == Sender::Page
    }

    /// The response, if one was sent.
    #[must_use]
    pub fn response(&self) -> Option<&super::Response> {
        match &self.ended.as_ref()?.answer {
            Answer::Response(response) => Some(response),
            Answer::Nothing(_) | Answer::Unprocessed(_) => None,
        }
    }
}

pub(super) fn is_for_missing(url: &CrawlUrl) -> bool {
    let word = url.path_and_query().strip_prefix('/').unwrap_or_default();
    word.len() == 26 && word.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'2'..=b'7'))
}
