//! How a fetch ended, in the terms of the crawl log.

use dragline_domain::frontier::{LastCapture, ReadAs};
use dragline_domain::outcome::Outcome;
use dragline_domain::politeness::{Load, OriginSign};
use dragline_domain::refusal::{ASKS_FOR_LOG_IN, Refusal};
use dragline_domain::url::CrawlUrl;

use super::pacer::Connection;
use super::send::Attempt;
use dragline_extract::fields::fields_digest;
use dragline_extract::wall::{self, Head, Wall, WallKind};
use dragline_ports::fetcher::{FetchFailure, FetchFailureKind, FetchOutcome, FetchedResponse, Truncation};

/// By what an answer counts as unchanged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison<'a> {
    /// The capture that it is compared with; `None` if it is compared with none.
    pub last: Option<&'a LastCapture>,
    pub shown: Shown,
    /// The name by which a header may address the crawler.
    pub product_token: &'a str,
    pub read_as: ReadAs,
}

/// What a visit shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// The body of its answer.
    Body,
    /// The document that a browser made of it, by its digest; `None` if it made none. One shell may
    /// serve many pages, and stay as it is while they change.
    Dom(Option<[u8; 20]>),
}

impl Comparison<'_> {
    /// Whether a complete answer shows what the last one did, and is read as it was then: read as
    /// another type, for instance, it would be another document.
    fn is_unchanged(&self, response: &FetchedResponse) -> bool {
        let shown_sha1 = match self.shown {
            Shown::Body => Some(response.decoded_sha1),
            Shown::Dom(sha1) => sha1,
        };
        let is_read_alike = |read_by| read_by == fields_digest(&response.headers, self.product_token, self.read_as);
        self.last.is_some_and(|last| shown_sha1 == Some(last.decoded_sha1) && last.read_by.is_none_or(is_read_alike))
    }
}

/// Returns the outcome of a fetch as far as the crawler can tell, with a detail that helps people
/// to understand it.
///
/// The parser may learn more from the body: that it is not a page, or that it calls another URL
/// canonical.
pub(super) fn fetch_outcome(
    fetched: &FetchOutcome,
    wall: Option<&Wall>,
    comparison: &Comparison<'_>,
) -> (Outcome, Option<String>) {
    match (&fetched.result, wall) {
        (Err(failure), _) => (outcome_of_failure(failure), Some(failure.detail.clone())),
        (Ok(_), Some(wall)) => (wall.kind().outcome(), Some(wall.detail())),
        (Ok(response), None) if comparison.read_as == ReadAs::Check => outcome_of_checked(response),
        (Ok(response), None) => outcome_of_response(response, comparison),
    }
}

fn outcome_of_failure(failure: &FetchFailure) -> Outcome {
    match failure.kind {
        // `NoRoom` is waited out and never becomes an outcome.
        FetchFailureKind::NameNotResolved
        | FetchFailureKind::Connect
        | FetchFailureKind::Reset
        | FetchFailureKind::Tls
        | FetchFailureKind::NoRoom => Outcome::ConnectionFailed,
        FetchFailureKind::TooMany => Outcome::RateLimited,
        FetchFailureKind::AccessRefused => Outcome::BlockedUrlByLocalPolicy,
        FetchFailureKind::PrivateAddress => Outcome::BlockedPrivateAddress,
        FetchFailureKind::Timeout => Outcome::RequestTimeout,
        FetchFailureKind::Protocol => Outcome::DidNotUnderstandAnswer,
    }
}

/// Returns the outcome for a response's status. A 403 or 413 with a Retry-After is a rate limit.
pub(super) fn status_outcome(response: &FetchedResponse) -> Outcome {
    match response.status {
        403 | 413 if response.headers.get("retry-after").is_some() => Outcome::RateLimited,
        status => Outcome::from_status(status),
    }
}

/// Returns the wall in an answer, as far as the crawler can tell: the parser may find more in its
/// body.
pub(super) fn find_wall(url: &CrawlUrl, fetched: &FetchOutcome) -> Option<Wall> {
    let response = fetched.result.as_ref().ok()?;
    let FetchedResponse { status, headers, decoded_bytes, .. } = response;
    let head = Head { url, status: *status, headers };
    wall::find_by_fields(&head).or_else(|| wall::find_challenge(&head, &response.readable_body(), *decoded_bytes))
}

