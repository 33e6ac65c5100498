use std::io::{Cursor, Write as _};

use dragline_domain::content::ContentLevel;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_formats::http_fields::Headers;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::body::{Settings, Source};

fn read_text(content_type: &str, body: &[u8]) -> Option<FileText> {
    let url_rules = UrlRules::default();
    let url = CrawlUrl::parse("https://a.example/", &url_rules).unwrap();
    let headers = Headers::from_iter([("content-type", content_type)]);
    let source = Source { url: &url, headers: &headers, body };
    let settings = Settings { decoded_bytes_max: 1 << 30, ..Settings::at(ContentLevel::Full, &url_rules) };
    read_body(&Body::read(&source, &settings).unwrap())
}

fn archive(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A file without a cross-reference table, which readers reconstruct.
fn pdf(pages: &str, more: &str, content: &str) -> Vec<u8> {
    format!(
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj{pages}endobj\n\
         3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj\n\
         4 0 obj<</Length {}>>stream\n{content}\nendstream endobj\n\
         5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>endobj\n\
         6 0 obj<</Title(Report)/Author(Ann)/CreationDate(D:20240131120000+01'00')>>endobj\n{more}\
         trailer<</Root 1 0 R/Info 6 0 R/Size 7>>\nstartxref\n0\n%%EOF",
        content.len()
    )
    .into_bytes()
}

const ONE_PAGE: &str = "<</Type/Pages/Kids[3 0 R]/Count 1>>";
const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const WORDS: &str = "BT /F 12 Tf 1 0 0 1 0 700 Tm (Hello) Tj 0 -14 Td [(big) -300 (world)] TJ ET";

#[test]
fn files_are_read() {
    let docx = archive(&[
        (
            "word/document.xml",
            "<w:document><w:p><w:r><w:t>One</w:t><w:tab/><w:t>two &amp; </w:t></w:r></w:p><w:p><w:t>three</w:t></w:p></w:document>",
        ),
        ("docProps/core.xml", "<c:p><dc:title>A title</dc:title><dc:creator>Ann</dc:creator></c:p>"),
    ]);
    let xlsx = archive(&[
        ("xl/workbook.xml", "<workbook/>"),
        ("xl/sharedStrings.xml", "<sst><si><t>Name</t></si><si><t>Ann</t></si></sst>"),
        (
            "xl/worksheets/sheet1.xml",
            "<s><row><c t='s'><v>0</v></c><c t='s'><v>1</v></c></row><row><c><v>7</v></c></row></s>",
        ),
    ]);
    let odt = archive(&[
        ("content.xml", "<o><text:h>Head</text:h><text:p>a<text:s/>b</text:p></o>"),
        ("meta.xml", "<m><dc:title>Open</dc:title></m>"),
    ]);
    let pptx = archive(&[
        ("ppt/presentation.xml", "<p/>"),
        ("ppt/slides/slide10.xml", "<a:p><a:t>last</a:t></a:p>"),
        ("ppt/slides/slide2.xml", "<a:p><a:t>first</a:t></a:p>"),
    ]);
    let rss = "<rss><channel><title>News</title><item><title>A</title><description>&lt;b&gt;bold&lt;/b&gt; text</description></item></channel></rss>";
    let report = pdf(ONE_PAGE, "", WORDS);
    for (kind, body, expected, why) in [
        ("text/plain", &b" caf\xC3\xA9 "[..], Some((None, "caf\u{e9}")), "UTF-8"),
        ("text/plain; charset=windows-1252", b"caf\xE9", Some((None, "caf\u{e9}")), "another charset"),
        ("text/plain", b"a\0b\0", None, "not text"),
        (
            "application/json",
            br#"{"a": ["x", {"b": "y\n\u00e9"}], "c": 1"#,
            Some((None, "x\ny\n\u{e9}")),
            "values, even if cut",
        ),
        ("application/xml", b"<a><title>T</title><b>x</b><b>y</b></a>", Some((Some("T"), "T x y")), "character data"),
        ("application/rss+xml", rss.as_bytes(), Some((Some("News"), "A\nbold text")), "a feed"),
        ("application/pdf", &report, Some((Some("Report"), "Hello\nbig world")), "a PDF"),
        ("application/octet-stream", &report, Some((Some("Report"), "Hello\nbig world")), "by its mark"),
        ("application/pdf", b"%PDF-1.4\n", Some((None, "")), "only a mark"),
        (DOCX, &docx, Some((Some("A title"), "One\ttwo &\nthree")), "a document"),
        ("application/octet-stream", &xlsx, Some((None, "Name\tAnn\n7")), "sheets, by what is in it"),
        ("application/octet-stream", &pptx, Some((None, "first\nlast")), "slides by their numbers"),
        ("application/vnd.oasis.opendocument.text", &odt, Some((Some("Open"), "Head\na b")), "OpenDocument"),
        ("application/zip", &archive(&[("a.txt", "a")]), None, "no office file"),
        ("image/png", b"text", None, "not read"),
    ] {
        let read = read_text(kind, body);
        let said = read.as_ref().map(|file| (file.title.as_deref(), file.text.as_str()));
        assert_eq!(said, expected, "{kind}: {why}");
    }
    let read = read_text("application/pdf", &report).unwrap();
    assert_eq!(read.published.as_deref(), Some("2024-01-31T12:00:00+01:00"));
    assert_eq!((read.author.as_deref(), read.pages, read.gaps.len()), (Some("Ann"), Some(1), 0));
}

#[test]
fn feeds_are_read_by_their_own_rules() {
    let atom = |inner: &str| format!("<a:feed xmlns:a='http://www.w3.org/2005/Atom'>{inner}</a:feed>");
    for (kind, body, expected, why) in [
        (
            "application/atom+xml",
            atom(
                "<a:title>L</a:title><a:author><a:name>Ann</a:name><a:email>a@b.example</a:email></a:author>\
                  <a:entry><a:title>One</a:title><a:summary>Use &lt;b></a:summary></a:entry>",
            ),
            (Some("L"), Some("Ann"), "One\nUse <b>"),
            "a prefix, a person, a text that is not HTML",
        ),
        (
            "application/rss+xml",
            "<rss><channel><title>Caf&eacute;</title><managingEditor>a@b.example (Ann)</managingEditor>\
             <item><title>One&nbsp;two</title></item></channel></rss>"
                .to_owned(),
            (Some("Caf\u{e9}"), Some("Ann"), "One two"),
            "names of HTML, an address with a name",
        ),
    ] {
        let read = read_text(kind, body.as_bytes()).unwrap();
        let said = (read.title.as_deref(), read.author.as_deref(), read.text.as_str());
        assert_eq!(said, expected, "{body}: {why}");
        assert_eq!(read.feed.unwrap().entries.len(), 1);
    }
}

#[test]
fn bombs_are_bounded() {
    let huge = format!("<w:t>{}</w:t>", "x".repeat(60 << 20));
    let deep: String =
        (10..9_000).map(|id| format!("{id} 0 obj<</Type/Pages/Kids[{} 0 R]>>endobj\n", id + 1)).collect();
    let bomb = read_text(DOCX, &archive(&[("word/document.xml", &huge)])).unwrap();
    assert!(bomb.gaps.contains(&Gap::File) && bomb.text.len() <= TEXT_BYTES_MAX, "a bomb");
    read_text("application/pdf", &pdf("<</Type/Pages/Kids[10 0 R]>>", &deep, WORDS));
    read_text("application/pdf", &pdf(ONE_PAGE, "", &"[".repeat(200_000)));
    assert!(read_text("application/xml", "<a>".repeat(1_000_000).as_bytes()).is_some(), "deep elements");
    assert!(read_text("application/pdf", &vec![b' '; 11 << 20]).is_none(), "no mark");
}

#[test]
fn damage_neither_panics_nor_hangs() {
    let docx = archive(&[("word/document.xml", "<w:p><w:t>One two three</w:t></w:p>")]);
    for (kind, file) in [("application/pdf", pdf(ONE_PAGE, "", WORDS)), (DOCX, docx)] {
        let mut state = 1_u64;
        for round in 0..400 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = usize::try_from(state >> 33).unwrap() % file.len();
            let mut damaged = file.clone();
            damaged[at] = u8::try_from(state >> 24 & 0xFF).unwrap();
            if round % 4 == 0 {
                damaged.truncate(at);
            }
            assert_eq!(read_text(kind, &damaged), read_text(kind, &damaged), "the same bytes give the same text");
        }
    }
}

