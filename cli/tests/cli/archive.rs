//! `dragline archive`, as people and programs see it. Others' tools read what it writes in
//! `tests/end_to_end`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dragline_testkit::hostile::{HostileSite, html, reply};
use serde_json::Value;
use zip::ZipArchive;

use super::dragline;

async fn site() -> HostileSite {
    HostileSite::start(|asked| match asked.target.as_str() {
        "/" => html("<title>Home</title><a href=/a>a</a> <a href=/b>b</a> <a href=/secret>c</a> <a href=/none>d</a>"),
        "/a" | "/b" => html("<title>Twice</title>the same words in both"),
        "/secret" => html("<title>Secret</title>what nobody should keep"),
        _ => reply(404, &[], ""),
    })
    .await
}

/// Returns a file of a package, and whether it is compressed there.
fn unpacked(package: &Path, name: &str) -> (Vec<u8>, bool) {
    let mut zip = ZipArchive::new(File::open(package).expect("it was written")).expect("it is a ZIP file");
    let mut file = zip.by_name(name).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut content = Vec::new();
    file.read_to_end(&mut content).expect("it can be read");
    (content, file.compression() != zip::CompressionMethod::Stored)
}

/// The end of the name of the first WARC file.
const END: &str = "-00000-localhost.warc.gz";

