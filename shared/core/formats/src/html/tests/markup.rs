use dragline_domain::markup::{AnchorSet, LinkUse, Markup, anchor_hash};

use super::*;

fn markup(html: &str) -> Markup {
    page(html).markup
}

#[test]
fn malformed_references_are_kept() {
    for (html, expected, why) in [
        ("<a href='http://h:bad/'>x</a>", "a http://h:bad/ port_invalid x", "a port"),
        ("<a href='http://h:99999/'>x</a>", "a http://h:99999/ port_invalid x", "one that is too high"),
        ("<a href='http://['>x</a>", "a http://[ host_invalid x", "half an address"),
        ("<a href='http://a b/'>x</a>", "a http://a b/ host_invalid x", "a host with a space"),
        ("<a href='http://1.2.3.999/'>x</a>", "a http://1.2.3.999/ host_invalid x", "no address"),
        ("<a href='http://'>x</a>", "a http:// host_missing x", "no host"),
        ("<a href='http://h:bad/#y'> <b>x</b> y</a>", "a http://h:bad/ port_invalid x y", "words, but no fragment"),
        ("<a href=htp://x/>x</a>", "a htp://x/ scheme_mistyped x", "a mistyped scheme"),
        ("<a href=mailto:>x</a>", "a mailto: address_missing x", "nobody"),
        ("<a href=example.org:80/x><img src=p alt=pic></a>", "a example.org:80/x scheme_missing pic", "a picture"),
        ("<area href=htp://x/ alt=x>", "area htp://x/ scheme_mistyped x", "of a picture's part"),
        ("<img src=htps://x/>", "img htps://x/ scheme_mistyped", "what is loaded, too"),
        ("<link rel=stylesheet href='http://h:x/'>", "css http://h:x/ port_invalid", "a style sheet"),
        ("<a href=htp://x/></a><a href=htp://x/>x</a>", "a htp://x/ scheme_mistyped x", "once, with its first text"),
        (
            "<a href=htp://x/>x</a><img src=htp://x/>",
            "a htp://x/ scheme_mistyped x, img htp://x/ scheme_mistyped",
            "of each kind",
        ),
        ("<a href>x</a>", "a  empty x", "nothing"),
        ("<a href=' \n'>x</a>", "a  empty x", "as good as nothing"),
        ("<a href=#>x</a>", "", "the top of the page"),
        ("<base href=/b/><a href>x</a>", "", "with a base it leads there"),
        ("<img src=''><form action=''>", "", "nothing is no link"),
        ("<a href=javascript:x><a href=data:,x><a href=tel:1><a href=geo:1,2><a href=myapp://x>", "", "schemes"),
        ("<a href=x:y>", "", "one that nobody knows"),
        ("<a href='java\nscript:1'>", "", "one in hiding"),
        ("<a href=//>", "a // host_missing", "a host is announced"),
        ("<template><a href=htp://x/></template>", "", "where nothing is shown"),
        ("<base href='http://h:x/'><a href=y>", "", "a wrong base is none"),
    ] {
        let markup = markup(html);
        let told = markup.malformed.iter().map(|link| {
            let text = link.text.as_ref().map_or_else(String::new, |text| format!(" {text}"));
            format!("{} {} {}{text}", link.kind, link.written, link.why.name())
        });
        assert_eq!(told.collect::<Vec<_>>().join(", "), expected, "{why}: {html}");
    }
}

#[test]
fn malformed_references_are_limited() {
    let many: String = (0..200).map(|n| format!("<a href='http://{n}:x/'>")).collect();
    let told = markup(&many);
    assert_eq!((told.malformed.len(), told.is_cut), (100, true));
    let empty = markup(&"<a href>x</a>".repeat(100));
    assert_eq!((empty.malformed.len(), empty.is_cut), (20, true), "nothing is told a hundred times");
    let long = markup(&format!("<a href='htp://x{}'>", "\u{e9}".repeat(1_000)));
    assert_eq!(long.malformed[0].written.len(), 255, "to the end of a character");
}