/// A flate stream of zeros, as an object with these entries.
fn flate(number: u32, entries: &str, inflated_bytes: usize) -> Vec<u8> {
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..inflated_bytes >> 20 {
        packed.write_all(&[b' '; 1 << 20]).unwrap();
    }
    let packed = packed.finish().unwrap();
    let head = format!("{number} 0 obj<<{entries}/Filter/FlateDecode/Length {}>>stream\n", packed.len());
    [head.as_bytes(), &packed, b"\nendstream endobj\n"].concat()
}

#[test]
fn a_pdf_of_growing_streams_is_read_up_to_the_limits() {
    // Each inflates to 32 MB: as content of the page, as streams of objects, and as
    // cross-references.
    let contents = flate(4, "", 32 << 20);
    let objects: Vec<u8> = (10..30).flat_map(|n| flate(n, "/Type/ObjStm/N 9/First 20", 32 << 20)).collect();
    let references: Vec<u8> =
        (40..44).flat_map(|n| flate(n, "/Type/XRef/W[1 2 1]/Size 99/Root 1 0 R", 32 << 20)).collect();
    for (more, why) in [(contents, "content"), (objects, "objects"), (references, "cross-references")] {
        let mut file =
            b"%PDF-1.5\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
            3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R>>endobj\n"
                .to_vec();
        let start = file.len();
        file.extend(&more);
        file.extend(format!("trailer<</Root 1 0 R/Size 99>>\nstartxref\n{start}\n%%EOF").as_bytes());
        let read = read_text("application/pdf", &file);
        assert!(read.is_none_or(|file| file.text.len() <= TEXT_BYTES_MAX), "{why}");
    }
}

