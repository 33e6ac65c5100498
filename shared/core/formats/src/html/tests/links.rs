use super::*;
use crate::html::{HtmlLink, Truncated};

/// Returns kind and URL of every link; URLs on the page's own origin are without it.
fn links(html: &str) -> String {
    show(&page(html).links)
}

fn show(links: &[HtmlLink]) -> String {
    let show = |link: &HtmlLink| {
        let url = link.url.as_str();
        let mark = if link.nofollow { " nofollow" } else { "" };
        format!("{} {}{mark}", link.kind, url.strip_prefix("https://example.org").unwrap_or(url))
    };
    links.iter().map(show).collect::<Vec<_>>().join(", ")
}

fn check(cases: &[(&str, &str, &str)]) {
    for (html, expected, why) in cases {
        assert_eq!(links(html), *expected, "{why}: {html}");
    }
}

#[test]
fn contents_of_frames_are_read() {
    let nested = |depth: usize| {
        (0..depth).fold("<a href=x>".to_owned(), |html, _| {
            format!("<iframe srcdoc='{}'></iframe>", html.replace('&', "&amp;").replace('\'', "&#39;"))
        })
    };
    check(&[
        ("<iframe srcdoc='&lt;a href=x&gt;'></iframe><a href=y>", "a /dir/y, a /dir/x", "escaped"),
        ("<iframe srcdoc=\"<a href='x?a&amp;amp;b'>\" src=z></iframe>", "iframe /dir/z, a /dir/x?a&b", "or quoted"),
        ("<base href=/b/><iframe srcdoc='<a href=x>'></iframe>", "a /b/x", "it has the base of the page"),
        ("<iframe srcdoc='<base href=/c/><a href=x>'></iframe><a href=x>", "a /dir/x, a /c/x", "or its own"),
        ("<a href=x><iframe srcdoc='<a href=x>'></iframe>", "a /dir/x", "each link once"),
        ("<iframe srcdoc='<a rel=nofollow href=x>'></iframe>", "a /dir/x nofollow", "as it asks"),
        (
            "<iframe srcdoc='<meta http-equiv=refresh content=0;url=x><link rel=canonical href=y>'></iframe>",
            "iframe /dir/x, other /dir/y",
            "what it does with itself says nothing of the page",
        ),
        ("<template><iframe srcdoc='<a href=x>'></iframe></template>", "", "where nothing is shown"),
        ("<iframe srcdoc></iframe><iframe srcdoc=text></iframe>", "", "nothing, and a text"),
        (&nested(1), "a /dir/x", "nested once"),
        (&nested(3), "a /dir/x", "as deep as is read"),
        (&nested(4), "", "and deeper"),
    ]);
    let many: String = (0..200).map(|n| format!("<iframe srcdoc='<a href={n}>'></iframe>")).collect();
    assert_eq!(page(&many).links.len(), 100, "as many as are read");
    assert_eq!(
        page("<iframe srcdoc='<title>t</title>hidden'></iframe>seen").text,
        "seen",
        "its text is not the page's"
    );
}

