//! `dragline archive`, as people and programs see it. Others' tools read what it writes in `tests/end_to_end`.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

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

/// A file of a package, and whether it is compressed there.
fn unpacked(package: &Path, name: &str) -> (Vec<u8>, bool) {
    let mut zip = ZipArchive::new(File::open(package).expect("it was written")).expect("it is a ZIP file");
    let mut file = zip.by_name(name).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut content = Vec::new();
    file.read_to_end(&mut content).expect("it can be read");
    (content, file.compression() != zip::CompressionMethod::Stored)
}

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
        let (records, is_compressed) = unpacked(&package, &format!("archive/{crawl}-00000.warc.gz"));
        assert!(!is_compressed);
        let records = gunzipped(&records);
        assert_eq!(records.matches("the same words in both").count(), 1);
        assert_eq!(records.matches("WARC-Type: response").count(), 5, "robots.txt is one");
        let pages = |name: &str| String::from_utf8(unpacked(&package, &format!("pages/{name}.jsonl")).0).expect("text");
        assert_eq!((pages("pages").lines().count(), pages("extraPages").lines().count()), (2, 4));
        assert!(pages("extraPages").contains("what nobody should keep"));

        // What is forgotten is in no file that is written afterwards.
        run(&["forget", &site.url("/secret"), &site.url("/a")]);
        let again = run(&["archive", "-o", "site.wacz"]);
        assert!(again.stderr.contains(": 4 answers\n"), "{}", again.stderr);
        assert!(!pages("extraPages").contains("nobody"));
        // An earlier archive was larger.
        fs::create_dir(directory.path().join("merged")).expect("there is room");
        let stale = directory.path().join(format!("merged/{crawl}-00001.warc.gz"));
        fs::write(&stale, "what nobody should keep").expect("there is room");
        assert_eq!(run(&["archive", "--warc", "-o", "merged"]).code, Some(0));
        assert!(!stale.exists());
        let merged = fs::read(directory.path().join(format!("merged/{crawl}-00000.warc.gz"))).expect("it was written");
        let merged = gunzipped(&merged);
        assert!(
            !merged.contains("nobody should") && !merged.contains(&format!("WARC-Target-URI: {seed}secret")),
            "{merged}"
        );
        assert_eq!(merged.matches("the same words in both").count(), 1, "of the other URL");

        // Nothing takes the place of an earlier file unless it is whole.
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
