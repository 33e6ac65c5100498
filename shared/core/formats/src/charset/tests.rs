use encoding_rs::{BIG5, EUC_KR, GB18030, ISO_2022_JP, SHIFT_JIS, WINDOWS_1251};
use proptest::prelude::*;

use super::CharsetSource::{Bom, Detected, Header, Meta, Utf8Valid};
use super::*;

/// Body, header, the expected text and source, and why.
type Case<'a> = (&'a [u8], Option<&'a str>, (&'a str, &'static str, CharsetSource), &'a str);

fn outcome(body: &[u8], header: Option<&str>) -> (String, &'static str, CharsetSource) {
    let Decoded { text, encoding, source } = decode(body, header);
    (text.into_owned(), encoding, source)
}

#[test]
fn the_most_trusted_declaration_wins() {
    let cases: &[Case<'_>] = &[
        (b"", None, ("", "UTF-8", Utf8Valid), "nothing at all"),
        (b"plain", None, ("plain", "UTF-8", Utf8Valid), "ASCII is UTF-8"),
        (b"\xEF\xBB\xBFcaf\xC3\xA9", Some("koi8-r"), ("café", "UTF-8", Bom), "a BOM beats the header, and is dropped"),
        (b"\xFF\xFEh\0i\0", None, ("hi", "UTF-16LE", Bom), "UTF-16, little end first"),
        (b"\xFE\xFF\0h\0i", Some("utf-8"), ("hi", "UTF-16BE", Bom), "UTF-16, big end first"),
        (b"h\0i\0", Some("utf-16"), ("hi", "UTF-16LE", Header), "UTF-16 without a BOM, by the header"),
        (
            b"<meta charset=utf-8>\xE9",
            Some("latin1"),
            ("<meta charset=utf-8>é", "windows-1252", Header),
            "header, meta",
        ),
        (b"\x80", Some("iso-8859-1"), ("€", "windows-1252", Header), "the web's latin1 is windows-1252"),
        (b"\x80", Some(" ISO-8859-1 "), ("€", "windows-1252", Header), "labels have neither case nor padding"),
        (b"\x80", Some("'windows-1252'"), ("€", "windows-1252", Header), "quotes of the wrong sort"),
        (b"caf\xC3\xA9", Some("klingon"), ("café", "UTF-8", Utf8Valid), "an unknown label is ignored"),
        (b"caf\xC3\xA9", Some(""), ("café", "UTF-8", Utf8Valid), "an empty label is ignored"),
        (b"caf\xC3\xA9", Some("hz-gb-2312"), ("café", "UTF-8", Utf8Valid), "a label that browsers refuse is ignored"),
        (b"caf\xC3\xA9", Some("windows-1252"), ("cafÃ©", "windows-1252", Header), "a wrong declaration is believed"),
        (
            b"<?xml version='1.0' encoding='koi8-r'?>\xC1",
            None,
            ("<?xml version='1.0' encoding='koi8-r'?>а", "KOI8-R", Meta),
            "XHTML",
        ),
        (b"<\0?\0x\0", None, ("<?x", "UTF-16LE", Meta), "XML in UTF-16 without a BOM"),
        (b"\0<\0?\0x", None, ("<?x", "UTF-16BE", Meta), "XML in UTF-16 without a BOM"),
    ];
    for (body, header, (text, encoding, source), why) in cases {
        assert_eq!(outcome(body, *header), ((*text).to_owned(), *encoding, *source), "{why}");
    }
}

#[test]
fn malformed_bytes_are_marked() {
    let cases: &[Case<'_>] = &[
        (b"caf\xE9!", Some("utf-8"), ("caf\u{FFFD}!", "UTF-8", Header), "declared UTF-8 by the header, and is not"),
        (
            b"<meta charset=utf-8>\xE9",
            None,
            ("<meta charset=utf-8>\u{FFFD}", "UTF-8", Meta),
            "declared by meta, and is not",
        ),
        (
            "ééééé".as_bytes().split_last().expect("not empty").1,
            None,
            ("éééé\u{FFFD}", "UTF-8", Detected),
            "cut mid-character",
        ),
        (b"\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3 x", None, ("éééé\u{FFFD} x", "UTF-8", Detected), "UTF-8 with one flaw"),
        (b"\x82", Some("shift_jis"), ("\u{FFFD}", "Shift_JIS", Header), "half a character"),
    ];
    for (body, header, (text, encoding, source), why) in cases {
        assert_eq!(outcome(body, *header), ((*text).to_owned(), *encoding, *source), "{why}");
    }
}

