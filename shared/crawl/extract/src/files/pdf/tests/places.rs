//! The placement of spaces and newlines.

use super::*;

/// The widths of Helvetica in thousandths, from its metrics.
fn helvetica(text: &str) -> f32 {
    let width = |c| match c {
        'i' | 'j' | 'l' => 222.0,
        ' ' | 'f' | 't' | 'I' => 278.0,
        'r' => 333.0,
        'c' | 'k' | 's' | 'v' | 'x' | 'y' | 'z' => 500.0,
        'w' | 'H' | 'N' => 722.0,
        'm' => 833.0,
        'W' => 944.0,
        _ => 556.0,
    };
    text.chars().map(width).sum::<f32>() / 1000.0
}

fn shown(content: &str) -> String {
    text(&Pdf::showing(content).font("F", HELVETICA))
}

/// Draws each letter by an operation of its own, at its natural position; `at` writes the operators
/// for one letter.
fn letter_by_letter(text: &str, spaced: f32, at: impl Fn(f32, f32, char) -> String) -> String {
    let (mut x, mut content) = (72.0, String::new());
    for letter in text.chars() {
        if letter != ' ' {
            content += &at(x, 700.0, letter);
        }
        x += (helvetica(&letter.to_string()) + spaced) * 12.0;
    }
    content
}

#[test]
fn letters_placed_one_by_one_make_words() {
    let text = "Hello wonderful world";
    let own_text = |x: f32, y: f32, letter| format!("BT /F 12 Tf 1 0 0 1 {x} {y} Tm ({letter}) Tj ET ");
    assert_eq!(shown(&letter_by_letter(text, 0.0, own_text)), text, "a text object a letter");
    assert_eq!(shown(&letter_by_letter(text, 0.02, own_text)), text, "a little apart");
    let moved = |x: f32, y: f32, letter| format!("BT /F 12 Tf {x} {y} Td ({letter}) Tj ET ");
    assert_eq!(shown(&letter_by_letter(text, 0.0, moved)), text, "moved to");
    let transformed = |x: f32, y: f32, letter| format!("q 1 0 0 1 {x} {y} cm BT /F 12 Tf ({letter}) Tj ET Q ");
    assert_eq!(shown(&letter_by_letter(text, 0.0, transformed)), text, "in a space of its own");
    let turned = |x: f32, _, letter| format!("BT /F 12 Tf 0 1 -1 0 300 {x} Tm ({letter}) Tj ET ");
    assert_eq!(shown(&letter_by_letter(text, 0.0, turned)), text, "upwards");
    let small = |x: f32, y: f32, letter| format!("BT /F 1 Tf 12 0 0 12 {x} {y} Tm ({letter}) Tj ET ");
    assert_eq!(shown(&letter_by_letter(text, 0.0, small)), text, "sized by the matrix");
    assert_eq!(shown(&letter_by_letter(text, 0.3, own_text)), text, "spaced out");
}

#[test]
fn gaps_are_spaces_by_their_width() {
    for (operators, expected, why) in [
        ("(Hello) Tj ( world) Tj", "Hello world", "a space is shown"),
        ("[(Hel) -20 (lo) -300 (wor) 30 (ld)] TJ", "Hello world", "kerning is narrow, a space is wide"),
        ("(Hello) Tj 27.336 0 Td (world) Tj", "Helloworld", "it begins where the other ends"),
        ("(Hello) Tj 30.672 0 Td (world) Tj", "Hello world", "a space is 0.278 wide"),
        ("(Hello) Tj 27.336 0.0001 Td (world) Tj", "Helloworld", "it hardly rises"),
        ("0.5 Tc (Hello) Tj 29.836 0 Td (world) Tj", "Helloworld", "characters are spaced"),
        ("3 Tc (Hello world) Tj", "Hello world", "all characters are spaced alike"),
        ("3 Tc (He) Tj 0 Tc", "H e", "two characters are spaced as words are"),
        ("50 Tz (Hello) Tj 13.668 0 Td (world) Tj", "Helloworld", "glyphs are half as wide"),
        ("50 Tz (Hello) Tj 15.336 0 Td (world) Tj", "Hello world", "so is a space"),
        ("10 Tw (Hello world) Tj", "Hello world", "a wide space is one"),
        ("(x) Tj 5 Ts (2) Tj 0 Ts (y) Tj", "x2y", "it is raised"),
        ("(a) Tj 0 -14 Td (b) Tj", "a\nb", "it is below"),
        ("14 TL (di-) Tj T* (vided) Tj", "divided", "a word is divided"),
        ("14 TL (North-) Tj T* (South) Tj T* (5-) Tj T* (fold) Tj", "North-\nSouth\n5-\nfold", "no word is divided"),
        ("14 TL (a) Tj T* (b) Tj (c) ' 1 1 (d) \"", "a\nb\nc\nd", "lines follow"),
        ("(a) Tj 100 0 Td (b) Tj 0 -14 Td (d) Tj -100 0 Td (c) Tj", "a b\nc d", "cells of rows in any order"),
        ("(bold) Tj 0.3 0 Td (bold) Tj", "bold", "it is drawn twice to look bold"),
        ("(a) Tj ET BT /F 12 Tf 78.67 700 Td (b) Tj", "ab", "a text object ends within a word"),
        ("(W) Tj 11.328 0 Td /F 6 Tf (x) Tj", "Wx", "another size goes on"),
    ] {
        let content = format!("BT /F 12 Tf 72 700 Td {operators} ET");
        assert_eq!(shown(&content), expected, "{operators}, because {why}");
    }
}

