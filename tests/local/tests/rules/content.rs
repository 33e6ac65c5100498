//! Bodies: content codings, types, character sets, and how the links of a page are read.

use dragline_domain::outcome::Outcome;
use dragline_formats::warc::{DigestCheck, RecordType, parse_http_response};
use dragline_testkit::site::Site;
use dragline_testkit::whole_crawls::{Crawled, definition};
use libdeflater::{CompressionLvl, Compressor};

use super::replies::{html, links, reply};

pub(crate) fn gzip(body: &[u8]) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::default());
    let mut coded = vec![0; compressor.gzip_compress_bound(body.len())];
    let length = compressor.gzip_compress(body, &mut coded).unwrap();
    coded.truncate(length);
    coded
}

fn zlib(body: &[u8]) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::default());
    let mut coded = vec![0; compressor.zlib_compress_bound(body.len())];
    let length = compressor.zlib_compress(body, &mut coded).unwrap();
    coded.truncate(length);
    coded
}

fn brotli(body: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    ::brotli::BrotliCompress(&mut &*body, &mut coded, &::brotli::enc::BrotliEncoderParams::default()).unwrap();
    coded
}

fn zstd(body: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(body, ruzstd::encoding::CompressionLevel::Fastest)
}

#[tokio::test]
async fn a_coded_body_is_stored_as_received_and_read_all_the_same() {
    let page = |path: &str| format!("<p>read me</p>{}", links([format!("/from{path}").as_str()])).into_bytes();
    let cases = [
        ("/gzip", "gzip", gzip(&page("/gzip"))),
        ("/deflate", "deflate", zlib(&page("/deflate"))),
        ("/br", "br", brotli(&page("/br"))),
        ("/zstd", "zstd", zstd(&page("/zstd"))),
        ("/both", "zstd, gzip", gzip(&zstd(&page("/both")))),
    ];
    let mut builder = Site::builder()
        .reply("/", html(&links(cases.iter().map(|case| case.0).chain(["/odd", "/word"]))))
        .reply("/odd", reply(200, &[("content-type", "text/html"), ("content-encoding", "compress")], "\x1f\u{9d}"))
        .reply("/word", reply(200, &[("content-type", "text/html"), ("content-encoding", "utf-8")], "<p>read me, too"));
    for (path, coding, body) in &cases {
        let fields = [("content-type", "text/html"), ("content-encoding", *coding)];
        builder = builder.reply(*path, reply(200, &fields, body.clone()));
    }
    let site = builder.start().await.unwrap();
    let crawled = Crawled::once(&definition(&[site.url()], |_| {})).await;
    for (path, coding, body) in &cases {
        assert_eq!(crawled.row(path).outcome, Outcome::FileIngested, "{coding}");
        assert!(crawled.text(path).contains("read me"), "{coding}: {:?}", crawled.text(path));
        assert_eq!(crawled.links_of(path), [(format!("/from{path}").as_str(), "a", "follow")], "{coding}");
        let record = crawled.record(path);
        let response = parse_http_response(&record.block).unwrap();
        assert_eq!(response.body, body, "{coding}: the bytes as received");
        assert_eq!(response.headers.get("content-encoding"), Some(coding.as_bytes()), "as they were sent");
        assert_eq!(record.verify_payload_digest(), DigestCheck::Match, "{coding}");
    }
    let odd = crawled.row("/odd");
    assert_eq!(odd.outcome, Outcome::StoredNotRead, "stored, but unreadable");
    assert!(odd.detail.as_deref().is_some_and(|detail| detail.contains("compress")), "{:?}", odd.detail);
    assert_eq!(crawled.text("/word"), "read me, too", "as browsers read it");
    let word = crawled.row("/word");
    assert!(word.detail.as_deref().is_some_and(|detail| detail.contains("utf-8")), "{:?}", word.detail);
}

