//! The servers' own log, against which the crawler is checked.

use dragline_domain::url::CrawlUrl;
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
    /// When the client last looked at the clock before. It is not responsible for the time that the request took to the server.
    pub set_out: Timestamp,
    /// The conditional header fields sent.
    pub conditions: Conditions,
    /// How it ended; `None` if the client was gone before.
    pub ended: Option<Ended>,
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

    /// The response, if one was sent.
    #[must_use]
    pub fn response(&self) -> Option<&super::Response> {
        match &self.ended.as_ref()?.answer {
            Answer::Response(response) => Some(response),
            Answer::Nothing(_) | Answer::Unprocessed(_) => None,
        }
    }
}
