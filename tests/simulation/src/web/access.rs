//! The servers' own log: the witness against the crawler.

use dragline_domain::url::CrawlUrl;
use jiff::Timestamp;

use super::Answer;

/// One request, in the order in which they began.
#[derive(Clone, Debug)]
pub struct Access {
    /// What was asked for.
    pub url: CrawlUrl,
    /// When the request began.
    pub begun: Timestamp,
    /// What the clock of whoever asked showed then.
    pub shown: Timestamp,
    /// When whoever asks looked at the clock before. It cannot answer for the way from there to the server.
    pub set_out: Timestamp,
    /// What the crawler said that it has.
    pub conditions: Conditions,
    /// How it ended; absent if whoever asked was gone before.
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
    /// When.
    pub at: Timestamp,
    /// What was answered.
    pub answer: Answer,
}

impl Access {
    /// Whether it asked for an origin's robots.txt.
    #[must_use]
    pub fn is_robots_txt(&self) -> bool {
        self.url.path_and_query() == "/robots.txt"
    }

    /// The response, if one was given to its end.
    #[must_use]
    pub fn response(&self) -> Option<&super::Response> {
        match &self.ended.as_ref()?.answer {
            Answer::Response(response) => Some(response),
            Answer::Nothing(_) => None,
        }
    }
}
