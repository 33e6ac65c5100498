//! The WARC files of a crawl, checked with third-party tools.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::bufread::GzDecoder;
use serde::Deserialize;

use crate::checkout::{provided, root, succeed};
use crate::crawl_log::Capture;

/// All WARC files below a data directory, sorted.
///
/// # Panics
/// If there are none, as checking nothing proves nothing.
#[must_use]
pub fn warc_files(data: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut todo = vec![data.join("raw")];
    while let Some(directory) = todo.pop() {
        let entries = fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
        for path in entries.map(|entry| entry.expect("a directory that was opened can be read").path()) {
            if path.is_dir() {
                todo.push(path);
            } else if path.to_string_lossy().ends_with(".warc.gz") {
                files.push(path);
            }
        }
    }
    assert!(!files.is_empty(), "no WARC file below {}", data.display());
    files.sort();
    files
}

/// Has `warcio` and `FastWARC` verify structure and digests of every file.
///
/// # Panics
/// If one of them finds a fault.
pub fn check(files: &[PathBuf], scratch: &Path) {
    check_with_revisits(files);

    // FastWARC takes one file at a time; files of whole gzip members make a file when put together
    // (WARC 1.1, annex D).
    let whole = scratch.join("whole.warc.gz");
    let mut joined = File::create(&whole).expect("the test's own directory can be written");
    for path in files {
        let mut file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        io::copy(&mut file, &mut joined).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let mut fastwarc = tool("fastwarc");
    fastwarc.args(["check", "--verify-payloads", "--quiet"]).arg(&whole);
    succeed(fastwarc, "fastwarc check");
}

/// Has `warcio` verify structure and digests of every file. `FastWARC` takes the digest of a
/// revisit for that of its own content, which is left out.
///
/// # Panics
/// If it finds a fault.
pub fn check_with_revisits(files: &[PathBuf]) {
    let mut warcio = tool("warcio");
    warcio.arg("check").args(files);
    succeed(warcio, "warcio check");
}

/// The locations and URLs of all responses and revisits in these files, as an independent reader
/// finds them.
///
/// # Panics
/// If a file cannot be indexed, or is not below the data directory.
#[must_use]
pub fn index(data: &Path, files: &[PathBuf]) -> BTreeSet<(Capture, String)> {
    #[derive(Deserialize)]
    struct Fields {
        url: String,
        filename: String,
        offset: String,
        length: String,
    }
    let mut indexer = tool("cdxj-indexer");
    indexer.arg("--dir-root").arg(data).args(files);
    let output = succeed(indexer, "cdxj-indexer");
    let text = String::from_utf8(output.stdout).expect("an index is UTF-8");
    let record = |line: &str| {
        // Its lines are a sort key, a time and an object of strings.
        let json = line.splitn(3, ' ').nth(2).unwrap_or_else(|| panic!("not an index line: {line}"));
        let fields: Fields = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {line}"));
        let number = |text: &str| text.parse().unwrap_or_else(|error| panic!("{error}: {line}"));
        let capture =
            Capture { object: fields.filename, offset: number(&fields.offset), length: number(&fields.length) };
        (capture, fields.url)
    };
    text.lines().map(record).collect()
}

/// Reads one record by its location alone.
///
/// # Errors
/// If the location is not exactly one gzip member, or the member is damaged.
pub fn read_record(data: &Path, capture: &Capture) -> io::Result<Vec<u8>> {
    let mut file = File::open(data.join(&capture.object))?;
    file.seek(SeekFrom::Start(capture.offset))?;
    let mut member = Vec::new();
    file.take(capture.length).read_to_end(&mut member)?;
    let mut decoder = GzDecoder::new(member.as_slice());
    let mut record = Vec::new();
    decoder.read_to_end(&mut record)?;
    match decoder.into_inner() {
        [] => Ok(record),
        rest => Err(io::Error::other(format!("{} bytes follow the gzip member", rest.len()))),
    }
}

/// The value of a field of a record's own header.
#[must_use]
pub fn warc_field(record: &[u8], name: &str) -> Option<String> {
    let end = record.windows(4).position(|window| window == b"\r\n\r\n")?;
    let header = std::str::from_utf8(&record[..end]).ok()?;
    let mut fields = header.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
}

/// Has py-wacz check a WACZ file: its list of files, their digests, and how they are compressed.
///
/// # Panics
/// If it finds a fault.
pub fn check_wacz(file: &Path) {
    let mut wacz = tool("wacz");
    wacz.arg("validate").arg("-f").arg(file);
    let output = succeed(wacz, "wacz validate");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("Validation succeeded"), "{said}");
}

