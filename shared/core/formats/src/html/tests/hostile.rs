//! Malicious pages.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

const LONG: usize = 256 * 1024;

/// Pieces that switch states, open elements without closing them, and close elements that are not
/// open.
const PIECES: &[&str] = &[
    "<a href='",
    "<a href=x>",
    "</a>",
    "<base href=",
    "<svg>",
    "</svg>",
    "<math>",
    "<mi>",
    "</mi>",
    "<title>",
    "</title>",
    "<desc>",
    "<style>",
    "</style>",
    "<script>",
    "</script>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<template>",
    "</template>",
    "<pre>",
    "</pre>",
    "<textarea>",
    "<p>",
    "<p id='",
    "<a name=b href=#",
    "<a href=htp://x rel=",
    "<nav>",
    "<header>",
    "</nav>",
    "<h1>",
    "<img alt=",
    "<link rel=alternate href=x hreflang=",
    "<td>",
    "<img srcset='",
    "<link rel=canonical href=",
    "<plaintext>",
    "<meta http-equiv=refresh content='0;url=",
    "&amp;",
    "&#x",
    "'",
    "\"",
    ">",
    "/>",
    "<",
    "&",
    " ",
    "\n",
    "\0",
    "é",
    "€",
    "\u{AD}",
    "\u{200B}",
];

pub(super) fn soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![proptest::sample::select(PIECES).prop_map(str::to_owned), "\\PC"];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_soup_is_a_page_within_its_limits(
        soup in soup(),
        syntax in proptest::sample::select(&[Syntax::Html, Syntax::Xhtml][..]),
    ) {
        let limits = HtmlLimits { links_max: 3, text_bytes_max: 20, title_bytes_max: 5, attribute_bytes_max: 9, ..HtmlLimits::default() };
        let page = extract(&soup, &PageSource { syntax, ..PageSource::html(&url(PAGE)) }, &limits);
        let is_invisible = |c| matches!(c, '\u{AD}' | '\u{200B}');
        prop_assert!(!page.text.contains(is_invisible));
        prop_assert!(page.links.len() <= 3);
        prop_assert!(page.text.len() <= 20);
        prop_assert!(page.title.is_none_or(|title| (1..=5).contains(&title.len())));
        let urls = page.links.iter().map(|link| url(link.url.as_str()));
        prop_assert!(urls.into_iter().all(|url| url.fragment().is_none() && url.has_host()));
    }

    #[test]
    fn text_without_markup_is_unchanged(words in proptest::collection::vec("[^<&\\s\0\u{AD}\u{200B}\u{2060}\u{FEFF}]{1,8}", 1..20)) {
        let text = words.join(" ");
        prop_assert_eq!(page(&format!(" {} ", words.join(" \n "))).text, text);
    }

    #[test]
    fn any_bytes_yield_a_page(body in proptest::collection::vec(any::<u8>(), 0..400)) {
        let decoded = crate::charset::decode(&body, None);
        let page = page(&decoded.text);
        prop_assert!(page.text.len() <= 2 * decoded.text.len());
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it is the time taken that is tested")]
fn malicious_pages_take_linear_time() {
    // A tree of some of these takes minutes to build. A linear reader needs a second at most, even
    // unoptimised on a busy machine.
    let bombs = [
        ("nested blocks", "<div>".repeat(100_000)),
        ("nested templates", "<template>".repeat(100_000)),
        ("nested SVG", "<svg><foreignObject>".repeat(50_000)),
        ("SVG end tags", format!("{}{}", "<svg>".repeat(1_000), "</math>".repeat(50_000))),
        ("nested links", "<a href=x>y".repeat(50_000)),
        ("formatting that is never ended", "<b><p>".repeat(100_000)),
        ("brackets", "<".repeat(LONG)),
        ("end brackets in a title", format!("<title>{}", "</".repeat(LONG / 2))),
        ("half end tags in a script", format!("<script>{}", "</scrip".repeat(LONG / 7))),
        ("half comments in a script", format!("<script>{}", "<!--<script".repeat(LONG / 11))),
        ("half a comment", format!("<!--{}", "--!".repeat(LONG / 3))),
        ("half a CDATA section", format!("<svg><![CDATA[{}", "]]".repeat(LONG / 2))),
        ("a long name", format!("<{}", "a".repeat(LONG))),
        ("attributes", format!("<a {}>", "href=x ".repeat(LONG / 7))),
        ("a long attribute", format!("<a href='{}'>", "/x".repeat(LONG / 2))),
        ("a long srcset", format!("<img srcset='{}'>", "x,".repeat(LONG / 2))),
        ("candidates", format!("<img srcset='{}'>", "x (, ".repeat(LONG / 5))),
        ("ampersands", "&".repeat(LONG)),
        ("half entities", "&CounterClockwiseContourIntegra".repeat(LONG / 32)),
        ("a long number", format!("&#{}", "9".repeat(LONG))),
        ("blanks", " ".repeat(LONG)),
        ("distinct links", (0..20_000).map(|n| format!("<a href={n}>")).collect()),
        (
            "a long base",
            format!(
                "<base href=/{}/>{}",
                "b".repeat(4_000),
                (0..20_000).map(|n| format!("<a href={n}>")).collect::<String>()
            ),
        ),
    ];
    for (name, html) in bombs {
        let start = Instant::now();
        let page = page(&html);
        assert!(start.elapsed() < Duration::from_secs(20), "{name}");
        assert!(page.links.len() <= HtmlLimits::default().links_max, "{name}");
        let kept: usize = page.links.iter().map(|link| link.url.as_str().len()).sum();
        assert!(page.text.len() <= 41_000_000, "{name}");
        let kept_max = HtmlLimits::default().links_bytes_max;
        assert!(kept <= kept_max, "{name} grows to {kept} bytes of links");
        assert!(page.truncated.links || kept <= kept_max / 2, "{name}: what is cut is said");
    }
}

#[test]
fn the_first_attributes_of_an_excessive_tag_count() {
    let many: String = (0..100_000).map(|number| format!(" a{number}=\"{number}\"")).collect();
    let page = page(&format!("<a href=first{many} rel=nofollow>one</a><a href=second>two</a>"));
    let urls: Vec<_> = page.links.iter().map(|link| (link.url.as_str(), link.nofollow)).collect();
    assert_eq!(urls, [("https://example.org/dir/first", false), ("https://example.org/dir/second", false)]);
    assert_eq!(page.text, "onetwo", "what follows the tag is read");
}
