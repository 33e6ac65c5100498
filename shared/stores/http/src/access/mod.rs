//! Rules for sites that ask who calls, with the values that they name.
//!
//! A value goes to the hosts of its rule alone. Each request is one, as no redirect is followed
//! within it, so none takes a value elsewhere.

mod cookies;

use std::sync::Arc;

use data_encoding::BASE64;
use dragline_domain::definition::{AccessRule, Authorization, PlainHttp, Referer};
use dragline_domain::url::{CrawlUrl, Scheme};
use dragline_ports::fetcher::{FetchRequest, FieldValue, FilledForm};
use dragline_ports::secrets::{Secret, SecretError, Secrets};
use http::header::{ACCEPT_LANGUAGE, AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue, REFERER};
use url::form_urlencoded;

use self::cookies::{Cookies, sensitive};

/// The rules of a definition, ready to be used.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    rules: Arc<[ReadyRule]>,
}

/// A rule, and what it sends; or why it cannot, and then nothing is sent to its hosts.
#[derive(Clone, Debug)]
struct ReadyRule {
    rule: AccessRule,
    sent: Result<Sent, SecretError>,
}

/// The values of a rule, as they are sent.
#[derive(Clone, Debug)]
struct Sent {
    headers: Vec<(HeaderName, HeaderValue)>,
    authorization: Option<HeaderValue>,
    cookies: Option<Cookies>,
    /// What a person would fill into the form to log in, in the order of its fields.
    form: Vec<Secret>,
    route: Route,
}

/// How a connection is made: what tells one client from another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Route {
    /// A certificate and its key, as PEM.
    pub(crate) certificate: Option<Secret>,
    /// The proxy; `None`: that of the process, or none.
    pub(crate) proxy: Option<Proxy>,
}

/// A proxy, with who we are to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Proxy {
    pub(crate) url: String,
    pub(crate) login: Option<Secret>,
    pub(crate) named_by: NamedBy,
}

/// Who named a proxy, which decides on the addresses that it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NamedBy {
    /// A rule of the definition.
    Rule,
    /// Whoever runs the process.
    Process,
}

/// The values of a definition's rules, by which two of the same kind are known.
pub(crate) type Values = Vec<(AccessRule, Result<Vec<Secret>, SecretError>)>;

/// Why nothing is sent to a URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AccessError {
    /// Everybody on the way would read the values.
    #[error("`access` has values for {0}, and they are not sent over plain HTTP without `allow_plain: true`")]
    Plain(String),
    /// A value is missing.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// No rule sends a form there.
    #[error("no `login` of `access` sends a form to {0}")]
    NoLogIn(String),
}

/// Reads the values of some rules.
pub(crate) async fn read_values(rules: &[AccessRule], secrets: &dyn Secrets) -> Values {
    let mut values = Vec::with_capacity(rules.len());
    for rule in rules {
        values.push((rule.clone(), read_rule(rule, secrets).await));
    }
    values
}

async fn read_rule(rule: &AccessRule, secrets: &dyn Secrets) -> Result<Vec<Secret>, SecretError> {
    let mut values = Vec::new();
    for reference in rule.secrets() {
        values.push(secrets.read(reference).await?);
    }
    Ok(values)
}

impl Access {
    /// Returns the rules with these values, in the order in which the rules name them.
    pub(crate) fn new(values: &Values) -> Self {
        let ready = |(rule, values): &(AccessRule, Result<Vec<Secret>, SecretError>)| {
            let sent = values.as_ref().map_err(Clone::clone).and_then(|values| Sent::new(rule, values));
            ReadyRule { rule: rule.clone(), sent }
        };
        Self { rules: values.iter().map(ready).collect() }
    }

    /// Checks that every value is there, and has the form that its use asks for.
    ///
    /// # Errors
    /// Returns the first that is not.
    pub(crate) fn check(&self) -> Result<(), SecretError> {
        self.rules.iter().try_for_each(|ready| ready.sent.as_ref().map(|_| ()).map_err(Clone::clone))
    }

