//! The scheduler's world for tests of commands, with a clock set by hand and readable notices.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dragline_domain::command::Command;
use dragline_domain::definition::{Definition, Schedule};
use dragline_domain::frontier::{IterationBegun, IterationRow, OriginKey, Reserve, Task};
use dragline_domain::ids::{CrawlId, TriggerId};
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_local::{DirectoryArchive, LocalStore, MemoryQueue, SqliteDocuments, SystemRng};
use dragline_pipeline::context::Contexts;
use dragline_pipeline::schedule::{CommandResult, Defaults, begin_due, handle};
use dragline_pipeline::{Adapters, Timing};
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{BeginIteration, CrawlRow, Crawls, Iterations, Origins};
use dragline_ports::notifier::{Notice, Notifier};
use dragline_ports::queue::{Message, Queue, StartCommand};
use jiff::Timestamp;
use tempfile::TempDir;

use super::counted::{Counted, Counter};

/// 2026-11-18, 11:06:40 UTC.
const START: Timestamp = Timestamp::constant(1_795_000_000, 0);

/// A clock that stands still until it is moved, or advances by a step each time it is read.
#[derive(Clone)]
pub(crate) struct Hands(Arc<Mutex<Duration>>, Duration);

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        START + *self.0.lock().unwrap()
    }

    fn monotonic(&self) -> Duration {
        let mut hands = self.0.lock().unwrap();
        *hands += self.1;
        *hands
    }

    async fn sleep(&self, wait: Duration) {
        *self.0.lock().unwrap() += wait;
    }
}

#[derive(Default)]
pub(crate) struct Heard(Mutex<Vec<Notice>>);

impl Notifier for Heard {
    async fn notify(&self, notice: Notice, _since: Timestamp) -> PortResult<()> {
        self.0.lock().unwrap().push(notice);
        Ok(())
    }
}

/// A queue that records what is sent.
pub(crate) struct Noting {
    inner: MemoryQueue<Hands>,
    sent: Mutex<Vec<Message>>,
}

impl Queue for Noting {
    async fn send(&self, message: Message, delay: Duration) -> PortResult<()> {
        self.sent.lock().unwrap().push(message.clone());
        self.inner.send(message, delay).await
    }
}

type DeskWorld = Adapters<Counted, DirectoryArchive, SqliteDocuments, Noting, Heard, Hands, SystemRng>;

