use super::*;

#[test]
fn visible_text() {
    let cases: &[(&str, &str, &str)] = &[
        ("", "", "nothing"),
        ("  a \n\t b  ", "a b", "white space collapses"),
        ("a <b>b</b>c<i> d </i> e", "a bc d e", "inline elements part nothing"),
        ("<p>a<p>b</p><div>c<div>d</div>e</div>f", "a\nb\nc\nd\ne\nf", "blocks are on separate lines"),
        ("<div><div><p></p></div></div>a", "a", "empty blocks leave no lines"),
        ("a<br>b<br/><br>c</br>d", "a\nb\nc\nd", "line breaks"),
        ("a<hr>b", "a\nb", "a rule"),
        ("<ul><li>a<li>b</ul><dl><dt>c<dd>d</dl>", "a\nb\nc\nd", "lists"),
        ("<table><tr><th>a<td>b</td><tr><td>c<td>d</table>", "a\tb\nc\td", "tables"),
        ("<pre>\n a\n  b\n</pre>c", "a\n  b\nc", "preformatted, not at the start of all text"),
        ("x<pre>\n a\n\n  b</pre>c", "x\n a\n\n  b\nc", "preformatted"),
        ("x<pre>a <b> b</b></pre>", "x\na  b", "preformatted, with tags"),
        ("<pre>a</pre>  b  c", "a\nb c", "no longer preformatted"),
        ("a</pre>  b", "a\nb", "an end without a start parts lines too, and that is all"),
        ("a<xmp>\n <b>\n</xmp>c", "a\n <b>\nc", "xmp"),
        ("a<plaintext> <b>\n</plaintext>", "a\n <b>\n</plaintext>", "plaintext"),
        ("&lt;p&gt; &amp; &eacute; &#x20AC; &nbsp;&bogus;", "<p> & é € \u{A0}&bogus;", "entities"),
        ("a &lt b <é> c <3 d", "a < b <é> c <3 d", "what looks like tags and is not"),
        ("a\0b", "ab", "NUL"),
        ("<svg>a\0b<![CDATA[c\0d]]></svg>", "a\u{FFFD}bc\u{FFFD}d", "NULs in foreign elements"),
        ("sof\u{AD}t&shy;hy&#173;phens", "softhyphens", "soft hyphens"),
        ("ze\u{200B}ro&#x200B;wi\u{2060}dth\u{FEFF}s", "zerowidths", "what shows nothing"),
        ("a \u{200B} b", "a b", "nor parts what is parted"),
        ("\u{FEFF}<p>\u{200B}</p>a", "a", "nor makes a line"),
        ("<pre>\u{200B}a\u{AD}b\n c</pre>", "ab\n c", "in preformatted text, too"),
        ("a<\u{AD}b&\u{200B}c<\u{FEFF}d<\u{ED}", "a<b&c<d<\u{ED}", "nor where the tokenizer cuts a character"),
        ("می\u{200C}خواهم क्\u{200D}ष 👩\u{200D}💻", "می\u{200C}خواهم क्\u{200D}ष 👩\u{200D}💻", "joiners are spelling"),
        ("\u{A9} \u{2026} \u{FF21} \u{200E}x", "\u{A9} \u{2026} \u{FF21} \u{200E}x", "their neighbours stay"),
        ("a\r\nb\rc", "a b c", "line ends of other systems"),
        ("<title>t</title><script>s</script><style>s</style>a", "a", "what is not shown"),
        (
            "<textarea>t</textarea><iframe>i</iframe><noframes>n</noframes><noembed>n</noembed>a",
            "a",
            "what is not shown",
        ),
        ("<template>t<p>u</template>a", "a", "templates"),
        ("<noscript>n</noscript>a", "na", "noscript: we run no scripts"),
        ("a<!-- b -->c", "ac", "comments"),
        ("<!doctype html>a", "a", "doctype"),
        ("<img alt=x>a", "a", "alternative texts"),
        ("<svg><title>t</title><desc>d<b>e</b></desc><text>a</text><style>s</style></svg>b", "ab", "SVG"),
        ("<svg><desc>d</svg>b", "", "an SVG description that never ends takes the rest along, as in a browser"),
        ("<svg><style>s<p>a", "a", "leaving SVG leaves its style"),
        ("<math><mi>x</mi><annotation>tex</annotation></math>a", "xa", "MathML's annotations"),
        ("<select><option>a<option>b</select>", "a\nb", "options"),
        ("<button>a</button><button>b</button>c", "a b c", "buttons"),
        ("<script>never ends", "", "a script that never ends"),
        ("a<title>never ends", "a", "a title that never ends"),
        ("a<b", "a", "a tag that never ends"),
        ("a<", "a<", "no tag at all"),
    ];
    for (html, expected, why) in cases {
        assert_eq!(page(html).text, *expected, "{why}: {html}");
    }
}

#[test]
fn text_is_limited() {
    let text_of = |html: &str, text_bytes_max| {
        let limits = HtmlLimits { text_bytes_max, ..HtmlLimits::default() };
        let page = extract(html, &PageSource::html(&url(PAGE)), &limits);
        (page.text, page.truncated.text)
    };
    assert_eq!(text_of("abc def", 7), ("abc def".to_owned(), false), "just fits");
    assert_eq!(text_of("abc def", 6), ("abc de".to_owned(), true), "cut");
    assert_eq!(text_of("abc def <p>ghi", 4), ("abc".to_owned(), true), "cut at a gap");
    assert_eq!(text_of("<pre>abc\n\ndef", 4), ("abc".to_owned(), true), "cut in preformatted text");
    assert_eq!(text_of("aé", 2), ("a".to_owned(), true), "never half a character");
    assert_eq!(text_of("a<é", 3), ("a<".to_owned(), true), "nor after a sign of markup that is text");
    assert_eq!(text_of("a\u{AD}bcd", 4), ("abcd".to_owned(), false), "what shows nothing takes no room");
    assert_eq!(text_of("&a\u{200B}b", 3), ("&ab".to_owned(), false), "even right after a sign of a reference");
    assert_eq!(text_of("&\u{200B}b", 2), ("&b".to_owned(), false), "and at the limit");
    assert_eq!(text_of("a b <a href=x>", 0), (String::new(), true), "no room at all");
}
