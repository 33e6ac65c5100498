use dragline_domain::content::ContentLevel;
use dragline_domain::definition::Noindex;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_domain::validity::{ValidationType, Validity};
use dragline_formats::http_fields::Headers;

use super::flaws::Flaws;
use super::*;
use crate::article::MainRules;
use crate::typed::Types;

/// Asserts positions and rules, each as `line:column rule`.
#[track_caller]
pub(super) fn assert_flaws(flaws: Flaws, expected: &[&str], why: &str) {
    let validity = flaws.finish(ValidationType::Xml);
    let found: Vec<_> = validity
        .flaws
        .iter()
        .map(|flaw| format!("{}:{} {}", flaw.line, flaw.column.unwrap_or_default(), flaw.rule))
        .collect();
    let said: Vec<_> = validity.flaws.iter().map(ToString::to_string).collect();
    let mut sorted = found.clone();
    sorted.sort_unstable();
    let mut wanted = expected.to_vec();
    wanted.sort_unstable();
    assert_eq!(sorted, wanted, "{why}\n{said:#?}");
}

fn validate(content_type: Option<&str>, body: &[u8]) -> Option<Validity> {
    let url_rules = UrlRules::default();
    let url = CrawlUrl::parse("https://a.example/", &url_rules).unwrap();
    let headers = Headers::from_iter(content_type.map(|value| ("content-type", value)));
    let settings = Settings {
        product_token: "",
        url_rules: &url_rules,
        decoded_bytes_max: 10_000_000,
        noindex: Noindex::Obey,
        content: ContentLevel::Full,
        types: Types::NONE,
        main: MainRules::NONE,
    };
    validity(&Source { url: &url, headers: &headers, body }, &settings)
}

#[test]
fn the_type_comes_from_the_header_and_the_root() {
    const PAGE: &str = "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>x</title></head><body/></html>";
    for (content_type, body, expected, why) in [
        (Some("text/html"), PAGE, Some("html"), "HTML is HTML"),
        (Some("application/xhtml+xml"), PAGE, Some("xhtml"), "XHTML is XHTML"),
        (Some("text/xml"), PAGE, Some("xhtml"), "by its root"),
        (Some("application/rss+xml"), "<a", Some("rss"), "by the header, as it has no root"),
        (Some("application/atom+xml"), "<rss/>", Some("rss"), "the root knows better"),
        (Some("application/xml; charset=utf-8"), "<urlset/>", Some("sitemap"), "by its root"),
        (Some("image/svg+xml"), "<svg/>", Some("xml"), "any XML"),
        (Some("text/css"), "a{}", Some("css"), "a style sheet"),
        (Some("application/ld+json"), "{}", Some("json"), "any JSON"),
        (Some("application/json"), "", Some("json"), "even none"),
        (None, "<?xml version='1.0'?><a/>", Some("xml"), "it looks like XML"),
        (None, "\n<p>", Some("html"), "it looks like a page"),
        (None, "text", None, "it looks like nothing"),
        (Some("text/plain"), "<p>", None, "a text"),
        (Some("application/x-ndjson"), "{}", None, "many documents"),
    ] {
        let kind = validate(content_type, body.as_bytes()).map(|validity| validity.kind.name());
        assert_eq!(kind, expected, "{content_type:?} {body}: {why}");
    }
}

#[test]
fn encodings_are_checked() {
    let rules = |content_type: &str, body: &[u8]| -> Vec<String> {
        let validity = validate(Some(content_type), body).unwrap();
        validity
            .flaws
            .iter()
            .map(|flaw| format!("{}:{} {}", flaw.line, flaw.column.unwrap_or_default(), flaw.rule))
            .collect()
    };
    for (content_type, body, expected, why) in [
        ("text/xml", &b"<a>\xc3\xa4</a>"[..], &[][..], "UTF-8 is the default"),
        ("text/xml", b"<?xml version='1.0' encoding='iso-8859-1'?><a>\xe4</a>", &[], "declared"),
        ("text/xml; charset=iso-8859-1", b"<a>\xe4</a>", &[], "declared by the header"),
        ("text/xml; charset=utf-8", b"<?xml version='1.0' encoding='iso-8859-1'?><a/>", &[], "the header counts"),
        ("text/xml", b"<a>\n\xe4h, \xfcber</a>", &["1:1 encoding"], "not declared"),
        ("text/xml", b"<?xml version='1.0' encoding='utf-8'?><a>\xe4</a>", &["1:42 encoding"], "declared wrongly"),
        (
            "text/xml",
            b"\xef\xbb\xbf<?xml version='1.0' encoding='iso-8859-1'?><a/>",
            &["1:1 encoding"],
            "two declarations",
        ),
        ("text/css; charset=utf-8", b"a{}\n/*\xe4*/", &["2:3 encoding"], "a style sheet"),
    ] {
        assert_eq!(rules(content_type, body), expected, "{}: {why}", body.escape_ascii());
    }
}

