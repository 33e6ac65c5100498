use super::*;

/// The bytes as they stand in the file before compression, with each line's end shown.
fn text_of(record: &Record) -> String {
    let mut bytes = Vec::new();
    record.push_to(&mut bytes);
    bytes.escape_ascii().to_string().replace("\\r\\n", "␍␊\n").replace("\\\"", "\"")
}

#[test]
fn records_as_they_are_written() {
    let records = [
        ("warcinfo", warcinfo()),
        ("request", request()),
        ("response", response()),
        ("response_cut_short", response_cut_short()),
        ("revisit_not_modified", not_modified()),
        ("revisit_identical", identical()),
        ("metadata", metadata()),
    ];
    for (name, record) in records {
        insta::assert_snapshot!(name, text_of(&record));
    }
}
