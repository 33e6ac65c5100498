use dragline_domain::feed::{Enclosure, FeedFormat, Person};
use proptest::prelude::*;

use super::*;

const ATOM: &str = "http://www.w3.org/2005/Atom";

fn feed(document: &str) -> Feed {
    let url = Url::parse("https://a.example/dir/feed").unwrap();
    read(document.as_bytes(), None, Some(&url)).unwrap_or_else(|| panic!("{document}")).stored()
}

fn atom(inner: &str) -> Feed {
    feed(&format!("<feed xmlns='{ATOM}'>{inner}</feed>"))
}

fn rss(inner: &str) -> Feed {
    feed(&format!(
        "<rss version='2.0' xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:atom='{ATOM}' \
         xmlns:content='http://purl.org/rss/1.0/modules/content/'><channel>{inner}</channel></rss>"
    ))
}

#[test]
fn atom_texts_are_read_by_their_type() {
    for (attributes, inner, expected, why) in [
        ("", "The &lt;b&gt; element", "The <b> element", "text, unless it says otherwise (RFC 4287, 3.1.1)"),
        ("type='text'", "&amp;lt; is an escape", "&lt; is an escape", "characters stand for themselves"),
        ("type='html'", "&lt;b&gt;Bold&lt;/b&gt; &amp;amp; more", "Bold & more", "the source of HTML"),
        ("type='html'", "<![CDATA[<p>One</p><p>Two</p>]]>", "One Two", "in another notation, with blocks"),
        (
            "type='xhtml'",
            "<x:div xmlns:x='http://www.w3.org/1999/xhtml'>The <x:b>&lt;b></x:b> element</x:div>",
            "The <b> element",
            "elements, with a prefix",
        ),
        ("type='text/plain'", "1 &lt; 2", "1 < 2", "a media type of text"),
        ("type='text/html; charset=utf-8'", "&lt;i>x&lt;/i>", "x", "one of HTML, with a parameter"),
        ("type='application/octet-stream'", "RXhhbXBsZQ==", "Example", "base64 of other types (4.1.3.3)"),
        ("mode='escaped' type='text/html'", "&lt;i>x&lt;/i>", "x", "Atom 0.3"),
        ("mode='base64'", "\n RXhh\n bXBsZQ==\n", "Example", "with line breaks"),
        ("mode='xml' type='application/xhtml+xml'", "<i>x</i> y", "x y", "elements"),
        ("", "nobody <b>escaped</b> this &lt;", "nobody escaped this <", "elements in a text"),
        ("type='html'", "caf&eacute;&nbsp;&unheard; &#233;", "caf\u{e9} &unheard; \u{e9}", "names of HTML"),
    ] {
        for name in ["title", "summary", "content"] {
            let read = atom(&format!("<entry><{name} {attributes}>{inner}</{name}></entry>"));
            let entry = &read.entries[0];
            let found = [&entry.title, &entry.summary, &entry.content].into_iter().find_map(Option::as_deref).unwrap();
            assert_eq!(crate::tree::in_one_line(found), expected, "{name} {attributes} {inner}: {why}");
        }
    }
    assert_eq!(atom("<entry><content src='/a'>x</content></entry>").entries[0].content, None, "it stands elsewhere");
}

#[test]
fn rss_texts_are_html_if_they_look_like_it() {
    for (inner, expected, why) in [
        ("<title>Tips on &lt;canvas&gt; and AT&amp;T</title>", "Tips on <canvas> and AT&T", "about an element"),
        ("<title>1 &lt; 2</title>", "1 < 2", "a comparison"),
        ("<title>&lt;b&gt;Bold&lt;/b&gt; news</title>", "Bold news", "an element with its end"),
        ("<title>Bed &amp;amp; breakfast</title>", "Bed & breakfast", "escaped twice"),
        ("<title>Caf&eacute;&nbsp;X</title>", "Caf\u{e9} X", "names of HTML, which XML does not have"),
        ("<dc:title>Only here</dc:title>", "Only here", "a module's, if there is no other"),
        ("<dc:title>There</dc:title><title>Here</title>", "Here", "its own goes first"),
        (
            "<media:title xmlns:media='http://search.yahoo.com/mrss/'>No</media:title><title>Yes</title>",
            "Yes",
            "another one's",
        ),
        ("<image><title>No</title></image><title>Yes</title>", "Yes", "that of a picture"),
    ] {
        assert_eq!(rss(inner).title.as_deref(), Some(expected), "{inner}: {why}");
        let item = rss(&format!("<item>{inner}</item>"));
        assert_eq!(item.entries[0].title.as_deref(), Some(expected), "{inner}: {why}");
    }
    let item = rss(
        "<item><description>a &lt;i&gt;b&lt;/i&gt;</description><content:encoded><![CDATA[<p>all</p>]]></content:encoded></item>",
    );
    let entry = &item.entries[0];
    assert_eq!((entry.summary.as_deref(), entry.content.as_deref()), (Some("a b"), Some("all")));
}

