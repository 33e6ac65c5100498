//! Reads the rules for sites that ask who calls.

use std::collections::BTreeMap;

use dragline_domain::definition::{
    AccessRule, Authorization, Condition, FieldName, FormField, HostPattern, Key, KeyPlace, LogIn, PlainHttp,
    ProxyRule, ProxyUrl, Referer, SecretField, SecretReference, SetCookies, limits,
};
use dragline_domain::url::{CrawlUrl, UrlRules};
use serde::Deserialize;
use serde_saphyr::Spanned;

use super::{Diagnostic, Location, Notes, Text, plainly};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAccessRule {
    #[serde(default)]
    hosts: Vec<Text>,
    when: Option<Condition>,
    #[serde(default)]
    allow_plain: bool,
    #[serde(default)]
    headers: BTreeMap<String, Text>,
    cookies: Option<Text>,
    login: Option<RawLogIn>,
    basic: Option<Text>,
    bearer: Option<Text>,
    client_certificate: Option<Text>,
    accept_language: Option<Text>,
    #[serde(default)]
    referer: Referer,
    proxy: Option<Text>,
    proxy_login: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLogIn {
    url: Text,
    page: Option<Text>,
    #[serde(default)]
    fields: BTreeMap<String, Text>,
    logged_in: Option<String>,
    logged_out: Option<String>,
}

/// The key `cookies` of a rule.
#[derive(Clone)]
enum RuleCookies {
    None,
    Session,
    Named(SecretReference),
}

impl Notes {
    /// Reads the rules of `access`. One that is not valid is left out, and reported at its
    /// location.
    pub(super) fn access_rules(
        &mut self,
        key: Key,
        raw: Option<Spanned<Vec<Spanned<RawAccessRule>>>>,
    ) -> Option<Vec<AccessRule>> {
        let raw = raw?;
        self.locate(key, &raw);
        let rules = raw.value.into_iter().enumerate();
        Some(rules.filter_map(|(entry, raw)| self.access_rule(KeyPlace::entry(key, entry), raw)).collect())
    }

    fn access_rule(&mut self, place: KeyPlace, raw: Spanned<RawAccessRule>) -> Option<AccessRule> {
        let location = self.locate(place, &raw);
        let raw = raw.value;
        let mistake = if raw.hosts.is_empty() {
            Some("the rule names no hosts: add `hosts`, such as `hosts: [members.example.org]`".to_owned())
        } else if raw.hosts.len() > limits::ACCESS_HOSTS_MAX {
            Some(format!("the rule names more than {} hosts", limits::ACCESS_HOSTS_MAX))
        } else if raw.headers.len() > limits::ACCESS_HEADERS_MAX {
            Some(format!("the rule sets more than {} headers", limits::ACCESS_HEADERS_MAX))
        } else if raw.basic.is_some() && raw.bearer.is_some() {
            Some("`basic` and `bearer` both fill `Authorization`: leave one of them".to_owned())
        } else if raw.login.as_ref().is_some_and(|login| !(1..=limits::LOGIN_FIELDS_MAX).contains(&login.fields.len()))
        {
            let max = limits::LOGIN_FIELDS_MAX;
            Some(format!(
                "`login` needs 1 to {max} `fields`, such as `fields: {{ user: env:USER, password: env:PASSWORD }}`"
            ))
        } else if raw.proxy_login.is_some() && raw.proxy.is_none() {
            Some("`proxy_login` without `proxy`".to_owned())
        } else {
            None
        };
        if let Some(mistake) = mistake {
            self.diagnostics.push((location, Diagnostic::new(mistake)));
            return None;
        }
        let found_before = self.diagnostics.len();
        let hosts = raw.hosts.iter().filter_map(|host| self.text_at(place, host, plainly::<HostPattern>)).collect();
        let mut headers = Vec::new();
        for (name, value) in raw.headers {
            let name = name.parse::<FieldName>().map_err(|error| Diagnostic::new(error.to_string()));
            let name = self.text_at(place, &value, |_| name.clone());
            let value = self.text_at(place, &value, reference);
            headers.extend(name.zip(value).map(|(name, value)| SecretField { name, value }));
        }
        let mut secret = |raw: Option<Text>| self.text_at(place, &raw?, reference);
        let (client_certificate, proxy_login) = (secret(raw.client_certificate), secret(raw.proxy_login));
        let (basic, bearer) = (secret(raw.basic), secret(raw.bearer));
        let cookies = raw.cookies.as_ref().and_then(|text| self.text_at(place, text, rule_cookies));
        let log_in = raw.login.and_then(|raw| self.log_in(place, raw)).map(Box::new);
        let proxy: Option<ProxyUrl> = self.part(place, raw.proxy, plainly);
        let rule = AccessRule {
            when: raw.when,
            plain: if raw.allow_plain { PlainHttp::Allowed } else { PlainHttp::Refused },
            headers,
            set_cookies: match cookies {
                Some(RuleCookies::Session) => SetCookies::Kept,
                _ => SetCookies::Ignored,
            },
            cookies: match cookies {
                Some(RuleCookies::Named(reference)) => Some(reference),
                _ => None,
            },
            log_in,
            authorization: basic.map(Authorization::Basic).or(bearer.map(Authorization::Bearer)),
            client_certificate,
            accept_language: self.part(place, raw.accept_language, plainly),
            referer: raw.referer,
            proxy: proxy.map(|url| ProxyRule { url, login: proxy_login }),
            ..AccessRule::for_hosts(hosts)
        };
        if self.diagnostics.len() > found_before {
            return None;
        }
        if rule.is_idle() {
            let mistake = "the rule sets nothing: add `headers`, `cookies`, `basic` or another of its keys";
            self.diagnostics.push((location, Diagnostic::new(mistake)));
            return None;
        }
        Some(rule)
    }

    fn log_in(&mut self, place: KeyPlace, raw: RawLogIn) -> Option<LogIn> {
        let url = self.text_at(place, &raw.url, page_url);
        let page = raw.page.as_ref().map(|page| self.text_at(place, page, page_url));
        let fields: Vec<FormField> = raw
            .fields
            .iter()
            .filter_map(|(name, value)| {
                Some(FormField { name: name.clone(), value: self.text_at(place, value, reference)? })
            })
            .collect();
        if [&raw.logged_in, &raw.logged_out].into_iter().flatten().any(|text| text.trim().is_empty()) {
            let location = Location::from(raw.url.referenced);
            self.diagnostics.push((location, Diagnostic::new("`logged_in` and `logged_out` are texts of pages")));
            return None;
        }
        let page = match page {
            Some(page) => Some(page?),
            None => None,
        };
        // Each that cannot be read is reported already.
        (fields.len() == raw.fields.len()).then_some(LogIn {
            url: url?,
            page,
            fields,
            logged_in: raw.logged_in,
            logged_out: raw.logged_out,
        })
    }
}

fn page_url(text: &str) -> Result<CrawlUrl, Diagnostic> {
    // A log-in keeps all of its parameters.
    CrawlUrl::parse(text, &UrlRules::keep_all()).map_err(|error| Diagnostic::new(error.to_string()))
}

fn rule_cookies(text: &str) -> Result<RuleCookies, Diagnostic> {
    match text {
        "none" => Ok(RuleCookies::None),
        "session" => Ok(RuleCookies::Session),
        _ => text.parse().map(RuleCookies::Named).map_err(|_| {
            Diagnostic::new("cookies are `none`, `session`, or named, not written: `env:NAME` or `file:PATH`")
                .about_secret()
        }),
    }
}

/// Reads where a value is. One that is written itself is refused, and not repeated.
pub(super) fn reference(text: &str) -> Result<SecretReference, Diagnostic> {
    text.parse().map_err(|_| {
        Diagnostic::new("a value is named, not written: `env:NAME`, `file:PATH` or, on a stack, `secret:NAME`")
            .about_secret()
    })
}
