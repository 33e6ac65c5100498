//! XHTML, and the same text read as HTML.

use super::*;

/// Returns the page's text, and the URLs of its links without the page's own directory.
fn describe(page: &Page) -> String {
    let links: Vec<_> = page.links.iter().map(|link| link.url.as_str()).collect();
    format!("{} [{}]", page.text, links.join(" ").replace("https://example.org/dir/", ""))
}

#[test]
fn empty_elements_swallow_nothing() {
    for (text, as_xhtml, as_html, why) in [
        ("<script src='s'/>a<a href='x'/>", "a [s x]", " [s]", "a script"),
        ("<title/>a<a href='x'/>", "a [x]", " []", "a title"),
        ("<iframe src='f'/>a<a href='x'/>", "a [f x]", " [f]", "a frame"),
        ("<textarea/>a<a href='x'/>", "a [x]", " []", "a text field"),
        ("<style/>a<a href='x'/>", "a [x]", " []", "a style sheet"),
        ("<xmp/>a<a href='x'/>", "a [x]", "a<a href='x'/> []", "an example"),
        ("<noframes/>a<a href='x'/>", "a [x]", " []", "something for browsers without frames"),
        ("<plaintext/>a<a href='x'/>", "a [x]", "a<a href='x'/> []", "plain text"),
        ("<template/>a<a href='x'/>", "a [x]", " []", "a template"),
        ("a<div/>b", "a\nb []", "a\nb []", "a block"),
        ("a<pre/> b  c", "a\nb c []", "a\n b  c []", "preformatted text"),
        ("<audio/><video><source src='v'/></video>", " [v]", " [v]", "media"),
        ("<svg xmlns='x'><style/></svg>a<a href='x'/>", "a [x]", "a [x]", "what both have"),
        ("a<br/>b<br></br>c", "a\nb\nc []", "a\nb\nc []", "line breaks"),
    ] {
        assert_eq!(describe(&page(text)), as_html, "{why}, as HTML: {text}");
        assert_eq!(describe(&xhtml(text)), as_xhtml, "{why}: {text}");
    }
    let link = |page: Page| page.links[0].text.clone();
    assert_eq!(link(xhtml("<a href='x'/>a")), None, "a link that is its own end has no text");
    assert_eq!(link(page("<a href='x'/>a")).as_deref(), Some("a"), "in HTML no slash ends it");
    assert_eq!(xhtml("<head><title/><title>A</title></head>").title.as_deref(), Some("A"));
}

#[test]
fn cdata_sections_are_text() {
    for (text, expected, why) in [
        ("<p><![CDATA[a < b & c <a href='x'>]]></p><a href='y'/>", "a < b & c <a href='x'> [y]", "in a paragraph"),
        ("<p>a<![CDATA[b]]]]><![CDATA[>]]>c</p>", "ab]]>c []", "the end of one in one"),
        ("<script><![CDATA[ '</script>' ]]></script>a", "a []", "a script with its own end tag"),
        ("<script>//<![CDATA[\nif (a < b) '</script>'\n//]]></script>a", "a []", "after a comment"),
        ("<style><![CDATA[</style>]]>b</style>a", "a []", "a style sheet with a section of its own"),
        ("<script>if (a < b && c) '<p>'</script>a", "a []", "what should have been in one"),
        ("<script>'<!-- <script>'</script>a", "a []", "scripts have no escapes in XML"),
        ("<textarea>t<![CDATA[</textarea>]]></textarea>a", "a []", "a text field"),
    ] {
        assert_eq!(describe(&xhtml(text)), expected, "{why}: {text}");
    }
    assert_eq!(xhtml("<title>A <![CDATA[& B]]></title>").title.as_deref(), Some("A & B"));
    assert_eq!(page("<title>A <![CDATA[& B]]></title>").title.as_deref(), Some("A <![CDATA[& B]]>"));
    assert_eq!(page("<script>'<![CDATA['</script>a").text, "a", "HTML knows no sections in scripts");
}

#[test]
fn the_prolog_is_no_text() {
    let text = "<?xml version='1.0'?><?xml-stylesheet href='a>b'?><!DOCTYPE html [<!ENTITY x 'y'>]>
                <html><head><link rel='canonical' href='/x'/></head><body>a</body></html>";
    let page = xhtml(text);
    assert_eq!(page.text, "a");
    assert_eq!(page.canonical, Some(url("https://example.org/x")), "nothing has begun the body");
}

#[test]
fn xml_lang_takes_precedence() {
    for (text, expected, why) in [
        ("<html xml:lang='de'>", Some("de"), "alone"),
        ("<html lang='fr' xml:lang='de'>", Some("de"), "before HTML's"),
        ("<html lang='fr'>", Some("fr"), "HTML's alone"),
        ("<html lang='fr' xml:lang=''>", Some("fr"), "an empty one says nothing"),
    ] {
        assert_eq!(xhtml(text).language.as_deref(), expected, "{why}: {text}");
    }
}