#[test]
fn widths_are_those_of_the_font() {
    let simple = "/Subtype/TrueType/BaseFont/Own/Encoding/WinAnsiEncoding/FirstChar 65/Widths[1000 200]";
    let missing = "/Subtype/TrueType/BaseFont/Own/Encoding/WinAnsiEncoding/FirstChar 65/Widths[1000]/FontDescriptor<</MissingWidth 200>>";
    let own_unit =
        "/Subtype/Type3/FontMatrix[.01 0 0 .01 0 0]/FirstChar 65/Widths[100 20]/Encoding<</Differences[65/A/B]>>";
    let composite = |widths: &str| {
        format!(
            "/Subtype/Type0/Encoding/Identity-H/ToUnicode 5 0 R/DescendantFonts[<</Type/Font/Subtype/CIDFontType2{widths}>>]"
        )
    };
    let map = "1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfrange <0041> <0042> <0041> endbfrange";
    // A is as wide as the size, B a fifth of it.
    for (entries, a, b, why) in [
        (simple.to_owned(), "41", "42", "a simple font lists them"),
        (missing.to_owned(), "41", "42", "one is missing"),
        (own_unit.to_owned(), "41", "42", "its unit is its own"),
        (composite("/W[65[1000 200]]"), "0041", "0042", "they are listed one by one"),
        (composite("/DW 200/W[65 65 1000]"), "0041", "0042", "they are listed by ranges, and one is the usual one"),
        (composite("/W[66 66 200]"), "0041", "0042", "1000 is usual"),
    ] {
        let content = format!(
            "BT /F 10 Tf 100 700 Td <{a}> Tj 10 0 Td <{b}> Tj 2 0 Td <{a}> Tj 13 0 Td <{b}> Tj 5 0 Td <{a}> Tj ET"
        );
        let pdf = Pdf::showing(&content).font("F", &entries).stream(5, "", map.as_bytes());
        assert_eq!(text(&pdf), "ABA B A", "because {why}");
    }
}

#[test]
fn vertical_and_right_to_left_text_is_read_in_order() {
    let hebrew = |codes: &str| {
        let entries = "/Subtype/Type1/BaseFont/Own/FirstChar 65/Widths[500 500 500 500 500 500]/ToUnicode 5 0 R";
        let map = "1 beginbfrange <41> <44> <05D0> endbfrange";
        text(&Pdf::showing(&format!("BT /F 10 Tf 100 700 Td {codes} ET")).font("F", entries).stream(
            5,
            "",
            map.as_bytes(),
        ))
    };
    assert_eq!(hebrew("(CBA) Tj"), "אבג", "drawn from the left, as it is seen");
    assert_eq!(hebrew("(A) Tj -5 0 Td (B) Tj -5 0 Td (C) Tj"), "אבג", "drawn from the right, as it is read");
    assert_eq!(hebrew("(DC) Tj 14 0 Td (BA) Tj"), "אב גד", "words, too");
    assert_eq!(hebrew("(BA) Tj 14 0 Td (12) Tj 14 0 Td (DC) Tj"), "גד 12 אב", "numbers run to the right");

    let down = "/Subtype/Type0/Encoding/UniJIS-UTF16-V/DescendantFonts[<</Type/Font/Subtype/CIDFontType0>>]";
    let content = "BT /F 10 Tf 500 700 Td <65E5672C> Tj ET BT /F 10 Tf 480 700 Td <8A9E> Tj ET";
    assert_eq!(text(&Pdf::showing(content).font("F", down)), "日本\n語", "columns");
}

#[test]
fn accents_drawn_over_letters_are_combined_with_them() {
    // As TeX sets them in its own fonts: the accent, then the letter, which starts slightly to the
    // left.
    let entries = "/Subtype/Type1/BaseFont/CMR10/FirstChar 97/Widths[500 556 444 556 444]/Encoding<</Differences[98/acute/dieresis/b/e]>>";
    let shown =
        text(&Pdf::showing("BT /F 10 Tf 100 700 Td [(a) -10 (b) 530 (e) -300 (a) 480 (c) ] TJ ET").font("F", entries));
    assert_eq!(shown, "a\u{E9} \u{E4}");
}
