//! The word index and the report that are published when an iteration is over.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use dragline_domain::definition::Definition;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_local::LocalStore;
use dragline_ports::editions::Editions as _;
use dragline_ports::error::PortResult;
use dragline_ports::publications::{ItemsPart, Publications, ReportPlace, ReportTexts};
use dragline_ports::reader::Reader;
use dragline_ports::retention::Forgetting as _;
use dragline_publish::{SiteEnd, SiteError, SiteLimits, SitePublication, SiteResult, publish_site, publish_site_from};
use dragline_report::site::ReportStamp;
use dragline_search::{Blocks, Changes, Edition, Index, Request, Typos};
use jiff::Timestamp;

use super::heard::Heard;
use super::scripted::{Act, Asked, ScriptedSite, answer, page};
use super::shelf::Shelf;
use super::slices::Slices;

/// Three pages, of which one is called something else at each visit, and one goes away after the
/// first.
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

fn making() -> ReportStamp {
    ReportStamp { program: "test".to_owned(), at: Timestamp::UNIX_EPOCH }
}

/// Publishes an iteration of the crawl in a data directory, with what an earlier publication left
/// in the folder.
async fn publish(
    reader: &impl Reader,
    shelf: &Shelf,
    publications: &impl Publications,
    (iteration, folder): (u32, &Path),
) -> Result<SiteResult, SiteError> {
    let iteration = reader.load_iteration(Iteration::new(iteration).unwrap()).await.unwrap().unwrap();
    let publication =
        SitePublication { iteration, folder: folder.to_owned(), making: making(), limits: SiteLimits::default() };
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
    let ReportTexts { html, markdown, json } = shelf.report(1).unwrap();
    for (text, beginning) in [(html, "<!doctype html>"), (markdown, "# "), (json, "{")] {
        assert!(text.starts_with(beginning) && text.contains("walrus"), "{beginning}: {text}");
    }
    assert_eq!(shelf.editions(), [1]);
    assert_eq!(found(&shelf, "carpenter OR walrus OR sun").await, ["goes", "stays", "turns"]);

    let before = shelf.files();
    let again = publish(&reader(), &shelf, &shelf, (1, folder.path())).await.unwrap();
    assert_eq!(again, SiteResult { index: None, report: None }, "a message that comes twice does nothing");
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

/// Thirty pages that call another one something else each. A second crawl finds them the other way
/// round.
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

/// Somebody forgets a page when the report was made and is about to be put; what he withdraws is
/// not there yet.
struct ForgottenMeanwhile<'d> {
    shelf: Shelf,
    data: &'d Path,
    page: CrawlUrl,
}

impl Publications for ForgottenMeanwhile<'_> {
    async fn clear_items(&self, crawl: &CrawlId, iteration: Iteration) -> PortResult<()> {
        self.shelf.clear_items(crawl, iteration).await
    }

    async fn put_items(&self, part: &ItemsPart, lines: Vec<u8>) -> PortResult<()> {
        self.shelf.put_items(part, lines).await
    }

    async fn put_report(&self, crawl: &CrawlId, iteration: Iteration, texts: ReportTexts) -> PortResult<ReportPlace> {
        let store = LocalStore::open(self.data, Timestamp::UNIX_EPOCH).unwrap();
        store.retained().forget_urls(crawl, std::slice::from_ref(&self.page)).await.unwrap();
        self.shelf.put_report(crawl, iteration, texts).await
    }

    async fn has_report(&self, crawl: &CrawlId, iteration: Iteration) -> PortResult<bool> {
        self.shelf.has_report(crawl, iteration).await
    }
}

