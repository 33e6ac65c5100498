use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_formats::warc::Sha1Digest;
use dragline_ports::fetcher::{FetchLimits, FetchOutcome, FetchRequest, Fetcher, Truncation};
use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::Timestamp;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::*;

const NOW: &str = "2024-06-01T00:00:00Z";

/// Returns a record from its fields after the version, and its block.
fn record(fields: &str, block: &[u8]) -> Vec<u8> {
    let fields: String = fields.split(' ').map(|field| format!("WARC-{}\r\n", field.replacen('=', ": ", 1))).collect();
    let head = format!("WARC/1.1\r\n{fields}Content-Length: {}\r\n\r\n", block.len());
    let mut member = GzEncoder::new(Vec::new(), Compression::fast());
    member.write_all(&[head.as_bytes(), block, b"\r\n\r\n"].concat()).unwrap();
    member.finish().unwrap()
}

fn id(number: u8) -> String {
    format!("<urn:uuid:00000000-0000-4000-8000-0000000000{number:02}>")
}

fn response(path: &str, day: u8, fields: &str, body: &str) -> Vec<u8> {
    let fields = format!("Type=response Target-URI=https://a.example{path} Date=2024-05-{day:02}T00:00:00Z{fields}");
    record(&fields, format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}").as_bytes())
}

/// Returns a folder with one WARC file of these records.
fn folder(records: &[Vec<u8>]) -> (tempfile::TempDir, Archives) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.warc.gz"), records.concat()).unwrap();
    let archives = Archives::find(&[folder.path().to_owned()]).unwrap();
    (folder, archives)
}

fn index(archives: &Archives) -> Index {
    Index::read(archives, &UrlRules::default(), NOW.parse().unwrap()).unwrap()
}

fn left_out(index: &Index) -> Vec<(SkipReason, u64)> {
    index.left_out.iter().map(|(why, number)| (*why, *number)).collect()
}

fn url(path: &str) -> CrawlUrl {
    CrawlUrl::parse(&format!("https://a.example{path}"), &UrlRules::default()).unwrap()
}

const LIMITS: FetchLimits = FetchLimits {
    connect_timeout: Duration::ZERO,
    first_byte_timeout: Duration::ZERO,
    total_timeout: Duration::ZERO,
    header_bytes_max: 1 << 10,
    body_bytes_max: 100,
    file_bytes_max: Some(200),
    decoded_bytes_max: 200,
};

/// Fetches a path from the answers of a round.
async fn fetched(archives: &Archives, round: usize, path: &str) -> FetchOutcome {
    let fetcher = ArchiveFetcher::new(archives);
    let (mut rounds, _) = index(archives).into_rounds();
    fetcher.begin(rounds.swap_remove(round));
    fetcher.fetch(FetchRequest::new(url(path), LIMITS)).await
}

async fn body(archives: &Archives, round: usize, path: &str) -> String {
    let response = fetched(archives, round, path).await.result.unwrap();
    String::from_utf8(response.readable_body().to_vec()).unwrap()
}