#[test]
fn names_are_matched_by_namespace() {
    let whole = |feed: Feed| {
        let entry = &feed.entries[0];
        (feed.title, entry.title.clone(), entry.summary.clone(), feed.authors.first().and_then(|of| of.name.clone()))
    };
    let expected = || {
        let text = |text: &str| Some(text.to_owned());
        (text("Log"), text("One"), text("first"), text("Ann"))
    };
    for (document, why) in [
        (
            format!("<feed xmlns='{ATOM}'><title>Log</title><author><name>Ann</name></author><entry><title>One</title><summary>first</summary></entry></feed>"),
            "Atom without a prefix",
        ),
        (
            format!("<a:feed xmlns:a='{ATOM}'><a:title>Log</a:title><title>No</title><a:author><a:name>Ann</a:name></a:author><a:entry><a:title>One</a:title><summary>no</summary><a:summary>first</a:summary></a:entry></a:feed>"),
            "Atom with one: what has none is not Atom",
        ),
        (
            format!("<feed xmlns='{ATOM}' xmlns:x='http://x.example/'><x:title>No</x:title><title>Log</title><author><x:name>No</x:name><name>Ann</name></author><x:entry><title>No</title></x:entry><entry><title>One</title><summary>first</summary></entry></feed>"),
            "another vocabulary's names",
        ),
        (
            "<feed><title>Log</title><author><name>Ann</name></author><entry><title>One</title><summary>first</summary></entry></feed>".to_owned(),
            "Atom of those who forget the namespace",
        ),
        (
            "<rss><channel><title>Log</title><managingEditor>a@b.example (Ann)</managingEditor><item><title>One</title><description>first</description></item></channel></rss>".to_owned(),
            "RSS has none",
        ),
        (
            "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:r='http://purl.org/rss/1.0/' xmlns:d='http://purl.org/dc/elements/1.1/'><r:channel><r:title>Log</r:title><d:creator>Ann</d:creator></r:channel><r:item><r:title>One</r:title><r:description>first</r:description></r:item></rdf:RDF>".to_owned(),
            "RSS 1.0 with prefixes of its own",
        ),
        (
            "<rss><channel><title>Log</title><dc:creator>Ann</dc:creator><item><title>One</title><description>first</description></item></channel></rss>".to_owned(),
            "a prefix that nobody declares is what all take it for",
        ),
    ] {
        assert_eq!(whole(feed(&document)), expected(), "{document}: {why}");
    }
    let formats = |document: &str| (feed(document).format, feed(document).version);
    assert_eq!(formats("<rss version='0.92'/>"), (FeedFormat::Rss, Some("0.92".into())));
    assert_eq!(formats(&format!("<feed xmlns='{ATOM}'/>")), (FeedFormat::Atom, Some("1.0".into())));
    assert_eq!(
        formats("<feed version='0.3' xmlns='http://purl.org/atom/ns#'/>"),
        (FeedFormat::Atom, Some("0.3".into()))
    );
    for other in ["<html><title>x</title></html>", "", "text", "<urlset/>"] {
        assert_eq!(read(other.as_bytes(), None, None), None, "{other} is not a feed");
    }
}

