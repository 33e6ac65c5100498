//! The stages in the local store: claiming links, and storing the results of a segment.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use divan::Bencher;
use divan::counter::ItemsCount;
use dragline_domain::capture::{FileEntry, LogEntry, RecordKind, SegmentLog};
use dragline_domain::content::ContentLevel;
use dragline_domain::definition::Noindex;
use dragline_domain::document::{Disposition, Document, Link};
use dragline_domain::frontier::{
    AddTodo, Claimable, Claimer, IterationBegun, Lease, ObjectKey, OriginKey, ReadAs, Reserve, Seeding,
    SegmentCommitted, SegmentId, SegmentRow, SegmentState, ShorterWays, Sighting, TakeRequest, Task, TodoEntry,
    TodoPlace, TodoSource, split_into_chunks,
};
use dragline_domain::ids::{Iteration, LeaseToken, TriggerId};
use dragline_domain::outcome::Outcome;
use dragline_domain::politeness::Pace;
use dragline_extract::typed::Types;
use dragline_extract::{MainRules, Settings, Source, extract};
use dragline_local::{LocalStore, SqliteDocuments, SqliteFrontier};
use dragline_ports::documents::{Documents, PutDocuments};
use dragline_ports::frontier::{
    BeginIteration, Candidates, ClaimRequest, CommitSegment, CrawlLog, Iterations, Origins, SeedOrigin, Turns,
};
use jiff::Timestamp;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use crate::sample::{Sample, crawl, url, url_rules, visit};

/// The number of pages in a full segment, and of links on a page.
const PAGES: u32 = 50;

/// The number of known URLs at the start, so that indexes have some depth.
const KNOWN: u32 = 20_000;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_795_000_000 + second).expect("in range")
}

fn path(number: u32) -> String {
    format!("/page/{number}.html")
}

/// A data directory with an open iteration, whose only origin is leased.
struct Store {
    runtime: Runtime,
    frontier: SqliteFrontier,
    documents: SqliteDocuments,
    origin: OriginKey,
    iteration: Iteration,
    lease: Lease,
    next: Cell<u32>,
    _directory: TempDir,
}

impl Store {
    fn begin() -> Self {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let store = LocalStore::open(directory.path(), at(0)).expect("it is empty");
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
        let (frontier, documents) = (store.frontier(), store.documents());
        let origin = OriginKey { crawl: crawl(), origin: "https://bench.example".parse().expect("an origin") };
        let (iteration, lease) = runtime.block_on(lease_origin(&frontier, &origin));
        let store =
            Self { runtime, frontier, documents, origin, iteration, lease, next: Cell::new(0), _directory: directory };
        for first in (0..KNOWN).step_by(1_000) {
            store.claim(&store.claim_request((first..first + 1_000).map(path)));
        }
        store.next.set(KNOWN);
        store
    }

    /// Returns a claim of these paths, as links of the page at `/`.
    fn claim_request(&self, paths: impl Iterator<Item = String>) -> ClaimRequest {
        let sighting =
            Sighting { depth: 1, via: Some(url("https://bench.example/")), requisite_steps: 0, read_as: ReadAs::Typed };
        ClaimRequest {
            origin: self.origin.clone(),
            iteration: self.iteration,
            claimer: Claimer::segment(&self.segment_id(0)),
            claimable: Claimable::All,
            shorter_ways: ShorterWays::Ignored,
            now: at(2),
            urls: paths.map(|path| (path, sighting.clone())).collect(),
        }
    }

    fn claim(&self, claim: &ClaimRequest) -> usize {
        self.runtime.block_on(self.frontier.claim(claim)).expect("the store works").len()
    }

    fn segment_id(&self, number: u64) -> SegmentId {
        SegmentId { origin: self.origin.clone(), turn: self.lease.turn, n: self.lease.segments + number }
    }

    /// Commits the next segment of the turn.
    fn segment(&mut self) -> SegmentRow {
        let holder = self.lease.holder().expect("it is held").clone();
        let id = self.segment_id(0);
        let segment = SegmentRow {
            object: ObjectKey::for_segment(&id, self.iteration, &holder.token),
            id,
            iteration: self.iteration,
            token: holder.token,
            state: SegmentState::Crawled { part: 0 },
            object_bytes: 300_000,
            entries: PAGES,
            put_off: 0,
            committed_at: at(3),
            attempts: 0,
            parsing: None,
            due: Some(at(63)),
        };
        self.lease = Lease { segments: self.lease.segments + 1, attempts: 0, ..self.lease.clone() };
        let commit = CommitSegment { segment: segment.clone(), lease: self.lease.clone(), exhausted: Vec::new() };
        let committed = self.runtime.block_on(self.frontier.commit_segment(&commit)).expect("the store works");
        assert_eq!(committed, SegmentCommitted::Done, "nobody else holds the lease");
        segment
    }
}

