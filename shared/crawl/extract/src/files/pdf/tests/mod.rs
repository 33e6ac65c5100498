mod builder;
mod characters;
mod hostile;
mod places;

use builder::{Form, Pdf};

use super::*;

/// Helvetica, one of the standard fonts, whose widths are built in.
const HELVETICA: &str = "/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding";

fn text(pdf: &Pdf) -> String {
    read(&pdf.write(Form::Plain)).text
}

#[test]
fn files_with_and_without_object_streams_read_alike() {
    let pdf = Pdf::showing("BT /F 12 Tf 72 700 Td (Hello) Tj ET")
        .font("F", HELVETICA)
        .object(5, "<</Title(Report)/CreationDate(D:20240131)>>")
        .trailer("/Info 5 0 R");
    for form in [Form::Plain, Form::ObjectStream] {
        let file = read(&pdf.write(form));
        let said = (file.pages, file.text.as_str(), file.title.as_deref(), file.published.as_deref());
        assert_eq!(said, (Some(1), "Hello", Some("Report"), Some("2024-01-31")), "{form:?}");
        assert_eq!(file.gaps, BTreeSet::new(), "{form:?}");
    }
}

#[test]
fn unread_files_say_why() {
    let picture = "q 600 0 0 800 0 0 cm /P Do Q";
    let with_picture = |content: &str| {
        Pdf::showing(content).font("F", HELVETICA).resources("/XObject<</P 5 0 R>>").stream(
            5,
            "/Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8",
            b"x",
        )
    };
    let inline = "q 600 0 0 800 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x7F EI Q";
    let nameless = "/Subtype/Type0/Encoding/Identity-H/DescendantFonts[<</Type/Font/Subtype/CIDFontType2>>]";
    let unnamed = "/Subtype/Type3/FontMatrix[.001 0 0 .001 0 0]/Encoding<</Differences[65/g1/g2]>>";
    let shown = "BT /F 12 Tf 72 700 Td (AB) Tj ET";
    for (pdf, expected, why) in [
        (with_picture(picture), Some(Gap::FilePictures), "its page is a picture"),
        (with_picture(inline), Some(Gap::FilePictures), "its page is a picture that stands in the content"),
        (with_picture(&format!("{picture} {shown}")), None, "it has text over a picture, as after recognition"),
        (with_picture("q 60 0 0 80 0 0 cm /P Do Q"), None, "its picture is a mark on an empty page"),
        (Pdf::showing(shown).font("F", nameless), Some(Gap::FileCharacters), "its glyphs have numbers alone"),
        (Pdf::showing(shown).font("F", unnamed), Some(Gap::FileCharacters), "its glyphs have names that say nothing"),
        (Pdf::showing(shown), Some(Gap::FileCharacters), "its font is missing"),
        (
            Pdf::showing(shown).font("F", HELVETICA).trailer("/Encrypt 9 0 R"),
            Some(Gap::FileEncrypted),
            "it is encrypted",
        ),
        (Pdf::showing(shown).object(2, "<</Type/Pages/Kids[]>>"), Some(Gap::FileDamaged), "it has no page"),
        (Pdf::showing(""), None, "its page is empty"),
        (Pdf::showing(shown).font("F", HELVETICA), None, "all of it is read"),
    ] {
        for form in [Form::Plain, Form::ObjectStream] {
            let file = read(&pdf.write(form));
            assert_eq!(file.gaps, expected.into_iter().collect(), "{form:?}, because {why}");
        }
    }
}

#[test]
fn forms_are_read_where_they_are_drawn() {
    let form = |entries: &str| format!("/Type/XObject/Subtype/Form{entries}");
    let own =
        form("/Resources<</Font<</G<</Type/Font/Subtype/Type1/BaseFont/Times-Roman>>>>/XObject<</Inner 6 0 R>>>>");
    let shown = |text: &str, font: &str| format!("BT /{font} 10 Tf 0 0 Td ({text}) Tj ET");
    let outer = format!("{} q 1 0 0 1 0 -20 cm /Inner Do Q", shown("outer", "G"));
    let pdf = Pdf::showing(
        "BT /F 10 Tf 50 700 Td (page) Tj ET q 1 0 0 1 50 600 cm /Outer Do Q BT /F 10 Tf 50 500 Td (end) Tj ET",
    )
    .font("F", HELVETICA)
    .resources("/XObject<</Outer 5 0 R/Loop 7 0 R>>")
    .deflated(5, &own, outer.as_bytes())
    .stream(6, &form("/Matrix[1 0 0 1 5 0]"), shown("inner", "G").as_bytes())
    .stream(7, &form("/Resources<</XObject<</Loop 7 0 R>>>>"), b"/Loop Do");
    assert_eq!(text(&pdf), "page\nouter\ninner\nend", "nested, with resources of their own or of what draws them");

    let looping = Pdf::showing("/Loop Do BT /F 10 Tf 50 700 Td (after) Tj ET")
        .font("F", HELVETICA)
        .resources("/XObject<</Loop 7 0 R>>")
        .stream(7, &form("/Resources<</XObject<</Loop 7 0 R>>>>"), b"/Loop Do");
    let file = read(&looping.write(Form::Plain));
    assert_eq!((file.text.as_str(), file.gaps), ("after", BTreeSet::from([Gap::File])), "a form that draws itself");
}