/// Returns what an answer says about its host's load. A host that checks for a human visitor is
/// asked too often.
pub(super) fn host_load(fetched: &FetchOutcome, wall: Option<&Wall>, asked: Attempt) -> Load {
    let is_challenge = wall.is_some_and(|wall| wall.kind() == WallKind::Challenge);
    let outcome = match &fetched.result {
        Ok(response) => status_outcome(response),
        Err(failure) => outcome_of_failure(failure),
    };
    let status = fetched.result.as_ref().ok().map(|response| response.status);
    match (outcome.is_refusal() || is_challenge, asked, status) {
        (true, Attempt::First, _) => Load::Refused,
        (true, Attempt::Again, _) => Load::RefusedAgain,
        (false, _, Some(200..=499)) => Load::Bearable,
        // A broken page, or no answer, says nothing about load.
        (false, ..) => Load::Unknown,
    }
}

/// Returns what a request says about whether its origin is up; `None` if none was sent.
pub(super) fn origin_sign(fetched: &FetchOutcome, outcome: Outcome) -> Option<OriginSign> {
    let failure = fetched.result.as_ref().err().map(|failure| failure.kind);
    match failure {
        Some(FetchFailureKind::AccessRefused | FetchFailureKind::PrivateAddress | FetchFailureKind::NoRoom) => None,
        _ if outcome.is_refusal() => Some(OriginSign::Refused),
        Some(
            FetchFailureKind::NameNotResolved
            | FetchFailureKind::Connect
            | FetchFailureKind::Tls
            | FetchFailureKind::Timeout,
        ) => Some(OriginSign::Silent),
        None | Some(FetchFailureKind::Protocol | FetchFailureKind::Reset | FetchFailureKind::TooMany) => {
            Some(OriginSign::Answered)
        }
    }
}

/// Returns the outcome of a response whose URL is only checked. A redirect without a target shows
/// its body.
fn outcome_of_checked(response: &FetchedResponse) -> (Outcome, Option<String>) {
    match status_outcome(response) {
        Outcome::FileIngested => (Outcome::LinkWorks, None),
        Outcome::TemporaryRedirect | Outcome::PermanentRedirect if response.headers.get("location").is_none() => {
            (Outcome::LinkWorks, None)
        }
        outcome => (outcome, detail_of_status(response, outcome)),
    }
}

/// Returns the detail of a response by its status; `None` if it is not needed.
fn detail_of_status(response: &FetchedResponse, outcome: Outcome) -> Option<String> {
    let status = response.status;
    (status >= 400).then(|| {
        let detail = format!("status {status} {}", response.reason).trim_end().to_owned();
        let asks_for_log_in = Refusal::from_answer(outcome, Some(status)) == Some(Refusal::LogIn);
        if asks_for_log_in { format!("{detail}: {ASKS_FOR_LOG_IN}") } else { detail }
    })
}

fn outcome_of_response(response: &FetchedResponse, comparison: &Comparison<'_>) -> (Outcome, Option<String>) {
    let status = response.status;
    let outcome = match status_outcome(response) {
        Outcome::TemporaryRedirect | Outcome::PermanentRedirect if is_page_all_the_same(response) => {
            Outcome::FileIngested
        }
        outcome => outcome,
    };
    let detail = detail_of_status(response, outcome);
    if let (Outcome::FileIngested, Some(Truncation::Coding(error))) = (outcome, response.truncated) {
        return (outcome, Some(error.to_string()));
    }
    match outcome {
        Outcome::FileIngested if response.truncated == Some(Truncation::Disconnect) => {
            (Outcome::ErrorReadingResponse, Some("the connection ended before the body did".to_owned()))
        }
        Outcome::FileIngested if comparison.is_unchanged(response) => {
            let shown = if comparison.shown == Shown::Body { "body" } else { "page" };
            (Outcome::FileDidNotChange, Some(format!("the same {shown} as last time")))
        }
        // A 304 to an unconditional request leaves us with nothing.
        Outcome::FileDidNotChange if comparison.last.is_none() => {
            (Outcome::DidNotUnderstandAnswer, Some("status 304 to an unconditional request".to_owned()))
        }
        Outcome::DidNotUnderstandAnswer => (outcome, Some(format!("status {status}"))),
        _ => (outcome, detail),
    }
}