    fn matching(&self, url: &CrawlUrl) -> impl Iterator<Item = &ReadyRule> {
        self.rules.iter().filter(|ready| ready.rule.matches(url))
    }

    /// Returns how a URL is reached.
    pub(crate) fn route(&self, url: &CrawlUrl) -> Route {
        let sent = self.matching(url).filter_map(|ready| ready.sent.as_ref().ok());
        sent.fold(Route::default(), |route, sent| Route {
            certificate: sent.route.certificate.clone().or(route.certificate),
            proxy: sent.route.proxy.clone().or(route.proxy),
        })
    }

    /// Adds to a request what the rules say.
    ///
    /// # Errors
    /// A value is missing, or would be sent for everybody to read.
    pub(crate) fn apply(&self, request: &FetchRequest, fields: &mut HeaderMap) -> Result<(), AccessError> {
        let url = &request.url;
        let is_plain = url.scheme() == Scheme::Http;
        for ready in self.matching(url) {
            if is_plain && ready.rule.plain == PlainHttp::Refused && ready.rule.has_secrets() {
                return Err(AccessError::Plain(url.host().to_owned()));
            }
            let sent = ready.sent.as_ref().map_err(Clone::clone)?;
            for (name, value) in &sent.headers {
                fields.insert(name, value.clone());
            }
            if let Some(value) = &sent.authorization {
                fields.insert(AUTHORIZATION, value.clone());
            }
            if let Some(cookies) = &sent.cookies {
                add_cookies(fields, &cookies.pairs_for(url));
            }
            let languages = ready.rule.accept_language.as_ref();
            if let Some(languages) = languages.and_then(|languages| HeaderValue::from_str(languages.as_str()).ok()) {
                fields.insert(ACCEPT_LANGUAGE, languages);
            }
            if let Some(referer) = request.via.as_ref().and_then(|via| referer(ready.rule.referer, via, url)) {
                fields.insert(REFERER, referer);
            }
        }
        Ok(())
    }

    /// Returns a form as it is sent to a URL.
    ///
    /// # Errors
    /// No rule sends one there, a value is missing, or everybody on the way would read it.
    pub(crate) fn encode(&self, form: &FilledForm, url: &CrawlUrl) -> Result<Vec<u8>, AccessError> {
        let sends = |ready: &&ReadyRule| ready.rule.log_in.as_ref().is_some_and(|log_in| log_in.may_be_sent_to(url));
        let ready = self.rules.iter().rfind(sends).ok_or_else(|| AccessError::NoLogIn(url.as_str().to_owned()))?;
        if url.scheme() == Scheme::Http && ready.rule.plain == PlainHttp::Refused {
            return Err(AccessError::Plain(url.host().to_owned()));
        }
        let sent = ready.sent.as_ref().map_err(Clone::clone)?;
        let named = ready.rule.log_in.iter().flat_map(|log_in| &log_in.fields);
        let values: Vec<_> = named.map(|field| &field.value).zip(&sent.form).collect();
        let mut encoded = form_urlencoded::Serializer::new(String::new());
        for (name, value) in &form.fields {
            match value {
                FieldValue::Page(value) => encoded.append_pair(name, value),
                FieldValue::Secret(reference) => {
                    let value = values.iter().find(|(known, _)| *known == reference);
                    let (_, value) = value.ok_or_else(|| SecretError {
                        reference: reference.clone(),
                        why: "is none of the values of `login`".to_owned(),
                    })?;
                    encoded.append_pair(name, value.reveal())
                }
            };
        }
        Ok(encoded.finish().into_bytes())
    }
}

