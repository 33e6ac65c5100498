//! HTML.

use std::collections::HashSet;

use ::url::Url;
use dragline_formats::html::{HtmlLimits, Page, PageSource, Syntax, extract};
use dragline_formats::shell::{ShellSign, find_shell, without_noscript};

const FEW: HtmlLimits = HtmlLimits {
    links_max: 3,
    links_bytes_max: 100,
    text_bytes_max: 40,
    title_bytes_max: 10,
    description_bytes_max: 10,
    link_text_bytes_max: 8,
    attribute_bytes_max: 64,
    url_bytes_max: 60,
    robots_bytes_max: 200,
};

/// Input: a page.
///
/// What is kept of it is within the limits; no link is there twice, has a fragment, or leads to
/// anything but http or https. If only links are limited, the first ones are kept. Only what a
/// `<noscript>` holds is missing from a page as it is with scripts.
///
/// # Panics
/// If one of these does not hold.
pub fn html(data: &[u8]) {
    check_shell(data);
    let html = String::from_utf8_lossy(data);
    let address = Url::parse("https://example.org/a/page?b=c").expect("a good URL");
    for syntax in [Syntax::Html, Syntax::Xhtml] {
        let source = PageSource { url: &address, encoding: "windows-1252", syntax };
        judge(&html, &source);
    }
}

fn check_shell(page: &[u8]) {
    let sign = find_shell(page);
    let shown = without_noscript(page);
    let has_some = page.to_ascii_lowercase().windows(9).any(|word| word == b"<noscript");
    assert!(has_some || shown == page, "there was nothing to leave out");
    assert!(shown.len() <= page.len(), "something came with it");
    assert!(has_some || sign != Some(ShellSign::Notice), "nothing can say so");
}

fn judge(html: &str, source: &PageSource<'_>) {
    let usual = HtmlLimits::default();
    let fewer_links = HtmlLimits { links_max: FEW.links_max, ..usual };
    let all = extract(html, source, &usual);
    check(&all, &usual);
    check(&extract(html, source, &FEW), &FEW);
    let first = extract(html, source, &fewer_links);
    check(&first, &fewer_links);
    let references = |page: &Page| -> Vec<_> { page.links.iter().map(|link| (link.kind, link.url.clone())).collect() };
    assert!(references(&all).starts_with(&references(&first)), "not the first links");
    // A reference that turns out not to be a link has taken a place, too.
    assert!(first.truncated.links || references(&all) == references(&first), "links are missing, and it is not told");
    assert_eq!((first.text, first.title), (all.text, all.title), "links change the rest");
}

fn check(page: &Page, limits: &HtmlLimits) {
    check_markup(page);
    assert!(page.links.len() <= limits.links_max);
    assert!(page.links.iter().map(|link| link.url.as_str().len()).sum::<usize>() <= limits.links_bytes_max);
    let robots = page.robots.iter().map(|meta| meta.agent.len() + meta.content.len());
    assert!(robots.sum::<usize>() <= limits.robots_bytes_max);
    assert_short(Some(&page.text), limits.text_bytes_max);
    assert_short(page.title.as_ref(), limits.title_bytes_max);
    assert_short(page.description.as_ref(), limits.description_bytes_max);
    assert_short(page.language.as_ref(), limits.attribute_bytes_max);
    for meta in &page.robots {
        assert_short(Some(&meta.agent), limits.attribute_bytes_max);
        assert_short(Some(&meta.content), limits.attribute_bytes_max);
    }
    let mut seen = HashSet::new();
    for link in &page.links {
        assert!(seen.insert((link.kind, link.url.as_str())), "twice: {:?} {}", link.kind, link.url);
        assert_short(link.text.as_ref(), limits.link_text_bytes_max);
        let url = Url::parse(link.url.as_str()).expect("it was resolved");
        assert_eq!(url.as_str(), link.url.as_str(), "it is not as the parser writes it");
        assert_web(&url, limits);
        assert_eq!(url.fragment(), None);
    }
    if let Some(url) = &page.canonical {
        assert_web(url, limits);
    }
}

fn assert_short(text: Option<&String>, bytes_max: usize) {
    let bytes = text.map_or(0, String::len);
    assert!(bytes <= bytes_max, "{bytes} bytes, where {bytes_max} are the limit: {text:?}");
}

fn assert_web(url: &Url, limits: &HtmlLimits) {
    assert!(matches!(url.scheme(), "http" | "https"), "{url}");
    assert!(url.as_str().len() <= limits.url_bytes_max, "{url}");
}

/// What the markup tells is limited, and refers to links of the page.
fn check_markup(page: &Page) {
    let markup = &page.markup;
    let of_uses = markup.uses.iter().filter_map(|used| used.link);
    let of_languages = markup.languages.iter().map(|language| language.link);
    let all = of_uses.chain(of_languages).chain(markup.undescribed_links.iter().copied());
    all.for_each(|link| assert!((link as usize) < page.links.len(), "no link is at {link}"));
    assert!(markup.malformed.len() <= 120 && markup.languages.len() <= 500 && markup.uses.len() <= 10_000);
    assert!(markup.malformed.iter().all(|link| link.written.len() <= 256));
    assert!(markup.anchors.is_some() || markup.h1.is_some(), "a whole page says how many headings it has");
}