/// Begins an iteration with one seed, and takes the lease of its origin.
async fn lease_origin(frontier: &SqliteFrontier, origin: &OriginKey) -> (Iteration, Lease) {
    let trigger = TriggerId("bench".to_owned());
    let begin = BeginIteration {
        crawl: crawl(),
        trigger: trigger.clone(),
        version: 1,
        joined: 0,
        budget: Reserve { pages: None, bytes: None },
        now: at(0),
        ends_at: None,
        due: at(60),
        task: Task::Crawl,
    };
    let begun = frontier.begin_iteration(&begin).await.expect("the store works");
    let IterationBegun::Iteration(row) = begun else { panic!("no other iteration runs") };
    let seeding = Seeding::new(&trigger, 0);
    let entries = [TodoEntry::new("/")].into_iter();
    let chunks = split_into_chunks(row.number, TodoPlace::by_depth(0), &TodoSource::seeds(&seeding), entries);
    let add = AddTodo { count: 1, pace: Pace::new(Duration::ZERO), now: at(0), due: at(60) };
    let seed = SeedOrigin { origin: origin.clone(), iteration: row.number, seeding, add, chunks };
    frontier.seed_origin(&seed).await.expect("the store works");
    let opened = frontier.load_origin(origin).await.expect("the store works").expect("it was just opened");
    let take = TakeRequest {
        turn: opened.lease.turn,
        token: LeaseToken::from_bits(1),
        until: at(1_000),
        host_until: at(1_000),
        wanted: Reserve { pages: None, bytes: None },
        now: at(1),
        alive: Vec::new(),
        hosts_per_domain: 4,
    };
    let lease = frontier.take_lease(origin, row.number, &take).await.expect("the store works").expect("it is free");
    (row.number, lease)
}

/// Claims the links of a page, all of them new.
#[divan::bench]
fn claim_new(bencher: Bencher<'_, '_>) {
    let store = Store::begin();
    let paths = || {
        let first = store.next.replace(store.next.get() + PAGES);
        store.claim_request((first..first + PAGES).map(path))
    };
    bencher.counter(ItemsCount::new(PAGES)).with_inputs(paths).bench_local_values(|claim| store.claim(&claim));
}

/// Claims the links of a page, all of them known.
#[divan::bench]
fn claim_known(bencher: Bencher<'_, '_>) {
    let store = Store::begin();
    let paths = || {
        let first = store.next.replace(store.next.get() + 7 * PAGES);
        store.claim_request((0..PAGES).map(|n| path((first + n * 331) % KNOWN)))
    };
    bencher.counter(ItemsCount::new(PAGES)).with_inputs(paths).bench_local_values(|claim| store.claim(&claim));
}

/// Stores the documents of a segment of generated pages.
#[divan::bench(max_time = 10)]
fn store_documents(bencher: Bencher<'_, '_>) {
    let mut store = Store::begin();
    let document = document();
    let documents: Vec<Document> = (0..PAGES).map(|n| of_page(&document, n)).collect();
    let (runtime, port) =
        (Builder::new_current_thread().enable_all().build().expect("a runtime"), store.documents.clone());
    bencher.counter(ItemsCount::new(PAGES)).with_inputs(|| store.segment()).bench_local_values(|segment| {
        let put = runtime.block_on(port.put_new(&segment, &documents)).expect("the store works");
        assert_eq!(put, PutDocuments::Stored, "the segment is new");
    });
}

/// Stores the log of a segment.
#[divan::bench]
fn store_log(bencher: Bencher<'_, '_>) {
    let mut store = Store::begin();
    let (runtime, port) =
        (Builder::new_current_thread().enable_all().build().expect("a runtime"), store.frontier.clone());
    bencher
        .counter(ItemsCount::new(PAGES))
        .with_inputs(|| log(&store.segment()))
        .bench_local_values(|log| runtime.block_on(port.put_log(&Arc::new(log))).expect("the store works"));
}

/// Returns the document of the generated page, whose links are all followed.
fn document() -> Document {
    let (response, url_rules) = (Sample::Generated.response(), url_rules());
    let page = Sample::Generated.url();
    let body = response.readable_body();
    let source = Source { url: &page, headers: &response.headers, body: &body };
    let settings = Settings {
        product_token: "bench",
        url_rules: &url_rules,
        decoded_bytes_max: 10 << 20,
        noindex: Noindex::Obey,
        content: ContentLevel::default(),
        types: Types::NONE,
        main: MainRules::NONE,
    };
    let extracted = extract(&source, &settings).expect("it is a page");
    let links = extracted.links.into_iter().map(|link| Link {
        kind: link.kind,
        target: link.target,
        disposition: Disposition::Follow,
        spelling: link.spelling,
        rel: link.rel,
        anchor: link.anchor,
    });
    Document {
        page: Some(extracted.page),
        links: links.collect(),
        made_by: Some(extracted.made_by),
        ..Document::bare(0, page, Outcome::FileIngested)
    }
}

fn of_page(document: &Document, n: u32) -> Document {
    Document { n, url: url(&format!("https://bench.example{}", path(n))), ..document.clone() }
}

fn log(segment: &SegmentRow) -> SegmentLog {
    let entry = |n: u32| LogEntry {
        n,
        url: url(&format!("https://bench.example{}", path(n))),
        at: at(2),
        visit: visit(),
        status: Some(200),
        file: Some(Box::new(FileEntry {
            record: RecordKind::Response,
            offset: u64::from(n) * 6_000,
            length: 6_000,
            content_type: Some("text/html; charset=utf-8".to_owned()),
            body_bytes: 20_000,
            payload_sha1: [7; 20],
            etag: Some(format!("\"1-{n:x}\"")),
            last_modified: Some("Fri, 20 Dec 2019 00:00:00 GMT".to_owned()),
            truncated: None,
        })),
        redirect: None,
        unchanged_since: None,
        change: None,
    };
    SegmentLog {
        segment: segment.id.clone(),
        iteration: segment.iteration,
        object: segment.object.clone(),
        committed_at: segment.committed_at,
        agent: "bench/1.0".to_owned(),
        entries: (0..PAGES).map(entry).collect(),
    }
}
