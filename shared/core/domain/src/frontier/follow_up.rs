//! The single follow-up request that a server demands for the same URL in another form.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{LastCapture, TodoEntry};
use crate::outcome::Outcome;
use crate::url::CrawlUrl;

/// The second request of a URL, as demanded by its first answer. At most one per URL and iteration.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FollowUp {
    /// A redirect led to the URL itself, or to another spelling of it.
    Redirected {
        /// Path and query in the redirect's spelling, no longer than a URL.
        #[serde(rename = "t")]
        target: String,
        /// The cookies that came with it; `None` without any.
        #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
        cookie: Option<Cookie>,
    },
    /// A conditional request failed because of its conditions, not because of the page: it is
    /// repeated without them.
    Unconditional,
    /// The answer was for strangers: it is repeated after another log-in.
    LoggedIn,
    /// A HEAD was refused, which says little about the page: it is asked for by GET.
    Get,
}

/// Cookies to send back, once, to the URL that set them. Never shown.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cookie(String);

impl Cookie {
    /// The limit on a request's cookies, in bytes.
    pub const BYTES_MAX: usize = 1024;

    /// Creates cookies from pairs of name and value, as many as fit; `None` if there are none.
    #[must_use]
    pub fn from_pairs<'p>(pairs: impl IntoIterator<Item = (&'p str, &'p str)>) -> Option<Self> {
        let mut sent = String::new();
        for (name, value) in pairs {
            let separator = if sent.is_empty() { "" } else { "; " };
            let pair = format!("{separator}{name}={value}");
            if sent.len() + pair.len() <= Self::BYTES_MAX {
                sent.push_str(&pair);
            }
        }
        (!sent.is_empty()).then_some(Self(sent))
    }

    /// Returns the value of the field, for the request alone.
    #[must_use]
    pub fn as_sent(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cookie([redacted])")
    }
}

impl FollowUp {
    /// The limit on its size as JSON, in bytes.
    pub(super) const JSON_BYTES_MAX: usize = json_bytes(CrawlUrl::LEN_MAX, Cookie::BYTES_MAX);

    /// Returns path and query to send; `None` if they are the URL's own.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        match self {
            Self::Redirected { target, .. } => Some(target),
            Self::Unconditional | Self::LoggedIn | Self::Get => None,
        }
    }

    /// Returns the cookies to send; `None` if there are none.
    #[must_use]
    pub const fn cookie(&self) -> Option<&Cookie> {
        match self {
            Self::Redirected { cookie, .. } => cookie.as_ref(),
            Self::Unconditional | Self::LoggedIn | Self::Get => None,
        }
    }

    /// Returns an upper bound of its size as JSON, in bytes.
    pub(super) fn json_bytes_max(&self) -> usize {
        json_bytes(self.target().map_or(0, str::len), self.cookie().map_or(0, |cookie| cookie.0.len()))
    }
}

/// A cookie may consist of quotes, which JSON escapes.
const fn json_bytes(target: usize, cookie: usize) -> usize {
    target + 2 * cookie + 50
}

impl TodoEntry {
    /// Returns the conditions of its request; `None` if it is sent without any.
    #[must_use]
    pub fn conditions(&self) -> Option<&LastCapture> {
        let has_failed = self.follow_up.as_deref() == Some(&FollowUp::Unconditional);
        // Without its body, such a page could not be rendered once it is to be.
        let is_whole = |last: &&LastCapture| last.outcome != Outcome::NeedsScript;
        self.known
            .comparable()
            .filter(is_whole)
            .filter(|last| !has_failed && (last.etag.is_some() || last.last_modified.is_some()))
    }

    /// Returns the entry with a follow-up; `None` if it has already had one.
    #[must_use]
    pub fn followed_up(&self, follow_up: FollowUp) -> Option<Self> {
        self.follow_up.is_none().then(|| Self { follow_up: Some(Box::new(follow_up)), ..self.clone() })
    }

    /// Returns path and query as sent.
    #[must_use]
    pub fn sent_target(&self) -> &str {
        self.follow_up.as_deref().and_then(FollowUp::target).unwrap_or(&self.path_and_query)
    }
}

/// Creates the longest possible follow-up.
#[cfg(test)]
pub(super) fn longest_follow_up() -> FollowUp {
    let cookie = Cookie::from_pairs([("\"", "\"".repeat(Cookie::BYTES_MAX - 2).as_str())]);
    assert_eq!(cookie.as_ref().map(|cookie| cookie.0.len()), Some(Cookie::BYTES_MAX));
    FollowUp::Redirected { target: format!("/{}", "x".repeat(CrawlUrl::LEN_MAX - 1)), cookie }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_limited_and_never_shown() {
        let long = "x".repeat(Cookie::BYTES_MAX);
        for (pairs, expected, why) in [
            (vec![], None, "none"),
            (vec![("a", "1")], Some("a=1"), "one"),
            (vec![("a", "1"), ("b", "2")], Some("a=1; b=2"), "two"),
            (vec![("a", &long), ("b", "2")], Some("b=2"), "one that has no room"),
            (vec![("a", &long)], None, "which is the only one"),
        ] {
            let cookie = Cookie::from_pairs(pairs);
            assert_eq!(cookie.as_ref().map(Cookie::as_sent), expected, "{why}");
            assert!(!format!("{cookie:?}").contains('='), "{why}: it is not shown");
        }
    }

    #[test]
    fn a_follow_up_is_read_back_and_keeps_its_size() {
        let plain = FollowUp::Redirected { target: "/?sid=1".to_owned(), cookie: None };
        for (follow_up, expected) in [
            (FollowUp::Unconditional, Some(r#""unconditional""#)),
            (FollowUp::LoggedIn, Some(r#""logged_in""#)),
            (plain, Some(r#"{"redirected":{"t":"/?sid=1"}}"#)),
            (longest_follow_up(), None),
        ] {
            let json = serde_json::to_string(&follow_up).unwrap();
            assert!(expected.is_none_or(|expected| json == expected), "{json}");
            assert!(json.len() <= follow_up.json_bytes_max(), "{} bytes", json.len());
            assert!(follow_up.json_bytes_max() <= FollowUp::JSON_BYTES_MAX);
            assert_eq!(serde_json::from_str::<FollowUp>(&json).unwrap(), follow_up);
        }
    }
}
