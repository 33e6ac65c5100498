//! The meaning of a fetch of robots.txt (RFC 9309 section 2.3.1), in a form to be stored.

use std::time::Duration;

use dragline_domain::shown::one_line;
use serde::{Deserialize, Serialize};

use super::policy::{Missing, RobotsPolicy, Unreadable};
use super::{COPY_AGE_MAX, Robots, broken_off, text};

/// The limit on a failure's detail, in characters.
const DETAIL_CHARS_MAX: usize = 200;

/// The result of a fetch of robots.txt, after following redirects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RobotsFetch<'b> {
    /// The server at the end of the redirects answered.
    Answered {
        /// The status code.
        status: u16,
        /// The body without its content coding: all of it, or at least the first
        /// [`BODY_BYTES_MAX`](super::BODY_BYTES_MAX) bytes.
        body: &'b [u8],
    },
    /// The body broke off in every try, including the last one: this much came, without its content
    /// coding.
    BrokenOff {
        /// The status code.
        status: u16,
        /// The received part of the body.
        body: &'b [u8],
    },
    /// The response was a wall instead of the file: a challenge to prove that a person asks, a form
    /// to log in, a question for consent. Neither its status nor its body says anything about the
    /// file.
    Walled {
        /// The wall and how it was recognised, for people.
        detail: &'b str,
    },
    /// It was still a redirect after [`REDIRECTS_MAX`](super::REDIRECTS_MAX) of them.
    TooManyRedirects,
    /// There was no response, or its body was cut off: a rule could be missing.
    Failed {
        /// The error, for people.
        detail: &'b str,
    },
}

/// The stored outcome of a fetch of robots.txt, from which the policy for any crawler can be built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RobotsRecord {
    /// It was read.
    Readable {
        /// The part of it that is obeyed, with octets that are not UTF-8 percent-encoded.
        text: String,
    },
    /// There is none.
    Missing(Missing),
    /// There may be one, but it could not be read.
    Unreadable(Unreadable),
}

impl RobotsRecord {
    /// Interprets a fetch.
    ///
    /// - 2xx: its rules apply, even if the body is empty or not a robots.txt at all.
    /// - 3xx that cannot be followed, or comes after [`REDIRECTS_MAX`](super::REDIRECTS_MAX)
    ///   others: section 2.3.1.2 allows a crawler to treat it as missing. We do, since a site that
    ///   redirects everything, say to a page about cookies, has stated no rule, and would otherwise
    ///   never be crawled: the failure is not temporary.
    /// - 2xx with a body that breaks off in each try: the received rules apply, as a file has to be
    ///   read as far as possible (section 2.3.1.5). Without any rules it is unreadable: it could
    ///   have forbidden everything.
    /// - 4xx: there is none. But 429, and its variants 420 and 430, demand a later request and say
    ///   nothing about the file, so it is unreadable.
    /// - A wall, with any status: unreadable, as the file behind it could forbid everything
    ///   (section 2.3.1.4: unreachable because of a server error).
    /// - Anything else: unreadable, and all is disallowed until it can be read.
    #[must_use]
    pub fn from_fetch(fetch: &RobotsFetch<'_>) -> Self {
        match *fetch {
            RobotsFetch::Answered { status: 200..=299, body } => {
                Self::Readable { text: text::as_utf8(&text::within_limit(body)) }
            }
            RobotsFetch::BrokenOff { status: 200..=299, body } => match broken_off::obeyed(body) {
                Some(text) => Self::Readable { text },
                None => Self::from_fetch(&RobotsFetch::Failed { detail: "its body broke off before any rule" }),
            },
            // The meaning of the status does not depend on the body.
            RobotsFetch::BrokenOff { status, body } => Self::from_fetch(&RobotsFetch::Answered { status, body }),
            RobotsFetch::Answered { status: status @ (300..=419 | 421..=428 | 431..=499), .. } => {
                Self::Missing(Missing::Status(status))
            }
            RobotsFetch::Answered { status, .. } => Self::Unreadable(Unreadable::Status(status)),
            RobotsFetch::Walled { detail } => {
                Self::Unreadable(Unreadable::Walled { detail: one_line(detail, DETAIL_CHARS_MAX) })
            }
            RobotsFetch::TooManyRedirects => Self::Missing(Missing::TooManyRedirects),
            RobotsFetch::Failed { detail } => {
                Self::Unreadable(Unreadable::Failed { detail: one_line(detail, DETAIL_CHARS_MAX) })
            }
        }
    }

    /// Returns the policy for the crawler with this product token (see
    /// [`product_token`](dragline_domain::definition::product_token)).
    #[must_use]
    pub fn policy(&self, product_token: &str) -> RobotsPolicy {
        match self {
            Self::Readable { text } => RobotsPolicy::Rules(Robots::parse(text.as_bytes(), product_token)),
            Self::Missing(why) => RobotsPolicy::AllowAll(why.clone()),
            Self::Unreadable(why) => RobotsPolicy::DisallowAll(why.clone()),
        }
    }

    /// Whether there may be a robots.txt that could not be read.
    #[must_use]
    pub const fn is_unreadable(&self) -> bool {
        matches!(self, Self::Unreadable(_))
    }

