//! Two real sites in one crawl, one of them slow.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use dragline_end_to_end::archive;
use dragline_end_to_end::crawl_log::Entry;
use dragline_end_to_end::debian::DebianSite;
use dragline_end_to_end::dragline::Crawl;
use dragline_end_to_end::walk::walk;
use dragline_testkit::site::{Directory, Site};

use crate::witness::{assert_complete, assert_done};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_sites_are_crawled_whole_and_archived_soundly() {
    let scratch = tempfile::tempdir().unwrap();
    let mut sites = Vec::new();
    let mut expected = BTreeMap::new();
    for (debian, delay) in [(DebianSite::Python, Duration::from_millis(20)), (DebianSite::Postgresql, Duration::ZERO)] {
        let directory = Directory::new(debian.directory());
        let site = Site::builder().content(directory.clone()).delay(delay).gzip().start().await.unwrap();
        expected.extend(walk(&directory, &site.url()));
        sites.push(site);
    }
    let seeds = sites.iter().map(Site::url).collect::<Vec<_>>();
    let crawl = Crawl::new(
        &scratch.path().join("data"),
        &seeds.iter().map(String::as_str).collect::<Vec<_>>(),
        &["--delay", "0s", "--concurrency", "16"],
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
}

/// Nothing failed, so nothing needed another try.
fn assert_nothing_asked_twice(site: &Site) {
    let mut asked = BTreeSet::new();
    for access in site.log() {
        assert!(asked.insert(access.target.clone()), "{} was requested twice", access.target);
    }
}

/// Every capture can be read by its location alone, has the right content, and is where another reader finds it.
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