pub(crate) struct Desk {
    pub(crate) world: DeskWorld,
    contexts: Contexts,
    _directory: TempDir,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::with(Duration::ZERO, Timing::default())
    }

    /// A desk with time for about this many origins at once.
    pub(crate) fn hurried(origins: u32) -> Self {
        let reading = Duration::from_millis(1);
        Self::with(reading, Timing { walk: Some(reading * origins), ..Timing::default() })
    }

    fn with(reading: Duration, timing: Timing) -> Self {
        let directory = TempDir::new().unwrap();
        let store = LocalStore::open(directory.path(), START).unwrap();
        let clock = Hands(Arc::default(), reading);
        let queue = Noting { inner: MemoryQueue::new(&clock, 1_000), sent: Mutex::default() };
        let (frontier, archive, documents) =
            (Counted::new(Counter::default(), store.frontier()), store.archive(), store.documents());
        let world = Adapters::new(frontier, archive, documents, queue, Heard::default(), (clock, SystemRng));
        Self { world: world.with_timing(timing), contexts: Contexts::default(), _directory: directory }
    }

    /// Delivers a command as the message with this id.
    pub(crate) async fn deliver(&self, message: &str, command: &Command) -> CommandResult {
        let message = TriggerId(message.to_owned());
        handle(&self.world, &self.contexts, &defaults(), command, &message).await.unwrap()
    }

    /// Begins what is due, as a machine does, and returns its number.
    pub(crate) async fn begin_due(&self) -> usize {
        begin_due(&self.world, &self.contexts).await.unwrap()
    }

    pub(crate) async fn pass(&self, seconds: u64) {
        self.world.clock.sleep(Duration::from_secs(seconds)).await;
    }

    pub(crate) async fn row(&self, crawl: &str) -> Option<CrawlRow> {
        self.world.frontier.load_crawl(&name(crawl)).await.unwrap()
    }

    pub(crate) async fn latest(&self, crawl: &str) -> Option<IterationRow> {
        self.world.frontier.latest_iteration(&name(crawl)).await.unwrap()
    }

    /// How many URLs were added to an origin in its latest iteration.
    pub(crate) async fn added(&self, crawl: &str, origin: &str) -> u64 {
        let key = OriginKey { crawl: name(crawl), origin: origin.parse().unwrap() };
        self.world.frontier.load_origin(&key).await.unwrap().map_or(0, |rows| rows.inbox.added)
    }

    /// Only begins an iteration by this trigger.
    pub(crate) async fn begin_and_die(&self, crawl: &str, trigger: &str) -> IterationRow {
        let (trigger, now) = (TriggerId(trigger.to_owned()), self.world.clock.now());
        let begin = BeginIteration {
            crawl: name(crawl),
            trigger,
            version: 1,
            joined: 0,
            budget: Reserve::default(),
            now,
            ends_at: None,
            due: now,
            task: Task::Crawl,
        };
        match self.world.frontier.begin_iteration(&begin).await.unwrap() {
            IterationBegun::Iteration(row) => row,
            IterationBegun::Busy(row) => panic!("iteration {} runs", row.number),
        }
    }

    /// Stops the running iteration and closes it.
    pub(crate) async fn end(&self, crawl: &str) {
        let row = self.latest(crawl).await.unwrap();
        let stop = dragline_domain::frontier::StatusChange::Stop;
        self.world.frontier.change_status(&row.crawl, row.number, stop).await.unwrap();
        dragline_pipeline::sweep::sweep(&self.world, &row.crawl, self.world.clock.now()).await.unwrap();
        assert!(self.latest(crawl).await.unwrap().closed_at.is_some(), "nothing else works on it");
    }

    /// The start commands that were sent.
    pub(crate) async fn sent(&self) -> Vec<StartCommand> {
        let mut sent = Vec::new();
        while self.world.queue.inner.commands().pending() > 0 {
            sent.push(self.world.queue.inner.commands().receive().await);
        }
        sent
    }

    /// Every message sent since the last call.
    pub(crate) fn messages(&self) -> Vec<Message> {
        std::mem::take(&mut self.world.queue.sent.lock().unwrap())
    }

    pub(crate) fn heard(&self) -> Vec<Notice> {
        std::mem::take(&mut self.world.notifier.0.lock().unwrap())
    }
}

pub(crate) fn defaults() -> Defaults {
    Defaults {
        user_agent: "Dragline/0.1 (+https://contact.example)".parse().unwrap(),
        url_pages_max: 1_000,
        ignore_robots: vec!["staging.example".parse().unwrap()],
    }
}

pub(crate) fn name(crawl: &str) -> CrawlId {
    crawl.parse().unwrap()
}

pub(crate) fn url(text: &str) -> Command {
    Command::Url(CrawlUrl::parse(text, &UrlRules::keep_all()).unwrap())
}

/// The definition of the crawl `docs`, of one seed, changed.
pub(crate) fn docs(change: impl FnOnce(&mut dragline_domain::definition::Draft)) -> Box<Definition> {
    let seed = CrawlUrl::parse("https://docs.example/", &UrlRules::default()).unwrap();
    let mut draft = Definition::for_seeds(vec![seed]).unwrap().into_draft();
    draft.name = name("docs");
    change(&mut draft);
    Box::new(Definition::new(draft).unwrap())
}

/// The same, scheduled every five minutes.
pub(crate) fn scheduled() -> Box<Definition> {
    docs(|draft| draft.schedule = Some(Schedule::new("*/5 * * * *", "UTC").unwrap()))
}

pub(crate) fn start() -> Command {
    Command::Start { crawl: name("docs"), trigger: None }
}
