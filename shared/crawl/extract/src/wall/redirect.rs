//! Redirects to walls.

use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_formats::http_fields::{location, refresh};

use super::Head;

/// Path segments of login pages, without `-`, `_` and anything after a dot.
const LOGIN_SEGMENTS: [&str; 16] = [
    "login",
    "logon",
    "signin",
    "userlogin",
    "loginform",
    "wplogin",
    "authwall",
    "ssologin",
    "memberlogin",
    "loginpage",
    "accountlogin",
    "anmelden",
    "connexion",
    "accedi",
    "iniciarsesion",
    "inloggen",
];

/// Path segments of consent and age questions, without `-` and `_`.
const GATE_SEGMENTS: [&str; 11] = [
    "agecheck",
    "agegate",
    "ageverification",
    "ageverify",
    "verifyage",
    "over18",
    "cookiewall",
    "cookieconsent",
    "consentwall",
    "privacygate",
    "consent",
];

/// Hosts that only log people in.
const SIGN_ON_HOSTS: [&str; 9] = [
    "accounts.google.com",
    "login.microsoftonline.com",
    "login.live.com",
    "login.yahoo.com",
    "appleid.apple.com",
    "okta.com",
    "auth0.com",
    "b2clogin.com",
    "cloudflareaccess.com",
];

/// Hosts that only ask for consent.
const CONSENT_HOSTS: [&str; 6] = [
    "consent.youtube.com",
    "consent.yahoo.com",
    "guce.yahoo.com",
    "guce.advertising.com",
    "guce.aol.com",
    "myprivacy.dpgmedia.nl",
];

/// Returns the target of a redirect, by status and `Location`, or by the field `Refresh`. `None` if
/// there is none.
pub(super) fn target(head: &Head<'_>) -> Option<CrawlUrl> {
    let rules = UrlRules::default();
    match head.status {
        301 | 302 | 303 | 307 | 308 => head.url.join(&location(head.headers.get("location")?), &rules).ok(),
        200..=299 => {
            let refreshed = head.headers.text("refresh")?;
            head.url.join(refresh(&refreshed)?, &rules).ok()
        }
        _ => None,
    }
}

/// Whether a redirect is temporary. A permanent one is not a wall.
const fn is_for_now(head: &Head<'_>) -> bool {
    matches!(head.status, 302 | 303 | 307)
}

/// Whether a host is this domain, or below it.
fn is_within(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

/// Whether a host is one of Google's search: `www.google.` and a top-level domain.
pub(super) fn is_google(host: &str) -> bool {
    host.strip_prefix("www.google.").is_some_and(|rest| rest.len() <= 6)
}

/// Whether a redirect leads to a login page that leads back.
pub(super) fn is_login_with_return(head: &Head<'_>, target: &CrawlUrl) -> bool {
    is_for_now(head) && has_segment(target, &LOGIN_SEGMENTS) && names(target, head.url)
}

/// Whether a redirect leads to a host that logs people in.
pub(super) fn is_sign_on(head: &Head<'_>, target: &CrawlUrl) -> bool {
    let is_elsewhere = target.host() != head.url.host();
    is_for_now(head)
        && is_elsewhere
        && SIGN_ON_HOSTS.iter().any(|host| is_within(target.host(), host))
        && asks_back(target)
}

/// Whether a redirect leads to a host that asks for consent.
pub(super) fn is_consent_host(head: &Head<'_>, target: &CrawlUrl) -> bool {
    is_for_now(head) && target.host() != head.url.host() && asks_for_consent(target.host())
}

/// Whether a host only asks for consent.
pub(super) fn asks_for_consent(host: &str) -> bool {
    let is_google = host.strip_prefix("consent.google.").is_some_and(|rest| rest.len() <= 6);
    is_google || CONSENT_HOSTS.contains(&host)
}

/// Whether a redirect leads to a consent or age question that leads back.
pub(super) fn is_gate_with_return(head: &Head<'_>, target: &CrawlUrl) -> bool {
    let continues = || head.url.path().len() > 1 && target.path().ends_with(head.url.path());
    is_for_now(head) && has_segment(target, &GATE_SEGMENTS) && (continues() || names(target, head.url))
}

/// Whether the path has one of these segments, or that of wikis, `Special:UserLogin`.
fn has_segment(target: &CrawlUrl, segments: &[&str]) -> bool {
    let in_path = target.path().split('/').map(str::to_owned);
    let in_title = target.query_pairs().filter(|(name, _)| name == "title").map(|(_, value)| value.into_owned());
    in_path.chain(in_title).any(|segment| {
        let last = segment.rsplit(':').next().unwrap_or_default();
        let stem = last.split('.').next().unwrap_or_default();
        let plain: String = stem.chars().filter(|c| !matches!(c, '-' | '_')).collect();
        segments.iter().any(|known| plain.eq_ignore_ascii_case(known))
    })
}

/// Whether a parameter of the target contains the requested URL: in full, its path, or the last
/// segment.
fn names(target: &CrawlUrl, asked: &CrawlUrl) -> bool {
    let rules = UrlRules::default();
    target.query_pairs().any(|(_, value)| {
        let is_path = !value.is_empty() && !value.starts_with(['#', '?']);
        let Some(named) = is_path.then(|| asked.join(&value, &rules).ok()).flatten() else { return false };
        let is_same_path = asked.path().len() > 1 && named.path() == asked.path();
        named.host() == asked.host() && (is_same_path || named.path_and_query() == asked.path_and_query())
    })
}

/// Whether the parameters of a login page name a page to return to, like those of OAuth 2.0 and
/// SAML.
fn asks_back(target: &CrawlUrl) -> bool {
    const NAMES: [&str; 9] = [
        "redirect_uri",
        "continue",
        "followup",
        "relaystate",
        "samlrequest",
        "wreply",
        "returnurl",
        "redirect_url",
        ".done",
    ];
    target.query_pairs().any(|(name, _)| NAMES.iter().any(|known| name.eq_ignore_ascii_case(known)))
}
