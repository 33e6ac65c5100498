//! Whole pages, with everything that is extracted from them.

use std::fmt::Write;

use dragline_formats::charset::decode;
use dragline_formats::html::{HtmlLimits, Page, PageSource, Syntax, extract};
use url::Url;

#[test]
fn pages() {
    let pages: [(&str, &str, &[u8]); 5] = [
        ("docs", "https://weir.example/en/2.4/guide/sluice.html", include_bytes!("pages/docs.html")),
        ("blog", "https://blog.example/2024/narrowboat?utm_source=feed", include_bytes!("pages/blog.html")),
        ("frames", "http://widgets.example/", include_bytes!("pages/frames.html")),
        ("shop", "https://shop.example/theiere?id=7", include_bytes!("pages/shop.html")),
        ("western", "http://muehle.example/gb/index.htm", include_bytes!("pages/western.html")),
    ];
    for (name, url, body) in pages {
        let decoded = decode(body, None);
        let url = Url::parse(url).expect("a good URL");
        let source = PageSource { url: &url, encoding: decoded.encoding, syntax: Syntax::Html };
        let page = extract(&decoded.text, &source, &HtmlLimits::default());
        let shown = format!("encoding: {} ({:?})\n{}", decoded.encoding, decoded.source, show(&page));
        insta::assert_snapshot!(name, shown);
    }
}

/// Prints a page as a list that people can check.
fn show(page: &Page) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    let url = |url: &Option<Url>| url.as_ref().map_or_else(|| "none".to_owned(), Url::to_string);
    let mut shown = format!(
        "title: {}\ndescription: {}\nlanguage: {}\ncanonical: {}\n",
        text(&page.title),
        text(&page.description),
        text(&page.language),
        url(&page.canonical),
    );
    for robots in &page.robots {
        writeln!(shown, "robots: {}: {}", robots.agent, robots.content).expect("strings take all");
    }
    for link in &page.links {
        let mark = if link.nofollow { " (nofollow)" } else { "" };
        let anchor = link.text.as_ref().map(|text| format!(" \"{text}\"")).unwrap_or_default();
        writeln!(shown, "{}: {}{anchor}{mark}", link.kind, link.url).expect("strings take all");
    }
    shown + "\n" + &page.text
}
