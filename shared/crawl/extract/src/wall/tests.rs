//! Each rule with walls as the services document or serve them, and with near misses that are
//! content.

use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_formats::http_fields::Headers;

use proptest::prelude::*;

use super::*;

const ASKED: &str = "https://a.example/docs/intro?page=2";

fn words(count: usize) -> String {
    (0..count).map(|n| format!("word{n} ")).collect()
}

/// Returns the rule that recognises an answer: by its fields, or else by its page.
fn recognised(asked: &str, status: u16, fields: &[(&str, &str)], body: &str) -> Option<&'static str> {
    let url = CrawlUrl::parse(asked, &UrlRules::default()).unwrap();
    let headers: Headers = fields.iter().copied().collect();
    let head = Head { url: &url, status, headers: &headers };
    let of_page = || find_in_page(&url, body).filter(|_| (200..300).contains(&status));
    let wall =
        find_by_fields(&head).or_else(|| find_challenge(&head, body.as_bytes(), body.len() as u64)).or_else(of_page);
    wall.map(|wall| wall.rule.name)
}

#[test]
fn fields_tell_challenges() {
    for (status, fields, expected, why) in [
        (403, ("cf-mitigated", "challenge"), Some("cloudflare_field"), "Cloudflare says so"),
        (503, ("CF-Mitigated", " Challenge "), Some("cloudflare_field"), "whatever the status and the letters"),
        (403, ("cf-mitigated", "block"), None, "it is refused, and nothing is asked"),
        (200, ("cf-ray", "8b96971b"), None, "a page that Cloudflare delivers"),
        (202, ("x-amzn-waf-action", "challenge"), Some("aws_waf_challenge"), "as AWS documents it"),
        (200, ("x-amzn-waf-action", "challenge"), None, "with another status it is what somebody else wrote"),
        (405, ("x-amzn-waf-action", "captcha"), Some("aws_waf_captcha"), "as AWS documents it"),
        (405, ("allow", "POST"), None, "only another method is wanted"),
        (429, ("x-vercel-mitigated", "challenge"), Some("vercel_field"), "Vercel's checkpoint"),
        (403, ("x-vercel-mitigated", "deny"), None, "it is refused, and nothing is asked"),
        (429, ("x-vercel-id", "fra1::x"), None, "a limit on the rate"),
        (202, ("sg-captcha", "challenge"), Some("siteground_field"), "SiteGround says so"),
        (202, ("x-sg-cdn", "1"), None, "a page that SiteGround delivers"),
    ] {
        assert_eq!(recognised(ASKED, status, &[fields], "<p>x"), expected, "{fields:?}: {why}");
    }
}

