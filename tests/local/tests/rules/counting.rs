//! Whole crawls whose calls to the frontier and notices are counted.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dragline_domain::definition::Definition;
use dragline_pipeline::Adapters;
use dragline_ports::error::PortResult;
use dragline_ports::fetcher::Fetcher;
use dragline_ports::frontier::Progress;
use dragline_ports::notifier::{Notice, Notifier};
use dragline_testkit::before::{Before, Behind};
use dragline_testkit::whole_crawls::crawl_in;

use super::ahead::open_ahead;

/// How much faster the clock runs than the machine's. Not by much: what takes long by the clock is
/// done again, and counts twice.
const TIMES: u32 = 2;

/// How often each operation was called; `origins read` are those that were read from the list of
/// those that joined.
pub(crate) type Counts = BTreeMap<&'static str, u64>;

/// A crawl that is over.
pub(crate) struct CountedCrawl {
    pub(crate) progress: Progress,
    pub(crate) calls: Counts,
    pub(crate) notices: Vec<Notice>,
}

#[derive(Clone, Default)]
pub(crate) struct Counter(Arc<Mutex<Counts>>);

impl Before for Counter {
    async fn pass<T: Send>(
        &self,
        operation: &'static str,
        subject: impl Display + Send,
        _instead: Option<T>,
        call: impl Future<Output = PortResult<T>> + Send,
    ) -> PortResult<T> {
        let subject = subject.to_string();
        {
            let mut counts = self.0.lock().unwrap();
            *counts.entry(operation).or_default() += 1;
            if operation == "frontier.load_joined" {
                let (begin, end) = subject.rsplit_once(' ').unwrap().1.split_once("..").unwrap();
                let read = end.parse::<u64>().unwrap() - begin.parse::<u64>().unwrap();
                *counts.entry("origins read").or_default() += read;
            }
        }
        call.await
    }
}

/// Keeps all notices.
#[derive(Clone, Default)]
pub(crate) struct Kept(Arc<Mutex<Vec<Notice>>>);

impl Kept {
    /// Returns the notices so far, and forgets them.
    pub(crate) fn take(&self) -> Vec<Notice> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Notifier for Kept {
    async fn notify(&self, notice: Notice, _since: jiff::Timestamp) -> PortResult<()> {
        self.0.lock().unwrap().push(notice);
        Ok(())
    }
}

/// Runs one iteration to its end.
pub(crate) async fn crawl_counted(fetcher: impl Fetcher + 'static, definition: &Definition) -> CountedCrawl {
    let counter = Counter::default();
    let (progress, notices) = crawl_before(counter.clone(), TIMES, fetcher, definition).await;
    let calls = std::mem::take(&mut *counter.0.lock().unwrap());
    CountedCrawl { progress, calls, notices }
}

/// Runs one iteration to its end with calls to the frontier that are intercepted, by a clock that
/// is so much faster than the machine's. Returns what people were told, too.
pub(crate) async fn crawl_before(
    before: impl Before + 'static,
    times: u32,
    fetcher: impl Fetcher + 'static,
    definition: &Definition,
) -> (Progress, Vec<Notice>) {
    let (data, kept) = (tempfile::tempdir().unwrap(), Kept::default());
    let local = open_ahead(data.path(), Duration::ZERO, times);
    let frontier = Behind::new(before, local.frontier);
    let times = (local.clock, local.rng);
    let world = Adapters::new(frontier, local.archive, local.documents, local.queue, kept.clone(), times);
    let messages = world.queue.clone();
    let progress = crawl_in(world, messages, fetcher, definition).await;
    (progress, kept.take())
}
