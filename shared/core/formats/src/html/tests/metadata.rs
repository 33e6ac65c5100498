use dragline_domain::document::LinkKind;

use super::*;
use crate::html::RobotsMeta;

/// HTML, the expected value, and why.
type Cases<'a> = &'a [(&'a str, Option<&'a str>, &'a str)];

fn check(cases: Cases<'_>, field: impl Fn(Page) -> Option<String>) {
    for (html, expected, why) in cases {
        assert_eq!(field(page(html)).as_deref(), *expected, "{why}: {html}");
    }
}

#[test]
fn titles() {
    let cases: Cases<'_> = &[
        ("<title> A\n  title </title>", Some("A title"), "white space collapsed"),
        ("<title>A &amp; B &lt;b></title>", Some("A & B <b>"), "entities, and no tags within"),
        ("<title></title><title>B</title>", Some("B"), "the first that is not empty"),
        ("<title>A</title><title>B</title>", Some("A"), "the first"),
        ("<svg><title>A</title></svg><title>B</title>", Some("B"), "an SVG's title is not the page's"),
        ("<body><p><title>A</title>", Some("A"), "wherever it is"),
        ("<title>A", Some("A"), "never ended"),
        (
            "<title>sof\u{AD}t&ZeroWidthSpace;ly\u{FEFF}</title>",
            Some("softly"),
            "without what only says where to break",
        ),
        ("<title>&shy;</title><title>B</title>", Some("B"), "nothing visible"),
        ("<template><title>A</title></template>", None, "a template's"),
        ("<!-- <title>A</title> -->", None, "a comment's"),
        ("<p>A", None, "none"),
    ];
    check(cases, |page| page.title);
}

#[test]
fn descriptions() {
    let cases: Cases<'_> = &[
        ("<meta name=Description content=' A\n B '>", Some("A B"), "case, white space"),
        ("<meta content=A name=description>", Some("A"), "in either order"),
        (
            "<meta name=description content=''><meta name=description content=B>",
            Some("B"),
            "the first that is not empty",
        ),
        (
            "<meta name=description content='ver&shy;y lo\u{200B}ng'>",
            Some("very long"),
            "without what only says where to break",
        ),
        ("<meta property=description content=A>", None, "another attribute"),
        ("<meta name=keywords content=A>", None, "another name"),
        ("<meta name=description>", None, "no content"),
    ];
    check(cases, |page| page.description);
}

#[test]
fn languages() {
    let long = format!("<html lang={}>", "x".repeat(65));
    let cases: Cases<'_> = &[
        ("<html lang=' de-AT '>", Some("de-AT"), "html"),
        ("<html lang=''>", None, "empty"),
        (&long, None, "no language tag is that long"),
        ("<html><meta http-equiv=Content-Language content='fr '>", Some("fr"), "pragma"),
        ("<html lang=de><meta http-equiv=content-language content=fr>", Some("de"), "html wins"),
        ("<html xml:lang=de>", Some("de"), "XML's, where nothing else says it"),
        ("<html lang=de xml:lang=fr>", Some("de"), "which means nothing in HTML"),
        ("<html xml:lang=de><meta http-equiv=content-language content=fr>", Some("fr"), "so that the pragma wins"),
        ("<meta http-equiv=content-language content='fr, de'>", None, "several count as none"),
        ("<meta http-equiv=content-language content='fr de'>", Some("fr"), "the first word"),
        ("<p lang=de>", None, "only of the whole page"),
    ];
    check(cases, |page| page.language);
}

#[test]
fn canonicals() {
    let late = format!("{}<link rel=canonical href=y>", "<link rel=canonical href=x>".repeat(20));
    let cases: Cases<'_> = &[
        ("<link rel=canonical href='/x#f'>", Some("https://example.org/x"), "relative, with a fragment"),
        ("<base href=//b.test/><link rel=canonical href=x>", Some("https://b.test/x"), "relative to the base"),
        (
            "<link rel=canonical href=x><link rel=canonical href=./x>",
            Some("https://example.org/dir/x"),
            "the same twice",
        ),
        ("<link rel=canonical href=x><link rel=canonical href=y>", None, "a contradiction"),
        (&late, None, "a contradiction that comes late"),
        (
            "<link rel=canonical href='http://['><link rel=canonical href=y>",
            Some("https://example.org/dir/y"),
            "one is good",
        ),
        ("<link rel=canonical href=mailto:x>", None, "not http or https"),
        ("<link rel=canonical href=''>", None, "empty"),
        ("<link rel=canonical>", None, "no href"),
        (
            "<head><script>x</script><noscript></noscript><title>t</title><link rel=canonical href=/x>",
            Some("https://example.org/x"),
            "in the head",
        ),
        (
            "<head></head><link rel=canonical href=/x><body>",
            Some("https://example.org/x"),
            "after the head, which the parser puts back",
        ),
        ("<body><link rel=canonical href=/x>", None, "in the body"),
        ("<div></div><link rel=canonical href=/x>", None, "in the body, which a div begins"),
        ("text<link rel=canonical href=/x>", None, "in the body, which text begins"),
    ];
    check(cases, |page| page.canonical.map(String::from));
}