#[test]
fn every_element() {
    check(&[
        ("<a href=x>", "a /dir/x", "a"),
        ("<map><area href=x></map>", "area /dir/x", "area"),
        ("<img src=x>", "img /dir/x", "img"),
        ("<image src=x>", "img /dir/x", "the old misspelling of img"),
        ("<img srcset='x 1x, y 2x' src=z>", "img /dir/z, img /dir/x, img /dir/y", "every candidate"),
        ("<picture><source srcset='x, y'><img src=x></picture>", "img /dir/x, img /dir/y", "picture, each URL once"),
        (
            "<video src=v poster=p><source src=w><track src=t></video>",
            "video /dir/v, img /dir/p, video /dir/w, video /dir/t",
            "video",
        ),
        ("<audio src=v><source src=w></audio>", "audio /dir/v, audio /dir/w", "audio"),
        ("<audio></audio><source src=w>", "video /dir/w", "an audio that ended"),
        ("<video><source src=w type='Audio/ogg'></video>", "audio /dir/w", "the type says more than the parent"),
        ("<audio><source src=w type=video/mp4></audio>", "video /dir/w", "the type says more than the parent"),
        ("<object data=x>", "object /dir/x", "object"),
        ("<embed src=x>", "object /dir/x", "embed"),
        ("<applet code=x archive='y, z'>", "object /dir/x, object /dir/y, object /dir/z", "applet"),
        ("<applet code=x codebase=c>", "", "an applet whose code is elsewhere"),
        ("<script src=x></script>", "script /dir/x", "script"),
        ("<iframe src=x></iframe>", "iframe /dir/x", "iframe"),
        ("<frameset><frame src=x></frameset>", "iframe /dir/x", "frame"),
        ("<form action=x>", "form /dir/x", "form"),
        ("<form action=''>", "", "a form sent to the page itself"),
        ("<button formaction=x>", "form /dir/x", "button"),
        ("<input formaction=x>", "form /dir/x", "input"),
        ("<input type=Image src=x>", "img /dir/x", "image button"),
        ("<input src=x>", "", "a text field has no image"),
        (
            "<body background=x><table background=y><td background=z>",
            "img /dir/x, img /dir/y, img /dir/z",
            "backgrounds",
        ),
        (
            "<style>@import 'x'; p { background: url( y ) } </style>",
            "css /dir/x, img /dir/y",
            "style sheet in the page",
        ),
        ("<style type=Text/CSS>@font-face { src: url(x) }", "font /dir/x", "style sheet up to the end of the page"),
        ("<style type=text/less>p { background: url(x) }</style><a href=y>", "a /dir/y", "styles in another language"),
        ("<style>p { color: red }</style><style>url(#x)</style>", "", "styles without links"),
        ("<p style=\"background: url('x y'), URL(z)\">", "img /dir/x%20y, img /dir/z", "styles of an element"),
        ("<svg><style>p { fill: url(x) }</style><path style='fill: url(#y)'/></svg>", "img /dir/x", "styles in SVG"),
        ("<base href=/other/><style>url(x)</style>", "img /other/x", "styles in a page with a base"),
        ("<template><style>url(x)</style><p style='y: url(z)'></template>", "", "styles that apply to nothing"),
        ("<meta http-equiv=Refresh content='0;url=x'>", "redirect /dir/x", "refresh"),
        ("<meta http-equiv=refresh content=5>", "", "a page that loads itself again"),
        (
            "<svg><a xlink:href=x><image href=y /><use href=/i.svg#z /></a></svg>",
            "a /dir/x, img /dir/y, img /i.svg",
            "SVG",
        ),
        ("<svg><image href=x xlink:href=y /></svg>", "img /dir/x", "href wins over xlink:href"),
        ("<svg><script href=x /></svg><a href=y>", "script /dir/x, a /dir/y", "an SVG script that is its own end"),
        ("<svg><image src=x /></svg>", "", "no attribute of SVG's"),
        ("<blockquote cite=x><q cite=y><ins cite=z>", "", "sources are named for machines only"),
        ("<div href=x src=x data=x>", "", "attributes on the wrong element"),
        (
            "<img src=p data-src=x data-srcset='y 1x, z 2x'>",
            "img /dir/p, img /dir/x, img /dir/y, img /dir/z",
            "lazysizes",
        ),
        (
            "<img data-original=x><img data-lazy-src=y data-lazy-srcset=z>",
            "img /dir/x, img /dir/y, img /dir/z",
            "others",
        ),
        ("<img src='data:image/gif;base64,R0' data-src=x data-original=y>", "img /dir/x", "the first that is present"),
        ("<picture><source data-srcset=x><img></picture>", "img /dir/x", "a picture's source that is loaded later"),
        ("<audio><source data-src=x></audio>", "audio /dir/x", "sound that is loaded later"),
        ("<iframe data-src=x></iframe>", "iframe /dir/x", "a frame that is loaded later"),
        ("<div data-bg=x><p data-bg='url(y)'>", "img /dir/x, img /dir/y", "backgrounds that are loaded later"),
        ("<div data-src=x data-original=y><a data-src=z>", "", "of other elements nobody knows what it is"),
        ("<template><img data-src=x><p data-bg=y></template>", "", "pictures of nothing"),
        (
            "<meta property=og:image content=x><meta name='Twitter:Image' content=y><meta property=og:url content=z>",
            "img /dir/x, img /dir/y",
            "pictures of previews",
        ),
    ]);
}

