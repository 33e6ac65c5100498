//! The outcome of one URL: the crawl exit codes.
//!
//! Numbers are those of the unobtanium crawler, so that its users recognise them; 175 to 179, 182
//! to 186 and 190 are new here. Names are, too, except where they misled people: its 29 is a file
//! of unknown type, and its 32 a redirect.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! outcomes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $code:literal $name:literal => $advice:literal;)*) => {
        /// The outcome of one URL in one iteration.
        ///
        /// Stored as its number ([`Outcome::code`]), shown with its name ([`Outcome::name`]).
        /// Numbers are never reused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(into = "i16", try_from = "i16")]
        pub enum Outcome { $($(#[doc = $doc])+ $variant,)* }

        impl Outcome {
            /// All outcomes, by number.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the stored number.
            #[must_use]
            pub const fn code(self) -> i16 {
                match self { $(Self::$variant => $code,)* }
            }

            /// Returns the name for people, in snake case.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the meaning, for people.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+).trim_start(),)* }
            }

            /// Returns the advice on what to do, for people.
            #[must_use]
            pub const fn advice(self) -> &'static str {
                match self { $(Self::$variant => $advice,)* }
            }

            /// Returns the outcome with this stored number; `None` if there is none.
            #[must_use]
            pub const fn from_code(code: i16) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

outcomes! {
    /// Something failed in an unforeseen way.
    UnknownError = -999 "unknown_error" =>
        "Report it with the URL and its WARC record: it is a bug in Dragline.";
    /// The store refused a write that should have gone through.
    DatabaseError = -3 "database_error" =>
        "Not used by this version: a store that fails stops the crawl, and the same command continues it.";
    /// The crawl was stopped while the URL was being worked on.
    Cancelled = -2 "cancelled" =>
        "Not used by this version: what was not fetched is left over, and due in the next iteration.";
    /// Another worker took the origin over.
    SomeoneStoleMyWork = -1 "someone_stole_my_work" =>
        "Not used by this version: the worker that takes an origin over fetches again what was not committed.";
    /// The body was parsed into a document.
    FileIngested = 20 "file_ingested" =>
        "Nothing: its title, text and links are in the tables.";
    /// The body was stored, not read as a page: it is a picture, a style sheet, a sitemap,
    /// robots.txt, or of another type that has no text to show.
    StoredNotRead = 29 "stored_not_read" =>
        "Nothing: its body is in the WARC file.";
    /// The server says that the page has moved for good: status 301 or 308.
    PermanentRedirect = 31 "permanent_redirect" =>
        "Nothing: the target is crawled if it is in scope. If it is a seed, put the target in its place.";
    /// The server says that the page is elsewhere for now: status 302, 303 or 307.
    TemporaryRedirect = 32 "temporary_redirect" =>
        "Nothing: the target is crawled if it is in scope.";
    /// It has not changed since the last visit: status 304, or the same body.
    FileDidNotChange = 34 "file_did_not_change" =>
        "Nothing: what was stored before is still valid.";
    /// The server rejected the request: a 4xx status that has no outcome of its own.
    ServerBlamedClient = 40 "server_blamed_client" =>
        "Open the URL in a browser. If it works there, ask the site's owner what a crawler has to send; if not, the link to it is wrong: `via` in the log names the page.";
    /// The server says that the page is gone for good: status 410.
    FileGone = 41 "file_gone" =>
        "Nothing, unless the page should exist: `via` in the log names a page that links to it.";
    /// The answer was not valid HTTP, or one that a crawler cannot handle.
    DidNotUnderstandAnswer = 42 "did_not_understand_answer" =>
        "Try `curl -v`: the port may speak another protocol, or the header may be larger than `fetch.header_bytes_max`. The detail in the log says what went wrong.";
    /// The server has nothing at this URL: status 404.
    FileNotFound = 44 "file_not_found" =>
        "Nothing, unless the page should exist: `via` in the log names a page that links to it.";
    /// The server asked for another try: on another connection or later (status 421 or 425), or
    /// without conditions (412).
    AskedToTryAgain = 48 "asked_to_try_again" =>
        "Crawl again later.";
    /// The server received too many requests: status 429, 420 or 430, 403 or 413 with a
    /// Retry-After, or `ENHANCE_YOUR_CALM` over HTTP/2.
    RateLimited = 49 "rate_limited" =>
        "Raise `politeness.delay`, or ask the site's owner for more; then crawl again.";
    /// Something went wrong in the server: status 500, or another 5xx status that has no outcome of
    /// its own.
    ServerInternalError = 50 "server_internal_error" =>
        "Tell the site's owner, or crawl again later.";
    /// The server is down or overloaded for now, as it or a gateway says: status 502 to 504, 509,
    /// 529, and what proxies report about the server behind them (520 to 527, 530, 598, 599).
    ServerUnavailable = 53 "server_unavailable" =>
        "Crawl again later. If it keeps happening, raise `politeness.delay` or lower `politeness.concurrency`.";
    /// There was no connection, or it ended without an answer.
    ConnectionFailed = 100 "connection_failed" =>
        "Try `curl -v` from the same machine. The detail in the log says what failed: the name, the connection or the certificate, for which `--ca-file` may help.";
    /// A time limit passed, ours or the server's (status 408).
    RequestTimeout = 101 "request_timeout" =>
        "Crawl again later, or raise `fetch.timeout` and the other time limits.";
    /// The connection broke while the answer was being read. After the last try, a body of which a
    /// part came is kept as 20 or 29, flagged `disconnect`.
    ErrorReadingResponse = 102 "error_reading_response" =>
        "Crawl again later. The part of the body that arrived is in the WARC file.";
    /// The origin's robots.txt forbids it, or could not be read.
    BlockedByRobotsTxt = 170 "blocked_by_robots_txt" =>
        "Ask the site's owner to allow it. `dragline explain URL` names the rule.";
    /// The remote asked not to be ingested. Its status says how: the page asks for noindex (status
    /// 200), the server asks for a log-in (401), or it denies access (403).
    BlockedAtRequestOfRemote = 171 "blocked_at_request_of_remote" =>
        "Ask the site's owner, if the page should be crawled. If you have an account, say in `access` of the definition who you are.";
    /// The definition excludes the whole origin.
    BlockedOriginByLocalPolicy = 172 "blocked_origin_by_local_policy" =>
        "Not used by this version: origins out of scope are not crawled at all, and links to them are counted.";
    /// The definition forbids this URL.
    BlockedUrlByLocalPolicy = 173 "blocked_url_by_local_policy" =>
        "Change `scope`, `do_not_crawl` or the query parameters in the definition, if it should be crawled. `dragline explain URL` names the rule.";
    /// The answer was a challenge to prove that a person is asking.
    BlockedByChallenge = 174 "blocked_by_challenge" =>
        "Ask the site's owner to let the crawler in by its user agent or its address. What was stored before is still shown. The detail in the log names the rule by which the answer was recognised.";
    /// The host is, or resolves to, an address that Dragline never connects to.
    BlockedPrivateAddress = 175 "blocked_private_address" =>
        "If you mean to crawl it, use `--allow-private`.";
    /// The origin was given up, as it failed too often or its robots.txt could not be read: the URL
    /// was not requested, or not again.
    OriginGivenUp = 176 "origin_given_up" =>
        "Crawl again later. The detail in the log says how the last request to the origin failed. Where nobody answered that, the URLs end as 100 or 101.";
    /// The budget of pages or bytes was spent before its turn came.
    BudgetExhausted = 177 "budget_exhausted" =>
        "Not used by this version: what a budget does not reach is left over, and due in the next iteration.";
    /// The answer was a form to log in instead of the page, or a redirect to one.
    BlockedByLogin = 178 "blocked_by_login" =>
        "Nothing, if the page is meant for those who have an account. If you have one, `login` of `access` in the definition logs in. What was stored before is still shown. The detail in the log names the rule by which the answer was recognised.";
    /// The answer was a question for consent or age instead of the page, or a redirect to one.
    BlockedByConsent = 179 "blocked_by_consent" =>
        "Ask the site's owner to let the crawler in by its user agent or its address: it gives no consent. What was stored before is still shown. The detail in the log names the rule by which the answer was recognised.";
    /// The page says that another URL is its canonical one. Whether that one stands for it is
    /// decided when outcomes are read.
    NotCanonical = 180 "not_canonical" =>
        "Nothing: the URL that it names stands for it. If that one has no content of its own, the page is shown as ingested. A page is believed if the text there is nearly the same as its own \
         (their simhashes differ in up to 3 of 64 bits), and not if it is unlike (more than 20 bits). In between, or if the page has fewer than 20 words, it is believed unless about twenty \
         pages with different texts name that URL.";
    /// Another URL has the same content.
    Duplicate = 181 "duplicate" =>
        "Not used by this version: pages with the same content are all kept.";
    /// The server has nothing at this URL, and did not say so: it answered as it does for an
    /// address that cannot exist (`soft_404: detect`).
    SoftNotFound = 182 "soft_404" =>
        "Tell the site's owner that missing pages need status 404. If the page is there, set `soft_404: ignore` and run `dragline reparse`. The detail in the log names the rule by which the answer was recognised.";
    /// The answer was for strangers, although `access` of the definition says who the crawl is: the
    /// log-in was refused, or the session had ended and another log-in did not help.
    LoggedOut = 183 "logged_out" =>
        "Check the values that `access` names, and log in with them in a browser. What was stored before is still shown. The detail in the log says what the answer was.";
    /// The site reserves the use for which the crawl is made (`purpose`): its robots.txt, the
    /// licence that this names or its `/.well-known/tdmrep.json`, and then the URL was not
    /// requested, or the answer itself, whose text is then not kept.
    UseReserved = 184 "use_reserved" =>
        "Ask the site's owner for a licence. The detail in the log names the statement, and `dragline explain URL` all of them.";
    /// It looks like one of an endless number of URLs: pages of its shape led on to more of them
    /// and showed nothing new. It was not requested.
    CrawlerTrap = 185 "crawler_trap" =>
        "Nothing, if pages such as this one are all alike: a calendar, a filter, a session in the path. If they are not, name them under `traps.except`, or raise `traps.fruitless_pages_max`. The detail in the log names the shape, and how many pages of it were read.";
    /// Next to nothing is in the page until a browser has run its scripts, and none has: `render`
    /// in the definition does not say so, or it failed.
    NeedsScript = 186 "needs_script" =>
        "Crawl with `--render auto`, which runs such pages in a browser. Links that are in the page are followed all the same. The detail in the log names the element that scripts fill, and why a rendering failed.";
    /// A page links to it, and it is there: that was all that was asked (`links.external: check`).
    LinkWorks = 190 "link_works" =>
        "Nothing: it is not part of the crawl, and only how the request ended is kept.";
}

/// A class of outcomes, for summaries and exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OutcomeClass {
    /// Content was fetched, or has not changed.
    Content,
    /// The server named another URL.
    Redirect,
    /// The server says that there is nothing there, by a status or in its own way for missing
    /// pages.
    Missing,
    /// Something went wrong: the URL counts as failed.
    Failed,
    /// A rule forbade it: robots.txt, the remote's request, our own policy.
    Blocked,
    /// It was fetched, then set aside: in favour of another URL, or as it says nothing by itself.
    Dismissed,
    /// It is there, and more was not asked.
    Checked,
}

impl OutcomeClass {
    /// Returns its name as stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Redirect => "redirect",
            Self::Missing => "missing",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
            Self::Dismissed => "dismissed",
            Self::Checked => "checked",
        }
    }
}

