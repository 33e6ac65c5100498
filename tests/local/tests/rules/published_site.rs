//! The word index and the report that are published when an iteration is over.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use dragline_domain::definition::Definition;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_local::LocalStore;
use dragline_ports::editions::Editions as _;
use dragline_ports::error::PortResult;
use dragline_ports::publications::{ItemsPart, Publications, ReportPlace};
use dragline_ports::reader::Reader;
use dragline_publish::{SiteError, SitePublication, SitePublished, publish_site};
use dragline_search::{Blocks, Changes, Edition, Index, Request, Typos};
use dragline_site_report::Making;
use jiff::Timestamp;

use super::heard::Heard;
use super::scripted::{Act, Asked, ScriptedSite, answer, page};
use super::shelf::Shelf;

/// Three pages, of which one is called something else at each visit, and one goes away after the first.
fn site(asked: &Asked) -> Act {
    match (asked.target.as_str(), asked.earlier) {
        ("/", _) => {
            page("<title>Start</title><a href=/stays>stays</a> <a href=/turns>turns</a> <a href=/goes>goes</a>")
        }
        ("/stays", _) => page("<title>One</title>the walrus"),
        ("/turns", 0) => page("<title>Two</title>the carpenter"),
        ("/turns", _) => page("<title>Two</title>the oyster"),
        ("/goes", 0) => page("<title>Three</title>the sun"),
        _ => answer(404, &[], ""),
    }
}

fn definition(site: &ScriptedSite) -> Definition {
    let yaml =
        format!("name: walrus\nseeds: ['{}']\npoliteness: {{ delay: 0s }}\nbudget: {{ pages: 100 }}", site.url("/"));
    dragline_definition::parse(&yaml, "crawl.yaml").unwrap()
}

fn making() -> Making {
    Making { program: "test".to_owned(), at: Timestamp::UNIX_EPOCH }
}

/// Publishes an iteration of the crawl in a data directory, with what an earlier publication left in the folder.
async fn publish(
    reader: &impl Reader,
    shelf: &Shelf,
    publications: &impl Publications,
    (iteration, folder): (u32, &Path),
) -> Result<SitePublished, SiteError> {
    let iteration = reader.load_iteration(Iteration::new(iteration).unwrap()).await.unwrap().unwrap();
    let publication = SitePublication { iteration, folder: folder.to_owned(), making: making() };
    publish_site(reader, shelf, publications, publication).await
}

/// The paths of pages that the published index finds.
async fn found(shelf: &Shelf, query: &str) -> Vec<String> {
    let stored = shelf.newest_edition(&"walrus".parse().unwrap()).await.unwrap().unwrap();
    let index = Index::open_edition(
        Edition::from_json(&stored.text).unwrap(),
        Arc::new(shelf.clone()),
        Arc::new(Blocks::new(1 << 20)),
    )
    .unwrap();
    let request = Request { query: query.to_owned(), page: NonZeroU32::MIN, per_page: 10, typos: Typos::Keep };
    let results = index.search(&request).unwrap().results;
    let mut paths: Vec<String> = results.iter().map(|hit| hit.url.rsplit_once('/').unwrap().1.to_owned()).collect();
    paths.sort();
    paths
}

#[tokio::test]
async fn the_published_index_follows_the_crawl() {
    let site = ScriptedSite::start(site).await;
    let (data, heard, shelf) = (tempfile::tempdir().unwrap(), Heard::default(), Shelf::default());
    let [folder, elsewhere] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let (data, definition) = (data.path(), definition(&site));
    heard.crawl(data, &definition).await;
    let reader = || LocalStore::open_read_only(data).unwrap().into_reader(definition.name.clone());

    let first = publish(&reader(), &shelf, &shelf, (1, folder.path())).await.unwrap();
    assert_eq!(first.index, Some(Changes { written: 4, unchanged: 0, removed: 0 }));
    assert_eq!(first.report.unwrap().place.uri, "shelf:walrus/1");
    assert!(shelf.report(1).unwrap().contains("walrus"));
    assert_eq!(shelf.editions(), [1]);
    assert_eq!(found(&shelf, "carpenter OR walrus OR sun").await, ["goes", "stays", "turns"]);

    let before = shelf.files();
    let again = publish(&reader(), &shelf, &shelf, (1, folder.path())).await.unwrap();
    assert_eq!(again, SitePublished { index: None, report: None }, "a message that comes twice does nothing");
    assert_eq!((shelf.editions(), shelf.files()), (vec![1], before));

    heard.crawl(data, &definition).await;
    // By another process, which has nothing.
    let second = publish(&reader(), &shelf, &shelf, (2, elsewhere.path())).await.unwrap();
    let Changes { written, removed, .. } = second.index.unwrap();
    assert!((1..=2).contains(&written), "what changed, and what is linked to otherwise: {written}");
    assert_eq!(removed, 1);
    assert_eq!(second.report.unwrap().findings.get("broken"), Some(&1), "the page that went away");
    assert_eq!(shelf.editions(), [2]);
    assert_eq!(found(&shelf, "oyster OR walrus").await, ["stays", "turns"]);
    assert_eq!(found(&shelf, "carpenter OR sun").await, [""; 0], "what is gone is not found any more");
    let third = publish(&reader(), &shelf, &shelf, (2, folder.path())).await.unwrap();
    assert_eq!(third.index, None, "the first process follows");
}