/// Adds cookies to those of a request, which win where both have a name: a site renews its own.
pub(crate) fn add_cookies(fields: &mut HeaderMap, pairs: &[(String, String)]) {
    let own = fields.get(COOKIE).map(|own| String::from_utf8_lossy(own.as_bytes()).into_owned()).unwrap_or_default();
    let is_own = |name: &str| own.split("; ").any(|pair| pair.split('=').next() == Some(name));
    let more = pairs.iter().filter(|(name, _)| !is_own(name)).map(|(name, value)| format!("{name}={value}"));
    let all: Vec<String> = more.chain([own.clone()].into_iter().filter(|own| !own.is_empty())).collect();
    if !all.is_empty()
        && let Some(value) = sensitive(&all.join("; "))
    {
        fields.insert(COOKIE, value);
    }
}

/// Returns what is said about the page with the link. A page with TLS is not told of to a URL
/// without (RFC 9110, section 10.1.3).
fn referer(referer: Referer, via: &CrawlUrl, url: &CrawlUrl) -> Option<HeaderValue> {
    if via.scheme() == Scheme::Https && url.scheme() == Scheme::Http {
        return None;
    }
    let text = match referer {
        Referer::None => return None,
        Referer::Origin => format!("{}/", via.origin_str()),
        Referer::Page => via.as_str().to_owned(),
    };
    HeaderValue::from_str(&text).ok()
}

impl Sent {
    fn new(rule: &AccessRule, values: &[Secret]) -> Result<Self, SecretError> {
        let mut named = rule.secrets().zip(values);
        let mut next = || named.next();
        let wrong = |reference: &dragline_domain::definition::SecretReference, why: &str| SecretError {
            reference: reference.clone(),
            why: why.to_owned(),
        };
        let mut headers = Vec::new();
        for field in &rule.headers {
            let Some((reference, value)) = next() else { continue };
            let name = HeaderName::from_bytes(field.name.as_str().as_bytes()).ok();
            let value = sensitive(value.reveal()).filter(|value| !value.is_empty());
            let (Some(name), Some(value)) = (name, value) else {
                return Err(wrong(reference, "is empty, or has a character that no header field has"));
            };
            headers.push((name, value));
        }
        let cookies = match rule.cookies.as_ref().and_then(|_| next()) {
            Some((reference, value)) => {
                Some(Cookies::parse(value.reveal()).map_err(|error| wrong(reference, &error.to_string()))?)
            }
            None => None,
        };
        let authorization = match rule.authorization.as_ref().and_then(|how| Some((how, next()?))) {
            Some((Authorization::Basic(_), (reference, value))) => {
                let value = basic(value).ok_or_else(|| wrong(reference, "has not the form `name:password`"))?;
                Some(value)
            }
            Some((Authorization::Bearer(_), (reference, value))) => {
                let is_token = !value.reveal().is_empty() && !value.reveal().contains(char::is_whitespace);
                let field = sensitive(&format!("Bearer {}", value.reveal())).filter(|_| is_token);
                Some(field.ok_or_else(|| wrong(reference, "is empty, or no token"))?)
            }
            None => None,
        };
        let certificate = rule.client_certificate.as_ref().and_then(|_| next());
        let login = rule.proxy.as_ref().and_then(|proxy| proxy.login.as_ref()).and_then(|_| next());
        if let Some((reference, login)) = login
            && !login.reveal().contains(':')
        {
            return Err(wrong(reference, "has not the form `name:password`"));
        }
        let proxy = rule.proxy.as_ref().map(|proxy| Proxy {
            url: proxy.url.as_str().to_owned(),
            login: login.map(|(_, login)| login.clone()),
            named_by: NamedBy::Rule,
        });
        let route = Route { certificate: certificate.map(|(_, value)| value.clone()), proxy };
        let fields = rule.log_in.iter().flat_map(|log_in| &log_in.fields);
        let form: Vec<Secret> = fields.filter_map(|_| next()).map(|(_, value)| value.clone()).collect();
        Ok(Self { headers, authorization, cookies, form, route })
    }
}

