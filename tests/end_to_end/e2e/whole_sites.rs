//! Two real sites in one crawl, one of them slow.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use dragline_end_to_end::archive;
use dragline_end_to_end::crawl_log::Entry;
use dragline_end_to_end::debian::DebianSite;
use dragline_end_to_end::dragline::Crawl;
use dragline_end_to_end::walk::{Beside, walk};
use dragline_testkit::site::{Directory, Site};
use sha2::{Digest as _, Sha256};

use crate::witness::{assert_complete, assert_done};

/// The robots.txt of both.
const RULES: &str = "User-agent: *\nDisallow: /nothing\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_sites_are_crawled_whole_and_archived_soundly() {
    let scratch = tempfile::tempdir().unwrap();
    let mut sites = Vec::new();
    let mut expected = BTreeMap::new();
    for (debian, delay) in [(DebianSite::Python, Duration::from_millis(20)), (DebianSite::Postgresql, Duration::ZERO)] {
        let directory = Directory::new(debian.directory());
        let site = Site::builder().content(directory.clone()).robots(RULES).delay(delay).gzip().start().await.unwrap();
        expected.extend(walk(&directory, &site.url(), Beside::Requisites));
        sites.push(site);
    }
    let seeds = sites.iter().map(Site::url).collect::<Vec<_>>();
    let crawl = Crawl::new(
        &scratch.path().join("data"),
        &seeds.iter().map(String::as_str).collect::<Vec<_>>(),
        &["--delay", "0s", "--concurrency", "16", "--requisites", "fetch"],
    );

    assert_done(&crawl.run().await);

    let log = crawl.log();
    assert_complete(&log, 1, &expected);
    for site in &sites {
        assert_nothing_asked_twice(site);
    }
    let files = archive::warc_files(crawl.data());
    archive::check(&files, scratch.path());
    assert_captures_are_where_the_log_says(&log, crawl.data(), &files);
    assert_others_replay_it(&crawl, &sites, scratch.path());
    assert_it_is_searched(&crawl);
    assert_others_read_its_tables(&crawl, scratch.path());
}

/// Parquet files have the rows that JSON lines have.
fn assert_others_read_its_tables(crawl: &Crawl, scratch: &Path) {
    for what in ["pages", "links", "log", "candidates"] {
        let file = scratch.join(what).with_extension("parquet");
        std::fs::write(&file, crawl.ask_for_bytes(&["export", "--what", what, "--format", "parquet"]))
            .expect("the test's own directory can be written");
        let lines = crawl.ask(&["export", "--what", what]);
        let expected: Vec<serde_json::Value> =
            lines.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
        let rows = archive::parquet_rows(&file);
        assert!(rows == expected, "{what}: {} rows, {} lines", rows.len(), expected.len());
        assert!(rows.len() > 1_000, "{what}");
    }
}

/// What is written for other programs has everything, and they replay it octet for octet.
fn assert_others_replay_it(crawl: &Crawl, sites: &[Site], scratch: &Path) {
    let (package, merged) = (scratch.join("site.wacz"), scratch.join("merged"));
    let _ = crawl.ask(&["archive", "-o", package.to_str().expect("its own directory has a plain name")]);
    archive::check_wacz(&package);
    let (ours, theirs) = archive::indexes_of_wacz(&package, &scratch.join("unpacked"));
    assert_eq!(ours, theirs);
    assert_eq!(ours.len(), crawl.log().len() + sites.len(), "all visits, and each robots.txt");

    let _ = crawl.ask(&["archive", "--warc", "-o", merged.to_str().expect("its own directory has a plain name")]);
    let files: Vec<PathBuf> = std::fs::read_dir(&merged)
        .expect("the folder was made")
        .map(|file| file.expect("a folder that was opened can be read").path())
        .collect();
    assert_eq!(files.len(), 1, "less than a gigabyte is one file");
    archive::check_with_revisits(&files);

    // A page and what it needs, and one of the two URLs that have the same body.
    let urls: Vec<String> =
        ["library/gc.html", "_static/pygments.css", "_static/py.svg", "_static/doctools.js", "index.html", ""]
            .map(|path| format!("{}{path}", sites[0].url()))
            .into_iter()
            .collect();
    let revisits = ours.iter().filter(|line| line.contains("warc/revisit")).count();
    assert!(revisits >= 2, "each site has its start page twice");
    let folder = scratch.join("replayed");
    std::fs::create_dir(&folder).expect("the test's own directory can be written");
    let robots = format!("{}robots.txt", sites[0].url());
    let asked: Vec<&str> = urls.iter().chain([&robots]).map(String::as_str).collect();
    let replayed = archive::replay(&package, &asked, &folder);
    let expected = urls.iter().map(|url| {
        let digest = Sha256::digest(crawl.body(url, 1));
        (200, data_encoding::HEXLOWER.encode(&digest))
    });
    let rules = (200, data_encoding::HEXLOWER.encode(&Sha256::digest(RULES)));
    assert_eq!(replayed, expected.chain([rules]).collect::<Vec<_>>());
}

fn assert_it_is_searched(crawl: &Crawl) {
    for (query, best) in [
        ("vacuumdb", "app-vacuumdb.html"),
        ("asyncio event loop", "library/asyncio-eventloop.html"),
        ("\"garbage collector\" title:gc", "library/gc.html"),
        ("vacumdb", "app-vacuumdb.html"),
    ] {
        let found: serde_json::Value =
            serde_json::from_str(&crawl.ask(&["search", query, "--json"])).expect("it is JSON");
        let url = found["results"][0]["url"].as_str().unwrap_or_default();
        assert!(url.ends_with(best), "{query}: {found}");
    }
}

/// Nothing failed, so nothing needed another try.
fn assert_nothing_asked_twice(site: &Site) {
    let mut asked = BTreeSet::new();
    for access in site.log() {
        assert!(asked.insert(access.target.clone()), "{} was requested twice", access.target);
    }
}

/// Every capture can be read by its location alone, has the right content, and is where another
/// reader finds it.
fn assert_captures_are_where_the_log_says(log: &[Entry], data: &Path, files: &[PathBuf]) {
    let indexed = archive::index(data, files);
    for entry in log {
        let capture = entry.capture.as_ref().unwrap_or_else(|| panic!("{} was fetched but not stored", entry.url));
        let record = archive::read_record(data, capture).unwrap_or_else(|error| panic!("{entry:?}: {error}"));
        assert_eq!(archive::warc_field(&record, "WARC-Target-URI").as_ref(), Some(&entry.url), "{entry:?}");
        assert!(
            indexed.contains(&(capture.clone(), entry.url.clone())),
            "cdxj-indexer finds {} elsewhere: {capture:?}",
            entry.url
        );
    }
}