#[test]
fn every_rel_of_link() {
    check(&[
        ("<link href=x>", "other /dir/x", "no rel"),
        ("<link rel=stylesheet href=x>", "css /dir/x", "style sheet"),
        ("<link rel='Alternate StyleSheet' href=x>", "css /dir/x", "a style sheet above all"),
        ("<link rel='shortcut icon' href=x><link rel=apple-touch-icon href=y>", "img /dir/x, img /dir/y", "icons"),
        ("<link rel=canonical href=x>", "canonical /dir/x", "canonical"),
        ("<link rel=alternate hreflang=de href=x>", "alternate /dir/x", "another language"),
        ("<link rel=alternate type=application/rss+xml href=x>", "feed /dir/x", "a feed"),
        ("<link rel='alternate home' type=' Application/Feed+JSON; charset=utf-8' href=x>", "feed /dir/x", "another"),
        ("<link rel=next type=application/atom+xml href=x>", "sequence /dir/x", "it does not stand for the page"),
        (
            "<link rel=next href=x><link rel=prev href=y><link rel=up href=z>",
            "sequence /dir/x, sequence /dir/y, sequence /dir/z",
            "neighbours",
        ),
        ("<link rel=index href=x><link rel=contents href=x>", "sequence /dir/x", "neighbours, once"),
        ("<link rel=preload as=script href=x>", "script /dir/x", "preloaded script"),
        ("<link rel=preload as=Style href=x>", "css /dir/x", "preloaded style"),
        (
            "<link rel=preload as=image imagesrcset='x, y' href=z>",
            "img /dir/z, img /dir/x, img /dir/y",
            "preloaded image",
        ),
        ("<link rel=preload as=font href=x>", "font /dir/x", "preloaded font"),
        ("<link rel=prefetch href=x>", "other /dir/x", "prefetched, as anything"),
        ("<link rel=modulepreload href=x>", "script /dir/x", "preloaded module"),
        ("<link rel=manifest href=x>", "manifest /dir/x", "manifest"),
        ("<link rel=preconnect href=https://cdn.test><link rel=dns-prefetch href=//cdn.test>", "", "hosts"),
        ("<link rel='next nofollow' href=x>", "sequence /dir/x nofollow", "nofollow"),
    ]);
}

#[test]
fn references_are_resolved_as_browsers_do() {
    check(&[
        ("<a href='../x?q#f'>", "a /x?q", "dot segments, query, fragment"),
        ("<a href='//other.test/x'>", "a https://other.test/x", "scheme-relative"),
        ("<a href='?q'>", "a /dir/page?q", "query only"),
        ("<a href=' \n x \t'>", "a /dir/x", "white space around"),
        ("<a href='a\nb\tc'>", "a /dir/abc", "line breaks and tabs within"),
        ("<a href='a b'>", "a /dir/a%20b", "a space within"),
        ("<a href='\\x\\y'>", "a /x/y", "backslashes"),
        ("<a href='x?a=1&amp;b=2&copy=3&#x26;c'>", "a /dir/x?a=1&b=2&copy=3&c", "entities"),
        ("<a href=x?a=1&amp;b>", "a /dir/x?a=1&b", "entities without quotes"),
        ("<A HREF=X>", "a /dir/X", "capitals"),
        ("<a href=x href=y>", "a /dir/x", "of two the first"),
        ("<a title='>' href=x>", "a /dir/x", "a bracket in a value"),
        ("<a/href=x>", "a /dir/x", "a slash for a space"),
        ("<a href='HTTP://Other.TEST:80/%7ex'>", "a http://other.test/%7ex", "normalised"),
        ("<a href='#'><a href='#f'><a href=''><a href>", "", "the page itself"),
        ("<a href='page#f'><a href='page'>", "a /dir/page", "the page itself by its name"),
        ("<img src=''><script src='#'></script><iframe src=''></iframe>", "", "without a URL there is nothing to load"),
        ("<a href='///other.test/x'>", "a https://other.test/x", "three slashes are two"),
        ("<a href='\\\\/other.test/x'>", "a https://other.test/x", "whichever way they lean"),
        ("<a href='https:///other.test/x'>", "a https://other.test/x", "after a scheme, too"),
        ("<a href=' b ? d # e '>", "a /dir/b%20?%20d%20", "spaces before a fragment"),
        ("<a href='b #'>", "a /dir/b%20", "before an empty one"),
        ("<a href='b \n#f'>", "a /dir/b%20", "and a line break, which is dropped"),
        ("<a href='b ? '>", "a /dir/b%20?", "spaces at the end count nowhere"),
        ("<a href='b #f'><a href='b #g'>", "a /dir/b%20", "whatever the fragment"),
        ("<a href=' #f'>", "", "spaces before nothing but a fragment"),
        ("<base href=/b/><a href=x>", "a /b/x", "base"),
        ("<base href=/b/><a href='#f'><a href=''>", "a /b/", "with a base, `#f` is no longer the page"),
        ("<base target=t><base href=/b/><base href=/c/><a href=x>", "a /b/x", "the first base that has an href"),
        ("<a href=x><base href=/b/>", "a /b/x", "a base that comes late"),
        ("<base href='b/#f'><a href=x>", "a /dir/b/x", "a relative base"),
        (
            "<base href='data:text/html,'><base href=/c/><a href=x>",
            "a /dir/x",
            "a bad base, and the second does not count",
        ),
        ("<base href='javascript:'><a href=x>", "a /dir/x", "a bad base"),
        ("<base href='//['><a href=x>", "a /dir/x", "a base that is no URL"),
        ("<template><base href=/b/></template><a href=x>", "a /dir/x", "a base in a template"),
    ]);
}