#[test]
fn authors_have_names() {
    let person = |name: &str, email: Option<&str>, url: Option<&str>| Person {
        name: Some(name.to_owned()),
        email: email.map(str::to_owned),
        url: url.map(str::to_owned),
    };
    let read = atom(
        "<author><name>A</name><email>a@b.example</email><uri>/a</uri></author><contributor><name>No</name></contributor>\
         <entry><author><name>B</name></author><author><name>C</name></author><source><author><name>No</name></author></source></entry>",
    );
    assert_eq!(read.authors, [person("A", Some("a@b.example"), Some("https://a.example/a"))]);
    assert_eq!(read.entries[0].authors, [person("B", None, None), person("C", None, None)]);
    let read = rss(
        "<managingEditor>a@b.example (Ann)</managingEditor><item><author>a@b.example</author><dc:creator>Bo</dc:creator></item>\
         <item><author>c@b.example (Cy)</author><dc:creator>No</dc:creator></item><item><author>d@b.example</author></item>",
    );
    assert_eq!(read.authors, [person("Ann", Some("a@b.example"), None)]);
    assert_eq!(read.entries[0].authors, [person("Bo", None, None)], "a name goes before an address");
    assert_eq!(read.entries[1].authors, [person("Cy", Some("c@b.example"), None)], "its own before a module's");
    assert_eq!(read.entries[2].authors[0].display_name(), Some("d@b.example"), "better than nobody");
}

#[test]
fn links_dates_and_files_are_read() {
    let entry = |feed: Feed| feed.entries.into_iter().next().unwrap();
    let text = |text: &str| Some(text.to_owned());
    let read = rss(
        "<link>https://a.example/</link><atom:link rel='self' href='/feed'/><lastBuildDate>Thu, 04 Mar 2021 10:00:00 GMT</lastBuildDate>\
         <item><title>T</title><guid>https://a.example/1</guid><pubDate>Wed, 3 Mar 2021 10:00:00 +0100</pubDate>\
         <category>x</category><category>y</category><category>x</category>\
         <enclosure url='/a.mp3?x=1&amp;y=2' length='12' type='audio/mpeg'/></item>\
         <item><link>/2</link><guid>https://a.example/no</guid></item><item><guid isPermaLink='false'>https://a.example/3</guid></item>\
         <item><guid>3</guid></item>",
    );
    assert_eq!(
        (read.link.clone(), read.updated.clone()),
        (text("https://a.example/"), text("2021-03-04T10:00:00+00:00"))
    );
    let links: Vec<_> = read.entries.iter().map(|entry| entry.link.as_deref()).collect();
    let expected = [Some("https://a.example/1"), Some("https://a.example/2"), None, None];
    assert_eq!(links, expected, "by itself, by its link, and by no identifier that is not a URL");
    let first = entry(read);
    assert_eq!((first.id, first.published), (text("https://a.example/1"), text("2021-03-03T10:00:00+01:00")));
    assert_eq!(first.categories, ["x", "y"]);
    let file =
        Enclosure { url: "https://a.example/a.mp3?x=1&y=2".into(), media_type: text("audio/mpeg"), bytes: Some(12) };
    assert_eq!(first.enclosures, [file]);

    let read = atom(
        "<link rel='self' href='x'/><link href='/'/><id>urn:f</id><updated>2021-03-04T00:00:00Z</updated>\
         <entry xml:base='/e/'><link rel='alternate' href='1'/><link rel='enclosure' href='f.pdf' length='?'/><id>urn:e</id>\
         <published>2021-03-03</published><category term='t' label='T'/><category label='L'/></entry>",
    );
    assert_eq!((read.link.clone(), read.id.clone()), (text("https://a.example/"), text("urn:f")));
    let first = entry(read);
    assert_eq!((first.link, first.published), (text("https://a.example/e/1"), text("2021-03-03")), "as xml:base says");
    assert_eq!(first.categories, ["t", "L"]);
    assert_eq!(
        first.enclosures,
        [Enclosure { url: "https://a.example/e/f.pdf".into(), media_type: None, bytes: None }]
    );

    let read = atom("<entry><link rel='enclosure'>/no</link><link rel='alternate'>/yes</link></entry>");
    assert_eq!(entry(read).link, text("https://a.example/yes"), "as RSS has it");

    let dated = |inner: &str| {
        let entry = entry(rss(&format!("<item>{inner}</item>")));
        (entry.published, entry.updated)
    };
    assert_eq!(
        dated("<dc:date>2021-03-03</dc:date>"),
        (text("2021-03-03"), text("2021-03-03")),
        "the only date there is"
    );
    assert_eq!(
        dated("<dc:date>2021-03-04</dc:date><pubDate>2021-03-03</pubDate>"),
        (text("2021-03-03"), text("2021-03-04")),
        "what says less is for what nothing else says"
    );
    assert_eq!(dated("<pubDate>soon</pubDate>"), (text("soon"), None), "as it is written");
}