/// The lines of the index in a WACZ file, and those that `cdxj-indexer` makes of its WARC files;
/// both sorted, without the digests of records, which only the latter has.
///
/// # Panics
/// If the file cannot be read or indexed.
#[must_use]
pub fn indexes_of_wacz(file: &Path, scratch: &Path) -> (Vec<String>, Vec<String>) {
    let mut unzip = Command::new("python3");
    unzip.args(["-m", "zipfile", "-e"]).arg(file).arg(scratch);
    succeed(unzip, "unzip");
    let compressed = fs::read(scratch.join("indexes/index.cdx.gz")).expect("the file has an index");
    let mut ours = String::new();
    flate2::bufread::MultiGzDecoder::new(compressed.as_slice()).read_to_string(&mut ours).expect("an index is UTF-8");
    let mut indexer = tool("cdxj-indexer");
    let archived = fs::read_dir(scratch.join("archive")).expect("the file has WARC files");
    indexer.args(archived.map(|file| file.expect("a folder that was opened can be read").path()));
    let theirs = succeed(indexer, "cdxj-indexer").stdout;
    (comparable(&ours), comparable(&String::from_utf8(theirs).expect("an index is UTF-8")))
}

fn comparable(index: &str) -> Vec<String> {
    let line = |line: &str| {
        let (key, json) = line.split_at(line.find('{').unwrap_or_else(|| panic!("not an index line: {line}")));
        let mut fields: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {line}"));
        fields.remove("recordDigest");
        format!("{key}{}", serde_json::Value::Object(fields))
    };
    let mut lines: Vec<String> = index.lines().map(line).collect();
    lines.sort();
    lines
}

/// The lines of an index of a data directory's WARC files, and those that `cdxj-indexer` makes of
/// them without those of 304; both sorted, without the digests of records.
///
/// # Panics
/// If the files cannot be indexed.
#[must_use]
pub fn indexes_in_place(index: &str, data: &Path) -> (Vec<String>, Vec<String>) {
    let mut indexer = tool("cdxj-indexer");
    indexer.arg("--dir-root").arg(data).args(warc_files(data));
    let theirs = String::from_utf8(succeed(indexer, "cdxj-indexer").stdout).expect("an index is UTF-8");
    let theirs = comparable(&theirs).into_iter().filter(|line| !line.contains(r#""status":"304""#));
    (comparable(index), theirs.collect())
}

/// Has pywb replay URLs of a WACZ file, and returns the status and the SHA-256 of the body of each.
/// A time in 14 digits and a space before a URL ask for the visit of that time, otherwise it is the
/// newest.
///
/// # Panics
/// If the file cannot be replayed.
#[must_use]
pub fn replay(file: &Path, urls: &[&str], scratch: &Path) -> Vec<(u16, String)> {
    replay_from(&[file, scratch], urls, scratch)
}

/// The same of the WARC files in a data directory, with an index of them.
///
/// # Panics
/// If they cannot be replayed.
#[must_use]
pub fn replay_in_place(index: &Path, data: &Path, urls: &[&str], scratch: &Path) -> Vec<(u16, String)> {
    replay_from(&[index, scratch, data], urls, scratch)
}

fn replay_from(arguments: &[&Path], urls: &[&str], scratch: &Path) -> Vec<(u16, String)> {
    let asked = scratch.join("asked");
    fs::write(&asked, urls.join("\n")).expect("the test's own directory can be written");
    let mut pywb = tool("python");
    pywb.arg(root().join("tests/end_to_end/replay.py")).args(arguments);
    pywb.stdin(File::open(&asked).expect("it was written just now"));
    let output = succeed(pywb, "pywb");
    let said = String::from_utf8_lossy(&output.stdout);
    let replayed = said.lines().filter_map(|line| line.strip_prefix("replayed ")?.split_once(' '));
    replayed.map(|(status, digest)| (status.parse().expect("a status"), digest.to_owned())).collect()
}

/// Has pyarrow and `DuckDB` read a Parquet file, and returns its rows.
///
/// # Panics
/// If one of them cannot read it, or they find different rows.
#[must_use]
pub fn parquet_rows(file: &Path) -> Vec<serde_json::Value> {
    let mut python = tool("python");
    python.arg(root().join("tests/end_to_end/parquet_rows.py")).arg(file);
    printed_rows(python)
}

/// Has `DuckDB` read the Parquet files of a table in a directory of partitions, and returns the
/// rows, with the columns that the names of folders say.
///
/// # Panics
/// If it cannot read them.
#[must_use]
pub fn partition_rows(directory: &Path, table: &str) -> Vec<serde_json::Value> {
    let mut python = tool("python");
    python.arg(root().join("tests/end_to_end/partition_rows.py")).arg(directory).arg(table);
    printed_rows(python)
}

fn printed_rows(python: Command) -> Vec<serde_json::Value> {
    let output = succeed(python, "reading Parquet");
    let rows = serde_json::Deserializer::from_slice(&output.stdout).into_iter();
    rows.map(|row| row.expect("a row is JSON")).collect()
}

fn tool(name: &str) -> Command {
    Command::new(provided().readers.join(name))
}
