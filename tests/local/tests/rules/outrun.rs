//! Sites that are faster than their parser.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dragline_domain::document::Document;
use dragline_domain::frontier::{ObjectKey, OriginKey, SegmentRow, VisitPlace};
use dragline_formats::blob::Blob;
use dragline_pipeline::Adapters;
use dragline_pipeline::handover::Handover;
use dragline_ports::archive::{Archive, PutResult};
use dragline_ports::clock::Clock;
use dragline_ports::documents::{Documents, PutDocuments};
use dragline_ports::error::PortResult;
use dragline_ports::fetcher::{FetchOutcome, FetchRequest, Fetcher};
use dragline_testkit::whole_crawls::{crawl_in, definition};

use super::ahead::{Ahead, answered, open_ahead};

const PAGES: usize = 1_000;
const PAGE_BYTES: usize = 20_000;

/// Room for some seven segments, as in a real crawl: a turn alone has four in progress.
const HANDOVER_BYTES_MAX: u64 = 8 << 20;

/// A site that answers at once, whose start page links to all others.
#[derive(Clone)]
struct Instant;

impl Fetcher for Instant {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        let body = match request.url.path_and_query() {
            "/robots.txt" => return answered(404, String::new(), Duration::from_millis(1)),
            "/" => (1..PAGES).map(|page| format!("<a href=/{page}>{page}</a> ")).collect(),
            path => format!("<title>{path}</title>{}", "text ".repeat(PAGE_BYTES / 5)),
        };
        answered(200, body, Duration::from_millis(1))
    }
}

/// Documents that take a while to store.
#[derive(Clone)]
struct Slow<D> {
    inner: D,
    clock: Ahead,
}

impl<D: Documents> Documents for Slow<D> {
    async fn load(&self, segment: &SegmentRow) -> PortResult<Option<Vec<Document>>> {
        self.inner.load(segment).await
    }

    async fn load_each(&self, origin: &OriginKey, places: &[VisitPlace]) -> PortResult<Vec<Option<Document>>> {
        self.inner.load_each(origin, places).await
    }

    async fn put_new(&self, segment: &SegmentRow, documents: &[Document]) -> PortResult<PutDocuments> {
        // By the machine's clock: a faster one would make its disk slow, and crawl steps wait only
        // so long for a parser.
        self.clock.sleep(Duration::from_millis(25)).await;
        self.inner.put_new(segment, documents).await
    }
}

/// Counts what is read back.
#[derive(Clone)]
struct Counted<A> {
    inner: A,
    read: Arc<AtomicUsize>,
}

impl<A: Archive> Archive for Counted<A> {
    async fn put_new(&self, key: &ObjectKey, object: Blob) -> PortResult<PutResult> {
        self.inner.put_new(key, object).await
    }

    async fn replace(&self, key: &ObjectKey, object: Blob) -> PortResult<()> {
        self.inner.replace(key, object).await
    }

    async fn get(&self, key: &ObjectKey, bytes_max: u64) -> PortResult<Option<Blob>> {
        self.read.fetch_add(1, Ordering::Relaxed);
        self.inner.get(key, bytes_max).await
    }

    async fn get_range(&self, key: &ObjectKey, range: Range<u64>) -> PortResult<Option<Blob>> {
        self.inner.get_range(key, range).await
    }

    async fn list(&self, prefix: &str, after: Option<&ObjectKey>, limit: usize) -> PortResult<Vec<ObjectKey>> {
        self.inner.list(prefix, after, limit).await
    }

    async fn delete(&self, key: &ObjectKey) -> PortResult<()> {
        self.inner.delete(key).await
    }
}

/// Crawls the site; returns how many pages were stored, and how many objects were read back.
async fn crawl(handover: Handover) -> (u64, usize) {
    let data = tempfile::tempdir().unwrap();
    let Adapters { frontier, archive, documents, queue, notifier, clock, rng, .. } =
        open_ahead(data.path(), Duration::ZERO, 1);
    let read = Arc::<AtomicUsize>::default();
    let archive = Counted { inner: archive, read: Arc::clone(&read) };
    let documents = Slow { inner: documents, clock };
    let messages = queue.clone();
    let world = Adapters::new(frontier, archive, documents, queue, notifier, (clock, rng)).with_handover(handover);
    let definition = definition(&["https://a.example/".to_owned()], |draft| {
        draft.politeness.delay = Duration::ZERO;
        draft.politeness.concurrency = 16;
    });
    let progress = crawl_in(world, messages, Instant, &definition).await;
    (progress.parser.processed, read.load(Ordering::Relaxed))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_does_not_outrun_its_parser() {
    let (pages, read) = crawl(Handover::new(HANDOVER_BYTES_MAX)).await;
    assert_eq!((pages, read), (PAGES as u64, 0), "nothing had to be read back");
    let (pages, read) = crawl(Handover::none()).await;
    assert_eq!(pages, PAGES as u64);
    assert!(read >= PAGES / 50, "without a handover each of the segments is: {read}");
}