#[test]
fn short_pages_with_their_markers_in_scripts_or_tags_are_challenges() {
    const INCAPSULA: &str = "<html style=height:100%><body><iframe id=main-iframe src=\"/_Incapsula_Resource?SWUDNSAI=31&xinfo=1\">Request unsuccessful.</iframe>";
    for (status, page, expected, why) in [
        (
            403,
            "<title>Just a moment...</title><noscript>Enable JavaScript and cookies to continue</noscript><script>window._cf_chl_opt={cvId:'3'}</script>",
            Some("cloudflare_page"),
            "without the field, as a proxy may drop it",
        ),
        (
            200,
            "<script src=/cdn-cgi/challenge-platform/scripts/jsd/main.js></script><p>A shop.",
            None,
            "a page into which Cloudflare puts a script",
        ),
        (
            503,
            "<title>Please wait</title><div class='cf-browser-verification cf-im-under-attack'>Checking your browser</div>",
            Some("cloudflare_old_page"),
            "as it was until 2022",
        ),
        (
            503,
            "<form id=challenge-form action=/cdn-cgi/l/chk_jschl><input type=hidden name=\"jschl_vc\" value=1></form>",
            Some("cloudflare_old_form"),
            "as it was before that",
        ),
        (
            202,
            "<html><head><meta http-equiv=\"refresh\" content=\"0;/.well-known/sgcaptcha/?r=%2F&y=ipc:192.0.2.1\"></head></html>",
            Some("siteground_page"),
            "SiteGround's refresh",
        ),
        (
            403,
            "<p id=cmsg>Please enable JS and disable any ad blocker</p><script>var dd={'rt':'c','host':'geo.captcha-delivery.com'}</script>",
            Some("datadome_page"),
            "DataDome's captcha",
        ),
        (
            403,
            "<p>Refused.</p><script src=https://js.datadome.co/tags.js></script>",
            None,
            "a page that DataDome watches",
        ),
        (
            403,
            "<title>Access to this page has been denied</title><div id=px-captcha></div><script>window._pxAppId='PX1'</script>",
            Some("human_page"),
            "HUMAN's challenge",
        ),
        (200, "<p>A shop.</p><script>window._pxAppId='PX1'</script>", None, "a page that HUMAN watches"),
        (200, INCAPSULA, Some("imperva_frame"), "with a good status"),
        (
            200,
            "<p>A shop.</p><script src='/_Incapsula_Resource?SWJIYLWA=719d'></script>",
            None,
            "a page that Imperva watches",
        ),
        (
            200,
            "<iframe src='/_Incapsula_Resource?CWUDNSAI=27'></iframe>",
            Some("imperva_captcha_frame"),
            "Imperva's captcha",
        ),
        (
            200,
            "<title>Pardon Our Interruption</title><script>window.onProtectionInitialized=function(p){};window.reeseSkipExpirationCheck=true</script><p>As you were browsing something made us think you might be a bot.",
            Some("imperva_interruption"),
            "what was Distil's",
        ),
        (
            200,
            "<title></title><div id=\"sec-if-cpt-container\"></div><script src=/x></script>",
            Some("akamai_page"),
            "Akamai's challenge",
        ),
        (
            200,
            "<meta http-equiv=\"refresh\" content=\"5; URL='/?bm-verify=AAQAAA'\"><script>x</script>",
            Some("akamai_refresh"),
            "Akamai's refresh",
        ),
        (
            200,
            "<meta http-equiv=x-ua-compatible content=edge><meta property=og:url content='/?bm-verify=1'><p>A shop.</p><a href='/?bm-verify=1'>x</a>",
            None,
            "a link that somebody copied",
        ),
        (
            307,
            "<title>You are being redirected...</title><noscript>Javascript is required.</noscript><script>var s={},sucuri_cloudproxy_js='';</script>",
            Some("sucuri_page"),
            "Sucuri's",
        ),
        (
            403,
            "<title>DDoS-Guard</title><script src=/.well-known/ddos-guard/js-challenge/index.js></script>",
            Some("ddos_guard_page"),
            "DDoS-Guard's",
        ),
        (
            200,
            "<title>Making sure you're not a bot!</title><script id=\"anubis_challenge\" type=\"application/json\">{}</script>",
            Some("anubis_page"),
            "Anubis, with a good status",
        ),
        (404, INCAPSULA, None, "there is nothing, whatever the page says"),
    ] {
        assert_eq!(recognised(ASKED, status, &[("content-type", "text/html")], page), expected, "{page}: {why}");
    }
    for field in ["image/png", "application/json", "text/css"] {
        assert_eq!(recognised(ASKED, 403, &[("content-type", field)], INCAPSULA), None, "{field} is no page");
    }
}

#[test]
fn what_is_said_of_challenges_is_no_challenge() {
    for rule in RULES {
        let Some(markers) = rule.looks_at.markers() else { continue };
        let (quoted, script) = (markers.join(" and "), markers.join("';x='"));
        for (page, expected, why) in [
            (format!("<pre>{quoted}</pre>"), None, "quoted in its text"),
            (format!("<!-- {quoted} --><p>x"), None, "in a comment"),
            (format!("<a href='/{script}'>x</a>"), None, "in a link"),
            (format!("<title>{quoted}</title><textarea>{quoted}</textarea>"), None, "in what is no script"),
            (format!("<p>{}</p><script>x='{script}'</script>", words(400)), None, "in a script, beside content"),
            (format!("<script>x='{script}'</script>{}", " ".repeat(CHALLENGE_BYTES_MAX)), None, "in a long page"),
            (format!("<script>x='{script}'</script>"), Some(rule.name), "with nothing but it"),
        ] {
            assert_eq!(recognised(ASKED, 200, &[], &page), expected, "{}: {why}", rule.name);
        }
    }
}