#[test]
fn records_other_than_visits_are_left_out_and_counted() {
    let request = |number: u8, of: u8, method: &str| {
        let fields = format!("Type=request Record-ID={} Concurrent-To={}", id(number), id(of));
        record(&fields, format!("{method} / HTTP/1.1\r\nUser-Agent: Bot\r\n\r\n").as_bytes())
    };
    let records = [
        record("Type=warcinfo", b"software: test"),
        response("/", 1, &format!(" Record-ID={}", id(1)), "home"),
        request(2, 1, "GET"),
        request(3, 4, "POST"),
        response("/form", 1, &format!(" Record-ID={}", id(4)), "sent"),
        response("/", 1, "", "the same second"),
        response("/other", 3, "", ""),
        record("Type=response Target-URI=https://a.example/undated", b"HTTP/1.1 200 OK\r\n\r\n"),
        record("Type=response Target-URI=https://a.example/late Date=2099-01-01T00:00:00Z", b"HTTP/1.1 200 OK\r\n\r\n"),
        record("Type=response Target-URI=dns:a.example Date=2024-05-01T00:00:00Z", b"192.0.2.1"),
        record("Type=response Target-URI=https://a.example/ftp Date=2024-05-01T00:00:00Z", b"not HTTP"),
        record("Type=metadata Target-URI=metadata://gnu.org/x Date=2024-05-01T00:00:00Z", b""),
        record("Type=resource Target-URI=urn:pageinfo:https://a.example/ Date=2024-05-01T00:00:00Z", b"{}"),
        record("Type=conversion Target-URI=https://a.example/ Date=2024-05-01T00:00:00Z", b""),
        record(
            "Type=revisit Target-URI=https://a.example/lost Date=2024-05-01T00:00:00Z Payload-Digest=sha1:X Profile=http://netpreserve.org/warc/1.0/revisit/identical-payload-digest",
            b"",
        ),
    ];
    let (_folder, archives) = folder(&records);
    let index = index(&archives);
    assert_eq!((index.records, index.captures()), (15, 2));
    let expected = [
        (SkipReason::Metadata, 1),
        (SkipReason::OtherKind, 1),
        (SkipReason::NotOfTheWeb, 2),
        (SkipReason::OtherMethod, 1),
        (SkipReason::NoDate, 2),
        (SkipReason::NoAnswer, 1),
        (SkipReason::BodyElsewhere, 1),
        (SkipReason::Twice, 1),
    ];
    assert_eq!(left_out(&index), expected);
}

#[tokio::test]
async fn an_answer_is_read_as_it_was_archived() {
    let request =
        record(&format!("Type=request Concurrent-To={}", id(1)), b"GET /a HTTP/1.1\r\nUser-Agent: Bot/1\r\n\r\n");
    let fields = format!(" Record-ID={} IP-Address=192.0.2.7", id(1));
    let (_folder, archives) = folder(&[response("/a", 2, &fields, "words"), request]);
    let fetched = fetched(&archives, 0, "/a").await;
    assert_eq!(fetched.archived_at, Some("2024-05-02T00:00:00Z".parse::<Timestamp>().unwrap()));
    assert_eq!(fetched.remote.unwrap().to_string(), "192.0.2.7:443");
    assert_eq!(fetched.request_headers.get("user-agent"), Some(b"Bot/1".as_slice()));
    let response = fetched.result.unwrap();
    assert_eq!((response.status, response.truncated, response.decoded_bytes), (200, None, 5));
    assert_eq!(response.headers.get("content-type"), Some(b"text/html".as_slice()));
}

#[tokio::test]
async fn a_revisit_has_the_body_that_it_refers_to() {
    let head = b"HTTP/1.1 203 Again\r\n\r\n".as_slice();
    let revisit = |path: &str, refers: &str, block: &[u8]| {
        let profile = "Profile=http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
        let fields =
            format!("Type=revisit Target-URI=https://a.example{path} Date=2024-05-09T00:00:00Z {profile}{refers}");
        record(&fields, block)
    };
    let digest = " Payload-Digest=sha256:AbCd";
    let (_folder, archives) = folder(&[
        // Located after the referring record, as in files read in another order than they were
        // written.
        revisit("/by-address", " Refers-To-Target-URI=https://a.example/b Refers-To-Date=2024-05-02T00:00:00Z", head),
        revisit("/by-id", &format!(" Refers-To={}", id(1)), b""),
        revisit("/by-digest", digest, head),
        response("/a", 1, &format!(" Record-ID={}", id(1)), "body of a"),
        response("/b", 2, digest, "body of b"),
    ]);
    for (path, status, expected) in
        [("/by-address", 203, "body of b"), ("/by-id", 200, "body of a"), ("/by-digest", 203, "body of b")]
    {
        let response = fetched(&archives, 0, path).await.result.unwrap();
        assert_eq!((response.status, &response.readable_body()[..]), (status, expected.as_bytes()), "{path}");
    }
}