impl Outcome {
    /// Returns the class by which summaries count.
    #[must_use]
    pub const fn class(self) -> OutcomeClass {
        match self {
            Self::FileIngested | Self::StoredNotRead | Self::FileDidNotChange => OutcomeClass::Content,
            Self::LinkWorks => OutcomeClass::Checked,
            Self::PermanentRedirect | Self::TemporaryRedirect => OutcomeClass::Redirect,
            Self::FileGone | Self::FileNotFound | Self::SoftNotFound => OutcomeClass::Missing,
            Self::UnknownError
            | Self::DatabaseError
            | Self::Cancelled
            | Self::SomeoneStoleMyWork
            | Self::ServerBlamedClient
            | Self::DidNotUnderstandAnswer
            | Self::AskedToTryAgain
            | Self::RateLimited
            | Self::ServerInternalError
            | Self::ServerUnavailable
            | Self::ConnectionFailed
            | Self::RequestTimeout
            | Self::ErrorReadingResponse
            | Self::OriginGivenUp
            | Self::BudgetExhausted => OutcomeClass::Failed,
            Self::BlockedByRobotsTxt
            | Self::BlockedAtRequestOfRemote
            | Self::BlockedOriginByLocalPolicy
            | Self::BlockedUrlByLocalPolicy
            | Self::BlockedByChallenge
            | Self::BlockedByLogin
            | Self::BlockedByConsent
            | Self::BlockedPrivateAddress
            | Self::LoggedOut
            | Self::UseReserved
            | Self::CrawlerTrap => OutcomeClass::Blocked,
            Self::NotCanonical | Self::Duplicate | Self::NeedsScript => OutcomeClass::Dismissed,
        }
    }