#[test]
fn redirects_to_walls_are_walls() {
    for (asked, status, location, expected, why) in [
        (ASKED, 302, "/.well-known/sgcaptcha/?r=%2F", Some("siteground_redirect"), "SiteGround's captcha"),
        (ASKED, 302, "/.well-known/acme-challenge/x", None, "another well-known path"),
        (ASKED, 302, "https://www.google.com/sorry/index?continue=x", Some("google_sorry"), "Google's captcha"),
        (ASKED, 302, "https://www.example.com/sorry/", None, "somebody else is sorry"),
        (ASKED, 302, "/accounts/login/?next=/docs/intro%3Fpage%3D2", Some("login_redirect"), "Django's"),
        (
            ASKED,
            302,
            "/wp-login.php?redirect_to=https%3A%2F%2Fa.example%2Fdocs%2Fintro",
            Some("login_redirect"),
            "WordPress's",
        ),
        (ASKED, 302, "/Account/Login?ReturnUrl=%2Fdocs%2Fintro", Some("login_redirect"), "ASP.NET's"),
        (
            "https://a.example/wiki/Secret",
            302,
            "/w/index.php?title=Special:UserLogin&returnto=Secret",
            Some("login_redirect"),
            "MediaWiki's",
        ),
        (
            "https://a.example/caf%C3%A9",
            303,
            "/users/sign_in?return=/caf%C3%A9",
            Some("login_redirect"),
            "however it is escaped",
        ),
        (ASKED, 301, "/login?next=/docs/intro", None, "it moved for good"),
        (ASKED, 302, "/login", None, "it may be a link to log in"),
        (ASKED, 302, "/login?next=/elsewhere", None, "it leads back to another page"),
        (ASKED, 302, "/docs/login-forms?from=/docs/intro", None, "a page about logging in"),
        (ASKED, 302, "/docs/intro/?page=2", None, "another spelling"),
        (
            ASKED,
            302,
            "https://accounts.google.com/o/oauth2/v2/auth?client_id=1&redirect_uri=https://a.example/cb",
            Some("sign_on_redirect"),
            "signing on elsewhere",
        ),
        (
            ASKED,
            302,
            "https://team.cloudflareaccess.com/cdn-cgi/access/login/a.example?kid=1&redirect_url=%2Fdocs%2Fintro",
            Some("sign_on_redirect"),
            "Cloudflare Access",
        ),
        (ASKED, 302, "https://support.google.com/accounts?continue=x", None, "help about accounts"),
        (ASKED, 302, "https://notokta.com/?continue=x", None, "a name that ends alike"),
        (ASKED, 302, "https://www.okta.com/resources/", None, "a page that asks for nothing"),
        (
            ASKED,
            302,
            "https://consent.youtube.com/m?continue=https://a.example/",
            Some("consent_redirect"),
            "YouTube's",
        ),
        (ASKED, 303, "https://consent.google.co.uk/ml?continue=x", Some("consent_redirect"), "Google's in a country"),
        (ASKED, 302, "https://guce.yahoo.com/consent?brandType=eu", Some("consent_redirect"), "Yahoo's"),
        (ASKED, 302, "https://consent.example/", None, "a host with that name"),
        ("https://consent.youtube.com/", 302, "https://consent.youtube.com/m", None, "what was asked for"),
        ("https://a.example/app/10/", 302, "/agecheck/app/10/", Some("age_redirect"), "as Steam asks"),
        (
            ASKED,
            302,
            "/over18?dest=https%3A%2F%2Fa.example%2Fdocs%2Fintro%3Fpage%3D2",
            Some("age_redirect"),
            "as Reddit asked",
        ),
        (ASKED, 302, "/cookiewall/?url=/docs/intro", Some("age_redirect"), "a cookie wall"),
        (ASKED, 302, "/consent", None, "a page about consent"),
        (ASKED, 200, "/login?next=/docs/intro", None, "no redirect"),
    ] {
        assert_eq!(recognised(asked, status, &[("location", location)], ""), expected, "{status} {location}: {why}");
    }
    let refreshed = recognised(ASKED, 202, &[("refresh", "0; url=/.well-known/sgcaptcha/?r=%2F")], "");
    assert_eq!(refreshed, Some("siteground_redirect"), "a refresh by a field leads there, too");
}

