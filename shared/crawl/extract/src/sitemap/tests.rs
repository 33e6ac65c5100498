//! The links in sitemaps as sites write them.

use dragline_domain::content::ContentLevel;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_formats::deflated::{CompressionGoal, gzip};
use dragline_formats::http_fields::Headers;

use super::*;
use crate::{Settings, Source, extract_as, sitemap_changes};

/// Returns the links of a body as paths, or as whole URLs if they are elsewhere, with `+` before
/// sitemaps, and the kind before what extensions add; then the kind of body, and the reason if it
/// is not a sitemap.
fn read(path: &str, content_type: &str, body: &[u8], read_as: ReadAs) -> Vec<String> {
    let rules = UrlRules::default();
    let url = CrawlUrl::parse(&format!("https://a.example{path}"), &rules).unwrap();
    let headers = Headers::from_iter([("Content-Type", content_type)]);
    let settings = Settings::at(ContentLevel::Text, &rules);
    let unread = match extract_as(&Source { url: &url, headers: &headers, body }, &settings, read_as) {
        Ok(page) => return ["a page".to_owned()].into_iter().chain(page.remark).collect(),
        Err(unread) => unread,
    };
    let found = unread.links.iter().map(|link| {
        let mark = match link.kind {
            LinkKind::Sitemap => "",
            LinkKind::SitemapFile => "+",
            LinkKind::Alternate => "other language: ",
            LinkKind::Img => "picture: ",
            LinkKind::Video => "video: ",
            _ => panic!("{link:?}"),
        };
        format!("{mark}{}", link.target.as_str().trim_start_matches("https://a.example"))
    });
    found.chain(unread.detail).collect()
}

fn urlset(entries: &str) -> String {
    format!("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{entries}</urlset>")
}

#[test]
fn listed_urls_are_found() {
    let one = urlset("<url><loc>https://a.example/1</loc></url>");
    let late = format!("<?xml version='1.0'?><!-- {} -->{one}", "generated ".repeat(500));
    let compressed = gzip(one.as_bytes(), CompressionGoal::Time);
    let many = urlset(&(0..ENTRIES_MAX + 10).map(|n| format!("<url><loc>/{n}</loc></url>")).collect::<String>());
    let found = read("/sitemap.xml", "text/xml", many.as_bytes(), ReadAs::Typed);
    assert_eq!(found.len(), ENTRIES_MAX, "as many as there may be");
    for (path, content_type, body, expected, why) in [
        ("/sitemap.xml", "application/xml", one.as_bytes(), &["/1"][..], "a sitemap"),
        ("/sitemap.xml", "text/plain", one.as_bytes(), &["/1"], "under another type"),
        ("/x", "application/octet-stream", one.as_bytes(), &["/1"], "under any name"),
        ("/x", "application/xml", late.as_bytes(), &["/1"], "with much before its root"),
        ("/sitemap.xml.gz", "application/x-gzip", &compressed, &["/1"], "a file that is compressed"),
        ("/sitemap.xml.gz", "application/octet-stream", &compressed, &["/1"], "whatever it is called"),
        ("/sitemap.xml.gz", "application/x-gzip", &compressed[..compressed.len() / 2], &[], "half of it"),
        (
            "/i.xml",
            "text/xml",
            b"<?xml version='1.0'?><s:sitemapindex xmlns:s='x'><s:sitemap><s:loc>/2.xml</s:loc></s:sitemap></s:sitemapindex>",
            &["+/2.xml"],
            "an index, with a prefix",
        ),
        ("/f.xml", "text/xml", b"<feed><entry><loc>/a</loc></entry> urlset </feed>", &[], "another vocabulary"),
        ("/t.txt", "text/plain", b"https://a.example/1", &[], "and so is a text"),
        ("/h", "text/html", one.as_bytes(), &["a page"], "a page is one"),
        (
            "/robots.txt",
            "text/plain",
            b"\xef\xbb\xbfSitemap: /1.xml\r\nUser-agent: *\nDisallow: /x\nSITEMAP :https://b.example/2.xml\nsitemap:\n#sitemap: /no",
            &["+/1.xml", "+https://b.example/2.xml"],
            "robots.txt, in any group",
        ),
        ("/robots.txt?x", "text/plain", b"Sitemap: /1.xml", &[], "not robots.txt"),
        ("/a/robots.txt", "text/plain", b"Sitemap: /1.xml", &[], "nor this"),
    ] {
        assert_eq!(read(path, content_type, body, ReadAs::Typed), expected, "{why}");
    }
}