#[tokio::test]
async fn each_answer_of_a_url_has_a_round_in_the_order_of_their_times() {
    let (_folder, archives) = folder(&[
        response("/a", 3, "", "third"),
        response("/a", 1, "", "first"),
        response("/b", 2, "", "only"),
        response("/a", 2, "", "second"),
    ]);
    let rounds = index(&archives).into_rounds().0;
    assert_eq!(rounds.iter().map(std::collections::HashMap::len).collect::<Vec<_>>(), [2, 1, 1]);
    for (round, expected) in ["first", "second", "third"].into_iter().enumerate() {
        assert_eq!(body(&archives, round, "/a").await, expected);
    }
    let of_second = |n: u8| {
        let date = format!("2024-05-01T00:{:02}:{:02}Z", n / 60, n % 60);
        record(&format!("Type=response Target-URI=https://a.example/ Date={date}"), b"HTTP/1.1 200 OK\r\n\r\n")
    };
    let (_folder, archives) = folder(&(0..120).map(of_second).collect::<Vec<_>>());
    let (rounds, left_out) = index(&archives).into_rounds();
    assert_eq!((rounds.len(), left_out.get(&SkipReason::Crowd)), (100, Some(&20)), "each round costs an iteration");
    assert_eq!(rounds[99][&url("/")].at, "2024-05-01T00:01:59Z".parse().unwrap(), "the newest are taken");
}

#[tokio::test]
async fn the_iterations_of_a_crawl_of_ours_stay_apart() {
    let info = |iteration: u32| {
        let fields = "Type=warcinfo".to_owned();
        let text = format!("software: Dragline/1\r\nisPartOf: a.example-{iteration}\r\n");
        let head = format!(
            "WARC/1.1\r\nWARC-{}\r\nDragline-Format: 1\r\nContent-Length: {}\r\n\r\n",
            fields.replace('=', ": "),
            text.len()
        );
        let mut member = GzEncoder::new(Vec::new(), Compression::fast());
        member.write_all(&[head.as_bytes(), text.as_bytes(), b"\r\n\r\n"].concat()).unwrap();
        member.finish().unwrap()
    };
    let with_visit = |record: &[u8]| {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(record), &mut text).unwrap();
        let mut member = GzEncoder::new(Vec::new(), Compression::fast());
        member.write_all(text.replacen("WARC-Date", "Dragline-Visit: {}\r\nWARC-Date", 1).as_bytes()).unwrap();
        member.finish().unwrap()
    };
    let visit = |path: &str, day: u8, body: &str| {
        let fields = format!("Type=response Target-URI=https://a.example{path} Date=2024-05-{day:02}T00:00:00Z");
        with_visit(&record(&fields, format!("HTTP/1.1 200 OK\r\n\r\n{body}").as_bytes()))
    };
    // The page with the same answer as that by which robots.txt was read.
    let repeated = |path: &str, day: u8| {
        let digest = Sha1Digest::compute(b"no visit");
        let profile = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
        let fields = format!(
            "Type=revisit Target-URI=https://a.example{path} Date=2024-05-{day:02}T01:00:00Z Payload-Digest={digest} Profile={profile} Refers-To-Target-URI=https://a.example{path} Refers-To-Date=2024-05-{day:02}T00:00:00Z"
        );
        with_visit(&record(&fields, b"HTTP/1.1 200 OK\r\n\r\n"))
    };
    let (_folder, archives) = folder(&[
        info(1),
        response("/robots.txt", 1, "", "no visit"),
        repeated("/robots.txt", 1),
        visit("/a", 1, "tried"),
        visit("/a", 2, "again"),
        info(2),
        visit("/a", 3, "later"),
        visit("/b", 3, "new"),
    ]);
    assert_eq!(left_out(&index(&archives)), [(SkipReason::NotAVisit, 1)]);
    let (rounds, left) = index(&archives).into_rounds();
    assert_eq!((rounds.len(), left.get(&SkipReason::Retried)), (2, Some(&1)));
    assert_eq!((body(&archives, 0, "/a").await, body(&archives, 1, "/a").await), ("again".into(), "later".into()));
    assert_eq!(body(&archives, 1, "/b").await, "new", "of the second iteration, though it is the first answer");
    assert_eq!(body(&archives, 0, "/robots.txt").await, "no visit", "as a page, too");
}

