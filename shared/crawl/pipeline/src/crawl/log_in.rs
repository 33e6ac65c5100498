//! Logging in with a form, step by step, and the answers by which the end of a session is known.

use dragline_domain::definition::LogIn;
use dragline_domain::outcome::Outcome;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_extract::form::ReadPage;
use dragline_extract::wall::{Wall, WallKind};
use dragline_ports::fetcher::{FetchFailureKind, FetchOutcome, FetchedResponse, FieldValue, FilledForm};

use super::outcome::status_outcome;

/// The most requests of a log-in: some lead through several hosts.
pub(super) const REQUESTS_MAX: usize = 12;

/// How far a log-in has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// On the way to the form.
    Page,
    /// The form was sent.
    Sent,
}

/// What an answer during a log-in calls for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// To go where it leads.
    Follow(CrawlUrl),
    /// To send the form.
    Send(CrawlUrl, FilledForm),
    /// Nothing more: the crawl is logged in.
    Done,
    /// Another try later.
    Later(String),
    /// To give up, as another try would end likewise, or lock the account.
    Refused(String),
}

/// Decides on what comes next in a log-in.
pub(super) fn step(log_in: &LogIn, phase: Phase, url: &CrawlUrl, fetched: &FetchOutcome) -> Step {
    let response = match &fetched.result {
        Ok(response) => response,
        Err(failure) if matches!(failure.kind, FetchFailureKind::AccessRefused | FetchFailureKind::PrivateAddress) => {
            return Step::Refused(failure.detail.clone());
        }
        Err(failure) => return Step::Later(failure.detail.clone()),
    };
    let outcome = status_outcome(response);
    if outcome.may_be_fluke() {
        return Step::Later(format!("{} answers with status {}", short(url), response.status));
    }
    if let Some(target) = response.redirect_target(url, &UrlRules::keep_all()) {
        // These would have the form sent once more, and that elsewhere.
        let repeats = phase == Phase::Sent && matches!(response.status, 307 | 308) && !log_in.may_be_sent_to(&target);
        return if repeats {
            Step::Refused(format!("the form is redirected to {}", short(&target)))
        } else {
            Step::Follow(target)
        };
    }
    match phase {
        Phase::Page => at_page(log_in, url, response),
        Phase::Sent => after_form(log_in, url, response),
    }
}

fn at_page(log_in: &LogIn, url: &CrawlUrl, response: &FetchedResponse) -> Step {
    match read(response).log_in_form(url, log_in) {
        Ok(form) => {
            let put_there = form.fields.into_iter().map(|(name, value)| (name, FieldValue::Page(value)));
            let filled_in =
                log_in.fields.iter().map(|field| (field.name.clone(), FieldValue::Secret(field.value.clone())));
            Step::Send(form.action, FilledForm { page: url.clone(), fields: put_there.chain(filled_in).collect() })
        }
        Err(why) => Step::Refused(format!("{} (status {}): {why}", short(url), response.status)),
    }
}

fn after_form(log_in: &LogIn, url: &CrawlUrl, response: &FetchedResponse) -> Step {
    let (status, page) = (response.status, read(response));
    if let Some(why) = sign_of_stranger(log_in, status, &page) {
        return Step::Refused(format!("{} answers with {why}", short(url)));
    }
    if status >= 400 {
        return Step::Refused(format!("{} answers with status {status}", short(url)));
    }
    match &log_in.logged_in {
        Some(text) if !page.has_text(text) => Step::Refused(format!("{} lacks the text `{text}`", short(url))),
        Some(_) | None => Step::Done,
    }
}

fn read(response: &FetchedResponse) -> ReadPage {
    ReadPage::new(&response.headers, &response.readable_body())
}

/// Returns by what an answer is one for strangers; `None` if it is not.
fn sign_of_stranger(log_in: &LogIn, status: u16, page: &ReadPage) -> Option<String> {
    match &log_in.logged_out {
        _ if status == 401 => Some("status 401".to_owned()),
        Some(text) if page.has_text(text) => Some(format!("the text `{text}`")),
        _ => page.shows_log_in_form(log_in).then(|| "the form to log in".to_owned()),
    }
}

/// Returns why the answer to a page's request is one for strangers, although the request said who
/// the crawl is: by values alone, or logged in with a form. `None` if it is not.
pub(super) fn logged_out(
    log_in: Option<&LogIn>,
    url: &CrawlUrl,
    fetched: &FetchOutcome,
    wall: Option<&Wall>,
) -> Option<String> {
    let response = fetched.result.as_ref().ok()?;
    if response.status == 401 {
        return Some("status 401".to_owned());
    }
    if let Some(wall) = wall.filter(|wall| wall.kind() == WallKind::Login) {
        return Some(wall.detail());
    }
    // The form itself is for everybody.
    let log_in = log_in.filter(|log_in| !log_in.is_at(url))?;
    if let Some(target) = response.redirect_target(url, &UrlRules::keep_all()).filter(|target| log_in.is_at(target)) {
        return Some(format!("a redirect to {}", short(&target)));
    }
    let may_be_page = matches!(status_outcome(response), Outcome::FileIngested | Outcome::BlockedAtRequestOfRemote);
    may_be_page.then(|| sign_of_stranger(log_in, response.status, &read(response))).flatten()
}