#[test]
fn files_are_documents_without_a_page_where_all_of_the_content_is_asked_for() {
    let rules = UrlRules::default();
    let url = CrawlUrl::parse("https://a.example/report.pdf", &rules).unwrap();
    let report = pdf(ONE_PAGE, "", WORDS);
    let of_level = |fields: &[(&str, &str)], content, body: &[u8]| {
        let headers = Headers::from_iter(fields.iter().copied());
        let source = Source { url: &url, headers: &headers, body };
        let settings = Settings { decoded_bytes_max: 1 << 30, ..Settings::at(content, &rules) };
        crate::extract(&source, &settings).unwrap_err().content
    };
    let read = |fields: &[(&str, &str)], content| of_level(fields, content, &report);
    let typed = [("content-type", "application/pdf")];
    let content = read(&typed, ContentLevel::Full).unwrap();
    let about = content.about.as_ref().unwrap();
    assert_eq!((about.title.as_deref(), about.author.as_deref(), about.words), (Some("Report"), Some("Ann"), 3));
    assert_eq!(content.main.as_ref().map(|main| main.text.as_str()), Some("Hello\nbig world"));
    assert_eq!(about.meta, [Meta { name: "pages".into(), content: "1".into() }]);
    assert!(content.gaps.is_empty());
    assert!(read(&typed, ContentLevel::default()).is_none(), "less is asked for");
    for (level, has_feed, has_text) in
        [(ContentLevel::Text, false, false), (ContentLevel::Items, true, false), (ContentLevel::Full, true, true)]
    {
        for content_type in ["text/xml", "text/html; charset=utf-8"] {
            let fields = [("content-type", content_type)];
            let content =
                of_level(&fields, level, b"<rss><channel><title>T</title></channel></rss>").unwrap_or_default();
            let read = (content.feed.is_some(), content.about.is_some());
            assert_eq!(read, (has_feed, has_text), "{content_type}: {level}");
        }
    }
    let hidden = [typed[0], ("x-robots-tag", "noindex")];
    assert!(read(&hidden, ContentLevel::Full).is_none(), "it asks for noindex");

    let long = "word ".repeat(TEXT_BYTES_MAX / 4);
    let file = read_text("text/plain", long.as_bytes()).unwrap();
    assert!(
        file.gaps.contains(&Gap::File) && file.text.len() <= TEXT_BYTES_MAX,
        "a long text ends at the limit, and says so"
    );
    assert_eq!(read_text("text/plain", b"\xFF\xFEo\0k\0").map(|file| file.text), Some("ok".to_owned()), "UTF-16");
    let atom = "<feed xmlns='http://www.w3.org/2005/Atom'><title>Log</title><entry><title>One</title><summary>first</summary></entry></feed>";
    assert_eq!(
        read_text("application/atom+xml", atom.as_bytes()).map(|file| (file.title, file.text)),
        Some((Some("Log".into()), "One\nfirst".into()))
    );
    let encrypted = pdf(ONE_PAGE, "7 0 obj<</Filter/Standard/V 1>>endobj\n", WORDS);
    let encrypted = String::from_utf8(encrypted).unwrap().replace("/Info 6 0 R", "/Info 6 0 R/Encrypt 7 0 R");
    for (bytes, gap) in [(encrypted.as_bytes(), Gap::FileEncrypted), (b"%PDF-1.4\n", Gap::FileDamaged)] {
        let file = read_text("application/pdf", bytes).unwrap();
        assert_eq!((file.text.as_str(), file.gaps), ("", BTreeSet::from([gap])), "what is not read says why");
    }
}