fn gunzipped(bytes: &[u8]) -> String {
    let mut text = String::new();
    flate2::bufread::MultiGzDecoder::new(bytes).read_to_string(&mut text).expect("it is compressed text");
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_is_written_for_other_programs() {
    let site = site().await;
    let (seed, directory) = (site.url("/"), tempfile::tempdir().expect("there is room"));
    let run = |arguments: &[&str]| dragline(directory.path(), arguments);
    let package = directory.path().join("site.wacz");
    tokio::task::block_in_place(|| {
        let none = run(&["archive", "-o", "site.wacz"]);
        assert_eq!((none.code, package.exists()), (Some(2), false), "there is no crawl yet: {}", none.stderr);
        run(&["crawl", &seed, "--allow-private", "--delay", "0s", "--concurrency", "1", "--quiet"]);
        let ran = run(&["archive", "-o", "site.wacz"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{}", ran.stderr);
        assert!(
            ran.stderr.contains(": 6 answers, 1 answer with the body of another one\nhint: open it at"),
            "{}",
            ran.stderr
        );

        let description: Value = serde_json::from_slice(&unpacked(&package, "datapackage.json").0).expect("it is JSON");
        assert_eq!(
            (&description["wacz_version"], &description["mainPageUrl"]),
            (&"1.1.1".into(), &seed.as_str().into())
        );
        let index = unpacked(&package, "indexes/index.cdx.gz");
        assert!(!index.1, "whoever replays it reads ranges of it");
        let index = gunzipped(&index.0);
        assert_eq!((index.lines().count(), index.matches("warc/revisit").count()), (6, 1), "{index}");
        let crawl = seed.trim_start_matches("http://").trim_end_matches('/').replace(':', "-");
        let name = description["resources"][0]["path"].as_str().expect("a text").to_owned();
        let time = name.strip_prefix(&format!("archive/{crawl}-")).and_then(|rest| rest.strip_suffix(END));
        assert!(time.is_some_and(|time| time.len() == 14 && time.parse::<u64>().is_ok()), "{name}");
        let (records, is_compressed) = unpacked(&package, &name);
        assert!(!is_compressed);
        let records = gunzipped(&records);
        assert_eq!(records.matches("the same words in both").count(), 1);
        assert_eq!(records.matches("WARC-Type: response").count(), 5, "robots.txt is one");
        let pages = |name: &str| String::from_utf8(unpacked(&package, &format!("pages/{name}.jsonl")).0).expect("text");
        assert_eq!((pages("pages").lines().count(), pages("extraPages").lines().count()), (2, 4));
        assert!(pages("extraPages").contains("what nobody should keep"));

        let parts = run(&["archive", "--warc", "--file-size", "1B", "-o", "parts"]);
        let larger = walk(&directory.path().join("parts"));
        assert!(larger.len() > 1, "a file for each segment: {larger:?}, {}", parts.stderr);
        for path in &larger {
            let name = path.file_name().and_then(|name| name.to_str()).expect("a text");
            let first = gunzipped(&fs::read(path).expect("it was written"));
            assert!(
                first.split("\r\n\r\n").next().is_some_and(|head| head.contains(&format!("WARC-Filename: {name}")))
            );
        }

        // Forgotten URLs are not in later files.
        run(&["forget", &site.url("/secret"), &site.url("/a")]);
        let again = run(&["archive", "-o", "site.wacz"]);
        assert!(again.stderr.contains(": 4 answers\n"), "{}", again.stderr);
        assert!(!pages("extraPages").contains("nobody"));
        // An earlier archive was larger.
        let merged = directory.path().join("merged");
        fs::create_dir(&merged).expect("there is room");
        for (number, path) in larger.iter().enumerate() {
            fs::copy(path, merged.join(format!("{crawl}-20200101000000-{number:05}-localhost.warc.gz"))).expect("room");
        }
        assert_eq!(run(&["archive", "--warc", "-o", "merged"]).code, Some(0));
        let [merged] = &walk(&merged)[..] else { panic!("only the new file: {:?}", walk(&merged)) };
        let merged = gunzipped(&fs::read(merged).expect("it was written"));
        assert!(
            !merged.contains("nobody should") && !merged.contains(&format!("WARC-Target-URI: {seed}secret")),
            "{merged}"
        );
        assert_eq!(merged.matches("the same words in both").count(), 1, "of the other URL");

        // An incomplete file never replaces an earlier one.
        let before = fs::read(&package).expect("it is there");
        for file in walk(&directory.path().join("dragline-data/raw")) {
            fs::remove_file(file).expect("it can be deleted");
        }
        let failed = run(&["archive", "-o", "site.wacz"]);
        assert_eq!(failed.code, Some(2));
        assert!(failed.stderr.contains("is missing") && failed.stderr.contains("backup"), "{}", failed.stderr);
        assert!(fs::read(&package).expect("it is still there") == before);
        let left = fs::read_dir(directory.path()).expect("it can be listed");
        let left: Vec<_> = left.map(|entry| entry.expect("it is there").file_name()).collect();
        assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".dragline-")), "{left:?}");

        let folder = run(&["archive", "-o", "merged"]);
        assert_eq!(folder.code, Some(2));
        assert!(folder.stderr.contains("merged is a folder") && folder.stderr.contains("--warc"), "{}", folder.stderr);
    });
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("it is there").path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rules_of_a_site_that_forbids_everything_are_archived() {
    let site = HostileSite::start(|asked| match asked.target.as_str() {
        "/robots.txt" => reply(200, &["content-type: text/plain"], "User-agent: *\nDisallow: /\n"),
        _ => html("what nobody may ask for"),
    })
    .await;
    let (seed, directory) = (site.url("/"), tempfile::tempdir().expect("there is room"));
    tokio::task::block_in_place(|| {
        let run = |arguments: &[&str]| dragline(directory.path(), arguments);
        run(&["crawl", &seed, "--allow-private", "--delay", "0s", "--quiet"]);
        let ran = run(&["archive", "--warc", "-o", "merged"]);
        assert!(ran.stderr.contains("wrote 1 WARC file in merged: 1 answer\n"), "{}", ran.stderr);
        let [merged] = &walk(&directory.path().join("merged"))[..] else { panic!("one file") };
        let records = gunzipped(&fs::read(merged).expect("it was written"));
        assert!(records.contains("Disallow: /") && !records.contains("nobody may"), "{records}");

        let index = run(&["cdx"]);
        assert_eq!((index.code, index.stderr.as_str()), (Some(0), "indexed 1 answer\n"));
        let line: Vec<&str> = index.stdout.splitn(3, ' ').collect();
        assert!(line[0].ends_with(")/robots.txt"), "{line:?}");
        let capture: Value = serde_json::from_str(line[2]).expect("it is JSON");
        let path = directory.path().join("dragline-data").join(capture["filename"].as_str().expect("a text"));
        let number = |name: &str| capture[name].as_str().and_then(|text| text.parse::<usize>().ok()).expect("a number");
        let stored = fs::read(path).expect("it is below the data directory");
        let record = gunzipped(&stored[number("offset")..number("offset") + number("length")]);
        assert!(record.contains("WARC-Type: response") && record.ends_with("Disallow: /\n\r\n\r\n"), "{record}");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_say_who_made_them_and_what_they_are_called() {
    let site = site().await;
    let (seed, directory) = (site.url("/"), tempfile::tempdir().expect("there is room"));
    let definition = format!(
        "name: docs\nseeds: ['{seed}']\npoliteness: {{ delay: 0s }}\narchive:\n  operator: Example <web@example.org>\n  \
         is_part_of: Manuals\n  hostname: crawler1.example.org\n"
    );
    fs::write(directory.path().join("crawl.yaml"), definition).expect("there is room");
    tokio::task::block_in_place(|| {
        let run = |arguments: &[&str]| dragline(directory.path(), arguments);
        run(&["crawl", "crawl.yaml", "--allow-private", "--quiet"]);
        let head = |path: &Path| {
            let text = gunzipped(&fs::read(path).expect("it was written"));
            let mut parts = text.split("\r\n\r\n").map(str::to_owned);
            [parts.next(), parts.next()].map(|part| part.expect("a record has a header and a block"))
        };
        let stored = walk(&directory.path().join("dragline-data/raw"));
        assert!(stored.len() > 1, "{stored:?}");
        for path in &stored {
            let [header, block] = head(path);
            let name = path.file_name().and_then(|name| name.to_str()).expect("a text");
            assert!(header.contains(&format!("\r\nWARC-Filename: {name}\r\n")), "{name}: {header}");
            for line in ["operator: Example <web@example.org>", "hostname: crawler1.example.org", "isPartOf: docs-1"] {
                assert!(block.contains(line), "{line}: {block}");
            }
        }
        run(&["archive", "--warc", "-o", "merged"]);
        let [merged] = &walk(&directory.path().join("merged"))[..] else { panic!("one file") };
        let name = merged.file_name().and_then(|name| name.to_str()).expect("a text");
        assert!(name.starts_with("docs-20") && name.ends_with("-00000-crawler1.example.org.warc.gz"), "{name}");
        let [header, block] = head(merged);
        assert!(header.contains(&format!("\r\nWARC-Filename: {name}\r\n")), "{header}");
        assert!(block.ends_with("\r\nisPartOf: docs\r\nisPartOf: Manuals"), "{block}");
        assert!(block.contains("operator: Example <web@example.org>"), "{block}");
    });
}

/// A site whose pages need pictures and style sheets that answer 304; one of its pages has news in
/// each crawl.
async fn illustrated(crawl: Arc<AtomicUsize>) -> HostileSite {
    let page = |path: &str, more: &str| format!("<title>{path}</title><img src={path}.png>{more}");
    HostileSite::start(move |asked| {
        let path = asked.target.as_str();
        let (media_type, body) = match path {
            "/" => ("text/html", page("/home", "<a href=/a/>a</a> <a href=/b>b</a>")),
            "/a/" => ("text/html", page("/a/one", "<link rel=stylesheet href=/a.css>still here")),
            "/b" => ("text/html", page("/b", &format!("news {}", crawl.load(Ordering::SeqCst)))),
            "/a.css" => ("text/css", "body { background: url(/paper.png) }".to_owned()),
            _ if path.ends_with(".png") => ("image/png", format!("a picture of {path}")),
            _ => return reply(404, &[], ""),
        };
        let tag = format!("\"{}\"", body.replace(|c: char| !c.is_ascii_alphanumeric(), ""));
        match asked.field("if-none-match") {
            Some(known) if known == tag => reply(304, &[&format!("etag: {tag}")], ""),
            _ => reply(200, &[&format!("content-type: {media_type}"), &format!("etag: {tag}")], body),
        }
    })
    .await
}

/// Returns the paths in an archive, and how many records of each have a body.
fn archived(folder: &Path, site: &str) -> BTreeMap<String, usize> {
    let mut bodies = BTreeMap::new();
    for file in walk(folder) {
        let text = gunzipped(&fs::read(file).expect("it was written"));
        for record in text
            .split("WARC/1.1\r\n")
            .filter(|record| record.contains("\r\nContent-Type: application/http;msgtype=response"))
        {
            let target = record.lines().find_map(|line| line.strip_prefix("WARC-Target-URI: ")).expect("a target");
            let path = target.strip_prefix(site).expect("there is one site").to_owned();
            *bodies.entry(path).or_default() += usize::from(record.starts_with("WARC-Type: response"));
        }
    }
    bodies
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_partial_archive_has_all_that_it_needs() {
    let crawl = Arc::new(AtomicUsize::new(1));
    let site = illustrated(Arc::clone(&crawl)).await;
    let (seed, directory) = (site.url("/"), tempfile::tempdir().expect("there is room"));
    tokio::task::block_in_place(|| {
        let run = |arguments: &[&str]| dragline(directory.path(), arguments);
        let again = [
            "crawl",
            &seed,
            "--allow-private",
            "--delay",
            "0s",
            "--quiet",
            "--requisites",
            "fetch",
            "--concurrency",
            "1",
        ];
        run(&again);
        crawl.store(2, Ordering::SeqCst);
        run(&again);
        let every =
            ["", "a.css", "a/", "a/one.png", "b", "b.png", "favicon.ico", "home.png", "paper.png", "robots.txt"];
        for (arguments, expected, why) in [
            (&["--iteration", "2"][..], &every[..], "pages with bodies of the first"),
            (&["--iteration", "1"], &every, "the first alone"),
            (
                &["--where", "path: {prefix: /a/}"],
                &["a.css", "a/", "a/one.png", "paper.png"],
                "styles, and their pictures",
            ),
            (&["--where", "path: {equals: /b}", "--iteration", "2"], &["b", "b.png"], "both"),
            (&["--where", "path: {prefix: /nowhere}"], &[], "nothing"),
            (&["--since", "2000-01-01"], &every, "everything"),
            (&["--since", "2999-01-01"], &[], "nothing yet"),
        ] {
            let _ = fs::remove_dir_all(directory.path().join("part"));
            let ran = run(&[&["archive", "--warc", "-o", "part"], arguments].concat());
            assert_eq!(ran.code, Some(0), "{why}: {}", ran.stderr);
            let got = archived(&directory.path().join("part"), &seed);
            let pages: Vec<&str> = got.keys().map(String::as_str).filter(|path| *path != "robots.txt").collect();
            let wanted: Vec<&str> = expected.iter().copied().filter(|path| *path != "robots.txt").collect();
            assert_eq!(pages, wanted, "{arguments:?}: {why}");
            assert!(got.values().all(|bodies| *bodies > 0), "{arguments:?}: each has its body: {got:?}");
        }
        let news = |number: &str| {
            let package = format!("{number}.wacz");
            run(&["archive", "--iteration", number, "-o", &package]);
            String::from_utf8(unpacked(&directory.path().join(package), "pages/extraPages.jsonl").0).expect("text")
        };
        let (first, second) = (news("1"), news("2"));
        assert!(first.contains("news 1") && !first.contains("news 2"), "{first}");
        assert!(second.contains("news 2") && !second.contains("news 1"), "{second}");
        assert!(first.contains("still here") && second.contains("still here"), "{second}");
        let seen = run(&["export", "--what", "pages", "--iteration", "2"]).stdout;
        let seen = seen.lines().map(|line| serde_json::from_str::<Value>(line).expect("it is JSON"));
        let pages = seen.filter(|page| page["text"].is_string() && page["depth"] != 0);
        let pages: BTreeMap<String, Value> =
            pages.map(|page| (page["url"].as_str().expect("a text").to_owned(), page["at"].clone())).collect();
        let listed = second.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).expect("it is JSON"));
        let listed: Vec<(String, Value)> =
            listed.map(|page| (page["url"].as_str().expect("a text").to_owned(), page["ts"].clone())).collect();
        assert_eq!(listed.len(), 2, "each page once: {listed:?}");
        assert_eq!(listed.into_iter().collect::<BTreeMap<_, _>>(), pages, "as the iteration saw them, at its visits");

        // A partial archive leaves existing files alone.
        run(&["archive", "--warc", "-o", "kept"]);
        let kept = directory.path().join("kept");
        let [before] = &walk(&kept)[..] else { panic!("one file") };
        let name = before.file_name().and_then(|name| name.to_str()).expect("a text");
        let (start, _) = name.split_at(name.len() - "20261127015403-00000-localhost.warc.gz".len());
        fs::rename(before, kept.join(format!("{start}20000101000000-00000-localhost.warc.gz"))).expect("it is ours");
        run(&["archive", "--warc", "--iteration", "2", "-o", "kept"]);
        assert_eq!(walk(&kept).len(), 2);
        run(&["archive", "--warc", "-o", "kept"]);
        assert_eq!(walk(&kept).len(), 1, "all of it takes the place of both");
        let missing = run(&["archive", "--iteration", "7", "-o", "7.wacz"]);
        assert!(missing.code == Some(2) && missing.stderr.contains("iteration"), "{}", missing.stderr);
    });
}