#[test]
fn pages_that_are_there_to_log_in_are_walls() {
    const FORM: &str = "<form action=/session method=post><label>Name <input name=u></label><label>Password <input type=password name=p></label><button>Log in</button></form>";
    let menu = format!("<nav>{}</nav>", "<a href=/x>Some words</a> ".repeat(100));
    let login = Some("login_form");
    for (asked, page, expected, why) in [
        ("/a", format!("<title>Log in - Example</title>{FORM}"), login, "its title says so"),
        ("/a", format!("<title>Example</title>{menu}<h1>Anmelden</h1>{FORM}"), login, "its heading, below a menu"),
        ("/login?next=/docs", format!("<title>Example</title>{FORM}<p>{}", words(40)), login, "its address says so"),
        ("/login", format!("<title>Log in</title>{FORM}"), None, "it is what was asked for"),
        ("/users/sign_in", format!("<title>Log in</title>{FORM}"), None, "the same"),
        ("/a", format!("<title>マイページ ログイン</title>{FORM}"), login, "in a script without spaces"),
        ("/a", format!("<title>Intranet</title><h1>Example</h1>{FORM}"), login, "there is nothing else"),
        ("/a", format!("<title>Login</title><input type='password'>{}", words(20)), login, "a field without a form"),
        ("/a", format!("<title>Login</title>{FORM}<p>{}", words(70)), None, "there is more"),
        (
            "/a",
            format!("<title>Example</title><h1>Example</h1>{FORM}<p>{}", words(30)),
            None,
            "it does not say so, and there is more",
        ),
        (
            "/forum/",
            format!("<title>Forum</title>{FORM}{}", "<a href=/t>A topic</a> ".repeat(30)),
            None,
            "a forum with a box to log in",
        ),
        (
            "/a",
            format!("<title>How to log in</title>{FORM}<article>{}</article>", words(300)),
            None,
            "an article with such a box",
        ),
        (
            "/a",
            format!("<title>Log in to what?</title><header>{FORM}</header><p>A short page."),
            None,
            "a form in its header",
        ),
        (
            "/a",
            format!("<title>Login</title><form>{} <input type=password></form>", words(300)),
            None,
            "a form around a whole page",
        ),
        ("/a", FORM.replace("<button>", "<input type=password name=again><button>"), None, "a form to register"),
        ("/a", FORM.replace("name=p", "autocomplete=new-password"), None, "a form to set a password"),
        ("/a", "<title>Log in</title><p>Logging in is closed today.".to_owned(), None, "no form"),
        ("/login", format!("<p>x<!-- {FORM} -->"), None, "a form in a comment"),
        ("/login", format!("<p>x<template>{FORM}</template>"), None, "a form that a script may show"),
        ("/login", format!("<p>x<script>x='{FORM}'</script>"), None, "a form in a script"),
        ("/a", "<title>Blogindex</title><p>x".to_owned(), None, "part of a word"),
    ] {
        let asked = format!("https://a.example{asked}");
        assert_eq!(recognised(&asked, 200, &[], &page), expected, "{asked} {page}: {why}");
    }
}

#[test]
fn pages_that_are_there_for_consent_are_walls() {
    const GOOGLE: &str = "<form action=\"https://consent.google.com/save\"><button>Reject all</button><button>Accept all</button></form>";
    const YAHOO: &str =
        "<form method=post action=\"/v2/collectConsent?sessionId=3_cc\"><button>Accept all</button></form>";
    let age =
        |question: &str| format!("<h1>Example Wines</h1><h2>{question}</h2><button>Yes</button><button>No</button>");
    for (page, expected, why) in [
        (format!("<h1>Before you continue</h1><p>{}{GOOGLE}", words(200)), Some("consent_form"), "Google's page"),
        (format!("<h1>We value your privacy</h1><p>{}{YAHOO}", words(200)), Some("consent_form"), "Yahoo's page"),
        (format!("{GOOGLE}<p>{}", words(500)), None, "a question over its content"),
        (
            "<a href='https://consent.yahoo.com/v2/collectConsent?sessionId=1'>News</a>".to_owned(),
            None,
            "a link that somebody copied",
        ),
        (format!("<pre>{}</pre>", GOOGLE.replace('<', "&lt;")), None, "an article about it"),
        (
            format!("<div class=cookie-banner>We use cookies. <button>Accept all</button></div><p>{}", words(300)),
            None,
            "a banner over a whole article",
        ),
        (
            "<div class=cookie-banner>We use cookies. <button>Accept all</button></div><h1>Contact</h1>".to_owned(),
            None,
            "a banner over a short page",
        ),
        (age("Are you over 18?"), Some("age_question"), "for adults alone"),
        (age("I\u{2019}m 21 or older"), Some("age_question"), "with the other apostrophe"),
        (age("Are you 180 cm tall?"), None, "another question"),
        (format!("{}<p>{}", age("Are you over 18?"), words(200)), None, "over its content"),
        (
            "<h1>Who may vote</h1><p>Those who are over 18. Are you over 18? Then register.".to_owned(),
            None,
            "in its text",
        ),
        (format!("<h2>Are you over 18?</h2>{}", "<a href=/x>Another story</a> ".repeat(20)), None, "a list of stories"),
    ] {
        assert_eq!(recognised(ASKED, 200, &[], &page), expected, "{page}: {why}");
    }
    let at_host = recognised("https://consent.yahoo.com/v2/collectConsent", 200, &[], "<p>Cookies");
    assert_eq!(at_host, Some("consent_host"), "whatever it says");
}