#[test]
fn answers_that_the_crawl_has_and_older_ones_are_left_out() {
    let (_folder, archives) = folder(&[
        response("/a", 1, "", ""),
        response("/a", 2, "", ""),
        response("/a", 3, "", ""),
        response("/b", 1, "", ""),
    ]);
    let mut index = index(&archives);
    let digest = index.digest();
    index.leave_out_known([(url("/a"), "2024-05-02T00:00:00Z".parse().unwrap())].into_iter());
    assert_eq!(left_out(&index), [(SkipReason::Known, 1), (SkipReason::Late, 1)]);
    assert_eq!(index.captures(), 2);
    assert_ne!(index.digest(), digest);
}

#[tokio::test]
async fn a_body_is_cut_as_a_crawl_would_cut_it() {
    let zipped = |text: &str| {
        let mut body = GzEncoder::new(Vec::new(), Compression::best());
        body.write_all(text.as_bytes()).unwrap();
        body.finish().unwrap()
    };
    let coded = |body: &[u8]| {
        let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
        record("Type=response Target-URI=https://a.example/ Date=2024-05-01T00:00:00Z", &[head, body].concat())
    };
    let numbers: String = (0..40).map(|n: u32| (n * n * 7919).to_string()).collect();
    let mut broken = response("/", 1, "", &numbers[..95]);
    broken.truncate(broken.len() - 20);
    for (file, body_bytes, decoded_bytes, truncated, why) in [
        (response("/", 1, "", &"x".repeat(100)), 100, 100, None, "at the limit"),
        (response("/", 1, "", &"x".repeat(101)), 100, 100, Some(Truncation::Length), "over it"),
        (response("/", 1, " Truncated=time", "abc"), 3, 3, Some(Truncation::Time), "as its record says"),
        (coded(&zipped(&"x".repeat(200))), zipped(&"x".repeat(200)).len(), 200, None, "decoded"),
        (coded(&zipped(&"x".repeat(201))), zipped(&"x".repeat(201)).len(), 200, Some(Truncation::Length), "a bomb"),
        (coded(b"plain"), 5, 5, None, "a coding that was undone"),
    ] {
        let (_folder, archives) = folder(&[file]);
        let response = fetched(&archives, 0, "/").await.result.unwrap();
        let got = (response.readable_body().len(), response.decoded_bytes, response.truncated);
        assert_eq!(got, (body_bytes, decoded_bytes, truncated), "{why}");
    }
    let (_folder, archives) = folder(&[response("/first", 1, "", "whole"), broken]);
    let index = index(&archives);
    assert_eq!((index.captures(), index.cut_short, index.faults.len()), (2, 1, 0));
    let cut = fetched(&archives, 0, "/").await.result.unwrap();
    assert_eq!(cut.truncated, Some(Truncation::Disconnect), "the file ends within it");
}

#[tokio::test]
async fn a_body_that_is_not_read_is_taken_up_to_the_limit_of_such_bodies() {
    const LARGE_BYTES: usize = 2 << 20;
    let limits = FetchLimits { file_bytes_max: Some(LARGE_BYTES as u64), ..LIMITS };
    let picture = |bytes: usize, coding: &str, last: &[u8]| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n{coding}\r\n");
        let body = [&vec![b'x'; bytes - last.len()][..], last].concat();
        let fields = "Type=response Target-URI=https://a.example/ Date=2024-05-01T00:00:00Z";
        record(fields, &[head.as_bytes(), &body].concat())
    };
    for (file, kept, truncated, why) in [
        (picture(150, "", b"last"), 150, None, "more than is read of a page"),
        (
            picture(LARGE_BYTES, "", b"last"),
            LARGE_BYTES,
            None,
            "just as much, of which the head of no record is as long",
        ),
        (picture(LARGE_BYTES + 1, "", b"!"), LARGE_BYTES, Some(Truncation::Length), "a byte over it"),
        (picture(LARGE_BYTES, "Content-Encoding: gzip\r\n", b"last"), LARGE_BYTES, None, "a coding that was undone"),
    ] {
        let (_folder, archives) = folder(&[file]);
        let fetcher = ArchiveFetcher::new(&archives);
        fetcher.begin(index(&archives).into_rounds().0.swap_remove(0));
        let response = fetcher.fetch(FetchRequest::new(url("/"), limits)).await.result.unwrap();
        assert_eq!((response.body.len_bytes(), response.truncated), (kept as u64, truncated), "{why}");
        let body = response.body.bytes().unwrap();
        assert_eq!(body.ends_with(b"last"), truncated.is_none(), "{why}");
        assert_eq!(
            (response.decoded_bytes, response.decoded_sha1),
            (kept as u64, *Sha1Digest::compute(&body).as_bytes())
        );
    }
}

