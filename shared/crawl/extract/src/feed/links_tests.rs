//! Which bodies are read as feeds, and the links in them.

use dragline_domain::content::ContentLevel;
use dragline_domain::document::LinkKind;
use dragline_domain::frontier::ReadAs;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_formats::http_fields::Headers;

use crate::{Settings, Source, extract_as};

/// Returns the links of a body, with `+` before further parts; then the reason if it is not a feed.
fn read(content_type: &str, body: &str, read_as: ReadAs) -> Vec<String> {
    let rules = UrlRules::default();
    let url = CrawlUrl::parse("https://a.example/dir/feed", &rules).unwrap();
    let headers = Headers::from_iter([("Content-Type", content_type)]);
    let settings = Settings::at(ContentLevel::Text, &rules);
    let source = Source { url: &url, headers: &headers, body: body.as_bytes() };
    let unread = match extract_as(&source, &settings, read_as) {
        Ok(page) => return ["a page".to_owned()].into_iter().chain(page.remark).collect(),
        Err(unread) => unread,
    };
    let found = unread.links.iter().map(|link| {
        let mark = if link.kind == LinkKind::Feed { "+" } else { "" };
        assert!(link.kind.is_of_feed(), "{link:?}");
        format!("{mark}{}", link.target.as_str().trim_start_matches("https://a.example"))
    });
    found.chain(unread.detail).collect()
}

#[test]
fn feeds_are_recognised_by_type_and_beginning() {
    const RSS: &str = "<rss><channel><link>/</link><item><link>/1</link></item><item><guid>https://a.example/2</guid></item></channel></rss>";
    const JSON: &str = r#"{"version": "https:\/\/jsonfeed.org\/version\/1", "items": [{"url": "\/1"}, {"id": "/2"}]}"#;
    const NO_FEED: &str = "not a feed: neither RSS nor Atom nor JSON Feed";
    let late = format!("<!-- {} -->{RSS}", "x".repeat(2_000));
    for (content_type, body, typed, named, why) in [
        ("application/rss+xml", RSS, &["/1", "/2"][..], &["/1", "/2"][..], "RSS, with a permalink"),
        ("text/html", RSS, &["/1", "/2"], &["/1", "/2"], "under a wrong type"),
        ("application/octet-stream", RSS, &["/1", "/2"], &["/1", "/2"], "under none"),
        ("image/png", RSS, &["/1", "/2"], &["/1", "/2"], "under any"),
        ("text/css", RSS, &[], &["/1", "/2"], "a style sheet is one, unless it is named as a feed"),
        ("text/xml", &late, &[], &["/1", "/2"], "nobody looks so far, unless it is named as a feed"),
        ("application/feed+json", JSON, &["/1"], &["/1"], "JSON Feed, whose identifiers are no links"),
        ("application/json", JSON, &["/1"], &["/1"], "as servers call it"),
        ("text/plain", JSON, &["/1"], &["/1"], "or not"),
        ("application/json", r#"{"items": [{"url": "/1"}]}"#, &[], &[NO_FEED], "other JSON"),
        ("text/xml", "<urlset/>", &[], &[NO_FEED], "other XML"),
        ("text/html", "<p>x", &["a page"], &["a page", NO_FEED], "a page"),
    ] {
        assert_eq!(read(content_type, body, ReadAs::Typed), typed, "{content_type}: {why}");
        assert_eq!(read(content_type, body, ReadAs::Feed), named, "{content_type}, named: {why}");
    }
}

#[test]
fn entries_and_further_parts_are_links() {
    let atom = |inner: &str| {
        format!("<feed xmlns='http://www.w3.org/2005/Atom' xml:base='https://a.example/x/'>{inner}</feed>")
    };
    for (inner, expected, why) in [
        ("<entry><link href='1'/></entry>", &["/x/1"][..], "relative to the feed's base"),
        ("<link href='/'/><link rel='self' href='s'/><entry/>", &[], "the feed's own links"),
        ("<entry><link rel='next' href='2'/><link rel='related' href='3'/></entry>", &[], "an entry's other links"),
        ("<link rel='next' href='?page=2'/>", &["+/x/?page=2"], "RFC 5005, section 3"),
        ("<link rel='prev-archive' href='old'/>", &["+/x/old"], "RFC 5005, section 4"),
        ("<link rel='previous' href='newer'/><link rel='last' href='9'/>", &[], "where nothing older is"),
        ("<entry><link href='1'/></entry><entry><link href='1#c'/></entry>", &["/x/1"], "each page once"),
        ("<entry><link href='mailto:a@b.example'/></entry>", &[], "what cannot be crawled"),
    ] {
        assert_eq!(read("application/atom+xml", &atom(inner), ReadAs::Feed), expected, "{inner}: {why}");
    }
    let parts: String = (0..9).map(|n| format!("<link rel='next' href='{n}'/>")).collect();
    assert_eq!(read("application/atom+xml", &atom(&parts), ReadAs::Feed).len(), 4, "few parts");
    let rss = "<rss xmlns:a='http://www.w3.org/2005/Atom'><channel><a:link rel='next' href='/2'/></channel></rss>";
    assert_eq!(read("text/xml", rss, ReadAs::Typed), ["+/2"], "RSS uses Atom's links");
}