#[tokio::test]
async fn the_type_of_a_body_is_looked_at_where_none_is_named() {
    let bom = "\u{feff}<p>text</p>";
    let site = Site::builder()
        .reply("/", html(&links(["/page", "/bom", "/coded", "/plain", "/pdf", "/xhtml"])))
        .reply("/page", reply(200, &[], "  <p>text</p>"))
        .reply("/bom", reply(200, &[], bom))
        .reply("/coded", reply(200, &[("content-encoding", "gzip")], gzip(b"<p>text</p>")))
        .reply("/plain", reply(200, &[], "text"))
        .reply("/pdf", reply(200, &[("content-type", "application/pdf")], "%PDF-1.7 <p>text</p>"))
        .reply("/xhtml", reply(200, &[("content-type", "application/XHTML+xml; charset=utf-8")], "<p>text</p>"))
        .start()
        .await
        .unwrap();
    let crawled = Crawled::once(&definition(&[site.url()], |_| {})).await;
    crawled.assert_outcomes(&[
        ("/", Outcome::FileIngested, "the seed"),
        ("/page", Outcome::FileIngested, "no type, but it starts like a page"),
        ("/bom", Outcome::FileIngested, "after a byte order mark"),
        ("/coded", Outcome::FileIngested, "under a content coding"),
        ("/plain", Outcome::StoredNotRead, "no type, and it does not start like a page"),
        ("/pdf", Outcome::StoredNotRead, "a type without a parser"),
        ("/xhtml", Outcome::FileIngested, "a page by another name, in any case"),
    ]);
    assert_eq!(crawled.record("/pdf").record_type, RecordType::Response, "stored all the same");
}

#[tokio::test]
async fn text_is_read_in_its_character_set() {
    let by_meta = [b"<meta charset=windows-1252><p>caf\xe9 \x80".as_slice(), b"</p>"].concat();
    let site = Site::builder()
        .reply("/", html(&links(["/field", "/meta", "/utf8"])))
        .reply("/field", reply(200, &[("content-type", "text/html; charset=ISO-8859-1")], b"<p>caf\xe9 \x80"))
        .reply("/meta", reply(200, &[("content-type", "text/html")], by_meta))
        .reply("/utf8", reply(200, &[("content-type", "text/html")], "<p>café €"))
        .start()
        .await
        .unwrap();
    let crawled = Crawled::once(&definition(&[site.url()], |_| {})).await;
    for (path, charset) in [("/field", "windows-1252"), ("/meta", "windows-1252"), ("/utf8", "UTF-8")] {
        let named = crawled.page(path).charset.as_deref().unwrap_or_default();
        assert!(named.eq_ignore_ascii_case(charset), "{path}: {named}");
        assert_eq!(crawled.text(path).trim(), "café €", "{path}");
    }
}

#[tokio::test]
async fn links_are_read_by_kind_and_against_the_base() {
    let page = "<base href=/base/><a href=a>a</a><img src=i.png srcset='i2.png 2x, /i3.png 3x'>
                <link rel=stylesheet href=c.css><script src=s.js></script><iframe src=f></iframe>
                <form action=do></form><area href=../area><link rel=next href=n><a href='javascript:x()'>x</a>
                <a href='http://[bad/'>bad</a><meta http-equiv=refresh content='5; url=r'>";
    let site = Site::builder().reply("/", html(page)).start().await.unwrap();
    let crawled = Crawled::once(&definition(&[site.url()], |_| {})).await;
    let mut found = crawled.links_of("/");
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("/area", "area", "follow"),
            ("/base/a", "a", "follow"),
            ("/base/c.css", "css", "not_a_page"),
            ("/base/do", "form", "not_a_page"),
            ("/base/f", "iframe", "follow"),
            ("/base/i.png", "img", "not_a_page"),
            ("/base/i2.png", "img", "not_a_page"),
            ("/base/n", "sequence", "follow"),
            ("/base/r", "redirect", "follow"),
            ("/base/s.js", "script", "not_a_page"),
            ("/i3.png", "img", "not_a_page"),
        ]
    );
    assert_eq!(site.log().len(), 7, "robots.txt, the seed and five links");
}