#[tokio::test]
async fn a_damaged_file_is_read_up_to_the_damage_which_is_located() {
    let mut damaged = response("/b", 1, "", "damaged");
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xff;
    let (folder, archives) = folder(&[response("/a", 1, "", "whole"), damaged, response("/c", 1, "", "behind")]);
    let read = index(&archives);
    assert_eq!((read.captures(), read.faults.len()), (1, 1), "{:?}", read.faults);
    assert!(read.faults[0].contains("a.warc.gz: no readable record at byte "), "{:?}", read.faults);
    // A file that disappears meanwhile costs its answers.
    let fetcher = ArchiveFetcher::new(&archives);
    fetcher.begin(read.into_rounds().0.swap_remove(0));
    fs::remove_file(folder.path().join("a.warc.gz")).unwrap();
    let failure = fetcher.fetch(FetchRequest::new(url("/a"), LIMITS)).await.result.unwrap_err();
    assert!(failure.detail.contains("a.warc.gz"), "{}", failure.detail);
    let failure = fetcher.fetch(FetchRequest::new(url("/other"), LIMITS)).await.result.unwrap_err();
    assert_eq!(failure.detail, "there is no answer in the archives");
}

/// Returns a package as Browsertrix lays it out.
fn package(folder: &tempfile::TempDir, compression: CompressionMethod) -> PathBuf {
    let path = folder.path().join("crawl.wacz");
    let mut zip = ZipWriter::new(File::create(&path).unwrap());
    let pages = "{\"format\": \"json-pages-1.0\", \"id\": \"pages\"}\n{\"id\": \"1\", \"url\": \"https://a.example/b\"}\n{\"id\": \"2\", \"url\": \"https://a.example/a\", \"seed\": true}\n";
    let warc = [response("/b", 1, "", "body of b"), response("/a", 1, "", "body of a")].concat();
    for (name, content) in [
        ("archive/rec-1.warc.gz", warc.as_slice()),
        ("indexes/index.cdx.gz", b"x"),
        ("pages/pages.jsonl", pages.as_bytes()),
        ("datapackage.json", b"{}"),
    ] {
        let how = if name.starts_with("archive/") { compression } else { CompressionMethod::Deflated };
        zip.start_file(name, SimpleFileOptions::default().compression_method(how)).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap();
    path
}

#[tokio::test]
async fn a_package_is_read_in_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let archives = Archives::find(&[package(&folder, CompressionMethod::Stored)]).unwrap();
    assert_eq!(archives.files(), 1);
    assert_eq!(body(&archives, 0, "/b").await, "body of b");
    let first = index(&archives).first(&archives, &UrlRules::default());
    assert_eq!(first, Some(url("/a")), "the page that the crawl began with");
    let refused = Archives::find(&[package(&folder, CompressionMethod::Deflated)]).unwrap_err();
    assert!(refused.to_string().contains("compressed once more"), "{refused}");
}

#[test]
fn other_files_than_archives_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("a.txt"), "").unwrap();
    fs::write(path("a.wacz"), "no ZIP file").unwrap();
    fs::create_dir(path("empty")).unwrap();
    for (name, expected) in [
        ("a.txt", "is not a WARC or WACZ file by its name"),
        ("a.wacz", "cannot be read as a WACZ file"),
        ("empty", "holds no file named"),
        ("gone.warc", "cannot be read: "),
    ] {
        let refused = Archives::find(&[path(name)]).unwrap_err().to_string();
        assert!(refused.contains(expected), "{refused}");
    }
}
