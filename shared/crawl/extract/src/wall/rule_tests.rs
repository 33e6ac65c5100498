//! For each rule, an answer that it recognises, and a near miss that is a page.

use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_formats::http_fields::Headers;

use super::*;

/// An answer: its status, a field, and its body.
type Answer = (u16, (&'static str, &'static str), String);

const ASKED: &str = "https://a.example/docs/intro";

const HTML: (&str, &str) = ("content-type", "text/html");

/// Returns the rule that recognises an answer.
fn recognised(asked: &str, (status, field, body): &Answer) -> Option<&'static str> {
    let url = CrawlUrl::parse(asked, &UrlRules::default()).unwrap();
    let headers: Headers = [*field].into_iter().collect();
    let head = Head { url: &url, status: *status, headers: &headers };
    let of_page = || find_in_page(&url, body).filter(|_| (200..300).contains(status));
    let wall =
        find_by_fields(&head).or_else(|| find_challenge(&head, body.as_bytes(), body.len() as u64)).or_else(of_page);
    wall.map(|wall| wall.rule.name)
}

fn words(count: usize) -> String {
    (0..count).map(|n| format!("word{n} ")).collect()
}

/// An article that quotes a challenge's markers.
fn article(quoted: &str) -> Answer {
    let quoted = quoted.replace('<', "&lt;");
    (200, HTML, format!("<title>How captchas work</title><article>{}<pre>{quoted}</pre></article>", words(300)))
}

fn with(status: u16, name: &'static str, value: &'static str) -> Answer {
    (status, (name, value), String::new())
}

fn html(status: u16, body: impl Into<String>) -> Answer {
    (status, HTML, body.into())
}

fn to(location: &'static str) -> Answer {
    with(302, "location", location)
}

/// A challenge page, and an article about it.
fn page_rule_case(
    rule: &'static str,
    page: &'static str,
) -> (&'static str, &'static str, Answer, Answer, &'static str) {
    (rule, ASKED, html(200, page), article(page), "an article about it")
}