/// Returns each use: its link, `=` for the page itself, and all that is told of it.
fn uses(html: &str) -> String {
    let page = page(html);
    let told = page.markup.uses.iter().map(|used| {
        let LinkUse { link, fragment, part, rel, alt, text } = used;
        let url = link.map_or("=", |link| page.links[link as usize].url.as_str());
        let mut told = url.replace("https://example.org", "");
        told.extend(fragment.iter().flat_map(|fragment| ["#", fragment]));
        told.extend(part.iter().flat_map(|part| [" in ", part.name()]));
        for (name, value) in [(" rel:", rel), (" alt:", alt), (" text:", text)] {
            told.extend(value.iter().flat_map(|value| [name, value]));
        }
        told
    });
    told.collect::<Vec<_>>().join(", ")
}

#[test]
fn uses_of_links_are_kept() {
    for (html, expected, why) in [
        ("<a href=x>x</a><a href=y>y</a>", "", "one of each, of which nothing more is to tell"),
        ("<a href=x>x</a><a href=x>x</a>", "/dir/x, /dir/x", "two"),
        ("<a href=x>x</a><a href=x>y</a>", "/dir/x, /dir/x text:y", "with two texts"),
        ("<a href=x></a><a href=x>y</a>", "/dir/x text:, /dir/x", "the first text is that of the link"),
        ("<a href=x>y</a><a href=./x>z</a>", "/dir/x, /dir/x text:z", "in two spellings"),
        ("<a href=x></a><a href=./x>z</a>", "/dir/x text:, /dir/x", "of which the second has a text"),
        ("<a href=x>y</a><a href=./x></a>", "/dir/x, /dir/x text:", "or the first"),
        ("<a href=x#a>x</a><a href=x#b>x</a>", "/dir/x#a, /dir/x#b", "two places in it"),
        ("<a href=#a>x</a>", "=#a text:x", "a place in the page itself"),
        ("<a href=page#a>x</a>", "/dir/page#a", "by its name"),
        ("<a href=#></a><a href=#top></a><a href='#/r'></a><a href='#!r'></a>", "", "which name no place"),
        ("<a href=x#top>x</a>", "", "nor here"),
        ("<a href=x#a:~:text=b>x</a>", "/dir/x#a", "words in a place"),
        ("<a href=' x#a '>x</a>", "/dir/x#a", "spaces around it"),
        ("<a href='x#a b'>x</a>", "/dir/x#a b", "and in it"),
        ("<a href=x rel='nofollow ugc'>x</a>", "/dir/x rel:nofollow ugc", "as it is written"),
        ("<a href=x rel=' '>x</a>", "", "no rel"),
        ("<a href=x><img alt='a  b'></a>", "/dir/x alt:a b", "a picture"),
        ("<a href=x><img alt=''>y</a>", "/dir/x alt:", "decoration"),
        ("<a href=x><img>y</a>", "", "a picture without alt"),
        ("<a href=x><img alt=a><img alt=b></a>", "/dir/x alt:a", "the first of two"),
        ("<img alt=a><a href=x>y</a><img alt=b>", "", "beside it"),
        ("<nav><a href=x>x</a></nav><a href=y>y</a>", "/dir/x in nav", "in a part"),
        ("<header><nav><a href=x></nav><a href=y></header>", "/dir/x in nav, /dir/y in header", "in a part of one"),
        (
            "<main><div><p><a href=x></div><footer><a href=y></footer></main>",
            "/dir/x in main, /dir/y in main",
            "deep inside",
        ),
        (
            "<aside><a href=x>x</aside><footer><a href=x>x</footer>",
            "/dir/x in aside, /dir/x in footer",
            "the two of one",
        ),
        ("<map><area href=x#a alt=x></map>", "/dir/x#a", "a part of a picture"),
        ("<p><nav><a href=x></nav>", "/dir/x in nav", "a part ends a paragraph"),
        ("<svg><a href=x#a><text>x</text></a></svg>", "/dir/x#a", "in a drawing"),
        ("<a href=javascript:x>x</a><a>x</a>", "", "no links"),
        ("<iframe srcdoc='<a href=x#a>'></iframe>", "", "another document"),
    ] {
        assert_eq!(uses(html), expected, "{why}: {html}");
    }
}