#[test]
fn entries_say_when_they_changed_last() {
    let lastmod = |text: &str| LastMod::new(text.parse().unwrap());
    let [day, second] = ["2026-11-23T00:00:00Z", "2026-11-23T10:00:00Z"].map(lastmod);
    for (body, expected, why) in [
        (
            "<urlset><url><loc>/a</loc><lastmod>2026-11-23</lastmod></url><url><loc>/b</loc></url><url><lastmod>\n2026-11-23T11:00+01:00 </lastmod><loc>/c</loc></url></urlset>",
            &[("/a", day), ("/c", second)][..],
            "behind and before the URL",
        ),
        (
            "<sitemapindex><sitemap><loc>/1.xml</loc><lastmod>2026-11-23T10:00:00Z</lastmod></sitemap></sitemapindex>",
            &[("/1.xml", second)],
            "sitemaps of an index, too",
        ),
        (
            "<urlset><url><loc>/a<lastmod>2026-11-23</url><url><loc>/b<lastmod>2026-11-23T10:00:00Z</url></urlset>",
            &[("/a", day), ("/b", second)],
            "elements that nobody closed",
        ),
        (
            "<urlset><url><loc>/a</loc><lastmod>2026-11</lastmod></url><url><loc>/b</loc><lastmod>yesterday</lastmod></url></urlset>",
            &[],
            "a month is too long, and words say nothing",
        ),
        (
            "<urlset xmlns:n='n'><url><loc>/a</loc><n:lastmod>2026-11-23</n:lastmod></url><lastmod>2026-11-23</lastmod></urlset>",
            &[],
            "another vocabulary, and no entry",
        ),
        (
            "<urlset><url><loc>/a</loc><lastmod>2026-11-23</lastmod><changefreq>daily</changefreq></url><url><loc>/b</loc><priority>1</priority></url></urlset>",
            &[("/a", day)],
            "other fields",
        ),
        ("https://a.example/a", &[], "a list of URLs"),
    ] {
        let url = CrawlUrl::parse("https://a.example/map.xml", &UrlRules::default()).unwrap();
        let headers = Headers::from_iter([("Content-Type", "text/xml")]);
        let source = Source { url: &url, headers: &headers, body: body.as_bytes() };
        let rules = UrlRules::default();
        let changes = sitemap_changes(&source, &Settings::at(ContentLevel::Text, &rules));
        let changes: Vec<_> = changes.iter().map(|(url, lastmod)| (url.path_and_query(), *lastmod)).collect();
        assert_eq!(changes, expected, "{why}");
    }
}