    /// Whether the response says something lasting about the URL. The candidate keeps the last such
    /// outcome.
    #[must_use]
    pub const fn is_contentful(self) -> bool {
        matches!(
            self,
            Self::FileIngested
                | Self::StoredNotRead
                | Self::PermanentRedirect
                | Self::TemporaryRedirect
                | Self::FileGone
                | Self::FileNotFound
                | Self::NotCanonical
                | Self::Duplicate
                | Self::SoftNotFound
                | Self::NeedsScript
        )
    }

    /// Whether a rule of the definition kept the URL from being requested: only other rules change
    /// that.
    #[must_use]
    pub const fn waits_for_rules(self) -> bool {
        matches!(self, Self::BlockedUrlByLocalPolicy | Self::CrawlerTrap)
    }

    /// Whether something replaced the page: a challenge, a form to log in or another answer for
    /// strangers, or a question for consent.
    #[must_use]
    pub const fn is_wall(self) -> bool {
        matches!(self, Self::BlockedByChallenge | Self::BlockedByLogin | Self::BlockedByConsent | Self::LoggedOut)
    }

    /// Whether the response is not the page, although it has content: a wall, or the site's
    /// response for missing pages.
    #[must_use]
    pub const fn is_not_of_page(self) -> bool {
        self.is_wall() || matches!(self, Self::SoftNotFound)
    }

