//! Hidden content is not part of the page's text, and ends where it should.

use super::*;
use crate::html::HtmlLink;

/// HTML, its text, and why.
type Cases<'a> = &'a [(&'a str, &'a str, &'a str)];

fn check(cases: Cases<'_>) {
    for (html, expected, why) in cases {
        assert_eq!(page(html).text, *expected, "{why}: {html}");
    }
}

#[test]
fn hidden_content_is_left_out() {
    check(&[
        ("a<p hidden>b</p>c", "ac", "hidden, which takes up no room"),
        ("a<b hidden>b</b>c", "ac", "inline, too"),
        ("<div hidden=''>b</div><div HIDDEN=hidden>b</div><div hidden=false>b</div>c", "c", "whatever its value"),
        ("<div hidden=Until-Found>b</div>c", "b\nc", "but for what a search in the page brings up"),
        ("<div style='display:none'>b</div>c", "c", "an inline style"),
        ("<div style='color:red; DISPLAY:NONE !important'>b</div>c", "c", "however written"),
        ("<div style='display:block'>b</div>c", "b\nc", "another"),
        ("<div hidden style='display:block'>b</div>c", "b\nc", "which goes before the attribute"),
        ("a<div style='visibility:hidden'>b</div>c", "a\nc", "invisible text takes up its room"),
        ("<div style='visibility:hidden'>a<p style='visibility:visible'>b</p>c</div>", "b", "and may hold what is not"),
        (
            "<div hidden>a<p style='display:block;visibility:visible'>b</p></div>c",
            "c",
            "which no other property can do",
        ),
        ("<p style='opacity:0;font-size:0'>b</p>c", "b\nc", "other tricks are not judged"),
        ("<p class=hidden>b</p>c", "b\nc", "nor are style sheets"),
        ("<dialog>b</dialog><dialog open>c</dialog>", "c", "dialogs that are not open"),
        ("<div popover>b</div>c", "c", "what pops up later"),
        ("<datalist><option>b</datalist>c", "c", "suggestions"),
        ("<ruby>a<rp>(</rp><rt>b</rt><rp>)</rp></ruby>", "ab", "brackets for browsers without ruby"),
        ("<video>b<p>c</video>", "", "what is for browsers without video, which a paragraph keeps open"),
        ("a<video src=v>b</video>c<canvas>d</canvas>", "a c", "what is for browsers without"),
        ("<object>b</object>c", "bc", "objects may be anything"),
        (
            "<svg><g hidden><text>b</text></g><g style='display:none'><text>c</text></g></svg>",
            "b",
            "SVG knows styles alone",
        ),
        (
            "<html hidden><body style='display:none'><p>a",
            "a",
            "a script shows a wholly hidden page, or there would be none",
        ),
        ("<body style='visibility:hidden' aria-hidden=true>a", "a", "so is this one"),
        ("<p hidden><!-- --><script>b</script>c</p>d", "d", "what is hidden anyway"),
        ("<template><p hidden></template>a", "a", "what is in a template hides there"),
    ]);
}

#[test]
fn aria_hidden_hides_only_decoration() {
    check(&[
        ("<i class=icon aria-hidden=true>home</i> Home", "Home", "an icon, by its name in a font"),
        ("<span aria-hidden=TRUE>×</span> Close", "Close", "a sign"),
        ("Title <a href=#t aria-hidden=true>#</a>", "Title", "a mark to link to"),
        ("<svg aria-hidden=true><text>b</text></svg>c", "c", "a drawing"),
        ("<mat-icon aria-hidden=true>menu</mat-icon>c", "c", "a custom element"),
        ("a <span aria-hidden=true><b>b</b> c</span> d", "a d", "with all its words"),
        ("<span aria-hidden=false>b</span>", "b", "not hidden"),
        ("<span aria-hidden>b</span>", "b", "undefined"),
        ("<main aria-hidden=true><p>b</p></main>", "b", "a page behind a dialog, which people read"),
        ("<div aria-hidden=true>b</div><ul><li aria-hidden=true>c</ul>", "b\nc", "slides, tabs"),
        ("<app-root aria-hidden=true><div>b</div></app-root>", "b", "blocks in an inline element"),
        ("<table><tr><td aria-hidden=true>b<td>c</table>", "b\tc", "cells"),
    ]);
}

#[test]
fn hidden_content_ends_with_its_element() {
    check(&[
        ("<p hidden>a<p>b", "b", "with the next paragraph"),
        ("<p hidden>a<div>b</div>", "b", "or block"),
        ("<p hidden>a<table><tr><td>b</table>", "b", "or table"),
        ("<p hidden>a<span>b</p>c", "c", "with what is open in it"),
        ("<div><p hidden>a</div>b", "b", "with what it is in"),
        ("<div><span hidden>a</div>b", "b", "inline, too"),
        ("<p><b hidden>a</p>b", "b", "with its paragraph"),
        ("<ul><li hidden>a<li>b</ul>c", "b\nc", "with the next item"),
        ("<ul><li hidden>a<ul><li>b</ul><li>c</ul>", "c", "not with one of a list within"),
        ("<dl><dt hidden>a<dd>b</dl>", "b", "a term"),
        ("<table><tr><td hidden>a<td>b<tr hidden><td>c<tr><td>d</table>", "b\nd", "cells and rows"),
        ("<table><tbody hidden><tr><td>a<tbody><tr><td>b</table>c", "b\nc", "groups of rows"),
        ("<table hidden><tr><td>a<table><tr><td>b</table>c</table>d", "d", "a table with a table in it"),
        ("<table><caption hidden>a<tr><td>b</table>", "b", "a caption"),
        ("<td hidden>a", "a", "a cell without a table is not one"),
        ("<select><option hidden>a<option>b</select>", "b", "options"),
        ("<button hidden>a<button>b</button>", "b", "a button"),
        ("<h1 hidden>a</h2>b", "b", "a heading, by the end of any"),
        ("<div hidden>a</p></span></b>b</div>c", "c", "by no end tag of another"),
        ("<div hidden>a<div>b</div>c</div>d", "d", "by its own alone"),
        ("<div hidden><table><tr><td>a</div>b</table></div>c", "c", "not from within a table"),
        ("<span hidden>a<div>b</span>c</div></span>d", "d", "not across a block"),
        ("<a href=x hidden>a<a href=y>b</a>", "b", "a link, where the next begins"),
        ("<b hidden>a<p>b</b>c</p>d", "c\nd", "what formats, across blocks"),
        ("<form hidden><div>a</form>b</div>c", "c", "a form, which keeps what is open in it"),
        ("<form hidden>a<form>b</form>c", "c", "a form, which cannot hold another"),
        ("<div hidden>a</body></html>b", "", "never, if nothing ends it"),
        (
            "<br hidden>a<img hidden alt=x>b<input hidden>c<hr hidden>d<wbr hidden>e",
            "abcde",
            "at once, where it holds nothing",
        ),
        ("<link hidden><meta hidden>a", "a", "at once, where it holds nothing"),
        ("<svg style='display:none'><g><text>a</g></svg>b", "b", "a drawing"),
        ("<svg style='display:none'><text>a<p>b", "b", "a drawing that is never ended"),
        ("<svg><path style='display:none'/></svg>a", "a", "at once, in a drawing"),
        (
            "<svg><foreignObject style='display:none'><p>a</foreignObject></svg>b",
            "",
            "not from within HTML in a drawing",
        ),
        ("<p/hidden/>a<p>b", "b", "a slash ends nothing in HTML"),
        ("<my-element hidden>a<my-other>b</my-other></my-element>c", "c", "the author's own elements"),
    ]);
    let deep = format!("<p hidden>a{}b{}<p>c", "<i>".repeat(2_000), "</i>".repeat(2_000));
    assert_eq!(page(&deep).text, "c", "however much is in it");
    let far = format!("{}<i hidden>a</i>{}b", "<div>".repeat(2_000), "</div>".repeat(2_000));
    assert_eq!(page(&far).text, "a\nb", "elements this deep are not told apart");
    for (text, expected, why) in [
        ("<div hidden='hidden'/>a", "a", "at once, by a slash"),
        ("<p hidden='hidden'><div>a</div>b</p>c", "c", "not by a block"),
        ("<p hidden='hidden'>a<br/>b</p>c", "c", "not by what holds nothing"),
        ("<td hidden='hidden'>a</td>b", "b", "a cell wherever it is"),
    ] {
        assert_eq!(xhtml(text).text, expected, "{why}, in XHTML: {text}");
    }
}

#[test]
fn links_and_metadata_in_hidden_content_count() {
    let html = "<div hidden><a href=x>a<img src=i alt=b></a><meta name=robots content=none></div>
                <a href=y><i aria-hidden=true>icon</i>Home</a>";
    let page = page(html);
    let path = |link: &HtmlLink| link.url.as_str().replace("https://example.org", "");
    let links: Vec<_> = page.links.iter().map(|link| (path(link), link.text.as_deref())).collect();
    let links: Vec<_> = links.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    assert_eq!(links, [("/dir/x", None), ("/dir/i", None), ("/dir/y", Some("Home"))], "links are followed");
    assert_eq!(page.robots.len(), 1, "what it asks of robots");
    let canonical = "<noscript hidden>text</noscript><link rel=canonical href=/x>";
    assert_eq!(super::page(canonical).canonical, None, "a text begins the body, seen or not");
}