#[test]
fn sitemaps_are_read_as_sites_write_them() {
    for (body, expected, why) in [
        (
            "<urlset><url><loc>\n https://a.example/?a=1&amp;b=2 </loc><lastmod>2026</lastmod></url><url><loc>é</loc></url></urlset>",
            &["/?a=1&b=2", "/%C3%A9"][..],
            "no namespace, entities, spaces and other letters",
        ),
        (
            "<urlset xmlns='http://www.google.com/schemas/sitemap/0.84'><url><loc>/a</loc></url></urlset>",
            &["/a"],
            "another namespace",
        ),
        (
            "<urlset xmlns='https://www.sitemaps.org/schemas/sitemap/0.9/'><url><loc>/a</loc></url></urlset>",
            &["/a"],
            "https in it",
        ),
        (
            "<sm:urlset xmlns:sm='x'><url><loc>/a</loc></url><sm:url><sm:loc>/b</sm:loc></sm:url></sm:urlset>",
            &["/a", "/b"],
            "a prefix here and there",
        ),
        ("<URLSET><URL><LOC>/a</LOC></URL></URLSET>", &["/a"], "upper case"),
        ("<SitemapIndex><Sitemap><Loc>/a.xml</Loc></Sitemap></SitemapIndex>", &["+/a.xml"], "mixed case"),
        (
            "<urlset><url><loc>/?a=1&b=2&copy;=3&x</loc></url></urlset>",
            &["/?a=1&b=2&copy;=3&x"],
            "ampersands that nobody escaped",
        ),
        (
            "<urlset><url><loc><![CDATA[/?a=1&b=2]]></loc></url><url><loc>/c<![CDATA[?d&e]]></loc></url></urlset>",
            &["/?a=1&b=2", "/c?d&e"],
            "CDATA, whole and in part",
        ),
        ("<urlset><url><loc>/a&#47;b&#x2F;c</loc></url></urlset>", &["/a/b/c"], "characters by number"),
        ("<urlset><url><loc>https://a.example/\n   a/b\n</loc></url></urlset>", &["/a/b"], "a URL on two lines"),
        (
            "<urlset xmlns:image='i'><url><loc>/a</loc><image:image><image:loc>/picture.png</image:loc></image:image><image:loc>/no</image:loc></url></urlset>",
            &["/a", "picture: /picture.png"],
            "pictures are no pages, and have a place of their own",
        ),
        (
            "<urlset><url><image xmlns='i'><loc>/picture.png</loc></image><loc>/a</loc></url></urlset>",
            &["/a", "picture: /picture.png"],
            "of another namespace without a prefix, either",
        ),
        (
            "<urlset><url><loc>/a</loc><xhtml:link rel='alternate' hreflang='de' href='/de'/><video:video><video:content_loc>/v</video:content_loc></video:video><news:news><news:title>https://a.example/t</news:title></news:news></url><url><loc>/b</loc></url></urlset>",
            &["/a", "/b", "other language: /de", "video: /v"],
            "extensions",
        ),
        ("<urlset><url><loc>/a</loc></url><url><loc>/a</loc></url></urlset>", &["/a"], "each is named once"),
        (
            "<urlset><url><loc>javascript:alert(1)</loc></url><url><loc>https://b.example/</loc></url><url><loc></loc></url><url><loc>/c</loc>",
            &["https://b.example/", "/c"],
            "what can be crawled, up to where it breaks off",
        ),
        ("<urlset><url><loc>/a</loc></url><url><loc>/b</lo", &["/a", "/b"], "broken off behind a URL"),
        ("<urlset><url><loc>/a</loc></url><url><loc>/b", &["/a"], "broken off in a URL"),
        (
            "<urlset><url><loc>/a<lastmod>2026</url><url><loc>/b</loc></url></urlset>",
            &["/a", "/b"],
            "elements that nobody closed",
        ),
        (
            "<urlset><url><lastmod>2026<loc>/a</loc></url><url><loc>/b</loc></url></urlset>",
            &["/a", "/b"],
            "before the URL as well",
        ),
        (
            "<urlset><url><loc><url><![CDATA[https://a.example/a]]></url></loc></url></urlset>",
            &["/a"],
            "one in the other",
        ),
        ("<urlset><loc>/a</loc></urlset>", &["/a"], "without an entry"),
        (
            "<sitemapindex><sitemap>\nhttps://a.example/a.xml?b&amp;c\n</sitemap><sitemap>no URL</sitemap></sitemapindex>",
            &["+/a.xml?b&c"],
            "without `loc`",
        ),
        ("<sitemapindex><url><loc>/a.xml</loc></url></sitemapindex>", &["+/a.xml"], "an index names sitemaps"),
        (
            "<urlset><url><loc>/a</loc></url><sitemap><loc>/a.xml</loc></sitemap></urlset>",
            &["/a", "+/a.xml"],
            "and so does an entry that says so",
        ),
        (
            "<?xml version='1.0'?><?xml-stylesheet href='s.xsl'?><!DOCTYPE urlset [<!ENTITY a 'b'>]><urlset><url><loc>/a</loc></url></urlset>",
            &["/a"],
            "a prolog",
        ),
    ] {
        assert_eq!(read("/s.xml", "text/xml", body.as_bytes(), ReadAs::Typed), expected, "{why}");
        assert_eq!(
            read("/s.xml", "text/html", body.as_bytes(), ReadAs::Sitemap),
            expected,
            "named, and called a page: {why}"
        );
    }
}