    /// Whether another try in the same iteration may end differently.
    ///
    /// 429 is among them, beyond unobtanium's list: the server itself asks for a later try.
    #[must_use]
    pub const fn may_be_fluke(self) -> bool {
        matches!(
            self,
            Self::UnknownError
                | Self::ConnectionFailed
                | Self::RequestTimeout
                | Self::ErrorReadingResponse
                | Self::AskedToTryAgain
                | Self::RateLimited
                | Self::ServerInternalError
                | Self::ServerUnavailable
        )
    }

    /// Whether it may cost the origin patience: it is a failure of the origin rather than of the
    /// URL, and could persist.
    #[must_use]
    pub const fn costs_patience(self) -> bool {
        matches!(self, Self::ConnectionFailed | Self::RequestTimeout | Self::RateLimited | Self::ServerUnavailable)
    }

    /// Whether the server asked for a later request, so that the crawler slows down.
    #[must_use]
    pub const fn is_refusal(self) -> bool {
        matches!(self, Self::RateLimited | Self::ServerUnavailable)
    }

    /// Returns the outcome by the HTTP status alone, before looking at the body.
    ///
    /// A 2xx yields [`Outcome::FileIngested`], which parsing may change, and so does 300: browsers
    /// show its body, and follow nothing. 401 and 403 are the remote's request to stay out.
    #[must_use]
    pub const fn from_status(status: u16) -> Self {
        match status {
            200..=300 => Self::FileIngested,
            301 | 308 => Self::PermanentRedirect,
            302 | 303 | 307 => Self::TemporaryRedirect,
            304 => Self::FileDidNotChange,
            // 999 is no status of HTTP; LinkedIn sends it to programs.
            401 | 403 | 999 => Self::BlockedAtRequestOfRemote,
            404 => Self::FileNotFound,
            410 => Self::FileGone,
            408 => Self::RequestTimeout,
            421 | 425 => Self::AskedToTryAgain,
            420 | 429 | 430 => Self::RateLimited,
            400..=499 => Self::ServerBlamedClient,
            502..=504 | 509 | 520..=527 | 529 | 530 | 598 | 599 => Self::ServerUnavailable,
            500..=599 => Self::ServerInternalError,
            _ => Self::DidNotUnderstandAnswer,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<Outcome> for i16 {
    fn from(outcome: Outcome) -> Self {
        outcome.code()
    }
}

/// A text that is neither the name nor the number of an outcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a known outcome{}", .0.map_or_else(String::new, |near| format!("; did you mean {} ({})?", near.name(), near.code())))]
pub struct NoSuchOutcome(pub Option<Outcome>);

impl FromStr for Outcome {
    type Err = NoSuchOutcome;

    /// Reads an outcome's number or name, in any letter case, with `-` or `_`.
    fn from_str(text: &str) -> Result<Self, NoSuchOutcome> {
        let text = text.trim();
        if let Ok(code) = text.parse::<i64>() {
            let known = i16::try_from(code).ok().and_then(Self::from_code);
            return known.ok_or(NoSuchOutcome(None));
        }
        let name = text.to_ascii_lowercase().replace(['-', ' '], "_");
        let named = Self::ALL.iter().copied().find(|outcome| outcome.name() == name);
        // Part of a name is enough for a suggestion.
        let near = || Self::ALL.iter().copied().find(|outcome| name.len() > 3 && outcome.name().contains(&name));
        named.ok_or_else(|| NoSuchOutcome(near()))
    }
}

/// A number that is not an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a crawl outcome")]
pub struct UnknownOutcome(pub i16);

impl TryFrom<i16> for Outcome {
    type Error = UnknownOutcome;

    fn try_from(code: i16) -> Result<Self, UnknownOutcome> {
        Self::from_code(code).ok_or(UnknownOutcome(code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_outcomes_map_one_to_one() {
        for &outcome in Outcome::ALL {
            assert_eq!(Outcome::from_code(outcome.code()), Some(outcome), "{outcome}");
        }
        assert!(Outcome::ALL.is_sorted_by_key(|o| o.code()), "codes are listed in order, each once");
        assert_eq!(Outcome::try_from(999), Err(UnknownOutcome(999)));
    }

    #[test]
    fn an_outcome_is_read_from_its_number_or_name() {
        let near = |near| Err(NoSuchOutcome(near));
        for (text, expected, why) in [
            ("173", Ok(Outcome::BlockedUrlByLocalPolicy), "its number"),
            (" -3 ", Ok(Outcome::DatabaseError), "one below zero"),
            ("file_not_found", Ok(Outcome::FileNotFound), "its name"),
            ("File-Not-Found", Ok(Outcome::FileNotFound), "as people write it"),
            ("999", near(None), "not one of the numbers"),
            ("70000", near(None), "too large to be stored"),
            ("robots_txt", near(Some(Outcome::BlockedByRobotsTxt)), "a part of one"),
            ("nonsense", near(None), "not a name"),
            ("", near(None), "nothing"),
            ("e", near(None), "part of nearly every name"),
        ] {
            assert_eq!(text.parse::<Outcome>(), expected, "{text:?}: {why}");
        }
    }

    #[test]
    fn every_outcome_is_explained_in_sentences() {
        for &outcome in Outcome::ALL {
            for text in [outcome.meaning(), outcome.advice()] {
                let is_sentence = text.starts_with(char::is_uppercase) && text.ends_with('.') && !text.contains("  ");
                assert!(is_sentence, "{outcome}: {text:?}");
            }
        }
    }

    #[test]
    fn a_status_maps_to_its_outcome() {
        for (status, outcome, why) in [
            (200, Outcome::FileIngested, "a body to parse"),
            (206, Outcome::FileIngested, "partial content still is content"),
            (301, Outcome::PermanentRedirect, "moved for good"),
            (308, Outcome::PermanentRedirect, "moved for good, method kept"),
            (302, Outcome::TemporaryRedirect, "found elsewhere for now"),
            (303, Outcome::TemporaryRedirect, "see other"),
            (307, Outcome::TemporaryRedirect, "elsewhere for now, method kept"),
            (304, Outcome::FileDidNotChange, "our copy is current"),
            (300, Outcome::FileIngested, "a choice, with a page about it"),
            (305, Outcome::DidNotUnderstandAnswer, "to use a proxy, which nobody does"),
            (401, Outcome::BlockedAtRequestOfRemote, "the remote wants a login"),
            (403, Outcome::BlockedAtRequestOfRemote, "the remote says no"),
            (404, Outcome::FileNotFound, "does not exist"),
            (410, Outcome::FileGone, "gone for good"),
            (418, Outcome::ServerBlamedClient, "another 4xx"),
            (429, Outcome::RateLimited, "too many requests"),
            (420, Outcome::RateLimited, "the same, as Twitter said it"),
            (430, Outcome::RateLimited, "the same, as Shopify says it"),
            (500, Outcome::ServerInternalError, "the server's own error"),
            (501, Outcome::ServerInternalError, "another 5xx"),
            (408, Outcome::RequestTimeout, "the server waited for the request too long, as it says"),
            (421, Outcome::AskedToTryAgain, "the wrong connection: RFC 9110, section 15.5.20"),
            (425, Outcome::AskedToTryAgain, "too early: RFC 8470, section 5.2"),
            (502, Outcome::ServerUnavailable, "a gateway without its server"),
            (503, Outcome::ServerUnavailable, "overloaded or away"),
            (504, Outcome::ServerUnavailable, "a gateway that waited too long"),
            (509, Outcome::ServerUnavailable, "its bandwidth is used up, says cPanel"),
            (522, Outcome::ServerUnavailable, "a proxy that could not connect: Cloudflare's"),
            (524, Outcome::ServerUnavailable, "a proxy that waited too long"),
            (529, Outcome::ServerUnavailable, "overloaded"),
            (599, Outcome::ServerUnavailable, "a proxy without a network"),
            (100, Outcome::DidNotUnderstandAnswer, "no final status"),
            (999, Outcome::BlockedAtRequestOfRemote, "no status of HTTP, but a known refusal"),
            (998, Outcome::DidNotUnderstandAnswer, "no status at all"),
        ] {
            assert_eq!(Outcome::from_status(status), outcome, "{status}: {why}");
        }
    }
}
