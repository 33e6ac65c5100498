//! `dragline import`: archives that wget and warcprox made of a small site (`archives/site.py`),
//! and a package laid out like Browsertrix's.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use dragline_testkit::hostile::{HostileSite, html, reply};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{Ran, dragline};

const WGET: &[u8] = include_bytes!("archives/wget.warc.gz");
const WGET_LATER: &[u8] = include_bytes!("archives/wget-later.warc.gz");
const WARCPROX: &[u8] = include_bytes!("archives/warcprox.warc.gz");

/// The site of the archives.
const SITE: &str = "http://127.0.0.1:18923";

fn with(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("there is room");
    for (name, content) in files {
        fs::write(directory.path().join(name), content).expect("there is room");
    }
    directory
}

fn export(directory: &Path, what: &str) -> String {
    let ran = dragline(directory, &["export", "--what", what]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.stdout
}

/// Returns a field of the exported pages, by path.
fn pages(directory: &Path, field: &str) -> Vec<(String, String)> {
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("it is JSON");
        let path = row["url"].as_str().expect("a URL").trim_start_matches(SITE).to_owned();
        (path, row[field].as_str().map_or_else(|| row[field].to_string(), str::to_owned))
    };
    let mut pages: Vec<_> = export(directory, "pages").lines().map(row).collect();
    pages.sort();
    pages
}