#[test]
fn a_body_named_as_a_sitemap_is_one_whatever_its_type() {
    let one = urlset("<url><loc>https://a.example/1</loc></url>");
    let utf_16 = |mark: &str, text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        format!("{mark}{text}").encode_utf16().flat_map(bytes).collect()
    };
    let twice = gzip(&gzip(one.as_bytes(), CompressionGoal::Time), CompressionGoal::Time);
    let listed = gzip(b"https://a.example/1\nhttps://a.example/2", CompressionGoal::Time);
    let long = urlset(&(0..2_000).map(|n| format!("<url><loc>/{n}</loc></url>")).collect::<String>());
    let half = gzip(long.as_bytes(), CompressionGoal::Time);
    let found = read("/s.xml.gz", "text/html", &half[..half.len() / 2], ReadAs::Sitemap);
    assert!(found.len() > 100 && found[0] == "/0", "what came of a file that breaks off: {}", found.len());
    let late = format!("<?xml version='1.0'?><!-- {} -->{one}", "generated ".repeat(1_000));
    let rss = "<rss version='2.0'><channel><link>https://a.example/</link><atom:link href='/feed' rel='self'/><image><link>/i</link></image>
        <item><title>a</title><link> https://a.example/a?b&amp;c </link><guid>https://a.example/no</guid></item>
        <item><link>/d<![CDATA[?e&f]]></link><source url='/s'>s</source><description><![CDATA[<a href=/x>]]></description></item>
        <item><guid isPermaLink='false'>https://a.example/g</guid></item><item><guid>urn:x</guid></item>
        <item><title>t<link>/no</link></item><item><link>/last</link></item></channel></rss>";
    let rdf = "<rdf:RDF xmlns='http://purl.org/rss/1.0/'><channel><link>/no</link></channel><item rdf:about='/a'><link>/a</link></item></rdf:RDF>";
    let atom = "<?xml version='1.0'?><feed xmlns='http://www.w3.org/2005/Atom'><link href='/no'/><link rel='self' href='/feed'/>
        <entry><link rel='edit' href='/edit'/><link rel='alternate' type='text/html' href='/a?b&amp;c'/><link href='/second'/></entry>
        <entry><source><link href='/source'/></source><link href='/d'></link><content type='xhtml'><link href='/x'/></content></entry>
        <a:entry xmlns:a='x'><a:link href='/no'/></a:entry></feed>";
    for (content_type, body, expected, why) in [
        ("text/html", one.as_bytes(), &["/1"][..], "a page, says the server"),
        ("image/png", one.as_bytes(), &["/1"], "a picture"),
        ("text/css", one.as_bytes(), &["/1"], "a style sheet"),
        ("application/json", one.as_bytes(), &["/1"], "JSON"),
        ("text/html", late.as_bytes(), &["/1"], "with much before its root"),
        ("text/html", &gzip(one.as_bytes(), CompressionGoal::Time), &["/1"], "compressed"),
        ("text/html", &twice, &["/1"], "twice"),
        ("application/gzip", &listed, &["/1", "/2"], "a compressed list"),
        ("text/html", &utf_16("\u{feff}", &one, u16::to_le_bytes), &["/1"], "UTF-16"),
        ("application/xml", &utf_16("\u{feff}", &one, u16::to_be_bytes), &["/1"], "the other UTF-16"),
        (
            "text/xml",
            &utf_16("", &format!("<?xml version='1.0'?>{one}"), u16::to_le_bytes),
            &["/1"],
            "without its mark",
        ),
        ("text/plain", &utf_16("\u{feff}", "https://a.example/1\r\n", u16::to_le_bytes), &["/1"], "a list in UTF-16"),
        ("text/xml", format!("\u{feff}\u{feff}\n {one}").as_bytes(), &["/1"], "two marks and a blank line"),
        (
            "text/html",
            format!("<br />\n<b>Warning</b>: x in <b>y.php</b><br />{one}").as_bytes(),
            &["/1"],
            "a warning first",
        ),
        (
            "text/plain",
            b"\xef\xbb\xbfhttps://a.example/1\r\n\r\n HTTP://A.EXAMPLE/2 \n# no\n/no\nhttps://b.example/<\n",
            &["/1", "http://a.example/2", "https://b.example/%3C"],
            "a list",
        ),
        ("text/html", b"https://a.example/1\rhttps://a.example/1\rhttps://a.example/3", &["/1", "/3"], "one with CR"),
        ("text/plain", b"# my pages\nhttps://a.example/1", &["/1"], "one with a comment"),
        ("application/rss+xml", rss.as_bytes(), &["/a?b&c", "/d?e&f", "/g", "/last"], "RSS"),
        ("text/html", rdf.as_bytes(), &["/a"], "RSS 1.0"),
        ("application/atom+xml", atom.as_bytes(), &["/a?b&c", "/d"], "Atom"),
        (
            "text/html",
            b"<title>x</title><a href=/a>a</a>",
            &["a page", "not a sitemap: neither XML of that kind, nor a feed, nor a list of URLs"],
            "a page after all",
        ),
        (
            "application/pdf",
            b"%PDF-1.7 x",
            &["not a sitemap: neither XML of that kind, nor a feed, nor a list of URLs"],
            "something else",
        ),
        (
            "text/xml",
            b"",
            &["not a sitemap: neither XML of that kind, nor a feed, nor a list of URLs"],
            "nothing at all",
        ),
        ("text/xml", b"<urlset></urlset>", &["a sitemap without URLs"], "an empty one"),
        ("text/html", b"<rss><channel/></rss>", &["a sitemap without URLs"], "an empty feed"),
        (
            "text/xml",
            b"<urlset><url><loc>mailto:x</loc></url></urlset>",
            &["a sitemap without URLs"],
            "of nothing that can be crawled",
        ),
        ("text/xml", b"\x1f\x8b\x08\x00broken", &["not readable as a sitemap: its gzip is damaged"], "damaged"),
    ] {
        assert_eq!(read("/s", content_type, body, ReadAs::Sitemap), expected, "{why}");
    }
}

