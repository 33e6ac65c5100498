//! html5lib's tests of encoding sniffing: documents, and the encoding that a parser should read
//! them in.

use std::fs;

use dragline_end_to_end::checkout::judges;
use dragline_end_to_end::differences::Judgement;
use dragline_formats::charset::{CharsetSource, decode};
use encoding_rs::{Encoding, WINDOWS_1252};

const SCRIPT: &str = "a script writes the declaration, and we run no scripts";

/// File and number of the case, and why we differ.
const DIFFERENCES: &[(&str, &str)] = &[("tests1.dat 55", SCRIPT)];

struct Case {
    name: String,
    document: Vec<u8>,
    encoding: &'static Encoding,
}

/// The cases of all files: `#data`, the document, `#encoding`, the label.
fn cases() -> Vec<Case> {
    let directory = judges().join("html5lib-1.1/html5lib/tests/testdata/encoding");
    let mut cases = Vec::new();
    for file in ["test-yahoo-jp.dat", "tests1.dat", "tests2.dat"] {
        let bytes = fs::read(directory.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        for (number, case) in (1..).zip(split(&bytes, b"#data\n").into_iter().skip(1)) {
            let parts = split(case, b"\n#encoding\n");
            let [document, label] = parts[..] else { panic!("{file} {number} has no encoding") };
            let encoding = Encoding::for_label(label.trim_ascii()).expect("a label of the standard");
            cases.push(Case { name: format!("{file} {number}"), document: document.to_owned(), encoding });
        }
    }
    cases
}

fn split<'b>(bytes: &'b [u8], separator: &[u8]) -> Vec<&'b [u8]> {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(separator.len()).position(|window| window == separator) {
        parts.push(&rest[..at]);
        rest = &rest[at + separator.len()..];
    }
    parts.push(rest);
    parts
}

/// Where nothing is declared browsers default to an encoding by locale, and these tests to
/// windows-1252; we read valid UTF-8 as UTF-8, and guess from the bytes otherwise.
fn is_a_guess(source: CharsetSource) -> bool {
    matches!(source, CharsetSource::Utf8Valid | CharsetSource::Detected)
}

#[test]
fn encodings_are_those_of_html5lib() {
    let mut judgement = Judgement::default();
    let mut guesses = 0;
    for Case { name, document, encoding } in cases() {
        let found = decode(&document, None);
        let agrees = if is_a_guess(found.source) {
            guesses += 1;
            encoding == WINDOWS_1252
        } else {
            found.encoding == encoding.name()
        };
        let told = || {
            let document = String::from_utf8_lossy(&document);
            format!("{} by {:?}, not {}: {document:?}", found.encoding, found.source, encoding.name())
        };
        judgement.note(name, (!agrees).then(told));
    }
    assert_eq!(judgement.cases(), 83);
    assert!(guesses < 45, "{guesses}: most documents declare something");
    judgement.hold(DIFFERENCES);
}
