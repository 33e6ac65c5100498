//! Word indexes in a bucket.

use std::fs;

use bytes::Bytes;
use dragline_aws::{DynamoRetained, S3Editions, S3Publications};
use dragline_aws_tests::{Fresh, Story, clients};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::archive::{Archive, PutResult};
use dragline_ports::editions::{Editions, StoredEdition};
use dragline_ports::publications::{Publications, ReportForm, ReportTexts};
use dragline_ports::retention::Forgetting;
use jiff::Timestamp;

fn edition(number: u32, text: &str) -> StoredEdition {
    StoredEdition { number, text: Bytes::copy_from_slice(text.as_bytes()) }
}

/// The keys of what is there of all indexes and reports.
async fn keys(fresh: &Fresh) -> Vec<String> {
    let archive = fresh.archive_there();
    let mut keys = Vec::new();
    for prefix in ["reports/", "search/"] {
        let listed = archive.list(prefix, None, 100).await.unwrap();
        keys.extend(listed.iter().map(ToString::to_string));
    }
    keys
}

#[tokio::test]
async fn the_newest_edition_counts_and_none_is_put_twice() {
    let fresh = Fresh::new(clients().await);
    fresh.frontier().await;
    let editions = S3Editions::beside(&fresh.documents());
    let [docs, other]: [CrawlId; 2] = ["docs", "docs-2"].map(|name| name.parse().unwrap());
    assert_eq!(editions.newest_edition(&docs).await.unwrap(), None);
    for (number, text, put, why) in [
        (1, "first", PutResult::Stored, "the first"),
        (2, "second", PutResult::Stored, "the next"),
        (2, "another", PutResult::Exists, "of two that publish at the same time, one is told so"),
        (10, "tenth", PutResult::Stored, "numbers may be left out"),
        (9, "ninth", PutResult::Stored, "and an older one changes nothing"),
    ] {
        assert_eq!(editions.put_edition(&docs, edition(number, text)).await.unwrap(), put, "{why}");
    }
    assert_eq!(editions.newest_edition(&docs).await.unwrap(), Some(edition(10, "tenth")));
    assert_eq!(editions.newest_edition(&other).await.unwrap(), None, "a crawl whose name begins alike");
}

#[tokio::test]
async fn files_are_put_read_in_ranges_and_deleted_once_nothing_names_them() {
    let fresh = Fresh::new(clients().await);
    fresh.frontier().await;
    let editions = S3Editions::beside(&fresh.documents());
    let (docs, folder): (CrawlId, _) = ("docs".parse().unwrap(), tempfile::tempdir().unwrap());
    let content: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
    for name in ["a.store", "b.idx", "c.pos"] {
        let path = folder.path().join(name);
        fs::write(&path, &content).unwrap();
        editions.put_index_file(&docs, name, &path).await.unwrap();
    }
    for (range, why) in [
        (0..300_000, "all of it"),
        (65_536..131_072, "a block"),
        (299_999..300_000, "the last byte"),
        (7..7, "nothing"),
    ] {
        let read = editions.read_index_file(&docs, "a.store", range.clone()).await.unwrap().unwrap();
        let expected = &content[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()];
        assert_eq!(read.len(), expected.len(), "{why}");
        assert!(read == expected, "{why}");
    }
    assert_eq!(editions.read_index_file(&docs, "d.idx", 0..10).await.unwrap(), None, "there is none");
    let copy = folder.path().join("copy");
    fs::write(&copy, "something longer than nothing").unwrap();
    editions.get_index_file(&docs, "b.idx", &copy).await.unwrap();
    assert!(fs::read(&copy).unwrap() == content);
    assert!(editions.get_index_file(&docs, "d.idx", &copy).await.is_err(), "there is none");
    assert!(editions.read_index_file(&docs, "../editions/1.json", 0..1).await.is_err(), "not the name of a file");

    for number in [1, 2] {
        editions.put_edition(&docs, edition(number, "x")).await.unwrap();
    }
    let names = |names: &[&str]| -> Vec<String> { names.iter().map(|name| format!("search/docs/{name}")).collect() };
    let second = "editions/4294967293.json";
    editions.delete_superseded(&docs, 2, &["a.store"], Timestamp::UNIX_EPOCH).await.unwrap();
    let all = names(&[second, "files/a.store", "files/b.idx", "files/c.pos"]);
    assert_eq!(keys(&fresh).await, all, "files that somebody may have put just now stay");
    editions.delete_superseded(&docs, 2, &["a.store", "c.pos"], Timestamp::MAX).await.unwrap();
    assert_eq!(keys(&fresh).await, names(&[second, "files/a.store", "files/c.pos"]));
    editions.delete_index_file(&docs, "a.store").await.unwrap();
    editions.delete_index_file(&docs, "a.store").await.unwrap();
    assert_eq!(keys(&fresh).await, names(&[second, "files/c.pos"]));
}

#[tokio::test]
async fn what_is_derived_is_withdrawn_when_a_url_is_forgotten() {
    let fresh = Fresh::new(clients().await);
    let frontier = fresh.frontier().await;
    let (editions, publications) = (S3Editions::beside(&fresh.documents()), S3Publications::beside(&fresh.documents()));
    let story = Story::begin(&frontier).await;
    let crawl = &story.origin.crawl;
    let file = tempfile::NamedTempFile::new().unwrap();
    editions.put_index_file(crawl, "a.store", file.path()).await.unwrap();
    editions.put_edition(crawl, edition(7, "names it")).await.unwrap();
    let form = |name: &str| format!("as {name}");
    let texts = ReportTexts { html: form("html"), markdown: form("md"), json: form("json") };
    let place = publications.put_report(crawl, Iteration::FIRST, texts).await.unwrap();
    assert!(place.uri.ends_with(&format!("/reports/{crawl}/1.html")), "{place:?}");
    assert!(publications.has_report(crawl, Iteration::FIRST).await.unwrap());
    let forms = [ReportForm::Html, ReportForm::Markdown, ReportForm::Json];
    for form in forms {
        let text = publications.report(crawl, Iteration::FIRST, form).await.unwrap().unwrap();
        assert_eq!(text, format!("as {}", form.extension()));
    }

    let retained = DynamoRetained::new(frontier.clone(), fresh.documents());
    retained.forget_urls(crawl, &["https://a.example/".to_owned().try_into().unwrap()]).await.unwrap();
    assert!(!publications.has_report(crawl, Iteration::FIRST).await.unwrap());
    for form in forms {
        assert_eq!(publications.report(crawl, Iteration::FIRST, form).await.unwrap(), None, "{form:?}");
    }
    assert_eq!(editions.newest_edition(crawl).await.unwrap(), Some(edition(8, "")), "which says that there is none");
    assert_eq!(keys(&fresh).await.len(), 1, "and nothing else is left");
    let late = editions.put_edition(crawl, edition(8, "of what was read before")).await.unwrap();
    assert_eq!(late, PutResult::Exists, "a publication that began before is told so");
}