/// Thirty pages that call another one something else each. A second crawl finds them the other way round.
fn called_differently(asked: &Asked) -> Act {
    let link = |n: u32| format!("<a href=/{n}>page {n}</a> ");
    match (asked.target.trim_start_matches('/'), asked.earlier) {
        ("", 0) => page(&(1..=30).map(link).collect::<String>()),
        ("", _) => page(&(1..=30).rev().map(link).collect::<String>()),
        ("called", _) => page("<title>Called</title>something"),
        (number, _) => page(&format!("<a href=/called>name{number}</a>")),
    }
}

#[tokio::test]
async fn the_order_in_which_pages_were_found_changes_nothing_in_the_index() {
    let site = ScriptedSite::start(called_differently).await;
    let mut names = Vec::new();
    for _crawl in 0..2 {
        let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (definition, shelf) = (definition(&site), Shelf::default());
        Heard::default().crawl(data.path(), &definition).await;
        let reader = LocalStore::open_read_only(data.path()).unwrap().into_reader(definition.name.clone());
        publish(&reader, &shelf, &shelf, (1, folder.path())).await.unwrap();
        let mut found_by = Vec::new();
        for n in 1..=30 {
            if found(&shelf, &format!("anchor:name{n}")).await == ["called"] {
                found_by.push(n);
            }
        }
        names.push(found_by);
    }
    assert_eq!(names[0].len(), 20, "as many names as a page may have");
    assert_eq!(names[0], names[1]);
}

/// Publications that are withdrawn, as somebody forgets a URL, after the report was put.
struct WithdrawnMeanwhile(Shelf);

impl Publications for WithdrawnMeanwhile {
    async fn clear_items(&self, crawl: &CrawlId, iteration: Iteration) -> PortResult<()> {
        self.0.clear_items(crawl, iteration).await
    }

    async fn put_items(&self, part: &ItemsPart, lines: Vec<u8>) -> PortResult<()> {
        self.0.put_items(part, lines).await
    }

    async fn put_report(&self, crawl: &CrawlId, iteration: Iteration, page: String) -> PortResult<ReportPlace> {
        let place = self.0.put_report(crawl, iteration, page).await;
        self.0.withdraw();
        place
    }

    async fn has_report(&self, crawl: &CrawlId, iteration: Iteration) -> PortResult<bool> {
        self.0.has_report(crawl, iteration).await
    }
}

#[tokio::test]
async fn an_index_that_is_withdrawn_meanwhile_stays_withdrawn_until_it_is_made_anew() {
    let site = ScriptedSite::start(site).await;
    let (data, heard, shelf) = (tempfile::tempdir().unwrap(), Heard::default(), Shelf::default());
    let (data, definition, folder) = (data.path(), definition(&site), tempfile::tempdir().unwrap());
    heard.crawl(data, &definition).await;
    let reader = LocalStore::open_read_only(data).unwrap().into_reader(definition.name.clone());

    for edition in [1, 2] {
        let meanwhile = WithdrawnMeanwhile(shelf.clone());
        let result = publish(&reader, &shelf, &meanwhile, (1, folder.path())).await;
        assert!(matches!(result, Err(SiteError::Superseded)), "{result:?}");
        let newest = shelf.newest_edition(&definition.name).await.unwrap().unwrap();
        assert_eq!((newest.number, newest.text.len()), (edition, 0), "no index");
        assert_eq!(shelf.files(), [""; 0], "nor a file of one");
    }
    let published = publish(&reader, &shelf, &shelf, (1, folder.path())).await.unwrap();
    assert_eq!(published.index, Some(Changes { written: 4, unchanged: 0, removed: 0 }), "nothing old is in it");
    assert!(published.report.is_some());
    assert_eq!(found(&shelf, "walrus").await, ["stays"]);
}
