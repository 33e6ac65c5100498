//! Whether other archives' tools take our files: `pip install warcio fastwarc cdxj-indexer`, then
//! `cargo nextest run -p dragline-formats --run-ignored only`.

use std::path::PathBuf;
use std::process::Command;

use super::*;

/// All that we write, a body in a content coding and an empty one.
fn samples() -> Vec<Record> {
    let gzipped =
        [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3, 0xb3, 0x29, 0xb0, 0xcb, 0xc8, 4, 0, 0xcf, 0xf2, 0x73, 0x7e, 5, 0, 0, 0];
    let headers = [("Content-Encoding", "gzip"), ("Content-Type", "text/html"), ("X", "a\r\n\r\nHTTP/1.1 500 No")];
    let block = http_response_block(200, "", &headers, &gzipped);
    let coded = Record::response(RecordId::from_bits(8), &event("/gzip"), block, Sha1Digest::of(&gzipped));
    let empty = http_response_block(204, "No Content", &[("A", "b")], b"");
    let empty = Record::response(RecordId::from_bits(9), &event("/empty"), empty, Sha1Digest::of(b""));
    let mut records = one_of_each();
    records.extend([coded, empty]);
    records
}

fn sample_file(name: &str, records: &[Record]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("dragline-{name}-{}.warc.gz", std::process::id()));
    std::fs::write(&path, file_of(records).0).unwrap();
    path
}

fn output_of(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {text}");
    text
}

#[test]
#[ignore = "needs warcio, fastwarc and cdxj-indexer on PATH"]
fn other_tools_take_our_files() {
    let path = sample_file("all", &samples());
    let warcio = output_of(Command::new("warcio").args(["check", "-v"]).arg(&path));
    assert_eq!(warcio.matches("digest pass").count(), 7, "all but the two revisits: {warcio}");

    output_of(Command::new("fastwarc").args(["check", "--quiet"]).arg(&path));
    // fastwarc looks for the payload of an identical revisit in the revisit itself, where the standard leaves it out.
    let with_payload: Vec<_> = samples().into_iter().filter(|record| *record != identical()).collect();
    let payload_path = sample_file("with-payload", &with_payload);
    output_of(Command::new("fastwarc").args(["check", "--quiet", "--verify-payloads"]).arg(&payload_path));

    let index = output_of(Command::new("cdxj-indexer").arg(&path));
    let lines: Vec<&str> = index.lines().collect();
    assert_eq!(lines.len(), 6, "four responses and two revisits: {index}");
    assert_eq!(index.matches("\"warc/revisit\"").count(), 2, "{index}");
    for path in [path, payload_path] {
        std::fs::remove_file(path).unwrap();
    }
}
