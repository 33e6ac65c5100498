use super::super::tests::assert_flaws;
use super::*;

#[track_caller]
fn assert_body(body: &str, expected: &[&str], why: &str) {
    let mut flaws = Flaws::default();
    check(&format!("<!DOCTYPE html><title>x</title>\n{body}"), &mut flaws);
    assert_flaws(flaws, expected, &format!("{body}: {why}"));
}

#[test]
fn valid_pages_have_no_flaws() {
    for (body, why) in [
        ("<p>a<p>b<ul><li>c<li>d</ul>", "end tags that may be missing"),
        ("<table><caption>x<tr><td>a<th>b<tr><td>c</table>", "so may those of tables"),
        ("<table><colgroup><col><tbody><tr><td></td></tr></tbody><tfoot></tfoot></table>", "written out"),
        ("<table>\n<!-- x --><script>1</script><tr><td><table><tr><td></table></table>", "in one another"),
        ("<dl><dt>a<dd>b<dt>c</dl><select><option>a<option>b</select>", "lists"),
        ("<ruby>a<rt>b<rp>c</ruby>", "ruby"),
        ("<br/><img src=a /><input><wbr>", "void elements"),
        ("<svg><path/><g><circle/></g><title>t</title><a/></svg><math><mi>x</mi></math>", "foreign elements"),
        ("<svg><foreignObject><div><p>a</div></foreignObject></svg>", "HTML in SVG"),
        ("<svg><![CDATA[<b>]]></svg>", "CDATA in SVG"),
        ("<my-element my-attribute>x</my-element>", "custom elements"),
        ("<script>if (a<b) '<div>' && '</p>'</script><style>a>b{}</style><textarea><b></textarea>", "not parsed"),
        ("<a href='?a=1&copy=2&b'>x & y &amp; &lt; &xyzzy</a>", "ampersands"),
        ("<p><b>a</b><i>b</i></p><a href=x><div><h1>x</h1></div></a>", "a link around blocks"),
        ("<template><tr><td id=a></td></tr></template><p id=a>", "templates are apart"),
        ("<p id=a><p id=A>", "other letters are another id"),
        ("<main></main><main hidden></main>", "one is hidden"),
        ("<p><noscript><img id=a></noscript><img id=a>", "only one of them is there"),
        ("<button><p>x</button><object><p>a</object>", "scopes"),
        ("<form><p><input></form><label>x<input></label>", "forms"),
        ("<head></head>", ""),
    ] {
        if !body.starts_with("<head") {
            assert_body(body, &[], why);
        }
    }
    for (page, why) in [
        (
            "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8><title>x</title>\n</head>\n<body>\n<p>x</p>\n</body>\n</html>\n<!-- x -->\n",
            "written out",
        ),
        ("<!DOCTYPE HTML SYSTEM 'about:legacy-compat'><title>x</title>", "by tools that need it"),
        ("<!-- x --><!DOCTYPE html><html><title>x</title><body></html>", "end tags missing"),
        (
            "<!DOCTYPE html><head><title>x</title><noscript><link rel=a><style>b{}</style></noscript></head><body>",
            "a noscript in the head",
        ),
        ("<!DOCTYPE html>\r\n<title>x</title>\r\n<p>", "other line breaks"),
    ] {
        let mut flaws = Flaws::default();
        check(page, &mut flaws);
        assert_flaws(flaws, &[], &format!("{page}: {why}"));
    }
}