#[test]
fn links_in_hidden_content() {
    check(&[
        ("<noscript><img src=x><a href=y></a></noscript>", "img /dir/x, a /dir/y", "noscript: we run no scripts"),
        ("<template><a href=x></a><template></template><img src=y></template><a href=z>", "a /dir/z", "templates"),
        ("<!-- <a href=x> --><a href=y>", "a /dir/y", "comments"),
        ("<!--><a href=x>-->", "a /dir/x", "a comment that is over at once"),
        ("<![CDATA[<a href=x>]]><a href=y>", "a /dir/y", "CDATA is a comment in HTML, which ends at the first bracket"),
        ("<svg><![CDATA[<a href=x>]]></svg><a href=y>", "a /dir/y", "CDATA is text in SVG"),
        ("<script>'<a href=x>'</script><a href=y>", "a /dir/y", "script"),
        (
            "<script><!-- <script> </script> <a href=x> --></script><a href=y>",
            "a /dir/y",
            "script within a script's comment",
        ),
        ("<style><a href=x></style><a href=y>", "a /dir/y", "style"),
        ("<title><a href=x></title><a href=y>", "a /dir/y", "title"),
        ("<textarea><a href=x></textarea><a href=y>", "a /dir/y", "textarea"),
        ("<xmp><a href=x></xmp><a href=y>", "a /dir/y", "xmp"),
        ("<iframe><a href=x></iframe><a href=y>", "a /dir/y", "iframe"),
        ("<noframes><a href=x></noframes><a href=y>", "a /dir/y", "noframes"),
        ("<plaintext><a href=x>", "", "plaintext"),
        ("<a href=x", "", "a tag that never ends"),
        ("<a href='x><img src=y>", "", "a quote that never ends"),
        ("</a href=x>", "", "an end tag has no attributes"),
        ("<svg><style/></svg><a href=x>", "a /dir/x", "an SVG element that is its own end"),
        ("<svg><title/></svg><a href=x>", "a /dir/x", "an SVG title that is its own end"),
        ("<svg><div><style><a href=x></style></div><a href=y>", "a /dir/y", "HTML that forgot to leave SVG"),
        (
            "<svg><foreignObject><style><a href=x></style></foreignObject></svg><a href=y>",
            "a /dir/y",
            "HTML within SVG",
        ),
        ("<math><mi><style><a href=x></style></mi></math><a href=y>", "a /dir/y", "HTML within MathML"),
        ("<svg/><style><a href=x></style><a href=y>", "a /dir/y", "an svg that is its own end"),
    ]);
}

#[test]
fn each_kind_and_url_once() {
    check(&[
        ("<a href=x><a href=y><a href=./x#f>", "a /dir/x, a /dir/y", "the first stays"),
        ("<a href=x><img src=x>", "a /dir/x, img /dir/x", "another kind is another link"),
        ("<a href=x rel=nofollow>", "a /dir/x nofollow", "nofollow"),
        ("<a href=x rel='me NoFollow'>", "a /dir/x nofollow", "nofollow among others"),
        ("<a href=x rel='ugc sponsored nofollows'>", "a /dir/x", "other words"),
        ("<a href=x rel=nofollow><a href=x>", "a /dir/x", "followed wins, written alike"),
        ("<a href=x rel=nofollow><a href=./x>", "a /dir/x", "followed wins, written otherwise"),
        ("<a href=x><a href=x rel=nofollow>", "a /dir/x", "followed wins, in either order"),
        ("<a href=x rel=nofollow><a href=./x rel=nofollow>", "a /dir/x nofollow", "unless none is"),
        ("<area href=x rel=nofollow>", "area /dir/x nofollow", "area"),
    ]);
}

