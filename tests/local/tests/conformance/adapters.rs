//! Fresh adapters, and what the suites need to read them.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;
use std::{env, fs, thread};

use dragline_local::{
    DATABASE, DirectoryArchive, LocalStore, Mailbox, MemoryQueue, SqliteDocuments, SqliteFrontier, SqliteReader,
    SqliteRemaking, SqliteRetained,
};
use dragline_ports::queue::Message;
use dragline_testkit::clock::HandClock;
use dragline_testkit::conformance::queue::Receiver;
use dragline_testkit::conformance::reader::crawl;
use dragline_testkit::conformance::session::{self, Sites};
use dragline_testkit::members::{self, Arrived, ScriptedFetcher};
use jiff::Timestamp;
use tempfile::TempDir;

/// A directory in memory, if possible, as nothing here outlives the test.
fn directory() -> TempDir {
    let memory = PathBuf::from("/dev/shm");
    TempDir::new_in(if memory.is_dir() { memory } else { env::temp_dir() }).unwrap()
}

/// A new database, made once and copied: ten thousand stores are opened when every behaviour runs
/// on every mutant.
static NEW: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let directory = directory();
    drop(LocalStore::open(directory.path(), Timestamp::UNIX_EPOCH).unwrap());
    while directory.path().join(format!("{DATABASE}-wal")).exists() {
        thread::yield_now();
    }
    fs::read(directory.path().join(DATABASE)).unwrap()
});

/// A store in its own directory.
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

/// A reader of the suites' crawl in a directory that a store has open.
fn reader_of(directory: &TempDir) -> SqliteReader {
    LocalStore::open_read_only(directory.path()).unwrap().into_reader(crawl())
}

pub(crate) async fn log() -> ((SqliteFrontier, SqliteReader), TempDir) {
    let (store, directory) = store();
    ((store.frontier(), reader_of(&directory)), directory)
}

pub(crate) async fn reader() -> ((SqliteFrontier, SqliteDocuments, SqliteReader), TempDir) {
    let (store, directory) = store();
    ((store.frontier(), store.documents(), reader_of(&directory)), directory)
}

pub(crate) async fn retained() -> ((SqliteFrontier, SqliteDocuments, SqliteReader, SqliteRetained), TempDir) {
    let (store, directory) = store();
    ((store.frontier(), store.documents(), reader_of(&directory), store.retained()), directory)
}

/// What remakes documents, with what keeps and forgets them.
pub(crate) type Remaking = (SqliteFrontier, SqliteDocuments, SqliteReader, SqliteRemaking, SqliteRetained);

pub(crate) async fn remaking() -> (Remaking, TempDir) {
    let (store, directory) = store();
    ((store.frontier(), store.documents(), reader_of(&directory), store.remaking(), store.retained()), directory)
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

/// The receiving end of a queue in memory.
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

/// A members' area in memory.
pub(crate) async fn scripted() -> ((ScriptedFetcher, ScriptedSites), ()) {
    let fetcher = ScriptedFetcher::new(&members::definition(MEMBERS), |asked| session::answer(asked, STRANGER));
    let sites = ScriptedSites(fetcher.arrived());
    ((fetcher, sites), ())
}

const MEMBERS: &str = "https://members.example";
const STRANGER: &str = "https://stranger.example";

/// What arrived at the sites in memory.
pub(crate) struct ScriptedSites(Arc<Mutex<Vec<Arrived>>>);

impl Sites for ScriptedSites {
    fn members(&self) -> &str {
        MEMBERS
    }

    fn stranger(&self) -> &str {
        STRANGER
    }

    fn arrived(&self) -> Vec<Arrived> {
        self.0.lock().unwrap().clone()
    }
}

/// Receives what is due.
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