    /// Whether this copy, fetched `age` ago, stays valid despite the later result `fetched`: a
    /// robots.txt that was read is obeyed for up to [`COPY_AGE_MAX`] while it cannot be read again
    /// (sections 2.3.1.4 and 2.4).
    ///
    /// A missing file does not stay valid in this way: a server in trouble may have one when it is
    /// back.
    #[must_use]
    pub fn outlives(&self, age: Duration, fetched: &Self) -> bool {
        matches!(self, Self::Readable { .. }) && fetched.is_unreadable() && age <= COPY_AGE_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = b"User-agent: *\nDisallow: /private/\n";

    fn record(status: u16) -> RobotsRecord {
        RobotsRecord::from_fetch(&RobotsFetch::Answered { status, body: BODY })
    }

    #[test]
    fn a_fetch_means_what_the_rfc_says() {
        let rules = "robots.txt line 2: `Disallow: /private/`";
        for (fetch, allowed, shown, why) in [
            (RobotsFetch::Answered { status: 200, body: BODY }, false, rules, "2.3.1.1"),
            (RobotsFetch::Answered { status: 206, body: BODY }, false, rules, "any 2xx"),
            (RobotsFetch::Answered { status: 204, body: b"" }, true, "no rule of robots.txt matches", "an empty file"),
            (
                RobotsFetch::Answered { status: 302, body: BODY },
                true,
                "robots.txt answered 302: everything may be fetched",
                "leads nowhere",
            ),
            (
                RobotsFetch::TooManyRedirects,
                true,
                "robots.txt redirects more than 5 times: everything may be fetched",
                "2.3.1.2",
            ),
            (
                RobotsFetch::Answered { status: 404, body: BODY },
                true,
                "robots.txt answered 404: everything may be fetched",
                "2.3.1.3",
            ),
            (
                RobotsFetch::Answered { status: 403, body: BODY },
                true,
                "robots.txt answered 403: everything may be fetched",
                "2.3.1.3",
            ),
            (
                RobotsFetch::Answered { status: 429, body: BODY },
                false,
                "robots.txt answered 429: nothing may be fetched until it can be read",
                "come later",
            ),
            (
                RobotsFetch::Answered { status: 503, body: BODY },
                false,
                "robots.txt answered 503: nothing may be fetched until it can be read",
                "2.3.1.4",
            ),
            (
                RobotsFetch::Answered { status: 100, body: BODY },
                false,
                "robots.txt answered 100: nothing may be fetched until it can be read",
                "no final status",
            ),
            (
                RobotsFetch::Answered { status: 999, body: BODY },
                false,
                "robots.txt answered 999: nothing may be fetched until it can be read",
                "no status",
            ),
            (RobotsFetch::BrokenOff { status: 200, body: BODY }, false, rules, "2.3.1.5: as far as it came"),
            (
                RobotsFetch::BrokenOff { status: 200, body: b"# Rules" },
                false,
                "robots.txt could not be fetched (its body broke off before any rule): nothing may be fetched until it can be read",
                "a failure is no permission",
            ),
            (
                RobotsFetch::BrokenOff { status: 404, body: b"" },
                true,
                "robots.txt answered 404: everything may be fetched",
                "2.3.1.3, whatever became of its body",
            ),
            (
                RobotsFetch::BrokenOff { status: 503, body: BODY },
                false,
                "robots.txt answered 503: nothing may be fetched until it can be read",
                "2.3.1.4, the same",
            ),
            (
                RobotsFetch::Failed { detail: "timed\nout" },
                false,
                "robots.txt could not be fetched (timed out): nothing may be fetched until it can be read",
                "2.3.1.4",
            ),
            (
                RobotsFetch::Walled { detail: "a challenge,\nby a rule" },
                false,
                "robots.txt was answered by a challenge, by a rule: nothing may be fetched until it can be read",
                "a failure is no permission",
            ),
        ] {
            let policy = RobotsRecord::from_fetch(&fetch).policy("Dragline");
            let verdict = policy.verdict("/private/page");
            assert_eq!((verdict.is_allowed(), verdict.to_string().as_str()), (allowed, shown), "{why}");
            let itself = policy.verdict("/robots.txt");
            assert!(itself.is_allowed(), "{why}: robots.txt itself must stay readable");
        }
    }

    #[test]
    fn a_copy_outlives_only_failures_and_not_for_long() {
        let (readable, missing, unreadable) = (record(200), record(404), record(503));
        let day = COPY_AGE_MAX;
        for (held, age, fetched, expected, why) in [
            (&readable, day, &unreadable, true, "a day old"),
            (&readable, day + Duration::from_secs(1), &unreadable, false, "older"),
            (&readable, Duration::ZERO, &missing, false, "it was removed"),
            (&readable, Duration::ZERO, &readable, false, "there is a newer one"),
            (&missing, Duration::ZERO, &unreadable, false, "there was no file"),
            (&unreadable, Duration::ZERO, &unreadable, false, "the later reason is the better one"),
        ] {
            assert_eq!(held.outlives(age, fetched), expected, "{why}");
        }
    }

    #[test]
    fn a_record_keeps_what_the_body_said() {
        for (body, why) in [
            (BODY, "plain"),
            (
                b"\xEF\xBB\xBFUser-agent: *\nDisallow: /private/\xE4\nDisallow: /\xC3\xA4\n".as_slice(),
                "a mark, Latin-1 and UTF-8",
            ),
            (b"\xEF\xBBUser-agent: *\nDisallow: /\n".as_slice(), "half a mark"),
        ] {
            let record = RobotsRecord::from_fetch(&RobotsFetch::Answered { status: 200, body });
            assert_eq!(record.policy("Dragline"), RobotsPolicy::Rules(Robots::parse(body, "Dragline")), "{why}");
        }
    }
}