#[test]
fn uses_are_limited() {
    let many = markup(&"<a href=x>x</a>".repeat(10_001));
    assert_eq!((many.uses.len(), many.is_cut), (10_000, true));
    let long = "y".repeat(300);
    let long: String = (0..5_000).map(|n| format!("<a href=x#{n}>{n}{long}</a>")).collect();
    let long = markup(&long);
    assert!(long.is_cut && long.heap_bytes() < 2 << 20, "{} bytes", long.heap_bytes());
}

#[test]
fn places_that_fragments_can_name() {
    for (html, expected, why) in [
        ("<p id=a>", &["a"][..], "an id"),
        ("<a name=b>", &["b"], "the name of a link"),
        ("<a name=b id=c href=x>", &["b", "c"], "both"),
        ("<p name=b><input name=c><map name=d>", &[], "other names"),
        ("<html id=a><body id=b><svg id=c><g id=d></svg>", &["a", "b", "c", "d"], "of any element"),
        ("<p id='a b'><p id='\u{fc}'><p id='&amp;'>", &["a b", "\u{fc}", "&"], "of any characters"),
        ("<p id=a><p id=a>", &["a"], "each once"),
        ("<template><p id=a></template>", &[], "which is not there"),
        ("<p id=''>", &[""], "nothing can name it"),
        ("<iframe srcdoc='<p id=a>'></iframe>", &[], "in another document"),
    ] {
        let expected = expected.iter().map(|name| anchor_hash(name.as_bytes())).collect();
        assert_eq!(markup(html).anchors, AnchorSet::from_hashes(expected), "{why}: {html}");
    }
    let many = |places: usize| markup(&(0..places).map(|n| format!("<p id={n}>")).collect::<String>()).anchors;
    assert!(many(1_000).is_some_and(|anchors| anchors.len() == 1_000));
    assert_eq!(many(40_000), None, "so many that none are kept");
    assert_eq!(markup(&"<p id=a>".repeat(200_000)).anchors, None, "nor if they are not even read");
}

#[test]
fn headings_pictures_and_languages() {
    for (html, expected, why) in [
        ("<h1>a</h1><h2>b</h2>", (1, 0), "one heading"),
        ("<h1>a</h1><H1>b</H1>", (2, 0), "two"),
        ("<h2>a</h2>", (0, 0), "none"),
        ("<h1 hidden>a</h1><div style=display:none><h1>b</h1></div>", (0, 0), "which nobody sees"),
        ("<svg><h1>a</h1>", (1, 0), "which ends a drawing"),
        ("<img src=a><img src=b alt><img src=c alt=''><img src=d alt=x>", (0, 1), "an empty alt is one"),
        ("<img><img src=data:,x>", (0, 2), "wherever it comes from"),
        ("<img src=a hidden><img src=b aria-hidden=true><p style=display:none><img src=c>", (0, 0), "for nobody"),
        ("<svg><image href=a></svg><input type=image src=b>", (0, 0), "no img"),
    ] {
        let told = markup(html);
        assert_eq!((told.h1, told.undescribed), (Some(expected.0), expected.1), "{why}: {html}");
    }
    let told = page("<a href=x><img src=a><img><img src=b alt=b><img src=c>");
    let of_pictures = told.markup.undescribed_links.iter().map(|link| told.links[*link as usize].url.to_string());
    assert_eq!(of_pictures.collect::<Vec<_>>(), ["https://example.org/dir/a", "https://example.org/dir/c"]);

    let told = page(
        "<link rel=alternate hreflang=de href=de><link rel='alternate' hreflang=' en-UK ' href=./de><link rel=alternate href=feed>
         <link rel=next hreflang=fr href=fr><link rel=alternate hreflang=it href=mailto:x><a hreflang=es href=es>",
    );
    let languages = told.markup.languages.iter();
    let languages: Vec<_> = languages.map(|one| (&*one.code, told.links[one.link as usize].url.as_str())).collect();
    assert_eq!(languages, [("de", "https://example.org/dir/de"), ("en-UK", "https://example.org/dir/de")]);
}
