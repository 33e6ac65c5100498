//! A members' area and a stranger's site: what they answer, and a fetcher that asks them in memory.

#![expect(clippy::unwrap_used, reason = "it is part of tests, though the compiler cannot know")]

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dragline_domain::definition::{
    AccessRule, Draft, FormField, HostPattern, LogIn, PlainHttp, SecretField, SecretReference,
};
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_formats::http_fields::Headers;
use dragline_ports::fetcher::{FetchFailureKind, FetchOutcome, FetchRequest, FetchedResponse, Fetcher, FieldValue};
use dragline_ports::secrets::{Secret, SecretFuture, Secrets};

/// The field that members send with each request.
pub const KEY_FIELD: &str = "x-key";

/// Where the form is sent.
pub const LOG_IN_PATH: &str = "/session";

/// A request, as a site sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// Its URL.
    pub url: CrawlUrl,
    /// The value of [`KEY_FIELD`].
    pub key: Option<String>,
    /// Its cookies.
    pub cookie: Option<String>,
    /// The form that it sends; `None` for a GET.
    pub form: Option<String>,
}

/// What a site answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The header fields besides the media type, which is HTML.
    pub fields: Vec<(&'static str, String)>,
    /// The body.
    pub body: String,
}

impl Reply {
    /// Returns a page.
    #[must_use]
    pub fn page(body: impl Into<String>) -> Self {
        Self { status: 200, fields: Vec::new(), body: body.into() }
    }

    /// Returns a redirect.
    #[must_use]
    pub fn to(status: u16, location: &str) -> Self {
        Self { status, fields: vec![("location", location.to_owned())], body: String::new() }
    }

    /// Returns the same answer, which sets a cookie for the whole site.
    #[must_use]
    pub fn with_cookie(mut self, pair: &str) -> Self {
        self.fields.push(("set-cookie", format!("{pair}; Path=/")));
        self
    }
}

/// The values that the rules of a members' area name: each is known by its name.
#[derive(Clone, Copy, Debug, Default)]
pub struct NamedValues;

impl Secrets for NamedValues {
    fn read<'a>(&'a self, reference: &'a SecretReference) -> SecretFuture<'a> {
        Box::pin(async move { Ok(Secret::new(&format!("value of {reference}"))) })
    }
}

/// Returns a definition that says who the crawl is to the members' area at this origin: by a field
/// of each request, and by a form.
///
/// # Panics
/// If it is no origin.
#[must_use]
pub fn definition(members: &str) -> Draft {
    let url = |path: &str| CrawlUrl::parse(&format!("{members}{path}"), &UrlRules::keep_all()).unwrap();
    let value = |name: &str| name.parse().unwrap();
    let log_in = LogIn {
        url: url(LOG_IN_PATH),
        page: Some(url("/login")),
        fields: vec![FormField { name: "user".to_owned(), value: value("env:MEMBER") }],
        logged_in: None,
        logged_out: None,
    };
    let rule = AccessRule {
        headers: vec![SecretField { name: KEY_FIELD.parse().unwrap(), value: value("env:KEY") }],
        log_in: Some(Box::new(log_in)),
        plain: PlainHttp::Allowed,
        ..AccessRule::for_hosts(vec![HostPattern::for_url(&url("/"))])
    };
    let mut draft = Draft::for_seeds(vec![url("/")]);
    draft.access.push(rule);
    draft
}

/// A fetcher that asks a function, by the rules of a definition, and keeps what it asked.
pub struct ScriptedFetcher {
    rules: Vec<AccessRule>,
    answer: Box<dyn Fn(&Arrived) -> Reply + Send + Sync>,
    arrived: Arc<Mutex<Vec<Arrived>>>,
}

impl fmt::Debug for ScriptedFetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedFetcher").field("rules", &self.rules).finish_non_exhaustive()
    }
}

impl ScriptedFetcher {
    /// Returns one that sends what this definition says, and is answered by this function.
    pub fn new(definition: &Draft, answer: impl Fn(&Arrived) -> Reply + Send + Sync + 'static) -> Self {
        Self { rules: definition.access.clone(), answer: Box::new(answer), arrived: Arc::default() }
    }

    /// Returns what arrived so far, which goes on to grow.
    #[must_use]
    pub fn arrived(&self) -> Arc<Mutex<Vec<Arrived>>> {
        Arc::clone(&self.arrived)
    }

    /// Returns the request as it arrives; `None` if the rules do not let it leave.
    fn send(&self, request: &FetchRequest) -> Option<Arrived> {
        let url = &request.url;
        let of_page = |value: &FieldValue| match value {
            FieldValue::Page(text) => text.clone(),
            FieldValue::Secret(reference) => format!("value of {reference}"),
        };
        let form = request.form.as_ref().map(|form| {
            let pairs: Vec<_> = form.fields.iter().map(|(name, value)| format!("{name}={}", of_page(value))).collect();
            pairs.join("&").replace(' ', "+").replace(':', "%3A")
        });
        let sends = |rule: &AccessRule| rule.log_in.as_ref().is_some_and(|log_in| log_in.may_be_sent_to(url));
        if form.is_some() && !self.rules.iter().any(sends) {
            return None;
        }
        let rules = self.rules.iter().filter(|rule| rule.matches(url));
        let key = rules.flat_map(|rule| &rule.headers).map(|field| format!("value of {}", field.value)).next_back();
        let in_session = request.session.iter().flat_map(|session| session.cookies_for(url));
        let pairs: Vec<_> = in_session.map(|(name, value)| format!("{name}={value}")).collect();
        let asked_for = request.cookie.as_ref().map(|cookie| cookie.as_sent().to_owned());
        let cookie = (!pairs.is_empty()).then(|| pairs.join("; ")).or(asked_for);
        Some(Arrived { url: url.clone(), key, cookie, form })
    }
}

impl Fetcher for ScriptedFetcher {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        let took = Duration::from_millis(1);
        let Some(arrived) = self.send(&request) else {
            return FetchOutcome::failed(FetchFailureKind::AccessRefused, "no form is sent there", took);
        };
        let Reply { status, fields, body } = (self.answer)(&arrived);
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner).push(arrived);
        let fields = fields.iter().map(|(name, value)| (*name, value.as_str()));
        let headers: Headers = [("content-type", "text/html")].into_iter().chain(fields).collect();
        if let Some(session) = &request.session {
            session.keep(&request.url, &headers);
        }
        let response = FetchedResponse {
            status,
            reason: "Said".to_owned(),
            protocol: None,
            headers,
            decoded_sha1: [0; 20],
            decoded_bytes: body.len() as u64,
            body: body.into_bytes().into(),
            truncated: None,
        };
        let request_headers = Headers::from_iter([("host", request.url.host())]);
        let failed = FetchOutcome::failed(FetchFailureKind::Connect, "", took);
        FetchOutcome { request_headers, first_byte: Some(took), result: Ok(response), ..failed }
    }
}