#[test]
fn undeclared_legacy_text_is_detected() {
    let japanese =
        "日本語の文章は、漢字とひらがなとカタカナで書かれています。これは文字コードの判定を試すための文です。";
    let korean = "한국어 문장은 한글로 쓰여 있습니다. 이것은 문자 인코딩을 시험하기 위한 글입니다.";
    let chinese = "中文网页的编码往往没有声明，所以需要从字节中猜测。这是一个用来测试的句子。";
    let taiwanese = "繁體中文的網頁常常沒有宣告編碼，因此必須從位元組推測。這是一個測試用的句子。";
    let russian = "Кодировка страницы не указана, поэтому её приходится угадывать по байтам.";
    let cases: [(&'static Encoding, &str, &str); 6] = [
        (SHIFT_JIS, japanese, "Shift_JIS"),
        (ISO_2022_JP, japanese, "ISO-2022-JP"),
        (EUC_KR, korean, "EUC-KR"),
        (GB18030, chinese, "GBK"),
        (BIG5, taiwanese, "Big5"),
        (WINDOWS_1251, russian, "windows-1251"),
    ];
    for (encoding, text, detected) in cases {
        let (body, ..) = encoding.encode(text);
        assert_eq!(outcome(&body, None), (text.to_owned(), detected, Detected));
        assert_eq!(outcome(&body, Some(encoding.name())), (text.to_owned(), encoding.name(), Header));
        // A long ASCII start, such as inline scripts, does not hide the rest.
        let late = [vec![b' '; 2 * DETECT_BYTES_MAX], body.into_owned()].concat();
        assert_eq!(outcome(&late, None).1, detected, "{detected} after much ASCII");
    }
    assert_eq!(outcome(b"<p>caf\xE9 \x96 na\xEFve, d\xE9j\xE0 vu</p>", None).1, "windows-1252", "Western text");
    assert_eq!(outcome(b"\x1B[1mbold\x1B[0m", None).1, "UTF-8", "a terminal's escapes are no Japanese");
}

#[test]
fn declarations_inside_the_document() {
    let cases: &[(&str, Option<&str>, &str)] = &[
        ("<meta charset=koi8-r>", Some("KOI8-R"), "plain"),
        ("<META CharSet = 'KOI8-R' >", Some("KOI8-R"), "case, spaces and quotes"),
        ("<meta\tcharset=\"koi8-r\"/>", Some("KOI8-R"), "a tab, and self-closing"),
        ("<meta/charset=koi8-r>", Some("KOI8-R"), "a slash is as good as a space"),
        ("<meta charset=koi8-r", None, "cut short: it might go on"),
        ("<meta name=x content=y><meta charset=koi8-r>", Some("KOI8-R"), "not the first meta"),
        ("<meta charset=bogus><meta charset=koi8-r>", Some("KOI8-R"), "an unknown label is passed over"),
        ("<meta charset=koi8-r charset=big5>", Some("KOI8-R"), "of two attributes the first counts"),
        ("<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>", Some("KOI8-R"), "pragma"),
        (
            "<meta content='text/html;charset=koi8-r' http-equiv=content-type>",
            Some("KOI8-R"),
            "pragma, in either order",
        ),
        ("<meta content='text/html; charset=koi8-r'>", None, "content alone says nothing"),
        ("<meta http-equiv=refresh content='0; charset=koi8-r'>", None, "another pragma"),
        ("<meta http-equiv=content-type content='text/html'>", None, "a pragma without charset"),
        (
            "<meta http-equiv=content-type content='charset charset = \"koi8-r\";'>",
            Some("KOI8-R"),
            "a false start, and quotes",
        ),
        ("<meta http-equiv=content-type content='charset=&quot;'>", None, "entities are not decoded here"),
        (
            "<meta http-equiv=content-type charset=big5 content='x; charset=koi8-r'>",
            Some("Big5"),
            "charset beats content",
        ),
        ("<meta charset=utf-16le>", Some("UTF-8"), "it could be read, so it cannot be UTF-16"),
        ("<meta charset=x-user-defined>", Some("windows-1252"), "as the standard says"),
        ("<!-- <meta charset=big5> --><meta charset=koi8-r>", Some("KOI8-R"), "not in a comment"),
        ("<!--><meta charset=koi8-r>", Some("KOI8-R"), "the shortest comment"),
        ("<!-- <meta charset=koi8-r>", None, "in a comment that never ends"),
        ("<a title='<meta charset=big5>'><meta charset=koi8-r>", Some("KOI8-R"), "not in an attribute"),
        ("</p <meta charset=big5>><meta charset=koi8-r>", Some("KOI8-R"), "not in an end tag"),
        ("<!doctype html><?php x ?><meta charset=koi8-r>", Some("KOI8-R"), "doctype and instruction"),
        ("1 < 2 <meta charset=koi8-r>", Some("KOI8-R"), "a stray bracket"),
        ("<metadata charset=koi8-r>", None, "another element"),
        ("<?xml encoding = \"koi8-r\"?>", Some("KOI8-R"), "XML declaration"),
        ("<?xml encoding='koi8-r'?><meta charset=big5>", Some("Big5"), "meta beats the XML declaration"),
        (" <?xml encoding='koi8-r'?>", None, "an XML declaration comes first or not at all"),
        ("<?xml encoding='koi8 r'?>", None, "no label has spaces"),
        ("<?xml encoding=koi8-r?>", None, "it must be quoted"),
        ("<?xml version='1.0'?>", None, "no encoding in it"),
    ];
    for (head, expected, why) in cases {
        assert_eq!(prescan::declared(head.as_bytes()).map(Encoding::name), *expected, "{why}: {head}");
    }
}

#[test]
fn the_prescan_ends_after_1024_bytes() {
    let declared = |blanks| prescan::declared(format!("{}<meta charset=koi8-r>", " ".repeat(blanks)).as_bytes());
    assert!(declared(1024 - 21).is_some());
    assert!(declared(1024).is_none());
}

#[test]
fn a_later_declaration_applies_where_a_browser_would_find_it() {
    let filler = "<!-- -->".repeat(200);
    for (markup, expected, why) in [
        ("<meta charset=koi8-r>", Some("KOI8-R"), "in the head"),
        (
            "<title>t</title><body><meta http-equiv=content-type content='text/html; charset=windows-1251'>",
            Some("windows-1251"),
            "in the body",
        ),
        ("<script>'<meta charset=koi8-r>'</script>", None, "the content of a script is not markup"),
        ("<SCRIPT>'<meta charset=koi8-r>'</SCRIPT><meta charset=big5>", Some("Big5"), "but what follows it is"),
        ("<textarea><meta charset=koi8-r></textarea>", None, "nor what a form shows"),
        ("<style>/*<meta charset=koi8-r>", None, "nor what never ends"),
        ("<!-- <meta charset=koi8-r> -->", None, "nor a comment"),
    ] {
        let document = format!("{filler}{markup}<p>x");
        let found = decode(document.as_bytes(), None);
        let expected = expected.map_or(("UTF-8", Utf8Valid), |name| (name, Meta));
        assert_eq!((found.encoding, found.source), expected, "{why}");
    }
}

#[test]
fn utf_16_is_recognised_without_its_mark() {
    let text = "<!doctype html><title>\u{41f}\u{440}\u{438}\u{432}\u{435}\u{442}</title><p>some text";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (body, encoding) in [(&little, "UTF-16LE"), (&big, "UTF-16BE")] {
        let decoded = decode(body, None);
        assert_eq!((decoded.text.as_ref(), decoded.encoding), (text, encoding));
    }
    let chinese = format!("\r\n <p>{}</p>", "\u{4e2d}\u{6587}".repeat(600));
    let little: Vec<u8> = chinese.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = chinese.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (body, encoding) in [(&little, "UTF-16LE"), (&big, "UTF-16BE")] {
        assert_eq!(decode(body, None).encoding, encoding, "of few letters that are ASCII");
    }
    assert_eq!(decode(b"<\0p\0>and no more", None).encoding, "UTF-8", "nor are two of them markup");
    assert_eq!(decode(b"a\0b and no more of them", None).encoding, "UTF-8", "a stray NUL is none");
}

proptest! {
    // With a NUL in every other place it would be UTF-16.
    #[test]
    fn valid_utf8_without_declaration_is_unchanged(text in "[^\0\u{1B}<\u{FEFF}]*") {
        let decoded = decode(text.as_bytes(), None);
        prop_assert_eq!(decoded.text.as_ref(), text.as_str());
        prop_assert_eq!(decoded.source, Utf8Valid);
    }

    #[test]
    fn text_is_at_most_three_times_its_bytes(body in proptest::collection::vec(any::<u8>(), 0..300), label in ".{0,12}") {
        prop_assert!(decode(&body, None).text.len() <= 3 * body.len() + 3);
        prop_assert!(decode(&body, Some(&label)).text.len() <= 3 * body.len() + 3);
    }

    #[test]
    fn there_is_no_declaration_without_a_label(
        head in "(<meta|<a|</|<!--|-->|charset|content|http-equiv|content-type|=|'|\"|>|/| |<\\?xml|encoding|[ -/:-@é日]){0,40}",
    ) {
        prop_assert_eq!(prescan::declared(head.as_bytes()), None);
    }
}
