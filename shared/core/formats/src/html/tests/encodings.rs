//! The queries of links are in the page's encoding (WHATWG HTML, "encoding-parse a URL").

use super::*;
use crate::charset::decode;

/// Reads a page in an encoding, as fetched: its bytes are decoded, and the text is parsed.
fn page_in(encoding: &str, html: &str) -> Page {
    let encoding = encoding_rs::Encoding::for_label(encoding.as_bytes()).expect("the tests' labels are good");
    let bytes: Vec<u8> = match encoding.name() {
        "UTF-16LE" => html.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        "UTF-16BE" => html.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        _ => encoding.encode(html).0.into_owned(),
    };
    let decoded = decode(&bytes, Some(encoding.name()));
    read_in(decoded.encoding, &decoded.text)
}

fn read_in(encoding: &str, text: &str) -> Page {
    extract(text, &PageSource { encoding, ..PageSource::html(&url(PAGE)) }, &HtmlLimits::default())
}

/// Returns one link, without the page's own origin and directory.
fn link_in(encoding: &str, reference: &str) -> String {
    let page = page_in(encoding, &format!("<a href=\"{reference}\">"));
    let [link] = &page.links[..] else { panic!("{reference} is one link: {:?}", page.links) };
    link.url.as_str().replace("https://example.org/dir/", "")
}

#[test]
fn queries_are_in_the_pages_encoding() {
    for (encoding, reference, expected, why) in [
        ("utf-8", "q?x=é", "q?x=%C3%A9", "UTF-8"),
        ("windows-1252", "q?x=é", "q?x=%E9", "Western"),
        ("iso-8859-1", "q?x=€", "q?x=%80", "which goes by many names"),
        ("windows-1251", "q?x=привет", "q?x=%EF%F0%E8%E2%E5%F2", "Cyrillic"),
        ("koi8-r", "q?x=п", "q?x=%D0", "in another way"),
        ("iso-8859-2", "q?x=ł", "q?x=%B3", "Central European"),
        ("shift_jis", "q?x=日本", "q?x=%93%FA%96{", "Japanese, whose second bytes may be ASCII, which stays itself"),
        ("shift_jis", "q?x=表", "q?x=%95\\", "even a backslash"),
        ("euc-jp", "q?x=日", "q?x=%C6%FC", "Japanese"),
        ("iso-2022-jp", "q?x=日a", "q?x=%1B$BF|%1B(Ba", "by escapes, which end with the run"),
        ("euc-kr", "q?x=한글", "q?x=%C7%D1%B1%DB", "Korean"),
        ("gb2312", "q?x=中文", "q?x=%D6%D0%CE%C4", "Chinese"),
        ("gbk", "q?x=😀", "q?x=%26%23128512%3B", "GBK has four bytes for nothing"),
        ("gb18030", "q?x=😀", "q?x=%949%FC6", "and its successor for everything"),
        ("big5", "q?x=中文", "q?x=%A4%A4%A4%E5", "Chinese of Taiwan"),
        ("windows-1252", "é?x=é", "%C3%A9?x=%E9", "the path is in UTF-8"),
        ("windows-1252", "//bücher.test/é?é#é", "https://xn--bcher-kva.test/%C3%A9?%E9", "and the host in neither"),
        ("windows-1252", "q?x=&#1087;", "q?x=%26%231087%3B", "what it cannot represent is a character reference"),
        ("windows-1252", "q?x=a&#128512;b", "q?x=a%26%23128512%3Bb", "one for each character"),
        ("iso-2022-jp", "q?x=日&#233;本", "q?x=%1B$BF|%1B(B%26%23233%3B%1B$BK\\%1B(B", "between escapes"),
        ("windows-1252", "q?x=%C3%A9&amp;y=é", "q?x=%C3%A9&y=%E9", "what is encoded stays"),
        ("windows-1252", "q?x='é&lt;", "q?x=%27%E9%3C", "what no query holds is encoded as ever"),
        ("windows-1252", "q?x=é\n\tü", "q?x=%E9%FC", "across line breaks"),
        ("iso-2022-jp", "q?x=日\n本", "q?x=%1B$BF|K\\%1B(B", "which cut no run of letters in two"),
        ("utf-16le", "q?x=é", "q?x=%C3%A9", "no URL is in UTF-16"),
        ("utf-16be", "q?x=é", "q?x=%C3%A9", "in either order"),
        ("x-user-defined", "q?x=é", "q?x=%26%23233%3B", "an encoding with no letters of its own"),
    ] {
        assert_eq!(link_in(encoding, reference), expected, "{encoding}: {reference}: {why}");
    }
    let links = read_in("klingon", "<a href='?é'>").links;
    assert_eq!(url(links[0].url.as_str()).query(), Some("%C3%A9"), "an unknown encoding");
}

#[test]
fn every_reference_is_in_the_pages_encoding() {
    let text = |url: Option<Url>| url.map(String::from);
    for (html, why) in [
        ("<img src='?é'>", "images"),
        ("<img srcset='?é 2x'>", "candidates"),
        ("<form action='?é'></form>", "forms"),
        ("<script src='?é'></script>", "scripts"),
        ("<link rel=stylesheet href='?é'>", "style sheets"),
        ("<iframe src='?é'></iframe>", "frames"),
        ("<meta http-equiv=refresh content='0;url=?é'>", "refreshes"),
        ("<svg><a xlink:href='?é' /></svg>", "SVG"),
    ] {
        let page = page_in("windows-1252", html);
        assert_eq!(url(page.links[0].url.as_str()).query(), Some("%E9"), "{why}");
    }
    let html = "<base href='/é?é'><link rel=canonical href='?é'><a href=''>";
    let page = page_in("windows-1252", html);
    assert!(page.links.iter().all(|link| link.url.as_str() == "https://example.org/%C3%A9?%E9"), "{:?}", page.links);
    assert_eq!(text(page.canonical).as_deref(), Some("https://example.org/%C3%A9?%E9"));
    let twice = page_in("windows-1252", "<a href='?é'><a href='?%E9'>");
    assert_eq!(twice.links.len(), 1, "one page, however it is written");
}