#[tokio::test]
async fn what_is_forgotten_while_a_site_is_published_is_not_published() {
    let site = ScriptedSite::start(site).await;
    let (data, heard, shelf) = (tempfile::tempdir().unwrap(), Heard::default(), Shelf::default());
    let (data, definition, folder) = (data.path(), definition(&site), tempfile::tempdir().unwrap());
    heard.crawl(data, &definition).await;
    let reader = LocalStore::open_read_only(data).unwrap().into_reader(definition.name.clone());
    let page = CrawlUrl::parse(&site.url("/stays"), &UrlRules::default()).unwrap();

    let meanwhile = ForgottenMeanwhile { shelf: shelf.clone(), data, page };
    let result = publish(&reader, &shelf, &meanwhile, (1, folder.path())).await;
    assert!(matches!(result, Err(SiteError::Superseded)), "{result:?}");
    assert_eq!(shelf.editions(), [0; 0], "no index");
    let published = publish(&reader, &shelf, &shelf, (1, folder.path())).await.unwrap();
    assert!(published.report.is_some(), "in the place of the one that has it");
    assert_eq!(found(&shelf, "walrus OR carpenter").await, ["turns"]);
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

    async fn put_report(&self, crawl: &CrawlId, iteration: Iteration, texts: ReportTexts) -> PortResult<ReportPlace> {
        let place = self.0.put_report(crawl, iteration, texts).await;
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

/// Publishes an iteration in as many runs as it takes, each in a folder of its own, and each with
/// time for one step.
async fn publish_in_steps(
    reader: &impl Reader,
    shelf: &Shelf,
    iteration: u32,
    limits: SiteLimits,
) -> (SiteResult, Vec<String>) {
    let iteration = reader.load_iteration(Iteration::new(iteration).unwrap()).await.unwrap().unwrap();
    let (mut from, mut stops) = (None, Vec::new());
    loop {
        let folder = tempfile::tempdir().unwrap();
        let publication = SitePublication {
            iteration: iteration.clone(),
            folder: folder.path().to_owned(),
            making: making(),
            limits,
        };
        let rest = || ControlFlow::Break(());
        match publish_site_from(reader, shelf, shelf, (publication, from), rest).await.unwrap() {
            SiteEnd::Published(published) => return (published, stops),
            SiteEnd::Stopped(place) => {
                stops.push(place.draft.clone());
                from = Some(place);
            }
        }
        assert!(stops.len() < 100, "each run gets on: {stops:?}");
    }
}

#[tokio::test]
async fn a_site_that_is_published_in_many_runs_is_published_as_in_one() {
    let site = ScriptedSite::start(called_differently).await;
    let (data, definition) = (tempfile::tempdir().unwrap(), definition(&site));
    Heard::default().crawl(data.path(), &definition).await;
    let reader = Slices::new(LocalStore::open_read_only(data.path()).unwrap().into_reader(definition.name.clone()));
    let (whole, parts) = (Shelf::default(), Shelf::default());
    let folder = tempfile::tempdir().unwrap();
    let at_once = publish(&reader, &whole, &whole, (1, folder.path())).await.unwrap();
    let read_at_once = reader.reads();
    let limits = SiteLimits { pages_at_once: 5, part_documents: 10 };
    let (published, stops) = publish_in_steps(&reader, &parts, 1, limits).await;
    assert!(stops.len() > 30, "the graph's batches, the parts and those of the log: {}", stops.len());
    let read_in_parts = reader.reads();
    assert_eq!(read_in_parts.keys().collect::<Vec<_>>(), read_at_once.keys().collect::<Vec<_>>());
    for (stream, reads) in read_in_parts {
        assert!(reads <= read_at_once[stream], "{stream}: nothing is read again in a later run");
    }
    assert_eq!(published.index.unwrap().written, at_once.index.unwrap().written);
    assert_eq!(parts.report(1), whole.report(1));
    assert_eq!(parts.editions(), [1]);
    for query in ["page", "something", "anchor:name7", "anchor:name30 OR anchor:name1", "called"] {
        assert_eq!(found(&parts, query).await, found(&whole, query).await, "{query}");
    }
    let folder = tempfile::tempdir().unwrap();
    let again = publish(&reader, &parts, &parts, (1, folder.path())).await.unwrap();
    assert_eq!(again, SiteResult { index: None, report: None }, "there is nothing left to do");
    assert_eq!(reader.reads(), BTreeMap::new(), "which is known without reading the site");
    let (small, _) = publish_in_steps(&reader, &Shelf::default(), 1, SiteLimits::default()).await;
    assert_eq!(small, at_once, "one that fits is stopped in its graph alone");
}

#[tokio::test]
async fn a_site_that_is_gone_on_with_too_late_begins_anew() {
    let site = ScriptedSite::start(site).await;
    let (data, heard, shelf) = (tempfile::tempdir().unwrap(), Heard::default(), Shelf::default());
    let definition = definition(&site);
    heard.crawl(data.path(), &definition).await;
    let reader = LocalStore::open_read_only(data.path()).unwrap().into_reader(definition.name.clone());
    let iteration = reader.load_iteration(Iteration::FIRST).await.unwrap().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let limits = SiteLimits { pages_at_once: 0, part_documents: 1 };
    let publication = SitePublication { iteration, folder: folder.path().to_owned(), making: making(), limits };
    let stop = || ControlFlow::Break(());
    let stopped = publish_site_from(&reader, &shelf, &shelf, (publication.clone(), None), stop).await.unwrap();
    let SiteEnd::Stopped(place) = stopped else { panic!("{stopped:?}") };
    for why in ["somebody forgot URLs, and withdrew what is there", "the files are gone"] {
        shelf.withdraw();
        let from = (publication.clone(), Some(place.clone()));
        let end = publish_site_from(&reader, &shelf, &shelf, from, || ControlFlow::Continue(())).await.unwrap();
        let SiteEnd::Published(published) = end else { panic!("{end:?}") };
        assert_eq!(published.index.unwrap().written, 4, "{why}");
        assert_eq!(found(&shelf, "walrus").await, ["stays"], "{why}");
    }
}
