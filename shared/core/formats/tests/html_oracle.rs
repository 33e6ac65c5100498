//! Checks that links and texts found without a tree are the same as those found with one.

mod oracle;

use dragline_formats::html::{HtmlLimits, PageSource, extract};
use proptest::prelude::*;
use url::Url;

use self::oracle::{LinkSet, knows, links, seen_words};

fn page() -> Url {
    Url::parse("https://example.org/dir/page").expect("a good URL")
}

fn extracted(html: &str) -> LinkSet {
    let links = extract(html, &PageSource::html(&page()), &HtmlLimits::default()).links;
    links.into_iter().filter(|link| knows(link.kind)).map(|link| (link.kind, link.url.to_string())).collect()
}

/// The pieces of pages, without those where a tree builder drops links and a reader without a tree
/// does not: links in frame sets, and after `<plaintext>`.
const PIECES: &[&str] = &[
    "<a href=1>",
    "<a href='2'>text",
    "</a>",
    "<A HREF=\"3&amp;4\">",
    "<area href=5>",
    "<img src=6>",
    "<video poster=7 src=8>",
    "</video>",
    "<audio src=9>",
    "<object data=10>",
    "</object>",
    "<embed src=11>",
    "<script src=12>",
    "'<a href=13>'",
    "</script>",
    "<iframe src=14>",
    "</iframe>",
    "<form action=15>",
    "</form>",
    "<button formaction=16>",
    "</button>",
    "<link rel=stylesheet href=17>",
    "<base href=/b/>",
    "<base target=x>",
    "<title>",
    "</title>",
    "<style>",
    "</style>",
    "<textarea>",
    "</textarea>",
    "<xmp>",
    "</xmp>",
    "<!--",
    "-->",
    "<!-->",
    "<table>",
    "<tr>",
    "<td>",
    "</table>",
    "<p>",
    "</p>",
    "<div>",
    "</div>",
    "<b>",
    "</b>",
    "<ul>",
    "<li>",
    "</ul>",
    "<body>",
    "</body>",
    "<head>",
    "</head>",
    "<html>",
    "</html>",
    "<!doctype html>",
    "<pre>",
    "</pre>",
    "<br/>",
    "text",
    " ",
    "\n",
    "&lt;",
    "<",
    ">",
    "'",
    "\"",
    "<a href='18",
    "<a href=mailto:x>",
    "<a href='#19'>",
    "<a href=>",
    "é",
    "\0",
];

/// Well-formed SVG, `MathML` and similar: anything else is approximated.
const FOREIGN: &[&str] = &[
    "<svg><path/></svg>",
    "<svg><a href=20>x</a></svg>",
    "<svg><style/></svg>",
    "<svg><title/></svg>",
    "<svg><style><a href=21></a></style></svg>",
    "<svg><title><a href=22></a></title></svg>",
    "<svg><foreignObject><style><a href=23></style><a href=24></a></foreignObject></svg>",
    "<svg><![CDATA[<a href=25>]]></svg>",
    "<svg/>",
    "<svg><g><svg></svg></g><a href=26 /></svg>",
    "<math><mi>x</mi></math>",
    "<math><mi><a href=27></a></mi></math>",
    "<math><style/></math>",
    "<template><a href=28></a></template>",
    "<noscript><a href=30></a><img src=31></noscript>",
    "<template><template></template><img src=29></template>",
];

/// Pieces that hide content or end it, without those that a tree builder moves: misplaced text in
/// tables, and formatting elements.
const HIDING: &[&str] = &[
    "<p hidden>",
    "<p>",
    "</p>",
    "<div hidden>",
    "<div>",
    "</div>",
    "<address hidden>",
    "</address>",
    "<span hidden>",
    "<span>",
    "</span>",
    "<section hidden>",
    "</section>",
    "<ul>",
    "<ul hidden>",
    "</ul>",
    "<li>",
    "<li hidden>",
    "</li>",
    "<dl>",
    "<dt hidden>",
    "<dd>",
    "</dl>",
    "<table><tr><td>",
    "<table hidden><tr><td>",
    "<td>",
    "<td hidden>",
    "<tr><td>",
    "<tr hidden><td>",
    "<tbody hidden><tr><td>",
    "</table>",
    "<h1 hidden>",
    "<h2>",
    "</h1>",
    "<button hidden>",
    "<button>",
    "</button>",
    "<object hidden>",
    "</object>",
    "<form hidden>",
    "<form>",
    "</form>",
    "<ruby><rt hidden>",
    "<rt>",
    "</ruby>",
    "<br hidden>",
    "<hr>",
    "<video hidden>",
    "</video>",
    "<script>",
    "</script>",
    "<my-element hidden>",
    "</my-element>",
    " one ",
    " two ",
    " three ",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn tag_soup(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..30)) {
        let html = pieces.concat();
        prop_assert_eq!(extracted(&html), links(&html, &page()));
    }

    #[test]
    fn foreign_content(pieces in proptest::collection::vec(proptest::sample::select([FOREIGN, &PIECES[..10]].concat()), 0..20)) {
        let html = pieces.concat();
        prop_assert_eq!(extracted(&html), links(&html, &page()));
    }

    #[test]
    fn hidden_text(pieces in proptest::collection::vec(proptest::sample::select(HIDING), 0..25)) {
        let html = format!("<!doctype html>{}", pieces.concat());
        let text = extract(&html, &PageSource::html(&page()), &HtmlLimits::default()).text;
        let words: Vec<&str> = text.split_whitespace().collect();
        prop_assert_eq!(words, seen_words(&html));
    }
}

#[test]
fn saved_pages() {
    for (name, html) in [
        ("docs", include_str!("pages/docs.html")),
        ("blog", include_str!("pages/blog.html")),
        ("shop", include_str!("pages/shop.html")),
    ] {
        let found = links(html, &page());
        assert!(found.len() > 5, "{name} has links");
        let extracted = extracted(html);
        // The oracle ignores candidates and image buttons.
        assert!(extracted.is_superset(&found), "{name}: {:?}", found.difference(&extracted).collect::<Vec<_>>());
    }
}
