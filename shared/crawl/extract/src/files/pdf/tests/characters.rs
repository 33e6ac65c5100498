//! The mapping of codes to characters.

use super::*;

/// A font whose `ToUnicode` is object 5.
const MAPPED: &str = "/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding/ToUnicode 5 0 R";

fn cmap(lists: &str) -> String {
    format!("/CIDInit /ProcSet findresource begin 12 dict begin begincmap {lists} endcmap end end")
}

#[test]
fn a_map_to_unicode_wins_over_the_encoding() {
    let lists = "1 begincodespacerange <00> <FF> endcodespacerange \
        3 beginbfchar <41> <0048> <42> <00660069> <43> <D83DDE00> endbfchar \
        2 beginbfrange <50> <52> <0061> <60> <61> [<0078> <0079007A>] endbfrange";
    let shown = |codes: &str| {
        let content = format!("BT /F 12 Tf 72 700 Td <{codes}> Tj ET");
        text(&Pdf::showing(&content).font("F", MAPPED).stream(5, "", cmap(lists).as_bytes()))
    };
    for (codes, expected, why) in [
        ("41", "H", "the encoding says A"),
        ("42", "fi", "a code may stand for several characters"),
        ("43", "\u{1F600}", "UTF-16 has pairs"),
        ("505152", "abc", "of a range, the last unit counts up"),
        ("6061", "xyz", "a range may list its texts"),
        ("5A", "Z", "what is not in the map is in the encoding"),
    ] {
        assert_eq!(shown(codes), expected, "because {why}");
    }
}

#[test]
fn glyph_names_are_read_by_the_specification() {
    // Section 2 of the specification of Adobe's glyph list.
    for (name, expected, why) in [
        ("eacute", "\u{E9}", "it is in the list"),
        ("Lcommaaccent", "\u{13B}", "it is in the list"),
        ("uni00DF", "\u{DF}", "it has four digits"),
        ("uni20AC0308", "\u{20AC}\u{308}", "it has two times four digits"),
        ("u1F600", "\u{1F600}", "it has up to six digits"),
        ("u1040C", "\u{1040C}", "it has five digits"),
        ("f_f_i", "ffi", "it has parts"),
        (
            "Lcommaaccent_uni20AC0308_u1040C.alternate",
            "\u{13B}\u{20AC}\u{308}\u{1040C}",
            "it is the specification's example",
        ),
        ("a.alt", "a", "what follows a full stop is a variant"),
        ("one.oldstyle", "1", "what follows a full stop is a variant"),
        ("fi", "fi", "a ligature is its letters"),
        ("ffl", "ffl", "a ligature is its letters"),
        ("foo", "", "nothing says what it is"),
        (".notdef", "", "it is no character"),
        ("uniD800", "", "it is half of a pair"),
        ("uniXYZW", "", "it has no digits"),
        ("a12", "", "only Zapf Dingbats calls its glyphs so"),
    ] {
        let entries = format!("/Subtype/Type1/BaseFont/Own/Encoding<</Differences[1/{name}]>>");
        let shown = text(&Pdf::showing("BT /F 12 Tf 72 700 Td <01> Tj ET").font("F", &entries));
        assert_eq!(shown, expected, "{name}, because {why}");
    }
}

#[test]
fn one_unknown_name_does_not_spoil_the_others() {
    let differences = "[65/B/unknownglyph/D 300/A -5/A 70/eacute 71(text)72/H]";
    let entries =
        format!("/Subtype/Type1/BaseFont/Own/Encoding<</BaseEncoding/WinAnsiEncoding/Differences{differences}>>");
    let shown = text(&Pdf::showing("BT /F 12 Tf 72 700 Td (ABCDEFH\\344) Tj ET").font("F", &entries));
    assert_eq!(shown, "BDDE\u{E9}H\u{E4}");
}

#[test]
fn encodings_have_their_characters() {
    // ISO 32000-1, annex D.2, in octal as there.
    for (encoding, codes, expected) in [
        ("/Encoding/WinAnsiEncoding", "\\200\\223\\344\\240\\255\\201", "€“ä -•"),
        ("/Encoding/MacRomanEncoding", "\\212\\245\\336\\312\\322", "ä•fi “"),
        ("/Encoding/StandardEncoding", "\\341\\256\\140\\247", "Æfi‘§"),
        ("", "\\341\\256", "Æfi"),
        ("/Encoding<</BaseEncoding/MacRomanEncoding/Differences[65/alpha]>>", "A\\212", "αä"),
    ] {
        let entries = format!("/Subtype/Type1/BaseFont/Own{encoding}");
        let shown = text(&Pdf::showing(&format!("BT /F 12 Tf 72 700 Td ({codes}) Tj ET")).font("F", &entries));
        assert_eq!(shown, expected, "{encoding}");
    }
    for (font, codes, expected) in [("Symbol", "abG\\345", "αβΓ∑"), ("ZapfDingbats", "\\041\\154", "✁●")] {
        let entries = format!("/Subtype/Type1/BaseFont/{font}");
        let shown = text(&Pdf::showing(&format!("BT /F 12 Tf 72 700 Td ({codes}) Tj ET")).font("F", &entries));
        assert_eq!(shown, expected, "{font}");
    }
}