#[test]
fn errors_of_nesting_are_found() {
    for (body, expected, why) in [
        ("<div><span></div>", &["2:6 unclosed-element"][..], "an element that is not closed"),
        ("<div>", &["2:1 unclosed-element"], "until the end"),
        ("<div></body>", &["2:1 unclosed-element"], "until the end of the body"),
        ("</div>", &["2:1 stray-end-tag"], "nothing is open"),
        ("<p><div></div></p>", &["2:15 stray-end-tag"], "the div has ended the p"),
        ("</br>", &["2:1 stray-end-tag"], "a void element"),
        ("<b><i>x</b></i>", &["2:8 misnested"], "crossed"),
        ("<p><span><div></div>", &["2:4 unclosed-element"], "the p ends in a span"),
        ("<a>x<a>y</a>", &["2:5 nested-element"], "a link in a link"),
        ("<a>x<em><a>y</a></em></a>", &["2:9 nested-element"], "a link deeper in a link"),
        ("<h1>x<h2>y</h2>", &["2:6 nested-element"], "a heading in a heading"),
        ("<h1>x</h2>", &["2:6 stray-end-tag"], "the wrong heading"),
        ("<form><form></form></form>", &["2:7 nested-element"], "a form in a form"),
        ("<div/>", &["2:1 self-closing", "2:1 unclosed-element"], "not closed by a slash"),
        ("<table><tr><td><div></table>", &["2:16 unclosed-element"], "a cell with something open"),
        ("<table><div></div><tr><td>x</table>", &["2:8 misplaced-in-table"], "between rows"),
        ("<table>x<tr><td>x</table>", &["2:8 misplaced-in-table"], "text between rows"),
        ("<table><td>x</table>", &["2:8 misplaced-in-table"], "a cell without a row"),
        ("<td>", &["2:1 stray-start-tag"], "a cell without a table"),
        ("<p></p><title>y</title><body>", &["2:24 stray-start-tag"], "a body that has begun"),
        ("</body><p>", &["2:8 after-body"], "behind the body"),
        ("<svg><p></svg>", &["2:6 html-in-svg"], "HTML in SVG"),
        ("<ul><li><span></li></ul>", &["2:9 unclosed-element"], "an item with something open"),
    ] {
        assert_body(body, expected, why);
    }
}

#[test]
fn errors_in_tags_and_documents_are_found() {
    for (body, expected, why) in [
        ("<p a=1 a=2>", &["2:8 duplicate-attribute"][..], "an attribute twice"),
        ("<p a='1'b='2'>", &["2:9 missing-whitespace-between-attributes"], "no blank"),
        ("<p a\"b>", &["2:5 unexpected-character-in-attribute-name"], "a quote"),
        ("<p a=>", &["2:6 missing-attribute-value"], "no value"),
        ("a &copy b", &["2:8 missing-semicolon-after-character-reference"], "no semicolon"),
        ("a &#0; b", &["2:6 null-character-reference"], "nothing"),
        ("<p b", &["2:5 eof-in-tag"], "cut in a tag"),
        ("<!-- x", &["2:7 eof-in-comment"], "cut in a comment"),
        ("<p id=a>\n<p id=b><b id=a></b>", &["3:12 duplicate-id"], "the same id again"),
        ("<p id=''><p id='a b'>", &["2:4 bad-id", "2:13 bad-id"], "ids that none can be"),
        ("<main></main><main></main>", &["2:14 second-main"], "two main parts"),
    ] {
        assert_body(body, expected, why);
    }
    for (page, expected, why) in [
        ("<title>x</title>", &["1:1 no-doctype"][..], "no doctype"),
        ("<!DOCTYPE html PUBLIC '-//W3C//DTD HTML 4.01//EN'><title>x</title>", &["1:1 obsolete-doctype"], "an old one"),
        ("<!DOCTYPE html>", &["1:1 no-title"], "no title"),
        ("<!DOCTYPE html><title> </title>", &["1:16 empty-title"], "an empty one"),
        ("<!DOCTYPE html><head><title>x</title></head><link><body>", &["1:45 between-head-and-body"], "between"),
        ("", &["1:1 no-doctype", "1:1 no-title"], "nothing"),
    ] {
        let mut flaws = Flaws::default();
        check(page, &mut flaws);
        assert_flaws(flaws, expected, &format!("{page}: {why}"));
    }
}