/// Returns a URL without its query, which may contain a session.
fn short(url: &CrawlUrl) -> String {
    format!("{}{}", url.origin_str(), url.path())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dragline_domain::definition::FormField;
    use dragline_formats::http_fields::Headers;

    use super::*;

    const FORM: &str = "<form method=post action=/session><input type=hidden name=t value=1><input name=user></form>";

    fn url(target: &str) -> CrawlUrl {
        CrawlUrl::parse(&format!("https://a.example{target}"), &UrlRules::keep_all()).unwrap()
    }

    fn log_in() -> LogIn {
        LogIn {
            url: url("/session"),
            page: Some(url("/login")),
            fields: vec![FormField { name: "user".to_owned(), value: "env:USER".parse().unwrap() }],
            logged_in: Some("Log out".to_owned()),
            logged_out: Some("Please log in".to_owned()),
        }
    }

    fn answer(status: u16, location: &str, body: &'static str) -> FetchOutcome {
        let location = Some(("location", location)).filter(|(_, location)| !location.is_empty());
        let response = FetchedResponse {
            status,
            reason: String::new(),
            protocol: None,
            headers: Headers::from_iter([("content-type", "text/html")].into_iter().chain(location)),
            body: body.into(),
            truncated: None,
            decoded_sha1: [0; 20],
            decoded_bytes: body.len() as u64,
        };
        let failed = FetchOutcome::failed(FetchFailureKind::Connect, "", Duration::ZERO);
        FetchOutcome { request_headers: Headers::default(), result: Ok(response), ..failed }
    }

    #[test]
    fn each_answer_calls_for_the_next_step() {
        use Phase::{Page, Sent};
        for (phase, fetched, expected, why) in [
            (Page, answer(302, "/sso", ""), "Follow(https://a.example/sso", "on the way to the form"),
            (Page, answer(200, "", FORM), "Send(https://a.example/session", "the form"),
            (Page, answer(401, "", FORM), "Send(https://a.example/session", "with the status that asks for it"),
            (Page, answer(200, "", "<p>Hello"), "Refused https://a.example/x (status 200): it has no form", "no form"),
            (Page, answer(404, "", ""), "Refused https://a.example/x (status 404)", "no page"),
            (Page, answer(503, "", ""), "Later https://a.example/x answers with status 503", "it may pass"),
            (Sent, answer(303, "/home", ""), "Follow(https://a.example/home", "as forms do"),
            (Sent, answer(307, "https://evil.example/", ""), "Refused the form is redirected", "to be sent elsewhere"),
            (Sent, answer(307, "https://a.example/session", ""), "Follow", "to itself"),
            (Sent, answer(200, "", "<a href=/out>Log out</a>"), "Done", "what only members see"),
            (
                Sent,
                answer(200, "", "<p>Hello"),
                "Refused https://a.example/x lacks the text `Log out`",
                "nothing of it",
            ),
            (Sent, answer(200, "", FORM), "Refused https://a.example/x answers with the form", "the form again"),
            (
                Sent,
                answer(200, "", "Please log in. Log out"),
                "Refused https://a.example/x answers with the text",
                "for strangers",
            ),
            (Sent, answer(403, "", "Log out"), "Refused https://a.example/x answers with status 403", "refused"),
            (Sent, answer(500, "", ""), "Later", "it may pass"),
        ] {
            let taken = match step(&log_in(), phase, &url("/x"), &fetched) {
                Step::Follow(target) => format!("Follow({target})"),
                Step::Send(target, form) => {
                    let secret = FieldValue::Secret("env:USER".parse().unwrap());
                    let fields = [("t", FieldValue::Page("1".to_owned())), ("user", secret)];
                    assert_eq!(form.fields, fields.map(|(name, value)| (name.to_owned(), value)), "{why}");
                    format!("Send({target})")
                }
                Step::Done => "Done".to_owned(),
                Step::Later(detail) => format!("Later {detail}"),
                Step::Refused(detail) => format!("Refused {detail}"),
            };
            assert!(taken.starts_with(expected), "{why}: {taken}");
        }
        let refused = FetchOutcome::failed(FetchFailureKind::AccessRefused, "`env:USER` is not set", Duration::ZERO);
        let expected = Step::Refused("`env:USER` is not set".to_owned());
        assert_eq!(step(&log_in(), Page, &url("/login"), &refused), expected, "no other try changes that");
    }

    #[test]
    fn an_answer_for_strangers_is_told_from_a_page() {
        for (target, fetched, expected, why) in [
            ("/p", answer(200, "", "<p>Words"), None, "a page"),
            (
                "/p",
                answer(302, "/login?next=/p", ""),
                Some("a redirect to https://a.example/login"),
                "to the page of the form",
            ),
            ("/p", answer(302, "/session", ""), Some("a redirect to"), "to where it is sent"),
            ("/p", answer(302, "/other", ""), None, "elsewhere"),
            ("/p", answer(401, "", ""), Some("status 401"), "it says so"),
            ("/p", answer(200, "", FORM), Some("the form to log in"), "the form in place of the page"),
            ("/p", answer(200, "", "Please log in"), Some("the text"), "what strangers get"),
            ("/login", answer(200, "", FORM), None, "the form itself is for everybody"),
            ("/p", answer(404, "", FORM), None, "the site's page for missing ones"),
            ("/p", answer(503, "", FORM), None, "the server is down"),
        ] {
            let told = logged_out(Some(&log_in()), &url(target), &fetched, None);
            assert_eq!(told.is_some(), expected.is_some(), "{target}: {why}: {told:?}");
            assert!(expected.is_none_or(|expected| told.unwrap().starts_with(expected)), "{target}: {why}");
        }
        let told = logged_out(None, &url("/p"), &answer(401, "", ""), None);
        assert_eq!(told.as_deref(), Some("status 401"), "with other values than a form's, too");
        assert_eq!(logged_out(None, &url("/p"), &answer(200, "", FORM), None), None, "only a form of ours is known");
    }
}
