//! Fresh adapters, with what the suites read them by.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;
use std::{env, fs, thread};

use dragline_domain::frontier::SegmentId;
use dragline_domain::outcome::Outcome;
use dragline_domain::url::CrawlUrl;
use dragline_local::{DATABASE, DirectoryArchive, LocalStore, Mailbox, MemoryQueue, SqliteDocuments, SqliteFrontier};
use dragline_ports::queue::Message;
use dragline_ports::reader::{Cursor, Filter, LogRow, Reader};
use dragline_testkit::clock::HandClock;
use dragline_testkit::conformance::log::LogReader;
use dragline_testkit::conformance::queue::Receiver;
use dragline_whole_crawls::every_row;
use jiff::Timestamp;
use tempfile::TempDir;

/// A directory in memory, where the machine has such a place, as nothing here outlives the test.
fn directory() -> TempDir {
    let memory = PathBuf::from("/dev/shm");
    TempDir::new_in(if memory.is_dir() { memory } else { env::temp_dir() }).unwrap()
}

/// A new database, which is made once: ten thousand stores are opened when every behaviour judges every mutant.
static NEW: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let directory = directory();
    drop(LocalStore::open(directory.path(), Timestamp::UNIX_EPOCH).unwrap());
    while directory.path().join(format!("{DATABASE}-wal")).exists() {
        thread::yield_now();
    }
    fs::read(directory.path().join(DATABASE)).unwrap()
});

/// A store in a directory of its own.
fn store() -> (LocalStore, TempDir) {
    let directory = directory();
    fs::write(directory.path().join(DATABASE), &*NEW).unwrap();
    let store = LocalStore::open(directory.path(), Timestamp::UNIX_EPOCH).unwrap();
    (store, directory)
}

pub(crate) async fn frontier() -> (SqliteFrontier, TempDir) {
    let (store, directory) = store();
    (store.frontier(), directory)
}

pub(crate) async fn log() -> ((SqliteFrontier, SqliteLog), TempDir) {
    let (store, directory) = store();
    ((store.frontier(), SqliteLog { directory: directory.path().to_owned() }), directory)
}

pub(crate) async fn documents() -> ((SqliteFrontier, SqliteDocuments), TempDir) {
    let (store, directory) = store();
    ((store.frontier(), store.documents()), directory)
}

pub(crate) async fn archive() -> (DirectoryArchive, TempDir) {
    let (store, directory) = store();
    (store.archive(), directory)
}

pub(crate) async fn queue() -> ((MemoryQueue<HandClock>, QueueEnd), ()) {
    let clock = HandClock::default();
    let queue = MemoryQueue::new(&clock, 1_000);
    ((queue.clone(), QueueEnd { queue, clock }), ())
}

/// The log as people read it. It holds the log of one segment only, as that is all the suite puts.
pub(crate) struct SqliteLog {
    directory: PathBuf,
}

impl LogReader for SqliteLog {
    async fn entries(&self, segment: &SegmentId) -> Vec<(CrawlUrl, Outcome)> {
        let reading = LocalStore::open_read_only(&self.directory).unwrap();
        let (reader, filter) = (&reading.into_reader(segment.origin.crawl.clone()), &Filter::default());
        let rows =
            every_row(|after: Option<Cursor>| async move { reader.log(filter, after.as_ref(), 500).await }).await;
        let entry = |row: LogRow| (row.url.try_into().unwrap(), Outcome::try_from(row.outcome).unwrap());
        rows.into_iter().map(entry).collect()
    }
}

/// The other end of a queue in memory.
pub(crate) struct QueueEnd {
    queue: MemoryQueue<HandClock>,
    clock: HandClock,
}

impl Receiver for QueueEnd {
    async fn pass(&self, time: Duration) {
        self.clock.pass(time);
    }

    async fn receive(&self) -> Vec<Message> {
        let mut received: Vec<Message> = all(self.queue.tickets()).await.into_iter().map(Message::Ticket).collect();
        received.extend(all(self.queue.parses()).await.into_iter().map(Message::Parse));
        received.extend(all(self.queue.commands()).await.into_iter().map(Message::Start));
        received
    }
}

/// Takes what is due.
async fn all<T>(mailbox: &Mailbox<T, HandClock>) -> Vec<T> {
    let mut taken = Vec::new();
    loop {
        tokio::select! {
            biased;
            message = mailbox.receive() => taken.push(message),
            () = std::future::ready(()) => return taken,
        }
    }
}