#[test]
fn codes_of_composite_fonts_are_split_by_their_encoding() {
    let descendant = "/DescendantFonts[<</Type/Font/Subtype/CIDFontType0/DW 1000/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)>>>>]";
    let mapped =
        cmap("1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfrange <0001> <0003> <0041> endbfrange");
    let mixed = cmap(
        "2 begincodespacerange <00> <7F> <8000> <FFFF> endcodespacerange 1 begincidrange <8000> <80FF> 5 endcidrange",
    );
    let to_unicode = cmap("2 beginbfchar <41> <0061> <8001> <4E2D> endbfchar");
    for (encoding, to_unicode, codes, expected, why) in [
        ("/Identity-H", Some(&mapped), "000100030002", "ACB", "a code has two bytes"),
        ("6 0 R", Some(&to_unicode), "418001", "a\u{4E2D}", "codes have one byte or two"),
        ("/UniJIS-UTF16-H", None, "65E5672C", "日本", "codes are UTF-16"),
        ("/UniGB-UCS2-H", None, "4E2D6587", "中文", "codes are UTF-16"),
        ("/90ms-RKSJ-H", None, "93FA967B41", "日本A", "codes are Shift JIS"),
        ("/EUC-H", None, "C6FCCBDC", "日本", "codes are EUC-JP"),
        ("/GBK-EUC-H", None, "D6D0CEC4", "中文", "codes are GBK"),
        ("/ETen-B5-H", None, "A4A4A4E5", "中文", "codes are Big5"),
        ("/KSCms-UHC-H", None, "C7D1B1DB", "한글", "codes are those of Unified Hangul"),
    ] {
        let map = if to_unicode.is_some() { "/ToUnicode 5 0 R" } else { "" };
        let pdf = Pdf::showing(&format!("BT /F 12 Tf 72 700 Td <{codes}> Tj ET"))
            .font("F", &format!("/Subtype/Type0/BaseFont/Own/Encoding {encoding}{descendant}{map}"))
            .stream(5, "", to_unicode.map_or(&b""[..], |map| map.as_bytes()))
            .stream(6, "", mixed.as_bytes());
        assert_eq!(text(&pdf), expected, "{encoding}, because {why}");
    }
}

#[test]
fn glyphs_of_adobes_collections_have_their_characters() {
    // Adobe-Japan1 has A at 34 and the hiragana from 842 on; Adobe-GB1, Adobe-CNS1 and Adobe-Korea1
    // also have A at 34.
    for (ordering, codes, expected) in
        [("Japan1", "0022034B", "Aあ"), ("GB1", "0022", "A"), ("CNS1", "0022", "A"), ("Korea1", "0022", "A")]
    {
        let entries = format!(
            "/Subtype/Type0/Encoding/Identity-H/DescendantFonts[<</Subtype/CIDFontType0/CIDSystemInfo<</Registry(Adobe)/Ordering({ordering})>>>>]"
        );
        let pdf = Pdf::showing(&format!("BT /F 12 Tf 72 700 Td <{codes}> Tj ET")).font("F", &entries);
        assert_eq!(text(&pdf), expected, "{ordering}");
    }
}

/// A TrueType font with nothing but a character table: from `first` on, glyphs 1 to 26.
fn true_type(platform: u16, encoding: u16, first: u32) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<_>>();
    let (platform, encoding) = (platform.to_be_bytes(), encoding.to_be_bytes());
    let record = [&[0, 0, 0, 1][..], &platform, &encoding, &words(&[12])].concat();
    let table = [record, vec![0, 12, 0, 0], words(&[28, 0, 1, first, first + 25, 1])].concat();
    let length = u32::try_from(table.len()).unwrap();
    let directory =
        [&words(&[0x0001_0000])[..], &[0, 1, 0, 16, 0, 0, 0, 0], b"cmap", &words(&[0, 28, length])].concat();
    [directory, table].concat()
}

#[test]
fn an_embedded_font_fills_in_for_the_file() {
    let descriptor = "/FontDescriptor<</FontFile2 5 0 R>>";
    let composite = |more: &str| {
        format!("/Subtype/Type0/Encoding/Identity-H/DescendantFonts[<</Subtype/CIDFontType2{descriptor}{more}>>]")
    };
    let simple = format!("/Subtype/TrueType/BaseFont/Own{descriptor}");
    let (latin, symbols) = (true_type(3, 10, 0x61), true_type(3, 0, 0xF041));
    for (entries, font, codes, expected, why) in [
        (composite(""), &latin, "00010002", "ab", "codes are the numbers of glyphs"),
        (composite("/CIDToGIDMap 6 0 R"), &latin, "00000001", "cb", "another table leads from codes to glyphs"),
        (simple.clone(), &symbols, "4142", "", "nothing says what the glyphs of the symbol font are"),
    ] {
        let pdf = Pdf::showing(&format!("BT /F 12 Tf 72 700 Td <{codes}> Tj ET"))
            .font("F", &entries)
            .deflated(5, "", font)
            .stream(6, "", &[0, 3, 0, 2]);
        let file = read(&pdf.write(Form::Plain));
        assert_eq!(file.text, expected, "because {why}");
        assert_eq!(file.gaps.contains(&Gap::FileCharacters), expected.is_empty(), "because {why}");
    }
}