fn assert_done(ran: &Ran) {
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn an_archive_of_wget_becomes_a_crawl() {
    let directory = with(&[("site.warc.gz", WGET), ("later.warc.gz", WGET_LATER)]);
    let run = |arguments: &[&str]| dragline(directory.path(), arguments);
    let imported = run(&["import", "site.warc.gz"]);
    assert_done(&imported);
    for expected in [
        "read 22 records in 1 WARC file: 8 answers\n",
        "left out: 1 of kind metadata, 2 not of a URL that can be crawled, 1 of the same URL and time as another\n",
        "127.0.0.1-18923: iteration 1 took 8 answers\n",
        "iteration 1 (import)",
    ] {
        assert!(imported.stderr.contains(expected), "{expected}: {}", imported.stderr);
    }
    let titles = pages(directory.path(), "title");
    let expected = [
        ("/", "Home"),
        ("/brotli", "Brotli"),
        ("/chunked", "Chunked"),
        ("/gzip", "Gzip"),
        ("/plain", "Twins"),
        ("/twin", "Twins"),
    ];
    let named: Vec<_> = titles.iter().filter(|(_, title)| title != "null").collect();
    assert_eq!(named.iter().map(|(path, title)| (path.as_str(), title.as_str())).collect::<Vec<_>>(), expected);
    assert!(pages(directory.path(), "at").iter().all(|(_, at)| at.starts_with("2024-05-02T02:1")));

    // All commands work on it.
    for (words, path) in
        [("wombat", "/"), ("numbat first edition", "/gzip"), ("bilby", "/brotli"), ("dunnart pieces", "/chunked")]
    {
        let found = run(&["search", words]);
        assert!(found.stdout.contains(&format!("{SITE}{path}")), "{words}: {}{}", found.stdout, found.stderr);
    }
    let got = run(&["get", &format!("{SITE}/chunked")]);
    assert_eq!(got.stdout.matches("a dunnart in pieces").count(), 1, "{}", got.stdout);
    assert!(!got.stdout.contains("\r\n"), "the transfer coding is undone: {}", got.stdout);
    let broken = run(&["broken"]);
    assert!(broken.stdout.contains(&format!("{SITE}/none")), "{}{}", broken.stdout, broken.stderr);
    assert_done(&run(&["report", "-o", "report.html"]));
    let log = export(directory.path(), "log");
    assert_eq!((log.lines().count(), log.matches("\"crawl_type\":\"import\"").count()), (8, 8), "{log}");

    // A repetition changes nothing; a later archive makes another iteration to compare.
    let again = run(&["import", "site.warc.gz"]);
    assert_done(&again);
    assert!(
        again.stderr.contains("8 that the crawl has already") && again.stderr.contains("nothing is new"),
        "{}",
        again.stderr
    );
    assert_eq!(export(directory.path(), "log"), log);
    assert_done(&run(&["import", "later.warc.gz", "site.warc.gz"]));
    let diff = run(&["diff", "--format", "jsonl"]);
    assert!(diff.stdout.contains(&format!("{SITE}/gzip")) && !diff.stdout.contains("/brotli"), "{}", diff.stdout);
    let older = run(&["import", "site.warc.gz", "--data", "other"]);
    assert_done(&older);
    let early = with(&[("early.warc.gz", WGET)]);
    let ran = dragline(early.path(), &["import", "early.warc.gz", "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).expect("it is JSON");
    assert_eq!((&report["taken"], &report["iterations"]), (&8.into(), &serde_json::json!([1])), "{report}");
}

#[test]
fn an_archive_of_warcprox_becomes_a_crawl() {
    let directory = with(&[("proxy.warc.gz", WARCPROX)]);
    let imported = dragline(directory.path(), &["import", "proxy.warc.gz"]);
    assert_done(&imported);
    assert!(imported.stderr.contains("1 for other requests than GET"), "{}", imported.stderr);
    // The second visit of a page was a revisit, and so was the first one of its twin.
    assert!(imported.stderr.contains("iteration 2 took 1 answer\n"), "{}", imported.stderr);
    let texts = pages(directory.path(), "text");
    for (path, expected) in
        [("/twin", "quokka"), ("/plain", "quokka"), ("/brotli", "bilby"), ("/gzip", "numbat"), ("/chunked", "dunnart")]
    {
        let text = texts.iter().find(|(page, _)| page == path).map(|(_, text)| text.as_str());
        assert!(text.is_some_and(|text| text.contains(expected)), "{path}: {texts:?}");
    }
    let history = dragline(directory.path(), &["history", &format!("{SITE}/plain")]);
    assert!(history.stdout.contains("file_did_not_change"), "{}", history.stdout);
}

/// A record of a WARC file.
fn record(fields: &[(&str, &str)], block: &str) -> Vec<u8> {
    let fields: String = fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let mut member = GzEncoder::new(Vec::new(), Compression::fast());
    let text = format!("WARC/1.1\r\n{fields}Content-Length: {}\r\n\r\n{block}\r\n\r\n", block.len());
    member.write_all(text.as_bytes()).expect("there is room");
    member.finish().expect("there is room")
}

/// Writes a package like Browsertrix's, with two pages of a site.
fn package(path: &Path, site: &str) {
    let response = |path: &str, body: &str| {
        let target = format!("{site}{path}");
        let fields = [
            ("WARC-Type", "response"),
            ("WARC-Target-URI", &target),
            ("WARC-Date", "2024-05-02T10:00:00.123Z"),
            ("WARC-Payload-Digest", "sha256:0000"),
        ];
        record(&fields, &format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}"))
    };
    let about =
        [("WARC-Type", "resource"), ("WARC-Target-URI", "urn:pageinfo:x"), ("WARC-Date", "2024-05-02T10:00:00Z")];
    let warc = [
        record(&[("WARC-Type", "warcinfo"), ("WARC-Date", "2024-05-02T10:00:00Z")], "software: Browsertrix\r\n"),
        response("/a", "<title>A</title>an echidna <a href=/b>b</a>"),
        response("/", "<title>Home</title>a platypus <a href=/a>a</a>"),
        record(&about, "{}"),
    ];
    let pages = [
        r#"{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}"#.to_owned(),
        format!(r#"{{"id": "1", "url": "{site}/a", "seed": false}}"#),
        format!(r#"{{"id": "2", "url": "{site}/", "title": "Home", "seed": true, "ts": "2024-05-02T10:00:00.123Z"}}"#),
    ];
    let mut zip = ZipWriter::new(File::create(path).expect("there is room"));
    for (name, content) in [
        ("archive/rec-0.warc.gz", warc.concat()),
        ("indexes/index.cdx.gz", Vec::new()),
        ("pages/pages.jsonl", pages.join("\n").into_bytes()),
        ("datapackage.json", b"{}".to_vec()),
    ] {
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        zip.start_file(name, stored).expect("there is room");
        zip.write_all(&content).expect("there is room");
    }
    zip.finish().expect("there is room");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_package_is_imported_without_a_request_and_crawled_afterwards() {
    let site = HostileSite::start(|asked| match asked.target.as_str() {
        "/" => html("<title>Home</title>a platypus <a href=/a>a</a>"),
        "/a" => html("<title>A</title>an echidna and more <a href=/b>b</a>"),
        "/b" => html("<title>B</title>new"),
        _ => reply(404, &[], ""),
    })
    .await;
    let directory = with(&[]);
    let run = |arguments: &[&str]| dragline(directory.path(), arguments);
    let seed = site.url("/");
    package(&directory.path().join("crawl.wacz"), seed.trim_end_matches('/'));
    tokio::task::block_in_place(|| {
        let imported = run(&["import", "crawl.wacz"]);
        assert_done(&imported);
        assert!(imported.stderr.contains("2 answers"), "{}", imported.stderr);
        assert_eq!(site.targets(), Vec::<String>::new(), "nothing is requested");
        let candidates = export(directory.path(), "candidates");
        assert_eq!(candidates.lines().count(), 2, "what pages link to is left to a crawl: {candidates}");

        let crawled = run(&["crawl", "--allow-private", "--delay", "0s", "--quiet"]);
        assert_done(&crawled);
        let diff = run(&["diff", "--format", "jsonl"]);
        assert!(diff.stdout.contains("/a\"") && diff.stdout.contains("/b\""), "{}", diff.stdout);
    });
}

#[test]
fn archived_answers_are_not_retried_followed_or_forbidden() {
    let answer = |path: &str, message: &str| {
        let target = format!("https://a.example{path}");
        let fields =
            [("WARC-Type", "response"), ("WARC-Target-URI", target.as_str()), ("WARC-Date", "2024-05-02T10:00:00Z")];
        record(&fields, message)
    };
    let warc = [
        answer("/robots.txt", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /\n"),
        answer("/busy", "HTTP/1.1 503 Busy\r\nRetry-After: 3600\r\n\r\n"),
        answer("/self", "HTTP/1.1 302 Found\r\nLocation: /self#\r\nSet-Cookie: a=b\r\n\r\n"),
        answer("/", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Home</title>words"),
    ];
    let directory = with(&[("a.warc.gz", &warc.concat())]);
    assert_done(&dragline(directory.path(), &["import", "a.warc.gz"]));
    let log = export(directory.path(), "log");
    let rows: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    let mut rows: Vec<_> =
        rows.iter().map(|row| (row["url"].as_str(), row["status"].as_u64(), row["final"].as_bool())).collect();
    rows.sort_unstable();
    let expected = [("/", 200), ("/busy", 503), ("/robots.txt", 200), ("/self", 302)]
        .map(|(path, status)| (format!("https://a.example{path}"), status));
    let expected: Vec<_> =
        expected.iter().map(|(url, status)| (Some(url.as_str()), Some(*status), Some(true))).collect();
    assert_eq!(rows, expected, "nothing is tried again, followed or forbidden");
}

#[test]
fn unusable_archives_are_refused_before_a_directory_is_created() {
    let whole = {
        let mut member = GzEncoder::new(Vec::new(), Compression::fast());
        let block = "x".repeat(3 << 20);
        let text = |block: &str| {
            format!("WARC/1.0\r\nWARC-Type: metadata\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n", block.len())
        };
        for _ in 0..3 {
            member.write_all(text(&block).as_bytes()).expect("there is room");
        }
        member.finish().expect("there is room")
    };
    let none = record(&[("WARC-Type", "warcinfo")], "software: x\r\n");
    let directory =
        with(&[("page.html", b"<p>"), ("noise.warc.gz", b"noise"), ("none.warc.gz", &none), ("whole.warc.gz", &whole)]);
    for (file, expected) in [
        ("page.html", "page.html is not a WARC or WACZ file by its name\nhint: "),
        ("gone.wacz", "gone.wacz cannot be read"),
        ("noise.warc.gz", "there is no answer to import in the archives: noise.warc.gz: no readable record at byte 0"),
        ("none.warc.gz", "there is no answer to import in the archives\n"),
        ("whole.warc.gz", "warcio recompress"),
    ] {
        let refused = dragline(directory.path(), &["import", file]);
        assert_eq!(refused.code, Some(2), "{file}");
        assert!(refused.stderr.contains(expected), "{file}: {}", refused.stderr);
    }
    assert!(!directory.path().join("dragline-data").exists());
}

#[test]
fn faults_of_a_file_are_reported_and_the_rest_is_imported() {
    let mut cut = WGET.to_vec();
    cut.truncate(WGET.len() / 2);
    let directory = with(&[("cut.warc.gz", &cut)]);
    let imported = dragline(directory.path(), &["import", "cut.warc.gz"]);
    assert_eq!(imported.code, Some(1), "{}", imported.stderr);
    assert!(
        imported.stderr.contains("what is in front of it is taken") && imported.stderr.contains("iteration 1 took"),
        "{}",
        imported.stderr
    );
}

/// Returns exported rows without the fields that depend on time and place of storage.
fn said(directory: &Path, what: &[&str]) -> Vec<String> {
    let ran = dragline(directory, &[&["export", "--what"], what].concat());
    assert_done(&ran);
    let mut rows: Vec<String> = ran.stdout.lines().map(str::to_owned).collect();
    rows.sort();
    rows
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_database_is_rebuilt_from_its_raw_files() {
    let changes = AtomicU32::new(0);
    let site = HostileSite::start(move |asked| match asked.target.as_str() {
        "/" => html("<title>Home</title><a href=/chair/1>one</a> <a href=/far>far</a> <a href=/none>none</a>"),
        "/chair/1" => {
            let price = changes.fetch_add(1, Ordering::Relaxed);
            html(format!("<title>One</title><h1>Chair</h1><b>{price}</b> is what it costs <a href=/>home</a>"))
        }
        "/far" => html("<title>Far</title>nothing new here <a href=/farther>farther</a>"),
        "/farther" => html("<title>Farther</title>the end"),
        _ => reply(404, &["content-type: text/html"], "not here"),
    })
    .await;
    let (old, new) = (with(&[]), with(&[]));
    let definition = format!(
        "name: shop\nseeds: ['{}']\nsitemaps: ignore\npoliteness: {{ delay: 0s }}\nitems:\n  - type: Chair\n    \
         when: {{ path: {{ prefix: /chair/ }} }}\n    fields:\n      name: {{ css: h1 }}\n      price: {{ css: b, kind: number }}\n",
        site.url("/")
    );
    for directory in [&old, &new] {
        fs::write(directory.path().join("crawl.yaml"), &definition).expect("there is room");
    }
    tokio::task::block_in_place(|| {
        for _ in 0..2 {
            dragline(old.path(), &["crawl", "crawl.yaml", "--allow-private", "--quiet"]);
        }
        let requests = site.targets().len();
        let raw = old.path().join("dragline-data/raw");
        let raw = raw.to_str().expect("a path");
        assert_done(&dragline(new.path(), &["import", raw, "-f", "crawl.yaml"]));
        for what in [
            &["pages", "--columns", "url,title,depth,outcome,text"][..],
            &["pages", "--iteration", "1", "--columns", "url,title,depth,outcome,text"],
            &["links", "--columns", "from_url,to_url,kind,anchor"],
            &["log", "--columns", "iteration,url,at,depth,via,outcome,status,change,body_bytes"],
            &["items", "--type", "Chair"],
        ] {
            let rows = [old.path(), new.path()].map(|directory| said(directory, what));
            assert!(!rows[0].is_empty(), "{what:?}");
            assert_eq!(rows[0], rows[1], "{what:?}");
        }
        assert_eq!(site.targets().len(), requests, "nothing was requested");
    });
}