/// Returns the field of a name and a password (RFC 7617, section 2); `None` if the value is not of
/// that form.
fn basic(value: &Secret) -> Option<HeaderValue> {
    let text = value.reveal();
    let is_sound = text.contains(':') && !text.contains(char::is_control);
    sensitive(&format!("Basic {}", BASE64.encode(text.as_bytes()))).filter(|_| is_sound)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::time::Duration;

    use dragline_domain::definition::{FormField, LogIn, ProxyRule, SecretField, SecretReference};
    use dragline_domain::url::UrlRules;
    use dragline_ports::fetcher::FetchLimits;
    use dragline_ports::secrets::SecretFuture;

    use super::*;

    struct Known(HashMap<&'static str, &'static str>);

    impl Secrets for Known {
        fn read<'a>(&'a self, reference: &'a SecretReference) -> SecretFuture<'a> {
            let known = self.0.get(reference.to_string().as_str()).map(|value| Secret::new(value));
            let missing = || SecretError { reference: reference.clone(), why: "is not set".to_owned() };
            Box::pin(async move { known.ok_or_else(missing) })
        }
    }

    fn known() -> Known {
        Known(HashMap::from([
            ("env:KEY", "k1\n"),
            ("env:OTHER", "k2"),
            ("env:LOGIN", "ada:pässword"),
            ("env:TOKEN", "t0ken"),
            ("env:COOKIES", "a=1; b=2"),
            ("env:BROKEN", "two\nlines"),
            ("env:EMPTY", ""),
        ]))
    }

    fn named(name: &str) -> SecretReference {
        name.parse().unwrap()
    }

    fn rule(host: &str) -> AccessRule {
        AccessRule::for_hosts(vec![host.parse().unwrap()])
    }

    async fn access(rules: &[AccessRule]) -> Result<Access, SecretError> {
        let access = Access::new(&read_values(rules, &known()).await);
        access.check().map(|()| access)
    }

    fn request(url: &str) -> FetchRequest {
        let limits = FetchLimits {
            connect_timeout: Duration::ZERO,
            first_byte_timeout: Duration::ZERO,
            total_timeout: Duration::ZERO,
            header_bytes_max: 0,
            body_bytes_max: 0,
            file_bytes_max: None,
            decoded_bytes_max: 0,
        };
        FetchRequest::new(CrawlUrl::parse(url, &UrlRules::default()).unwrap(), limits)
    }

    fn sent(access: &Access, request: &FetchRequest) -> Result<Vec<(String, String)>, AccessError> {
        let mut fields = HeaderMap::new();
        access.apply(request, &mut fields)?;
        let shown = |(name, value): (&HeaderName, &HeaderValue)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        Ok(fields.iter().map(shown).collect())
    }

    #[tokio::test]
    async fn values_go_to_their_hosts_and_to_no_other() {
        let key = |value| SecretField { name: "x-key".parse().unwrap(), value: named(value) };
        let rules = [
            AccessRule { headers: vec![key("env:KEY")], ..rule("*.a.example") },
            AccessRule {
                headers: vec![key("env:OTHER")],
                authorization: Some(Authorization::Basic(named("env:LOGIN"))),
                cookies: Some(named("env:COOKIES")),
                accept_language: Some("de".parse().unwrap()),
                ..rule("b.a.example")
            },
            AccessRule {
                authorization: Some(Authorization::Bearer(named("env:TOKEN"))),
                plain: PlainHttp::Allowed,
                ..rule("plain.example")
            },
        ];
        let access = access(&rules).await.unwrap();
        assert!(!format!("{access:?}").contains("k1") && !format!("{access:?}").contains("t0ken"));
        let basic = "Basic YWRhOnDDpHNzd29yZA==";
        for (url, expected, why) in [
            ("https://a.example/", Ok(&[("x-key", "k1")][..]), "the host of a rule"),
            (
                "https://b.a.example/p",
                Ok(&[("x-key", "k2"), ("authorization", basic), ("cookie", "a=1; b=2"), ("accept-language", "de")]),
                "the later rule wins, and adds",
            ),
            ("https://evil.example/?u=https://a.example/", Ok(&[]), "another host"),
            ("https://a.example:8443/", Ok(&[]), "another port"),
            ("http://a.example/", Err(()), "everybody on the way would read it"),
            ("http://plain.example/", Ok(&[("authorization", "Bearer t0ken")]), "that was allowed"),
        ] {
            let sent = sent(&access, &request(url));
            let expected =
                expected.map(|fields| fields.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect());
            assert_eq!(sent.map_err(|_| ()), expected, "{url}: {why}");
        }
    }

    #[tokio::test]
    async fn cookies_of_the_url_itself_are_sent_besides() {
        let rules = [AccessRule { cookies: Some(named("env:COOKIES")), ..rule("a.example") }];
        let mut fields = HeaderMap::from_iter([(COOKIE, HeaderValue::from_static("sid=9"))]);
        access(&rules).await.unwrap().apply(&request("https://a.example/"), &mut fields).unwrap();
        assert_eq!(fields.get_all(COOKIE).iter().collect::<Vec<_>>(), ["a=1; b=2; sid=9"]);
        fields.insert(COOKIE, HeaderValue::from_static("b=3"));
        access(&rules).await.unwrap().apply(&request("https://a.example/"), &mut fields).unwrap();
        assert_eq!(fields.get(COOKIE).unwrap(), "a=1; b=3", "the site has renewed it");
    }

    #[tokio::test]
    async fn a_page_is_told_of_only_as_far_as_the_rule_says() {
        for (word, via, url, expected, why) in [
            (Referer::None, "https://a.example/p?q", "https://b.example/", None, "nothing"),
            (Referer::Origin, "https://a.example/p?q", "https://b.example/", Some("https://a.example/"), "the origin"),
            (Referer::Page, "https://a.example/p?q", "https://b.example/", Some("https://a.example/p?q"), "the page"),
            (Referer::Page, "https://a.example/p?q", "http://b.example/", None, "not without TLS"),
        ] {
            let rules = [AccessRule { referer: word, plain: PlainHttp::Refused, ..rule("b.example") }];
            let via = CrawlUrl::parse(via, &UrlRules::default()).ok();
            let request = FetchRequest { via, ..request(url) };
            let sent = sent(&access(&rules).await.unwrap(), &request).unwrap();
            assert_eq!(sent.first().map(|(_, value)| value.as_str()), expected, "{why}");
        }
    }

    #[tokio::test]
    async fn a_value_that_cannot_be_used_is_named_and_not_shown() {
        let header = |value| AccessRule {
            headers: vec![SecretField { name: "x-key".parse().unwrap(), value: named(value) }],
            ..rule("a.example")
        };
        let basic = |value| AccessRule { authorization: Some(Authorization::Basic(named(value))), ..rule("a.example") };
        let bearer =
            |value| AccessRule { authorization: Some(Authorization::Bearer(named(value))), ..rule("a.example") };
        let proxy = |login| AccessRule {
            proxy: Some(ProxyRule { url: "http://p.example:1".parse().unwrap(), login: Some(named(login)) }),
            ..rule("a.example")
        };
        let cookies = |value| AccessRule { cookies: Some(named(value)), ..rule("a.example") };
        for (rule, said, why) in [
            (header("env:NONE"), "`env:NONE` is not set", "it is missing"),
            (header("env:BROKEN"), "`env:BROKEN` is empty, or has a character", "a line break would begin a field"),
            (header("env:EMPTY"), "`env:EMPTY` is empty", "a variable that is set to nothing"),
            (basic("env:TOKEN"), "`env:TOKEN` has not the form `name:password`", "no colon"),
            (bearer("env:BROKEN"), "no token", "white space"),
            (cookies("env:TOKEN"), "neither cookies", "no pair"),
            (proxy("env:TOKEN"), "`name:password`", "a proxy's log-in"),
        ] {
            let error = access(&[rule]).await.unwrap_err().to_string();
            assert!(error.contains(said) && !error.contains("t0ken") && !error.contains("two"), "{why}: {error}");
        }
    }

    #[tokio::test]
    async fn a_form_goes_to_its_own_url_alone() {
        let url = |text: &str| CrawlUrl::parse(text, &UrlRules::keep_all()).unwrap();
        let field = |name: &str, value| FormField { name: name.to_owned(), value: named(value) };
        let log_in = |to: &str| LogIn {
            url: url(to),
            page: None,
            fields: vec![field("user", "env:KEY"), field("pass", "env:LOGIN")],
            logged_in: None,
            logged_out: None,
        };
        let rules = [
            AccessRule { log_in: Some(Box::new(log_in("https://a.example/in"))), ..rule("a.example") },
            AccessRule {
                log_in: Some(Box::new(log_in("http://b.example/in"))),
                headers: vec![SecretField { name: "x-key".parse().unwrap(), value: named("env:OTHER") }],
                ..rule("b.example")
            },
        ];
        let access = access(&rules).await.unwrap();
        let page = |value: &str| FieldValue::Page(value.to_owned());
        let secret = |name: &str| FieldValue::Secret(named(name));
        let filled = |fields: &[(&str, FieldValue)]| FilledForm {
            page: url("https://a.example/in"),
            fields: fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        };
        let form = [("csrf", page("a b")), ("user", secret("env:KEY")), ("pass", secret("env:LOGIN"))];
        for (to, fields, expected, why) in [
            ("https://a.example/in", &form[..], Ok("csrf=a+b&user=k1&pass=ada%3Ap%C3%A4ssword"), "its URL"),
            ("https://a.example/in?state=1", &form, Ok("csrf=a+b&user=k1&pass=ada%3Ap%C3%A4ssword"), "with state"),
            ("https://a.example/other", &form, Err("no `login`"), "another path"),
            ("https://evil.example/in", &form, Err("no `login`"), "another host"),
            ("http://b.example/in", &form, Err("plain HTTP"), "everybody on the way would read it"),
            ("https://a.example/in", &[("x", secret("env:OTHER"))], Err("none of the values"), "another rule's value"),
        ] {
            let encoded = access.encode(&filled(fields), &url(to));
            match (encoded, expected) {
                (Ok(encoded), Ok(expected)) => assert_eq!(String::from_utf8(encoded).unwrap(), expected, "{to}: {why}"),
                (Err(error), Err(said)) => assert!(error.to_string().contains(said), "{to}: {why}: {error}"),
                (encoded, _) => panic!("{to}: {why}: {encoded:?}"),
            }
        }
        assert_eq!(sent(&access, &request("https://a.example/")), Ok(Vec::new()), "pages get nothing of it");
    }

    #[tokio::test]
    async fn without_its_values_nothing_is_sent_to_a_host() {
        let rules = [AccessRule { authorization: Some(Authorization::Bearer(named("env:NONE"))), ..rule("a.example") }];
        let access = Access::new(&read_values(&rules, &known()).await);
        assert_eq!(sent(&access, &request("https://a.example/")).unwrap_err().to_string(), "`env:NONE` is not set");
        assert_eq!(sent(&access, &request("https://b.example/")), Ok(Vec::new()), "to others it is");
    }

    #[tokio::test]
    async fn the_last_rule_says_how_a_host_is_reached() {
        let through = |url: &str| Some(ProxyRule { url: url.parse().unwrap(), login: None });
        let rules = [
            AccessRule { proxy: through("http://one.example:1"), ..rule("*.a.example") },
            AccessRule { proxy: through("socks5h://two.example:2"), ..rule("b.a.example") },
            AccessRule { client_certificate: Some(named("env:KEY")), ..rule("b.a.example") },
        ];
        let access = access(&rules).await.unwrap();
        let route = |url: &str| {
            let Route { certificate, proxy } = access.route(&request(url).url);
            (certificate.is_some(), proxy.map(|proxy| proxy.url))
        };
        assert_eq!(route("https://c.a.example/"), (false, Some("http://one.example:1".to_owned())));
        assert_eq!(route("https://b.a.example/"), (true, Some("socks5h://two.example:2".to_owned())));
        assert_eq!(route("https://d.example/"), (false, None));
    }
}
