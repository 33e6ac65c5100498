//! Errors of the store that come back each time: the iteration ends without what they concern.

use std::fmt::Display;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use dragline_domain::definition::Within;
use dragline_domain::document::Document;
use dragline_domain::frontier::{OriginKey, SegmentRow, VisitPlace};
use dragline_pipeline::Adapters;
use dragline_ports::documents::{Documents, PutDocuments};
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::fetcher::{FetchFailureKind, FetchOutcome, FetchRequest, Fetcher};
use dragline_ports::notifier::Notice;
use dragline_testkit::before::Before;
use dragline_testkit::whole_crawls::{crawl_in, definition};

use super::ahead::{answered, open_ahead};
use super::counting::{Counter, Kept, crawl_before};

/// By the clock, parses are tried again for hours.
const TIMES: u32 = 2_000;

/// A page with links to so many sites that its parse is committed in parts. None of the sites
/// exists.
struct ManySites;

impl Fetcher for ManySites {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        let (took, url) = (Duration::from_millis(1), &request.url);
        match (url.host(), url.path_and_query()) {
            ("www.many.example", "/") => {
                let links = (0..200).map(|n| format!("<a href=//h{n}.many.example/>{n}</a>"));
                answered(200, links.collect(), took)
            }
            ("www.many.example", _) => answered(404, String::new(), took),
            _ => FetchOutcome::failed(FetchFailureKind::NameNotResolved, "host not found", took),
        }
    }
}

/// A store that fails once while the second part of a parse is committed, and from then on whenever
/// a URL is claimed.
#[derive(Clone, Default)]
struct FailsAfterOnePart(Arc<AtomicU32>);

impl Before for FailsAfterOnePart {
    async fn pass<T: Send>(
        &self,
        operation: &'static str,
        subject: impl Display + Send,
        _instead: Option<T>,
        call: impl Future<Output = PortResult<T>> + Send,
    ) -> PortResult<T> {
        let fails = match operation {
            "frontier.commit_parse" => self.0.fetch_add(1, Ordering::Relaxed) == 1,
            "frontier.claim" => self.0.load(Ordering::Relaxed) > 1,
            _ => false,
        };
        if fails {
            Err(PortError::new(PortErrorKind::Corrupt, operation, subject, "it fails here"))
        } else {
            call.await
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_parse_that_fails_behind_its_first_part_ends() {
    let definition = definition(&["https://www.many.example/".to_owned()], |draft| {
        draft.scope.within = Within::Domain;
        draft.politeness.hosts_per_domain = 100;
    });
    let store = FailsAfterOnePart::default();
    let crawl = crawl_before(store.clone(), TIMES, ManySites, &definition);
    let (progress, notices) = tokio::time::timeout(Duration::from_secs(60), crawl).await.expect("the iteration ends");
    assert!((2..201).contains(&progress.origins), "those of the first part were opened: {}", progress.origins);
    assert!(store.0.load(Ordering::Relaxed) > 2, "what fails is left out, and the parse is committed");
    let told = notices.iter().filter(|notice| matches!(notice, Notice::Stuck { .. })).count();
    assert!(told >= 1, "{notices:?}");
}

/// A start page with links to pages that take a while to read.
struct Slow;

const SLOW_PAGES: usize = 30;

impl Fetcher for Slow {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        let body = match request.url.path_and_query() {
            "/" => (0..SLOW_PAGES).map(|n| format!("<a href=/{n}>{n}</a> ")).collect(),
            "/robots.txt" => return answered(404, String::new(), Duration::from_millis(1)),
            path => format!("<title>{path}</title>{}", "<p>text <b>and</b> more".repeat(10_000)),
        };
        answered(200, body, Duration::from_millis(1))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_for_which_a_parse_has_no_time_are_told_and_not_waited_for() {
    let definition = definition(&["https://www.slow.example/".to_owned()], |_| {});
    let (progress, notices) = crawl_before(Counter::default(), TIMES, Slow, &definition).await;
    let (stuck, all) = (progress.parser.stuck, SLOW_PAGES as u64 + 1);
    assert!(stuck > 0 && progress.parser.processed > 1, "{stuck} of {all}");
    assert_eq!((progress.parser.processed + stuck, progress.finished()), (all, all));
    let told = |notice: &&Notice| matches!(notice, Notice::Stuck { detail, .. } if detail.contains("took too long"));
    assert_eq!(notices.iter().filter(told).count(), 1, "{notices:?}");
}

/// A store of documents that takes no more of them at once than these bytes of JSON.
#[derive(Clone)]
struct Small<D> {
    inner: D,
    json_bytes_max: usize,
}

impl<D: Documents> Documents for Small<D> {
    async fn load(&self, segment: &SegmentRow) -> PortResult<Option<Vec<Document>>> {
        self.inner.load(segment).await
    }

    async fn load_each(&self, origin: &OriginKey, places: &[VisitPlace]) -> PortResult<Vec<Option<Document>>> {
        self.inner.load_each(origin, places).await
    }

    async fn put_new(&self, segment: &SegmentRow, documents: &[Document]) -> PortResult<PutDocuments> {
        let size = serde_json::to_vec(documents).unwrap().len();
        if size > self.json_bytes_max {
            return Err(PortError::new(PortErrorKind::TooLarge, "put documents", &segment.id, format!("{size} bytes")));
        }
        self.inner.put_new(segment, documents).await
    }
}

/// A site whose page 3 is much larger than the others.
struct OneLarge;

impl Fetcher for OneLarge {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        let text = |words: usize| "words of a page ".repeat(words);
        let body = match request.url.path_and_query() {
            "/" => (0..10).map(|n| format!("<a href=/{n}>{n}</a> ")).collect(),
            "/robots.txt" => return answered(404, String::new(), Duration::from_millis(1)),
            "/3" => format!("<title>Three</title><p>{}", text(20_000)),
            path => format!("<title>{path}</title><p>{}", text(20)),
        };
        answered(200, body, Duration::from_millis(1))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_a_segment_s_documents_are_too_large_the_largest_are_left_out_and_told() {
    let data = tempfile::tempdir().unwrap();
    let local = open_ahead(data.path(), Duration::ZERO, 1);
    let (kept, times) = (Kept::default(), (local.clock, local.rng));
    let documents = Small { inner: local.documents, json_bytes_max: 100_000 };
    let world = Adapters::new(local.frontier, local.archive, documents, local.queue, kept.clone(), times);
    let messages = world.queue.clone();
    let definition = definition(&["https://www.large.example/".to_owned()], |_| {});
    let progress = crawl_in(world, messages, OneLarge, &definition).await;
    assert_eq!((progress.parser.processed, progress.parser.stuck), (10, 1), "all but the large page");
    let told = |notice: &Notice| matches!(notice, Notice::Stuck { detail, .. } if detail.contains("/3: what was read of it is too large"));
    assert!(kept.take().iter().any(told), "which page and why");
}
