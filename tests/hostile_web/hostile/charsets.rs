//! Character sets on which header, page and bytes disagree.

use dragline_testkit::hostile::{HostileSite, Step, reply};
use dragline_testkit::whole_crawls::{Crawled, definition};

use crate::support::tight;

fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    unmarked(&format!("\u{feff}{text}"), to_bytes)
}

fn unmarked(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to_bytes).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_is_read_by_what_tells_most() {
    const PLAIN: &str = "content-type: text/html";
    const LATIN: &str = "content-type: text/html; charset=iso-8859-1";
    const NONSENSE: &str = "content-type: text/html; charset=\"x-no-such-set\"";
    let late = [b"<!-- ".as_slice(), &[b'x'; 20_000], b"--><meta charset=MacCyrillic><p>\x8f\xf0\xe8"].concat();
    let cases: [(&str, Vec<u8>, &str, &str); 11] = [
        (LATIN, b"<meta charset=utf-8><p>caf\xe9".to_vec(), "café", "the header overrides the page"),
        (LATIN, "\u{feff}<p>café".into(), "café", "a byte order mark overrides the header"),
        (PLAIN, b"<meta charset=windows-1252><p>caf\xe9".to_vec(), "café", "the page, where the header says nothing"),
        (NONSENSE, "<meta charset=utf-8><p>café".into(), "café", "an unknown set is ignored"),
        (PLAIN, utf16("<p>café", u16::to_le_bytes), "café", "UTF-16, little endian"),
        (PLAIN, utf16("<p>café", u16::to_be_bytes), "café", "UTF-16, big endian"),
        (PLAIN, late, "При", "a page that names its set late, in Mac encoding"),
        (PLAIN, unmarked("<p>café", u16::to_le_bytes), "café", "UTF-16 without a mark"),
        (PLAIN, unmarked("<p>中文中文中文中文", u16::to_be_bytes), "中文中文中文中文", "in other letters"),
        ("content-type: text/html; charset='iso8859-1'", b"<p>caf\xe9".to_vec(), "café", "a name that is nearly right"),
        (
            "content-type: text/html; charset=utf-8",
            b"<p>caf\xe9 \xff\xfe ok".to_vec(),
            "caf\u{fffd} \u{fffd}\u{fffd} ok",
            "bytes that are not UTF-8",
        ),
    ];
    let pages: Vec<(String, Vec<Step>)> =
        cases.iter().enumerate().map(|(n, (field, body, ..))| (format!("/{n}"), reply(200, &[field], body))).collect();
    let site = HostileSite::beside_good_pages(pages).await;
    let crawled = Crawled::once(&definition(&[site.url("/")], tight)).await;
    for (n, (_, _, text, why)) in cases.iter().enumerate() {
        assert_eq!(crawled.text(&format!("/{n}")).trim(), *text, "{why}");
    }
    assert_eq!(crawled.text("/good/after").trim(), "a good page");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_queries_of_links_are_in_the_set_of_their_page() {
    let cases = [
        ("windows-1252", b"<a href='/\xe9?x=\xe9'>x</a>".to_vec(), "/%C3%A9?x=%E9", "only the query"),
        ("shift_jis", b"<a href='/?x=\x93\xfa\x96{'>x</a>".to_vec(), "/?x=%93%FA%96{", "as its bytes were in the page"),
        ("euc-kr", b"<base href='/d/'><a href='?x=\xc7\xd1'>x</a>".to_vec(), "/d/?x=%C7%D1", "against a base"),
        (
            "windows-1251",
            b"<a href='/?x=&eacute;'>x</a>".to_vec(),
            "/?x=%26%23233%3B",
            "a character that the set lacks",
        ),
        ("utf-8", "<a href='/?x=é'>x</a>".into(), "/?x=%C3%A9", "UTF-8"),
    ];
    let pages = cases.iter().map(|(set, body, ..)| {
        let field = format!("content-type: text/html; charset={set}");
        (format!("/{set}"), reply(200, &[field.as_str()], body))
    });
    let site = HostileSite::beside_good_pages(pages.collect()).await;
    let crawled = Crawled::once(&definition(&[site.url("/")], tight)).await;
    for (set, _, target, why) in cases {
        assert_eq!(crawled.links_of(&format!("/{set}")), [(target, "a", "follow")], "{set}: {why}");
        assert!(site.targets().contains(&target.to_owned()), "{set}: what was requested");
    }
}
