//! Files that are made to take much.

use super::builder::deflate;
use super::*;
use crate::files::TEXT_BYTES_MAX;

fn form(entries: &str) -> String {
    format!("/Type/XObject/Subtype/Form{entries}")
}

#[test]
fn work_ends_where_the_budget_does() {
    // Each form draws the next one a hundred times.
    let mut nested = Pdf::showing("/X10 Do").font("F", HELVETICA).resources("/XObject<</X10 10 0 R>>");
    for number in 10..25 {
        let next = form(&format!("/Resources<</XObject<</X {} 0 R>>>>", number + 1));
        nested = nested.deflated(number, &next, "/X Do ".repeat(100).as_bytes());
    }
    let drawn = Pdf::showing(&"/X Do ".repeat(1_000)).resources("/XObject<</X 5 0 R>>").deflated(
        5,
        &form(""),
        &vec![b' '; 3 << 20],
    );
    let glyphs = Pdf::default().font("F", "/Subtype/Type3/Encoding<</Differences[120/g1]>>").deflated(4, "", &{
        let mut content = b"BT /F 10 Tf (".to_vec();
        content.extend(vec![b'x'; 3 << 20]);
        [content, b") Tj ET".to_vec()].concat()
    });
    let inflated =
        Pdf::default().stream(4, "/Filter[/FlateDecode/FlateDecode]", &deflate(&deflate(&vec![b' '; 64 << 20])));
    let widths = format!(
        "/Subtype/Type0/Encoding/Identity-H/DescendantFonts[<</Subtype/CIDFontType2/W[{}]>>]",
        "0 65535 1 ".repeat(200_000)
    );
    let widths = Pdf::showing("BT /F 10 Tf (x) Tj ET").font("F", &widths);
    let map = Pdf::showing("BT /F 10 Tf (xxxx) Tj ET").font("F", "/Subtype/Type1/ToUnicode 5 0 R").deflated(
        5,
        "",
        "1 beginbfrange <00000000> <FFFFFFFF> <0041> endbfrange ".repeat(60_000).as_bytes(),
    );
    let text = Pdf::default().font("F", HELVETICA).deflated(4, "", &{
        let line = format!("BT /F 1 Tf 1 0 0 1 0 0 Tm ({}) Tj ET ", "word ".repeat(1_000));
        line.repeat(700).into_bytes()
    });
    for (pdf, is_cut, why) in [
        (nested, true, "forms draw forms"),
        (drawn, true, "a long form is drawn often"),
        (glyphs, false, "many glyphs stand for nothing"),
        (inflated, true, "content is deflated twice"),
        (widths, false, "there are many ranges of widths"),
        (map, false, "ranges of a map are wide, and overlap"),
        (text, true, "its text is long"),
    ] {
        let file = read(&pdf.write(Form::Plain));
        assert_eq!(file.gaps.contains(&Gap::File), is_cut, "{why}");
        assert!(file.text.len() <= TEXT_BYTES_MAX, "{why}");
    }
}

#[test]
fn odd_numbers_and_places_are_borne() {
    for content in [
        "BT /F 1e9 Tf 72 700 Td (x) Tj ET",
        "BT /F 99999999999999999999999999999999999999999 Tf (x) Tj 1 0 Td (y) Tj ET",
        "BT /F 0 Tf (x) Tj ET",
        "BT /F -12 Tf (x) Tj ET",
        "BT 0 0 0 0 0 0 Tm /F 12 Tf (x) Tj ET",
        "BT /F 12 Tf (x) Tj ET Q Q Q",
        "]] >> ) } (unclosed",
        "<< /A [ (x) /B BT /F 12 Tf (x) Tj",
        "BI /W 1 ID EI",
        "<4 ",
        "/",
        "12 Tf /F Tf Tf (x) (y) Tj TJ ' \"",
    ] {
        read(&Pdf::showing(content).font("F", HELVETICA).write(Form::Plain));
    }
    assert_eq!(
        text(&Pdf::showing("BT /F 12 Tf 9 9 Td [(not) -300 (closed) TJ (text) Tj ET").font("F", HELVETICA)),
        "not closedtext"
    );
    assert_eq!(
        text(&Pdf::showing("BT /F 12 Tf 9 9 Td (a\\) \\(b\\051 \\\n(c) \\101) Tj ET").font("F", HELVETICA)),
        "a) (b) (c) A"
    );
    let saved = format!("{} BT /F 12 Tf (x) Tj ET {}", "q ".repeat(100_000), "Q ".repeat(100_000));
    assert_eq!(text(&Pdf::showing(&saved).font("F", HELVETICA)), "x", "many states are saved");
}

#[test]
fn streams_that_overlap_are_not_copied_without_end() {
    // Each of them goes on to the end of the file, through all that follow.
    let (count, head) = (3_000, "<</Length 9999999>>stream\n");
    let mut file = b"%PDF-1.4\n".to_vec();
    for number in 10..10 + count {
        file.extend(format!("{number} 0 obj{head}").as_bytes());
    }
    file.extend(vec![b'x'; 1 << 20]);
    let length = file.len();
    let mut file = String::from_utf8(file).unwrap();
    for number in 10..10 + count {
        let at = file.find(&format!("{number} 0 obj{head}")).unwrap();
        let head_end = at + format!("{number} 0 obj{head}").len();
        let digits = head_end - head.len() + "<</Length ".len();
        file.replace_range(digits..digits + 7, &format!("{:07}", length - head_end));
    }
    file += "\nendstream endobj\ntrailer<</Root 1 0 R>>\nstartxref\n0\n%%EOF";
    assert!(!read(file.as_bytes()).gaps.is_empty());
}
