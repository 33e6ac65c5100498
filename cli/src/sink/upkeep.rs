//! Keeping destinations up to date while crawls go on.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use dragline_domain::ids::CrawlId;
use dragline_domain::shown;
use dragline_local::{LocalStore, SystemClock};
use dragline_pipeline::World;
use dragline_ports::frontier::Crawls as _;
use dragline_sink::{Destination, Notice, keep};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::Sinks;
use crate::background::Background;
use crate::error::Failure;
use crate::terminal::Console;

/// How often it looks for crawls that are new, and definitions that have changed.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The destinations that are written at the same time.
const AT_ONCE: usize = 4;

/// Keeps the destinations of all crawls of a data directory up to date.
pub(crate) fn keep_all<W: World + 'static>(sinks: Sinks, world: Arc<W>, console: &Console) -> Background {
    let mut upkeep = Upkeep::new(sinks, console);
    Background::begin(async move {
        loop {
            if let Err(failure) = upkeep.look(&*world).await {
                tracing::warn!(
                    error = %failure.message,
                    "the destinations of results cannot be looked up; it is tried again"
                );
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    })
}

struct Upkeep {
    sinks: Sinks,
    console: Console,
    at_once: Arc<Semaphore>,
    /// What runs for each crawl, with the version of the definition that says so.
    running: HashMap<CrawlId, (u32, JoinSet<()>)>,
}

impl Upkeep {
    fn new(sinks: Sinks, console: &Console) -> Self {
        let at_once = Arc::new(Semaphore::new(AT_ONCE));
        Self { sinks, console: console.clone(), at_once, running: HashMap::new() }
    }

    /// Begins what new crawls and definitions ask for, and ends what they no longer do.
    async fn look(&mut self, world: &impl World) -> Result<(), Failure> {
        let crawls = LocalStore::open_read_only(&self.sinks.data)?.crawls()?;
        self.running.retain(|crawl, _| crawls.contains(crawl));
        for crawl in crawls {
            let Some(stamp) = world.frontier().load_stamp(&crawl).await? else { continue };
            if self.running.get(&crawl).is_some_and(|(version, _)| *version == stamp.version) {
                continue;
            }
            // What the old definition says ends before the new one begins.
            self.running.remove(&crawl);
            let row = LocalStore::open_read_only(&self.sinks.data)?.load_crawl(&crawl)?;
            let tasks = match row.map(|row| self.sinks.destinations(&row.definition)) {
                Some(Ok(destinations)) => self.start(&crawl, destinations)?,
                Some(Err(failure)) => {
                    self.warn(&crawl, &failure);
                    JoinSet::new()
                }
                None => continue,
            };
            self.running.insert(crawl, (stamp.version, tasks));
        }
        Ok(())
    }

    /// Begins to keep the destinations of a crawl up to date.
    fn start(&mut self, crawl: &CrawlId, destinations: Vec<Destination>) -> Result<JoinSet<()>, Failure> {
        let mut tasks = JoinSet::new();
        for destination in destinations {
            let reader = LocalStore::open_read_only(&self.sinks.data)?.into_reader(crawl.clone());
            let (crawl, console, at_once) = (crawl.clone(), self.console.clone(), Arc::clone(&self.at_once));
            tasks.spawn(async move {
                let tell = |notice: Notice| tell(&console, &crawl, &destination, &notice);
                keep(&reader, &crawl, &destination, (&SystemClock::new(), &*at_once), &tell).await;
            });
        }
        Ok(tasks)
    }

    fn warn(&self, crawl: &CrawlId, failure: &Failure) {
        self.console.warn(&format!("{crawl}: the results are only stored: {}", failure.message));
        failure.hints.iter().for_each(|hint| self.console.hint(hint));
    }
}

/// Says what happens to a destination.
fn tell(console: &Console, crawl: &CrawlId, destination: &Destination, notice: &Notice) {
    match notice {
        Notice::Away(error) => {
            console.warn(&format!("{crawl}: what is stored waits for {destination}: {error}"));
            error.hint().iter().for_each(|hint| console.hint(hint));
        }
        Notice::Back(totals) => {
            let rows = shown::plural(totals.changed, "row");
            console.warn(&format!("{crawl}: {destination} is back: {rows} written"));
        }
        Notice::Written(totals) => {
            let rows = shown::plural(totals.changed, "row");
            console.say(&format!("{crawl}: {rows} written to {destination}"));
        }
    }
}
