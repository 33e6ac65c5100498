//! Files designed to be expensive.

use super::super::references::Lookup;
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
        content.extend(vec![b'x'; 1 << 20]);
        [content, b") Tj ET".to_vec()].concat()
    });
    let inflated =
        Pdf::default().stream(4, "/Filter[/FlateDecode/FlateDecode]", &deflate(&deflate(&vec![b' '; 16 << 20])));
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
fn odd_numbers_and_positions_are_tolerated() {
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
fn overlapping_streams_are_not_copied_endlessly() {
    // Each of them continues through all that follow, to the same end.
    let (first, count) = (10, 1_000);
    let page = Pdf::showing("BT /F 12 Tf (x) Tj ET").font("F", HELVETICA).write(Form::Plain);
    let mut file = page[..page.windows(4).position(|window| window == b"xref").unwrap()].to_vec();
    let head = |number: usize, length: usize| format!("{number:04} 0 obj<</Length {length:08}>>stream\n");
    let end = file.len() + count * head(first, 0).len() + (1 << 20);
    let mut places = String::new();
    for number in first..first + count {
        places += &format!("{:010} 00000 n \n", file.len());
        let length = end - file.len() - head(number, 0).len();
        file.extend(head(number, length).as_bytes());
    }
    file.resize(end, b'x');
    file.extend(b"\nendstream endobj\n");
    let table = file.len();
    file.extend(format!("xref\n{first} {count}\n{places}").as_bytes());
    for number in 1..=4 {
        let header = format!("{number} 0 obj");
        let place = file.windows(header.len()).position(|window| window == header.as_bytes()).unwrap();
        file.extend(format!("{number} 1\n{place:010} 00000 n \n").as_bytes());
    }
    file.extend(format!("trailer<</Size 9999/Root 1 0 R>>\nstartxref\n{table}\n%%EOF").as_bytes());
    assert_eq!(read(&file).gaps, BTreeSet::from([Gap::File]));
}

fn lookup(file: &[u8]) -> Lookup {
    let streams = file.windows(5).filter(|window| window == b"/XRef").count();
    Lookup::choose(file, streams, 64 << 20)
}

#[test]
fn an_object_is_not_read_for_each_of_many_entries() {
    // 20,000 entries place their object at the start of a long, unterminated array.
    let (first, count) = (10, 20_000);
    let page = Pdf::showing("BT /F 12 Tf (x) Tj ET").font("F", HELVETICA).object(9, &"[0 ".repeat(90).repeat(10_000));
    let plain = String::from_utf8(page.write(Form::Plain)).unwrap();
    let place = plain.find("9 0 obj").unwrap();
    let table = format!("{first} {count}\n{}trailer", format!("{place:010} 00000 n \n").repeat(count));
    let file = read(plain.replace("trailer", &table).as_bytes());
    assert_eq!(file.text, "x", "in a table");
    assert_eq!(lookup(plain.replace("trailer", &table).as_bytes()), Lookup::Search, "in a table");

    let entry = [&[1_u8][..], &u32::try_from(place).unwrap().to_be_bytes(), &[0, 0]].concat();
    let head = format!("/Type/XRef/W[1 4 2]/Index[{first} {count}]/Size {}/Root 1 0 R", first + count);
    let packed = Pdf::default().deflated(900_000, &head, &entry.repeat(count)).write(Form::Plain);
    let stream = packed.windows(10).position(|window| window == b"900000 0 o").unwrap();
    let end = packed.windows(6).position(|window| window == b"endobj").unwrap();
    let mut file = plain.as_bytes()[..plain.find("xref").unwrap()].to_vec();
    let start = file.len();
    assert!(stream > end, "the stream comes after other objects");
    file.extend(&packed[stream..]);
    let tail = file.windows(4).rposition(|window| window == b"xref").unwrap();
    file.truncate(tail);
    file.extend(format!("startxref\n{start}\n%%EOF").as_bytes());
    assert_eq!(read(&file).text, "x", "in a stream");
    assert_eq!(lookup(&file), Lookup::Search, "in a stream");
    for form in [Form::Plain, Form::ObjectStream] {
        assert_eq!(lookup(&page.write(form)), Lookup::References, "in a sound file, {form:?}");
    }
}