#[test]
fn robots_txt_names_sitemaps_whatever_its_type_is() {
    let robots = b"Sitemap: https://a.example/1.xml # all of them\nUser-agent: *\nSitemap: /2.xml\n";
    let utf_16: Vec<u8> = [0xFF, 0xFE].into_iter().chain(robots.iter().flat_map(|byte| [*byte, 0])).collect();
    for (path, content_type, body, expected, why) in [
        ("/robots.txt", "text/html", &robots[..], &["+/1.xml", "+/2.xml"][..], "a page, says the server"),
        ("/robots.txt", "application/octet-stream", robots, &["+/1.xml", "+/2.xml"], "bytes"),
        ("/robots.txt", "text/plain", &utf_16, &["+/1.xml", "+/2.xml"], "UTF-16"),
        ("/live.txt", "text/plain", robots, &["+/1.xml"], "elsewhere: what is relative is relative to nothing"),
        ("/robots.txt", "text/plain", b"User-agent: *\nDisallow:", &[], "none"),
        ("/robots.txt", "text/html", b"<!doctype html><p>Sitemap: /no", &["a page"], "a page instead"),
    ] {
        assert_eq!(read(path, content_type, body, ReadAs::Robots), expected, "{why}");
    }
}

#[test]
fn extensions_add_languages_pictures_and_videos() {
    for (entries, expected, why) in [
        (
            "<url><loc>/1</loc><xhtml:link rel='alternate' hreflang='de' href='/de/1?a&amp;b'/></url>",
            &["/1", "other language: /de/1?a&b"][..],
            "another language, with a reference",
        ),
        (
            "<url><loc>/1</loc><xhtml:link rel='alternate' hreflang='en' href='/1'/><xhtml:link rel='alternate' href='/2'/></url>
             <url><loc>/2</loc></url>",
            &["/1", "/2"],
            "those that are entries themselves, also later ones",
        ),
        ("<url><loc>/1</loc><xhtml:link rel='canonical' href='/2'/></url>", &["/1"], "another relation"),
        ("<url><xhtml:link rel='alternate'/><loc>/1</loc></url>", &["/1"], "without a target"),
        (
            "<url><image:image><image:loc> /1.png </image:loc><image:license>/l</image:license></image:image><loc>/1</loc>
             <image:image><image:loc>https://b.example/2.png</image:loc></image:image></url>",
            &["/1", "picture: /1.png", "picture: https://b.example/2.png"],
            "pictures, which may be on another site",
        ),
        (
            "<url><loc>/1</loc><video:video><video:thumbnail_loc>/t.jpg</video:thumbnail_loc><video:title>/t</video:title>
             <video:content_loc>/v.mp4</video:content_loc><video:player_loc>/p</video:player_loc></video:video></url>",
            &["/1", "picture: /t.jpg", "video: /v.mp4"],
            "a video, but not the page that plays it",
        ),
        ("<url><loc>/1</loc><news:news><news:title>/n</news:title></news:news></url>", &["/1"], "news have no URLs"),
        ("<url><loc>/1</loc><image:image><image:loc>/1.png", &["/1", "picture: /1.png"], "what nobody closed"),
    ] {
        assert_eq!(read("/s.xml", "text/xml", urlset(entries).as_bytes(), ReadAs::Sitemap), expected, "{entries}: {why}");
    }
    let many = urlset(&format!(
        "<url><loc>/</loc>{}</url><url><loc>/last</loc></url>",
        "<image:image><image:loc>/x.png?1</image:loc></image:image>".repeat(ENTRIES_MAX + 1)
    ));
    assert_eq!(read("/s.xml", "text/xml", many.as_bytes(), ReadAs::Sitemap), ["/", "/last", "picture: /x.png?1"]);
}

#[test]
fn a_sitemap_that_nobody_names_is_read_only_if_it_is_one() {
    let one = urlset("<url><loc>/1</loc></url>");
    let not_one = "not a sitemap: neither XML of that kind, nor a feed, nor a list of URLs";
    for (path, content_type, body, expected, why) in [
        ("/sitemap.xml", "text/html", one.as_str(), &["/1"][..], "a sitemap, whatever its type"),
        ("/sitemap.xml", "text/html", "<p><a href=/x>Not found", &[not_one], "a page stands for a missing one"),
        ("/map/", "text/html", "<p><a href=/x>Welcome", &["a page"], "a page that it redirects to is one"),
        ("/map.xml", "text/html", &one, &["/1"], "and so is a sitemap, whatever its type"),
    ] {
        assert_eq!(read(path, content_type, body.as_bytes(), ReadAs::SitemapTrial), expected, "{why}");
    }
}