#[test]
fn pages_that_scripts_make_are_known_by_what_these_fill() {
    for (page, expected, why) in [
        (
            "<noscript>You need to enable JavaScript to run this app.</noscript><div id=\"root\"></div><script src=/a.js></script>",
            Some("root"),
            "React's",
        ),
        ("<app-root></app-root><script src=main.js></script>", Some("app-root"), "Angular's"),
        (
            "<div id=app><div class=spinner>Loading</div></div><script src=/a.js></script>",
            Some("app"),
            "something is loading",
        ),
        (
            "<div id=__next><p>A page that the server made, with all that it says in it.</div><script src=/a.js></script>",
            None,
            "it has its text",
        ),
        ("<div id=root></div>", None, "no script fills it"),
        ("<div id=rooted></div><script src=/a.js></script>", None, "another name"),
        ("<p>A short page.</p><script src=/a.js></script>", None, "short, and whole"),
        ("<script>document.write('<div id=root></div>')</script>", None, "in a script"),
    ] {
        assert_eq!(Outline::build(page).needs_scripts(50), expected, "{page}: {why}");
    }
    let full = format!("<div id=root></div><script src=a></script><p>{}", words(60));
    assert_eq!(Outline::build(&full).needs_scripts(50), None, "there is enough besides");
}

#[test]
fn a_wall_in_the_place_of_robots_txt_is_not_the_file() {
    const CLOUDFLARE: &str =
        "\u{feff} <!DOCTYPE html><title>Just a moment...</title><script>window._cf_chl_opt={cvId:'3'}</script>";
    const LOGIN: &str = "<title>Log in</title><form><input name=u><input type=password name=p></form>";
    const RULES: &str = "User-agent: *\nDisallow: /private/\n";
    let (html, text) = (("content-type", "text/html"), ("content-type", "text/plain"));
    let quoted = format!("# {CLOUDFLARE}\n{RULES}");
    for (status, fields, body, expected, why) in [
        (403, &[html][..], CLOUDFLARE, Some("cloudflare_page"), "4xx would allow everything"),
        (200, &[html], CLOUDFLARE, Some("cloudflare_page"), "a body without rules would, too"),
        (503, &[text], CLOUDFLARE, Some("cloudflare_page"), "a server may name the type by the file's name"),
        (404, &[html], CLOUDFLARE, None, "there is no file, whatever the page says"),
        (403, &[html], "<title>403 Forbidden</title>", None, "RFC 9309, 2.3.1.3: no wall, and no file"),
        (403, &[("cf-mitigated", "challenge")], "", Some("cloudflare_field"), "by its field"),
        (202, &[("x-amzn-waf-action", "challenge")], "", Some("aws_waf_challenge"), "2xx, and no body"),
        (202, &[("sg-captcha", "challenge")], "", Some("siteground_field"), "the same"),
        (429, &[("x-vercel-mitigated", "challenge")], "", Some("vercel_field"), "by its field"),
        (302, &[("location", "/.well-known/sgcaptcha/?r=%2Frobots.txt")], "", Some("siteground_redirect"), "to a wall"),
        (302, &[("location", "/login?next=/robots.txt")], "", Some("login_redirect"), "to a form"),
        (
            302,
            &[("location", "https://consent.youtube.com/m?continue=x")],
            "",
            Some("consent_redirect"),
            "to a question",
        ),
        (301, &[("location", "https://www.a.example/robots.txt")], "", None, "to where the file is"),
        (200, &[html], LOGIN, Some("login_form"), "a form to log in"),
        (401, &[html], LOGIN, Some("login_form"), "the same, with a status that fits"),
        (404, &[html], LOGIN, None, "there is no file"),
        (
            200,
            &[html],
            "<p>The home page of a site that serves it for every address.",
            None,
            "a page is parsed as it is",
        ),
        (200, &[text], RULES, None, "the file"),
        (200, &[html], RULES, None, "the file, by another type"),
        (200, &[text], &quoted, None, "the file, with a page in a comment"),
        (200, &[], "", None, "an empty file"),
    ] {
        let url = CrawlUrl::parse("https://a.example/robots.txt", &UrlRules::default()).unwrap();
        let headers: Headers = fields.iter().copied().collect();
        let wall = find_in_file(&url, &Head { url: &url, status, headers: &headers }, body.as_bytes());
        assert_eq!(wall.map(|wall| wall.rule.name), expected, "{status} {fields:?} {body}: {why}");
    }
    let [asked, login] = ["https://a.example/robots.txt", "https://a.example/login"]
        .map(|url| CrawlUrl::parse(url, &UrlRules::default()).unwrap());
    let (headers, body) = (Headers::default(), LOGIN.as_bytes());
    let wall = find_in_file(&asked, &Head { url: &login, status: 200, headers: &headers }, body);
    assert_eq!(wall.map(|wall| wall.rule.name), Some("login_form"), "nobody asked for the form to which it leads");
}