#[test]
fn cut_bodies_are_not_validated() {
    let url_rules = UrlRules::default();
    let url = CrawlUrl::parse("https://a.example/", &url_rules).unwrap();
    let headers = Headers::from_iter([("content-type", "application/json")]);
    let settings = Settings {
        product_token: "",
        url_rules: &url_rules,
        decoded_bytes_max: 3,
        noindex: Noindex::Obey,
        content: ContentLevel::Full,
        types: Types::NONE,
        main: MainRules::NONE,
    };
    assert_eq!(validity(&Source { url: &url, headers: &headers, body: b"[1,2]" }, &settings), None);
}

#[test]
fn no_bytes_make_it_panic() {
    const SEEDS: [(&str, &str); 6] = [
        (
            "text/html",
            "<!DOCTYPE html><title>é</title><table><tr><td><svg><p id=a>&amp;<b><i></b></i></table><!-- x --><select><li>",
        ),
        (
            "text/xml",
            "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'é'>]><a xmlns:c='d'>&b;<c:e f='&#233;'/><![CDATA[x]]></a>",
        ),
        (
            "text/xml",
            "<rss version='2.0'><channel><item><guid>é</guid><pubDate>1 Jan 2026</pubDate></item></channel></rss>",
        ),
        (
            "text/xml",
            "<feed xmlns='http://www.w3.org/2005/Atom'><entry><updated>2026-01-01T00:00:00Z</updated></entry></feed>",
        ),
        ("text/css", "@media x{a{b:url(c) 'é';--d:{(e)}}}/* f */@import g;"),
        ("application/json", "{\"é\":[1e9,\"\\ud83d\\ude00\",{\"é\":null,\"é\":true}]}"),
    ];
    // Xorshift: the same bytes each time.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    for (content_type, seed) in SEEDS {
        for _ in 0..2_000 {
            let mut body = seed.as_bytes().to_vec();
            for _ in 0..=random(4) {
                let (at, from) = (random(body.len()), random(body.len()));
                match random(4) {
                    0 => body[at] = u8::try_from(random(256)).unwrap(),
                    1 => drop(body.drain(at.min(from)..at.max(from))),
                    2 => body.extend_from_within(at.min(from)..at.max(from)),
                    _ => body.insert(at, b"<>/&;{}()'\"=\0\n-!"[random(16)]),
                }
                if body.is_empty() {
                    body.push(b'<');
                }
            }
            let first = validate(Some(content_type), &body);
            assert!(first.is_some(), "{}", body.escape_ascii());
            assert_eq!(first, validate(Some(content_type), &body), "the same bytes give the same result");
        }
    }
}

#[test]
fn large_and_deep_bodies_take_linear_time() {
    const TIMES: usize = 100_000;
    for (content_type, piece) in [
        ("text/html", "<div>"),
        ("text/html", "<p><object>"),
        ("text/html", "</a>"),
        ("text/html", "<p id=a>"),
        ("text/html", "<b><i></b>"),
        ("text/html", "<table><tr><td>"),
        ("text/html", "<svg>"),
        ("text/xml", "<a>"),
        ("text/xml", "<a xmlns:b='c'>"),
        ("text/css", "a{"),
        ("text/css", "a(["),
        ("text/css", "}"),
        ("application/json", "["),
        ("application/json", "{\"a\":"),
    ] {
        let validity = validate(Some(content_type), piece.repeat(TIMES).as_bytes()).unwrap();
        assert!(!validity.is_valid(), "{piece}");
        assert!(validity.flaws.len() <= FLAWS_MAX, "{piece}");
    }
}