#[test]
fn refreshes() {
    let cases: Cases<'_> = &[
        ("<meta http-equiv=refresh content='0; url=/x#f'>", Some("https://example.org/x"), "plain"),
        (
            "<noscript><meta http-equiv=refresh content='0; url=x'></noscript>",
            Some("https://example.org/dir/x"),
            "without scripts",
        ),
        (
            "<meta http-equiv=refresh content=5><meta http-equiv=refresh content='5;x'>",
            Some("https://example.org/dir/x"),
            "the first with a URL",
        ),
        (
            "<meta http-equiv=refresh content='5;javascript:x'><meta http-equiv=refresh content='5;x'>",
            Some("https://example.org/dir/x"),
            "the first of the web",
        ),
        ("<meta name=refresh content='0; url=/x'>", None, "no pragma"),
    ];
    let first = |page: Page| page.links.into_iter().find(|link| link.kind == LinkKind::Redirect);
    check(cases, |page| first(page).map(|link| link.url.to_string()));
}

#[test]
fn robots() {
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);
    let cases: &[Case<'_>] = &[
        ("<meta name=robots content='noindex, nofollow'>", &[("robots", "noindex, nofollow")], "all robots"),
        ("<META NAME=ROBOTS CONTENT=NoIndex>", &[("robots", "NoIndex")], "capitals"),
        ("<meta name=robots content=max-snippet:5>", &[("robots", "max-snippet:5")], "whatever is asked"),
        ("<meta name=SomeBot content=' none '>", &[("somebot", "none")], "one by its name"),
        (
            "<meta name=googlebot content='noarchive, NOFOLLOW'>",
            &[("googlebot", "noarchive, NOFOLLOW")],
            "one by its name",
        ),
        ("<meta name=SomeBot content=noai>", &[("somebot", "noai")], "one by its name, about use"),
        ("<meta name=TDM-Reservation content=1>", &[("tdm-reservation", "1")], "for all that mine text"),
        ("<meta name=author content='Nofollow Jones'>", &[], "not for robots"),
        ("<meta name=description content=index>", &[], "a description, whatever it says"),
        ("<meta name=keywords content='books, index'>", &[], "not for robots, whatever its words"),
        ("<meta name=robots>", &[], "asks nothing"),
        ("<meta property=robots content=none>", &[], "another attribute"),
        (
            "<meta name=robots content=none><meta name=robots content=all>",
            &[("robots", "none"), ("robots", "all")],
            "in order",
        ),
        ("<body><meta name=robots content=none>", &[("robots", "none")], "in the body as well"),
    ];
    for (html, expected, why) in cases {
        let robot = |(agent, content): &(&str, &str)| RobotsMeta { agent: (*agent).into(), content: (*content).into() };
        assert_eq!(page(html).robots, expected.iter().map(robot).collect::<Vec<_>>(), "{why}: {html}");
    }
    let many = format!("{}<meta name=robots content=noindex>", "<meta name=robots content=all>".repeat(500));
    let last = page(&many).robots.pop().map(|robots| robots.content);
    assert_eq!(last.as_deref(), Some("noindex"), "the last of many may be the one that forbids");
    let too_many = page(&"<meta name=robots content=none>".repeat(100_000)).robots.len();
    assert!((500..10_000).contains(&too_many), "there is a limit: {too_many}");
    let too_long = format!("<meta name=robots content='all {}'>", "x".repeat(20_000)).repeat(7);
    let robots = page(&format!("{too_long}<meta name=robots content=none>")).robots;
    assert_eq!(robots.last().map(|robots| robots.content.as_str()), Some("none"), "what is short finds room");
}

#[test]
fn lengths_are_limited() {
    let limits =
        HtmlLimits { title_bytes_max: 6, description_bytes_max: 3, link_text_bytes_max: 4, ..HtmlLimits::default() };
    let html = "<title>One two</title><meta name=description content=ab&eacute;><a href=x>one two</a><area href=y alt=xy&euro;>";
    let page = extract(html, &PageSource::html(&url(PAGE)), &limits);
    assert_eq!(page.title.as_deref(), Some("One tw"));
    assert_eq!(page.description.as_deref(), Some("ab"), "never half a character");
    assert_eq!(page.links[0].text.as_deref(), Some("one"), "nor a space at the end");
    assert_eq!(page.links[1].text.as_deref(), Some("xy"), "nor a third of one");
}
