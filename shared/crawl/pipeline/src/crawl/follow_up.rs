//! Follow-ups: one more request for the same URL, made in another way, because the answer calls for
//! it.

use dragline_domain::frontier::{Cookie, FollowUp, ReadAs, TodoEntry};
use dragline_domain::outcome::Outcome;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_formats::http_fields::{cookies_for, location};
use dragline_ports::fetcher::{FetchFailureKind, FetchOutcome};
use jiff::Timestamp;

/// Returns the follow-up that an answer with this outcome calls for; `None` if it calls for none.
///
/// A server may distinguish two spellings of one URL, set a cookie, or have refused the conditions.
pub(super) fn follow_up(
    url: &CrawlUrl,
    entry: &TodoEntry,
    fetched: &FetchOutcome,
    outcome: Outcome,
    rules: &UrlRules,
    now: Timestamp,
) -> Option<FollowUp> {
    if is_head_refused(entry, fetched, outcome) {
        return Some(FollowUp::Get);
    }
    let response = fetched.result.as_ref().ok()?;
    match outcome {
        Outcome::TemporaryRedirect | Outcome::PermanentRedirect => {
            let target = url.respelled(&location(response.headers.get("location")?), rules)?;
            let cookies = cookies_for(response.headers.all("set-cookie"), url, &target, now);
            Some(FollowUp::Redirected { cookie: Cookie::from_pairs(cookies), target })
        }
        Outcome::ServerBlamedClient if response.status == 412 && entry.conditions().is_some() => {
            Some(FollowUp::Unconditional)
        }
        _ => None,
    }
}

/// Whether a HEAD failed that a GET may not: many servers know no HEAD, and answer it with any
/// error. One that asks for fewer requests means both.
fn is_head_refused(entry: &TodoEntry, fetched: &FetchOutcome, outcome: Outcome) -> bool {
    if entry.read_as != ReadAs::Check || entry.follow_up.is_some() || outcome.is_refusal() {
        return false;
    }
    match &fetched.result {
        Ok(response) => response.status >= 400,
        Err(failure) => matches!(failure.kind, FetchFailureKind::Protocol | FetchFailureKind::Reset),
    }
}

/// How an answer is logged, and its follow-up.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LoggedAnswer {
    pub outcome: Outcome,
    pub detail: Option<String>,
    /// The URL's entry for the follow-up; `None` if the answer stands.
    pub again: Option<TodoEntry>,
}

impl LoggedAnswer {
    /// Decides whether an answer gets a follow-up. There is at most one, if there is room for it.
    pub(super) fn new(
        (outcome, detail): (Outcome, Option<String>),
        url: &CrawlUrl,
        entry: &TodoEntry,
        wanted: Option<FollowUp>,
        has_room: impl FnOnce(&TodoEntry) -> bool,
    ) -> Self {
        let Some(wanted) = wanted else { return Self { outcome, detail, again: None } };
        let again = entry.followed_up(wanted.clone()).filter(has_room);
        let what = match &wanted {
            FollowUp::Redirected { .. } => to_itself(url, &wanted),
            FollowUp::Unconditional => "status 412 to a conditional request".to_owned(),
            FollowUp::LoggedIn => detail.unwrap_or_default(),
            FollowUp::Get => format!("{} to HEAD", detail.unwrap_or_default()),
        };
        let then = match &again {
            Some(_) => "asked for once more",
            None if entry.follow_up.is_some() => "as it did before",
            None => "and too many others wait to be asked for once more",
        };
        let outcome = match &wanted {
            // The answer says nothing about the page.
            FollowUp::Unconditional if again.is_some() => Outcome::AskedToTryAgain,
            FollowUp::Unconditional | FollowUp::Redirected { .. } | FollowUp::LoggedIn | FollowUp::Get => outcome,
        };
        Self { outcome, detail: Some(format!("{what}, {then}")), again }
    }
}

