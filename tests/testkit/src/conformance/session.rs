//! Sessions of a fetcher: what says who the crawl is goes to its own host, and to no other.
//!
//! An adapter's tests ask two sites, which answer as [`answer`] says, and implement [`Sites`].

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_ports::fetcher::{
    FetchFailureKind, FetchLimits, FetchOutcome, FetchRequest, Fetcher, FieldValue, FilledForm, Session,
};

use crate::members::{Arrived, LOG_IN_PATH, Reply};

/// The two sites: a members' area, with the rules of [`definition`](crate::members::definition),
/// and one that no rule is about.
pub trait Sites {
    /// Returns the origin of the members' area.
    fn members(&self) -> &str;

    /// Returns the origin of the other site, whose host has another name.
    fn stranger(&self) -> &str;

    /// Returns what arrived at both of them so far.
    fn arrived(&self) -> Vec<Arrived>;
}

/// Runs every behaviour of a fetcher's sessions on `((fetcher, sites), guard)`, which the future
/// given makes; the guard is dropped after the test.
#[macro_export]
macro_rules! session_suite {
    ($make:expr) => {
        $crate::session_suite! { behaviours, $make }
    };
    ($what:ident, $make:expr) => {
        $crate::$what! { session, $make;
            cookies_go_back_to_their_host_alone
            a_form_is_sent_to_its_url_alone
            the_answer_to_a_form_begins_the_session
            a_redirect_takes_nothing_along
        }
    };
}

/// What a site answers, given the origin of the other one.
#[must_use]
pub fn answer(asked: &Arrived, stranger: &str) -> Reply {
    match (asked.url.path(), &asked.form) {
        ("/begin", _) => Reply::page("welcome").with_cookie("sid=begun"),
        (LOG_IN_PATH, Some(_)) => Reply::to(303, "/home").with_cookie("sid=in"),
        ("/away", _) => Reply::to(302, &format!("{stranger}/landing")),
        _ => Reply::page("a page"),
    }
}

const LIMITS: FetchLimits = FetchLimits {
    connect_timeout: Duration::from_secs(20),
    first_byte_timeout: Duration::from_secs(20),
    total_timeout: Duration::from_secs(40),
    header_bytes_max: 64 << 10,
    body_bytes_max: 1 << 20,
    file_bytes_max: None,
    decoded_bytes_max: 1 << 20,
};

fn request(origin: &str, path: &str, session: Option<&Arc<Session>>) -> FetchRequest {
    let url = CrawlUrl::parse(&format!("{origin}{path}"), &UrlRules::keep_all()).unwrap();
    FetchRequest { session: session.cloned(), ..FetchRequest::new(url, LIMITS) }
}

fn with_form(request: FetchRequest, page: &str) -> FetchRequest {
    let fields = [("t", FieldValue::Page("1".to_owned())), ("user", FieldValue::Secret("env:MEMBER".parse().unwrap()))];
    let fields = fields.map(|(name, value)| (name.to_owned(), value)).into();
    let page = CrawlUrl::parse(page, &UrlRules::keep_all()).unwrap();
    FetchRequest { form: Some(Arc::new(FilledForm { page, fields })), ..request }
}

fn status(fetched: &FetchOutcome) -> Result<u16, FetchFailureKind> {
    fetched.result.as_ref().map(|response| response.status).map_err(|failure| failure.kind)
}

/// Returns the cookies and the key of the last request that arrived.
fn last(sites: &impl Sites) -> (Option<String>, Option<String>) {
    sites.arrived().pop().map(|arrived| (arrived.cookie, arrived.key)).unwrap_or_default()
}

/// A cookie that a site set is sent back to it in the same session, and to nobody else.
pub async fn cookies_go_back_to_their_host_alone((fetcher, sites): &(impl Fetcher, impl Sites)) {
    let (own, other) = (Arc::<Session>::default(), Arc::<Session>::default());
    let key = Some("value of env:KEY".to_owned());
    for (origin, path, session, expected, why) in [
        (sites.members(), "/begin", Some(&own), (None, key.clone()), "none was set yet"),
        (sites.members(), "/a", Some(&own), (Some("sid=begun".to_owned()), key.clone()), "in the session"),
        (sites.stranger(), "/a", Some(&own), (None, None), "another host"),
        (sites.members(), "/a", Some(&other), (None, key.clone()), "another session"),
        (sites.members(), "/a", None, (None, key), "no session"),
    ] {
        assert_eq!(status(&fetcher.fetch(request(origin, path, session)).await), Ok(200), "{why}");
        assert_eq!(last(sites), expected, "{why}");
    }
}

/// A form is sent to the URL of the definition. For any other, nothing leaves.
pub async fn a_form_is_sent_to_its_url_alone((fetcher, sites): &(impl Fetcher, impl Sites)) {
    let page = format!("{}/login", sites.members());
    for (origin, path, expected, why) in [
        (sites.members(), LOG_IN_PATH, Ok(303), "as the definition says"),
        (sites.members(), "/search", Err(FetchFailureKind::AccessRefused), "another URL of the host"),
        (sites.stranger(), LOG_IN_PATH, Err(FetchFailureKind::AccessRefused), "another host"),
    ] {
        let fetched = fetcher.fetch(with_form(request(origin, path, None), &page)).await;
        assert_eq!(status(&fetched), expected, "{why}");
    }
    let forms: Vec<_> =
        sites.arrived().into_iter().map(|arrived| (arrived.url.path().to_owned(), arrived.form)).collect();
    let sent = Some("t=1&user=value+of+env%3AMEMBER".to_owned());
    assert_eq!(forms, [(LOG_IN_PATH.to_owned(), sent)], "once, and nothing else arrived");
}

/// What the answer to a form sets is sent with the next request of the session.
pub async fn the_answer_to_a_form_begins_the_session((fetcher, sites): &(impl Fetcher, impl Sites)) {
    let session = Arc::default();
    let form = with_form(request(sites.members(), LOG_IN_PATH, Some(&session)), &format!("{}/login", sites.members()));
    assert_eq!(status(&fetcher.fetch(form).await), Ok(303));
    assert_eq!(status(&fetcher.fetch(request(sites.members(), "/home", Some(&session))).await), Ok(200));
    assert_eq!(last(sites).0.as_deref(), Some("sid=in"));
}

/// A redirect is an answer: nobody goes there by it.
pub async fn a_redirect_takes_nothing_along((fetcher, sites): &(impl Fetcher, impl Sites)) {
    let session = Arc::default();
    for (path, expected, why) in [("/begin", 200, "a cookie"), ("/away", 302, "to another host")] {
        assert_eq!(status(&fetcher.fetch(request(sites.members(), path, Some(&session))).await), Ok(expected), "{why}");
    }
    let asked: BTreeSet<_> = sites.arrived().iter().map(|arrived| arrived.url.origin_str().to_owned()).collect();
    assert_eq!(asked, [sites.members().to_owned()].into(), "the other one is not asked");
}