#[test]
fn hostile_feeds_are_cut() {
    let many = |inner: &str, times: usize| format!("<rss><channel>{}", inner.repeat(times));
    let bindings: String = (0..5_000).map(|n| format!("xmlns:n{n}='http://n.example/{n}' ")).collect();
    for (document, is_cut, why) in [
        (many("<item/>", 20_000), true, "many entries"),
        (many("<item><title>xxxxxxxxxxxxxxxxxxxx</title>", 200_000), true, "entries in entries are too deep"),
        (format!("<rss><channel><item><description>{}", "x".repeat(1 << 20)), true, "a long text"),
        (many(&format!("<item><description>{}</description></item>", "x".repeat(100_000)), 60), true, "many texts"),
        (many("<channel>", 100_000), true, "deep channels"),
        (many("<a>", 100_000), true, "deep elements of another kind"),
        (format!("<rss><item><category>{}", "x</category><category>".repeat(100_000)), false, "one name often"),
        (
            format!("<rss><item>{}", (0..1_000).map(|n| format!("<category>{n}</category>")).collect::<String>()),
            true,
            "many names",
        ),
        (many("</channel></rss>", 100_000), false, "ends of nothing"),
        (
            format!("<feed xmlns='{ATOM}'><title type='xhtml'>{}", "<b>".repeat(100_000)),
            true,
            "deep elements in a text",
        ),
    ] {
        let read = read(document.as_bytes(), None, None).unwrap();
        assert_eq!(read.is_cut, is_cut, "{why}");
        assert!(read.feed.entries.len() <= ENTRIES_MAX, "{why}");
        let stored = serde_json::to_string(&read.stored()).unwrap();
        assert!(stored.len() < 16 << 20, "{why}");
    }
    let many_prefixes = format!("<rss {bindings}><channel>{}", "<n1:a/>".repeat(100_000));
    assert_eq!(read(many_prefixes.as_bytes(), None, None), None, "more prefixes than anybody has");
    let after = rss("</channel></rss><title>T</title>");
    assert_eq!(after.title.as_deref(), Some("T"), "what follows a mistake is read");
    let declared =
        feed("<!DOCTYPE rss [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><rss><channel><title>&b;</title></channel></rss>");
    assert_eq!(declared.title.as_deref(), Some("&b;"), "nothing grows");
    let broken = feed("<rss><channel><item><title>One</title></item><item><title>Two");
    assert_eq!(broken.entries.len(), 2, "as far as it goes");
    let latin = read(
        b"<?xml version='1.0' encoding='iso-8859-1'?><rss><channel><title>caf\xE9</title></channel></rss>",
        None,
        None,
    );
    assert_eq!(latin.unwrap().stored().title.as_deref(), Some("caf\u{e9}"), "in the character set that it declares");
}

proptest! {
    #[test]
    fn reading_any_bytes_is_deterministic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let document = [b"<rss><channel><item>".as_slice(), &bytes].concat();
        prop_assert_eq!(read(&document, None, None), read(&document, None, None));
    }

    #[test]
    fn a_text_that_is_escaped_is_read_back(text in "[ -~\u{a1}-\u{ff}]{1,60}") {
        let escaped = quick_xml::escape::escape(&text);
        let read = atom(&format!("<entry><title type='text'>{escaped}</title></entry>"));
        let expected = crate::tree::in_one_line(&text);
        prop_assert_eq!(read.entries[0].title.clone().unwrap_or_default(), expected);
    }
}