#[test]
fn each_rule_recognises_its_wall_and_not_a_near_miss() {
    let login = "<title>Log in</title><form><input name=u><input type=password name=p></form>";
    let banner = "<form action=https://consent.google.com/save><button>Accept all</button></form>";
    let rows = [
        (
            "cloudflare_field",
            ASKED,
            with(403, "cf-mitigated", "challenge"),
            with(403, "cf-ray", "8b96971b"),
            "a page that Cloudflare delivers",
        ),
        page_rule_case("cloudflare_page", "<script>window._cf_chl_opt={cvId:'3'}</script>"),
        page_rule_case("cloudflare_old_page", "<div class=cf-browser-verification>Checking your browser</div>"),
        page_rule_case("cloudflare_old_form", "<form><input type=hidden name=jschl_vc></form>"),
        (
            "aws_waf_challenge",
            ASKED,
            with(202, "x-amzn-waf-action", "challenge"),
            with(202, "x-amzn-requestid", "1"),
            "work that was accepted",
        ),
        (
            "aws_waf_captcha",
            ASKED,
            with(405, "x-amzn-waf-action", "captcha"),
            with(405, "allow", "POST"),
            "another method is wanted",
        ),
        (
            "vercel_field",
            ASKED,
            with(429, "x-vercel-mitigated", "challenge"),
            with(429, "x-vercel-mitigated", "deny"),
            "it is refused, and nothing is asked",
        ),
        ("siteground_field", ASKED, with(202, "sg-captcha", "challenge"), with(202, "x-sg-cdn", "1"), "delivered"),
        (
            "siteground_redirect",
            ASKED,
            to("/.well-known/sgcaptcha/?r=%2F"),
            to("/.well-known/change-password"),
            "another well-known address",
        ),
        page_rule_case("siteground_page", "<meta http-equiv=refresh content='0;/.well-known/sgcaptcha/?r=%2F'>"),
        page_rule_case("datadome_page", "<script>var dd={'host':'geo.captcha-delivery.com'}</script>"),
        page_rule_case("human_page", "<div id=px-captcha></div><script>window._pxAppId='PX1'</script>"),
        page_rule_case("imperva_frame", "<iframe src='/_Incapsula_Resource?SWUDNSAI=31'></iframe>"),
        page_rule_case("imperva_captcha_frame", "<iframe src='/_Incapsula_Resource?CWUDNSAI=27'></iframe>"),
        page_rule_case(
            "imperva_interruption",
            "<script>window.onProtectionInitialized=f;window.reeseSkipExpirationCheck=1</script>",
        ),
        page_rule_case("akamai_page", "<div id=sec-if-cpt-container></div>"),
        page_rule_case("akamai_refresh", "<meta http-equiv=refresh content=\"5; URL='/?bm-verify=AAQ'\">"),
        page_rule_case("sucuri_page", "<script>var s={},sucuri_cloudproxy_js='';</script>"),
        page_rule_case("ddos_guard_page", "<script src=/.well-known/ddos-guard/js-challenge/index.js></script>"),
        page_rule_case("anubis_page", "<script id=anubis_challenge type=application/json>{}</script>"),
        (
            "google_sorry",
            ASKED,
            to("https://www.google.com/sorry/index?continue=x"),
            to("https://www.google.com/search?q=sorry"),
            "a search",
        ),
        (
            "sign_on_redirect",
            ASKED,
            to("https://accounts.google.com/o/oauth2/v2/auth?redirect_uri=https://a.example/cb"),
            to("https://accounts.google.com/"),
            "a link to one's account",
        ),
        (
            "login_redirect",
            ASKED,
            to("/login?next=/docs/intro"),
            to("/docs/login"),
            "the page about logging in has moved",
        ),
        (
            "login_form",
            ASKED,
            html(200, login),
            html(200, format!("{login}<article>{}</article>", words(300))),
            "an article",
        ),
        (
            "consent_redirect",
            ASKED,
            to("https://consent.youtube.com/m?continue=x"),
            to("https://www.youtube.com/watch?v=1"),
            "a film",
        ),
        (
            "consent_host",
            "https://consent.yahoo.com/v2/collectConsent",
            html(200, "<p>We use cookies."),
            (404, HTML, "<p>We use cookies.".to_owned()),
            "nothing is there",
        ),
        (
            "age_redirect",
            ASKED,
            to("/agecheck?to=/docs/intro"),
            to("/agecheck"),
            "a page that all who come from there are sent to",
        ),
        (
            "consent_form",
            ASKED,
            html(200, format!("<h1>Before you continue</h1>{banner}")),
            html(200, format!("{banner}<article>{}</article>", words(500))),
            "a banner over a whole article",
        ),
        (
            "age_question",
            ASKED,
            html(200, "<h2>Are you over 18?</h2><button>Yes</button><button>No</button>"),
            html(200, format!("<h2>Are you over 18?</h2><article>{}</article>", words(300))),
            "an article about it",
        ),
    ];
    let listed: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
    let shown: Vec<&str> = rows.iter().map(|(rule, ..)| *rule).collect();
    assert_eq!(shown, listed, "a row for each rule, in their order");
    for (rule, asked, wall, page, why) in &rows {
        assert_eq!(recognised(asked, wall), Some(*rule), "{wall:?}");
        assert_eq!(recognised(asked, page), None, "{rule}: {page:?}: {why}");
    }
}

#[test]
fn requested_pages_are_not_walls() {
    let login = "<title>Log in</title><form><input name=u><input type=password name=p></form>";
    let cookies = "<div class=cookie-banner>We use cookies. <button>Accept all</button></div>";
    for (asked, page, why) in [
        ("https://a.example/login", login.to_owned(), "the form itself, by its own address"),
        ("https://a.example/docs/intro", format!("{cookies}<article>{}</article>", words(300)), "a banner"),
        ("https://a.example/captcha", article("g-recaptcha cf-mitigated: challenge").2, "an article about captchas"),
    ] {
        assert_eq!(recognised(asked, &html(200, page)), None, "{asked}: {why}");
    }
}
