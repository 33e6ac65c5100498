//! Character sets that header, page and bytes do not agree on.

use dragline_testkit::hostile::{HostileSite, Step, reply};
use dragline_whole_crawls::{Crawled, definition};

use crate::support::tight;

fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(to_bytes).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_is_read_by_what_tells_most() {
    const PLAIN: &str = "content-type: text/html";
    const LATIN: &str = "content-type: text/html; charset=iso-8859-1";
    const NONSENSE: &str = "content-type: text/html; charset=\"x-no-such-set\"";
    let cases: [(&str, Vec<u8>, &str, &str); 7] = [
        (LATIN, b"<meta charset=utf-8><p>caf\xe9".to_vec(), "café", "the header goes before the page"),
        (LATIN, "\u{feff}<p>café".into(), "café", "a byte order mark goes before the header"),
        (PLAIN, b"<meta charset=windows-1252><p>caf\xe9".to_vec(), "café", "the page, where the header says nothing"),
        (NONSENSE, "<meta charset=utf-8><p>café".into(), "café", "a set that nobody knows is none"),
        (PLAIN, utf16("<p>café", u16::to_le_bytes), "café", "UTF-16, the small end first"),
        (PLAIN, utf16("<p>café", u16::to_be_bytes), "café", "UTF-16, the large end first"),
        (
            "content-type: text/html; charset=utf-8",
            b"<p>caf\xe9 \xff\xfe ok".to_vec(),
            "caf\u{fffd} \u{fffd}\u{fffd} ok",
            "bytes that are no UTF-8",
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