/// Returns the outcome of a fetch after which the URL is not tried again. A body that broke off is
/// kept as far as it came, like one that a limit cut. Browsers show it too.
pub(super) fn final_outcome(outcome: Outcome, fetched: &FetchOutcome) -> Outcome {
    let came = fetched.result.as_ref().is_ok_and(|response| response.decoded_bytes > 0);
    if came && outcome == Outcome::ErrorReadingResponse { Outcome::FileIngested } else { outcome }
}

/// Whether a redirect names no target, so that browsers show its body instead. A permanent redirect
/// without a body is a mistake.
fn is_page_all_the_same(response: &FetchedResponse) -> bool {
    let names_target = response.headers.get("location").is_some();
    !names_target && (matches!(response.status, 302 | 303) || !response.body.is_empty())
}

/// Whether a response has a field with this name and value, ignoring case.
fn has_field(response: &FetchedResponse, name: &str, value: &[u8]) -> bool {
    response.headers.all(name).any(|found| found.trim_ascii().eq_ignore_ascii_case(value))
}

/// Returns the state of the connection after a fetch, as far as the answer tells.
pub(super) fn connection_after(fetched: &FetchOutcome) -> Connection {
    match &fetched.result {
        Ok(response) if !has_field(response, "connection", b"close") && response.truncated.is_none() => {
            Connection::Kept
        }
        _ => Connection::Closed,
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::frontier::FieldsDigest;
    use dragline_formats::http_fields::Headers;

    use super::*;

    const DATADOME: &str =
        "<script>var dd={'rt':'c'}</script><script src=https://ct.captcha-delivery.com/c.js></script>";
    const IMPERVA: &str = "<iframe src='/_Incapsula_Resource?SWUDNSAI=31'></iframe>";

    fn answered(status: u16, fields: &[(&str, &str)], body: &'static str) -> FetchOutcome {
        let response = FetchedResponse {
            status,
            reason: String::new(),
            protocol: None,
            headers: fields.iter().copied().collect(),
            body: body.into(),
            truncated: None,
            decoded_sha1: [0; 20],
            decoded_bytes: body.len() as u64,
        };
        let failed = FetchOutcome::failed(FetchFailureKind::Connect, "", std::time::Duration::ZERO);
        FetchOutcome { request_headers: Headers::default(), result: Ok(response), ..failed }
    }

    /// A first visit has nothing to be compared with.
    const FIRST: Comparison<'_> =
        Comparison { last: None, shown: Shown::Body, product_token: "Dragline", read_as: ReadAs::Typed };

    #[test]
    fn what_a_visit_shows_is_compared_and_how_it_is_read() {
        const BODY: [u8; 20] = [0; 20];
        const OTHER: [u8; 20] = [1; 20];
        let html = ("content-type", "text/html");
        let alike = fields_digest(&[html].into_iter().collect(), "Dragline", ReadAs::Typed);
        let unlike = FieldsDigest::NONE;
        for (shown, last_sha1, read_by, is_unchanged, why) in [
            (Shown::Body, BODY, Some(alike), true, "the same bytes"),
            (Shown::Body, OTHER, Some(alike), false, "other bytes"),
            (Shown::Body, BODY, Some(unlike), false, "the same bytes, read otherwise"),
            (Shown::Body, BODY, None, true, "from before it was known how they are read"),
            (Shown::Dom(Some(OTHER)), OTHER, Some(alike), true, "the same document"),
            (Shown::Dom(Some(OTHER)), BODY, Some(alike), false, "another document in the same shell"),
            (Shown::Dom(Some(OTHER)), OTHER, Some(unlike), false, "the same document, after something else was shown"),
            (Shown::Dom(None), BODY, Some(alike), false, "a shell that no browser could fill"),
        ] {
            let last = LastCapture {
                etag: None,
                last_modified: None,
                payload_sha1: OTHER,
                decoded_sha1: last_sha1,
                fetched_at: jiff::Timestamp::UNIX_EPOCH,
                outcome: Outcome::FileIngested,
                read_by,
            };
            let comparison = Comparison { last: Some(&last), shown, ..FIRST };
            let (ended, _) = fetch_outcome(&answered(200, &[html], "<p>"), None, &comparison);
            let expected = if is_unchanged { Outcome::FileDidNotChange } else { Outcome::FileIngested };
            assert_eq!(ended, expected, "{why}");
        }
    }

    #[test]
    fn the_detail_of_a_401_says_that_it_asks_for_a_log_in() {
        for (status, reason, expected) in [
            (401, "Unauthorized", "status 401 Unauthorized: it asks for a log-in"),
            (401, "", "status 401: it asks for a log-in"),
            (403, "Forbidden", "status 403 Forbidden"),
        ] {
            let mut fetched = answered(status, &[], "");
            fetched.result = fetched.result.map(|response| FetchedResponse { reason: reason.to_owned(), ..response });
            let ended = fetch_outcome(&fetched, None, &FIRST);
            assert_eq!(ended, (Outcome::BlockedAtRequestOfRemote, Some(expected.to_owned())));
        }
    }

    #[test]
    fn a_checked_url_ends_by_its_status_alone() {
        for (status, fields, expected, why) in [
            (200, &[][..], Outcome::LinkWorks, "it is there"),
            (204, &[], Outcome::LinkWorks, "with nothing to show"),
            (301, &[("location", "/b")], Outcome::PermanentRedirect, "it has moved"),
            (302, &[], Outcome::LinkWorks, "a redirect to nowhere is a page"),
            (304, &[], Outcome::FileDidNotChange, "an answer to another question"),
            (404, &[], Outcome::FileNotFound, "missing"),
            (403, &[], Outcome::BlockedAtRequestOfRemote, "forbidden"),
            (999, &[], Outcome::BlockedAtRequestOfRemote, "LinkedIn's"),
            (600, &[], Outcome::DidNotUnderstandAnswer, "not a status"),
        ] {
            let fetched = answered(status, fields, "");
            let (ended, _) = fetch_outcome(&fetched, None, &Comparison { read_as: ReadAs::Check, ..FIRST });
            assert_eq!(ended, expected, "{status}: {why}");
        }
    }

    #[test]
    fn a_challenge_is_recognised_and_slows_the_host_down() {
        let html = ("content-type", "text/html");
        let to_login = ("location", "/login?next=/p");
        let challenge = Outcome::BlockedByChallenge;
        for (status, fields, body, outcome, load, why) in [
            (202, &[("x-amzn-waf-action", "challenge")][..], "", challenge, Load::Refused, "AWS, with a good status"),
            (
                405,
                &[("x-amzn-waf-action", "captcha")],
                "",
                challenge,
                Load::Refused,
                "AWS, and nothing is wrong with GET",
            ),
            (
                429,
                &[("x-vercel-mitigated", "challenge")],
                "",
                challenge,
                Load::Refused,
                "Vercel, and waiting does not help",
            ),
            (429, &[], "", Outcome::RateLimited, Load::Refused, "a limit on the rate"),
            (403, &[html], DATADOME, challenge, Load::Refused, "by its page"),
            (403, &[html], "Refused.", Outcome::BlockedAtRequestOfRemote, Load::Bearable, "it says no"),
            (200, &[html], IMPERVA, challenge, Load::Refused, "by its page, with a good status"),
            (200, &[html], "Text", Outcome::FileIngested, Load::Bearable, "a page"),
            (302, &[to_login], "", Outcome::BlockedByLogin, Load::Bearable, "who has to log in need not slow down"),
        ] {
            let url = CrawlUrl::try_from("https://a.example/p".to_owned()).unwrap();
            let fetched = answered(status, fields, body);
            let wall = find_wall(&url, &fetched);
            let (ended, detail) = fetch_outcome(&fetched, wall.as_ref(), &FIRST);
            assert_eq!((ended, host_load(&fetched, wall.as_ref(), Attempt::First)), (outcome, load), "{status}: {why}");
            let names_rule = |wall: &Wall| detail.as_deref().is_some_and(|detail| detail.contains(wall.rule.name));
            assert!(wall.as_ref().is_none_or(names_rule), "{status}: {why}: {detail:?}");
        }
    }
}