#[test]
fn every_rule_has_a_name_of_its_own_and_says_where_it_is_documented() {
    for (n, rule) in RULES.iter().enumerate() {
        assert!(RULES[..n].iter().all(|other| other.name != rule.name), "{}", rule.name);
        assert!(!rule.about.is_empty() && !rule.source.is_empty() && !rule.about.ends_with('.'), "{}", rule.name);
        assert!(Wall { rule }.detail().contains(rule.name) && rule.kind.outcome().is_wall(), "{}", rule.name);
    }
}

proptest! {
    #[test]
    fn any_page_is_read(
        pieces in proptest::collection::vec(
            prop_oneof![
                any::<char>().prop_map(String::from),
                proptest::sample::select(&["<", ">", "</", "=", "\"", "'", "<!--", "-->", "<script", "</script>", "<input type=password", "\u{e9}", " "][..])
                    .prop_map(str::to_owned),
            ],
            0..60,
        ),
    ) {
        let page = pieces.concat();
        let outline = Outline::build(&page);
        prop_assert_eq!(outline.bytes, page.len());
        prop_assert!(Prose::measure(&page).text.len() <= page.len() * 2);
        // A page with more than a wall's few words is not a wall.
        let more = format!("{}{page}", words(500));
        prop_assert!(find_in_page(&CrawlUrl::parse(ASKED, &UrlRules::default()).unwrap(), &more).is_none());
    }
}

#[test]
fn hostile_pages_are_read_in_linear_time_and_to_their_end() {
    for (piece, why) in [
        ("<", "tags that do not begin"),
        ("<a href=\"", "quotes that do not end"),
        ("<script></scrip>", "scripts that do not end"),
        ("<!--", "comments that do not end"),
        ("<a =", "attributes without names"),
        ("<form><input type=password>", "forms"),
        ("<div id=root>", "elements within each other"),
        ("</", "end tags that do not begin"),
        ("\u{e9}<\u{e9} \u{2019}", "letters beyond ASCII"),
        ("<input a\u{e9}=\u{e9} \u{e9}/\u{e9}", "attributes beyond ASCII"),
    ] {
        let page = piece.repeat(PAGE_BYTES_MAX / piece.len() + 10);
        assert!(Outline::build(&page).is_cut, "{why}");
        let _ = Prose::measure(&page);
        for end in (0..piece.len() * 3).filter(|end| page.is_char_boundary(*end)) {
            let _ = (Outline::build(&page[..end]), Prose::measure(&page[..end]));
        }
    }
}