fn to_itself(url: &CrawlUrl, follow_up: &FollowUp) -> String {
    let spelled = follow_up.target().filter(|target| *target != url.path_and_query());
    let spelled = spelled.map_or_else(String::new, |target| format!(", spelled `{target}`"));
    let with_cookies = if follow_up.cookie().is_some() { ", with a cookie" } else { "" };
    format!("redirects to itself{spelled}{with_cookies}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dragline_domain::frontier::{
        DocumentStanding, LastCapture, LastDocument, LinkDecisions, RulesDigest, UrlHistory, VisitPlace,
    };
    use dragline_domain::ids::{Iteration, Turn};
    use dragline_formats::blob::Blob;
    use dragline_formats::http_fields::Headers;
    use dragline_ports::fetcher::FetchedResponse;

    use super::*;

    fn answered(status: u16, fields: &[(&str, &str)]) -> FetchOutcome {
        let response = FetchedResponse {
            status,
            reason: String::new(),
            protocol: None,
            headers: fields.iter().copied().collect(),
            body: Blob::default(),
            truncated: None,
            decoded_sha1: [0; 20],
            decoded_bytes: 0,
        };
        let failed = FetchOutcome::failed(FetchFailureKind::Connect, "", Duration::ZERO);
        FetchOutcome { request_headers: Headers::default(), result: Ok(response), ..failed }
    }

    /// Returns an entry for a URL whose body is known, with this entity tag.
    fn known(etag: Option<&str>) -> TodoEntry {
        let last = LastCapture {
            etag: etag.map(str::to_owned),
            last_modified: None,
            payload_sha1: [0; 20],
            decoded_sha1: [0; 20],
            fetched_at: Timestamp::UNIX_EPOCH,
            outcome: Outcome::FileIngested,
            read_by: None,
        };
        let document = LastDocument {
            place: VisitPlace { iteration: Iteration::FIRST, turn: Turn(1), segment: 0, n: 0 },
            outcome: Outcome::FileIngested,
            standing: DocumentStanding::Shown,
            links: LinkDecisions { by: RulesDigest::NONE, depth: 0 },
        };
        let known = UrlHistory { last: Some(Box::new(last)), document: Some(document), ..UrlHistory::default() };
        TodoEntry { known, ..TodoEntry::new("/~a") }
    }

    #[test]
    fn an_answer_calls_for_a_follow_up() {
        let (new, tagged) = (TodoEntry::new("/~a"), known(Some("\"1\"")));
        let to = |target: &str| Some(FollowUp::Redirected { target: target.to_owned(), cookie: None });
        let with = |target: &str| {
            let cookie = Cookie::from_pairs([("sid", "1")]);
            Some(FollowUp::Redirected { target: target.to_owned(), cookie })
        };
        let (respelled, cookie) = (("location", "/%7Ea"), ("set-cookie", "sid=1; path=/"));
        for (entry, status, fields, expected, why) in [
            (&new, 302, &[respelled][..], to("/%7Ea"), "another spelling"),
            (&new, 301, &[respelled], to("/%7Ea"), "for good"),
            (&new, 302, &[("location", "/~a?PHPSESSID=1")], to("/~a?PHPSESSID=1"), "a parameter that is stripped"),
            (&new, 302, &[("location", "#a")], to("/~a"), "exactly itself"),
            (&new, 307, &[("location", "/~a"), cookie], with("/~a"), "itself, with a cookie"),
            (&new, 302, &[respelled, cookie], with("/%7Ea"), "another spelling, with a cookie"),
            (&new, 302, &[("location", "/b"), cookie], None, "another URL"),
            (&new, 302, &[], None, "no target"),
            (&new, 200, &[respelled, cookie], None, "no redirect"),
            (&tagged, 412, &[], Some(FollowUp::Unconditional), "the conditions failed"),
            (&new, 412, &[], None, "there were none"),
            (&known(None), 412, &[], None, "nothing to be compared by the server"),
            (&tagged, 400, &[], None, "another mistake"),
        ] {
            let (fetched, rules) = (answered(status, fields), UrlRules::default());
            let url = CrawlUrl::parse("http://a.example/~a", &rules).unwrap();
            let outcome = Outcome::from_status(status);
            let wanted = follow_up(&url, entry, &fetched, outcome, &rules, Timestamp::UNIX_EPOCH);
            assert_eq!(wanted, expected, "{status}: {why}");
        }
    }

    #[test]
    fn a_refused_head_is_followed_by_a_get() {
        let check = TodoEntry { read_as: ReadAs::Check, ..TodoEntry::new("/~a") };
        let again = check.followed_up(FollowUp::Get).unwrap();
        let typed = TodoEntry::new("/~a");
        let failed = |kind| FetchOutcome::failed(kind, "", Duration::ZERO);
        let url = CrawlUrl::parse("http://a.example/~a", &UrlRules::default()).unwrap();
        for (entry, fetched, outcome, expected, why) in [
            (&check, answered(405, &[]), Outcome::ServerBlamedClient, true, "it says that it knows no HEAD"),
            (&check, answered(404, &[]), Outcome::FileNotFound, true, "many say this instead"),
            (&check, answered(500, &[]), Outcome::ServerInternalError, true, "or break"),
            (&check, failed(FetchFailureKind::Protocol), Outcome::DidNotUnderstandAnswer, true, "or send a body"),
            (&check, answered(200, &[]), Outcome::LinkWorks, false, "it works"),
            (&check, answered(429, &[]), Outcome::RateLimited, false, "it wants fewer requests, of whatever method"),
            (&check, failed(FetchFailureKind::Connect), Outcome::ConnectionFailed, false, "nobody is there"),
            (&again, answered(404, &[]), Outcome::FileNotFound, false, "that was the GET"),
            (&typed, answered(404, &[]), Outcome::FileNotFound, false, "a page is asked for by GET"),
        ] {
            let wanted = follow_up(&url, entry, &fetched, outcome, &UrlRules::default(), Timestamp::UNIX_EPOCH);
            assert_eq!(wanted == Some(FollowUp::Get), expected, "{why}");
        }
    }

    #[test]
    fn a_url_gets_one_follow_up_and_no_cookie_is_shown() {
        let url = CrawlUrl::parse("http://a.example/~a", &UrlRules::default()).unwrap();
        let to = |target: &str| {
            let cookie = Cookie::from_pairs([("sid", "secret")]);
            Some(FollowUp::Redirected { target: target.to_owned(), cookie })
        };
        let new = TodoEntry::new("/~a");
        let again = new.followed_up(to("/%7Ea").unwrap()).unwrap();
        let unconditional = || Some(FollowUp::Unconditional);
        let (redirect, refused, meanwhile) =
            (Outcome::TemporaryRedirect, Outcome::ServerBlamedClient, Outcome::AskedToTryAgain);
        for (entry, wanted, has_room, outcome, expected, detail) in [
            (&new, None, true, redirect, (redirect, false), Some("as it was")),
            (
                &new,
                to("/%7Ea"),
                true,
                redirect,
                (redirect, true),
                Some("redirects to itself, spelled `/%7Ea`, with a cookie, asked for once more"),
            ),
            (
                &again,
                to("/~a"),
                true,
                redirect,
                (redirect, false),
                Some("redirects to itself, with a cookie, as it did before"),
            ),
            (
                &new,
                to("/~a"),
                false,
                redirect,
                (redirect, false),
                Some("redirects to itself, with a cookie, and too many others wait to be asked for once more"),
            ),
            (
                &new,
                unconditional(),
                true,
                refused,
                (meanwhile, true),
                Some("status 412 to a conditional request, asked for once more"),
            ),
            (
                &again,
                unconditional(),
                true,
                refused,
                (refused, false),
                Some("status 412 to a conditional request, as it did before"),
            ),
        ] {
            let before = (outcome, Some("as it was".to_owned()));
            let answered = LoggedAnswer::new(before, &url, entry, wanted, |_| has_room);
            assert_eq!((answered.outcome, answered.again.is_some()), expected, "{detail:?}");
            assert_eq!(answered.detail.as_deref(), detail);
        }
    }
}