#[test]
fn link_texts() {
    let cases: &[(&str, Option<&str>, &str)] = &[
        ("<a href=x>One <b>two</b>\n three</a> four", Some("One two three"), "white space collapsed"),
        ("<a href=x></a>", None, "none"),
        ("<a href=x> \n </a>", None, "blank"),
        ("<a href=x>One<p>two", Some("One two"), "a link that never ends"),
        ("<a href=x>One<a href=y>two", Some("One"), "a link ends where the next begins"),
        ("<a href=x>One<a name=y>two", Some("One"), "any other a ends it"),
        ("<a href=x><img alt='A  cat'></a>", Some("A cat"), "alternative text"),
        ("<a href=x>See<img alt=cat>here</a>", Some("See cat here"), "alternative text between words"),
        ("<a href=x><script>no</script><svg><title>no</title></svg>yes</a>", Some("yes"), "only what is shown"),
        (
            "<a href=x></a><a href=./x>two</a><a href=x>three</a>",
            Some("three"),
            "the first text of those written alike",
        ),
        ("<a href=x></a><a href=./x>two</a>", Some("two"), "else the first text of the others"),
        ("<a href=x>&lt;&eacute;&gt;</a>", Some("<é>"), "entities"),
        ("<a href=x>sof&shy;t</a>", Some("soft"), "without characters that only say where to break"),
        ("<svg><a href=x />no</svg>", None, "an SVG link that is its own end"),
        ("<area href=x alt=' A  cat '>", Some("A cat"), "area"),
        ("<area href=x>", None, "area without alternative text"),
        ("<img src=x alt=cat>", None, "an image's text is not its link's"),
    ];
    for (html, expected, why) in cases {
        assert_eq!(page(html).links[0].text.as_deref(), *expected, "{why}: {html}");
    }
}

#[test]
fn references_without_a_target_are_no_links() {
    for (html, expected, why) in [
        (
            "<a href=mailto:a@b><a href='JavaScript:void(0)'><a href=tel:1><img src=data:image/png;base64,AA>",
            "",
            "schemes",
        ),
        ("<a href=ftp://x>", "", "another of the web's"),
        ("<a href='java\nscript:1'>", "", "a scheme in hiding"),
        ("<a href='http://['><a href=http://a:99999/>", "", "no URLs"),
        ("<a href=.:x>", "a /dir/.:x", "a colon does not make a scheme"),
    ] {
        assert_eq!(show(&page(html).links), expected, "{why}");
    }
}

#[test]
fn limits_are_kept_and_reported() {
    let limits = HtmlLimits { links_max: 2, url_bytes_max: 40, attribute_bytes_max: 60, ..HtmlLimits::default() };
    let extract = |html: &str| extract(html, &PageSource::html(&url(PAGE)), &limits);

    let page = extract("<a href=x rel=nofollow><a href=y><a href=x><a href=z><a href=x>");
    assert_eq!(show(&page.links), "a /dir/x, a /dir/y", "those that are there may still change");
    assert_eq!(page.truncated, Truncated { links: true, text: false });
    assert!(!extract("<a href=x><a href=y><a href=x>").truncated.links, "a full list has lost nothing");

    let long = "l".repeat(30);
    let page = extract(&format!("<a href={long}><a href=x>"));
    assert_eq!(show(&page.links), "a /dir/x", "long once resolved");
    let page = extract(&format!("<a href={long}{long}{long}><a href=x>"));
    assert_eq!(show(&page.links), "a /dir/x", "long from the start");
    let page = extract(&format!("<a href=data:,{long}{long}{long}>"));
    assert_eq!(show(&page.links), "", "what is long and no link anyway");
    let page = extract(&format!("<base href=/{long}/{long}/><a href=x>"));
    assert_eq!(show(&page.links), "a /dir/x", "a long base is none");
    let limits = HtmlLimits { links_bytes_max: 2 * PAGE.len() + 10, ..HtmlLimits::default() };
    let extract = |html: &str| self::extract(html, &PageSource::html(&url(PAGE)), &limits);
    let page = extract("<a href=x><a href=y><a href=x#again>");
    assert!(!page.truncated.links, "those that fit are whole: {}", show(&page.links));
    let page = extract(&format!("<base href=/{long}/><a href=x><a href=y><a href=z>"));
    assert_eq!(show(&page.links), format!("a /{long}/x"), "all are long by their base");
    assert_eq!(page.truncated, Truncated { links: true, text: false });
    let page = extract(&format!("<a href=x><iframe srcdoc='<a href=y><a href={long}>'></iframe>"));
    assert!(page.truncated.links && page.links.len() == 2, "frames, too: {}", show(&page.links));

    let limits = HtmlLimits { links_max: 2, url_bytes_max: 40, attribute_bytes_max: 60, ..HtmlLimits::default() };
    let extract = |html: &str| self::extract(html, &PageSource::html(&url(PAGE)), &limits);
    let page = extract(&format!("<img srcset='x 1x, /{long}{long}{long} 2x'>"));
    assert_eq!(show(&page.links), "img /dir/x", "of a long list the start");
}
