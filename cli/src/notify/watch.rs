//! What no transaction owes: beginnings, progress, a disk that is nearly full. Each is told by what
//! is stored, with an id that follows from it, so a watch that begins anew repeats no id.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dragline_domain::definition::{NotifyEvent, NotifyRule, ProgressStep};
use dragline_domain::frontier::{IterationRow, IterationStatus};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::time::between;
use dragline_pipeline::World;
use dragline_ports::clock::Clock as _;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Crawls as _, Iterations as _, Progress};
use dragline_service::ProgressView;

use super::dispatch::{Dispatch, rules_for};
use super::message::{Derived, Message};

/// How often it looks.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The most running crawls that are watched, the oldest first.
const CRAWLS_MAX: usize = 1_000;

/// Watches the running crawls of a data directory.
pub(super) struct NoticeWatch<W> {
    pub(super) world: Arc<W>,
    pub(super) dispatch: Arc<Dispatch>,
    pub(super) data: PathBuf,
    /// Below this it is told of the disk, in bytes.
    pub(super) free_bytes_low: u64,
    told: HashMap<(CrawlId, Iteration), Vec<u64>>,
    /// The rules of running crawls, each with the version of the definition that has them.
    rules: HashMap<CrawlId, (u32, Vec<NotifyRule>)>,
}

impl<W: World> NoticeWatch<W> {
    pub(super) fn new(world: Arc<W>, dispatch: Arc<Dispatch>, data: PathBuf, free_bytes_low: u64) -> Self {
        Self { world, dispatch, data, free_bytes_low, told: HashMap::new(), rules: HashMap::new() }
    }

    /// Watches until it is dropped.
    pub(super) async fn run(mut self) {
        loop {
            if let Err(error) = self.look().await {
                tracing::warn!(%error, "notices of progress cannot be sent; they are tried again");
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn look(&mut self) -> PortResult<()> {
        let world = Arc::clone(&self.world);
        let mut running = Vec::new();
        let crawls = world.frontier().running_crawls(CRAWLS_MAX).await?;
        self.rules.retain(|crawl, _| crawls.contains(crawl));
        for crawl in crawls {
            let rules = self.rules(&crawl).await?;
            if rules.is_empty() {
                continue;
            }
            let Some(row) = world.frontier().latest_iteration(&crawl).await? else { continue };
            if row.status != IterationStatus::Closed {
                running.push((row, rules));
            }
        }
        self.told
            .retain(|(crawl, number), _| running.iter().any(|(row, _)| (&row.crawl, &row.number) == (crawl, number)));
        for (row, rules) in running {
            self.dispatch.started(&self.awake(&rules), &row).await?;
            self.progress(&rules, &row).await?;
            self.disk(&rules, &row).await?;
        }
        Ok(())
    }

    /// Returns the rules for a crawl. A definition is read only when it has changed.
    async fn rules(&mut self, crawl: &CrawlId) -> PortResult<Vec<NotifyRule>> {
        let version = self.world.frontier().load_stamp(crawl).await?.map_or(0, |stamp| stamp.version);
        if let Some((known, rules)) = self.rules.get(crawl)
            && *known == version
        {
            return Ok(rules.clone());
        }
        let rules = self.dispatch.rules(crawl)?;
        self.rules.insert(crawl.clone(), (version, rules.clone()));
        Ok(rules)
    }

    /// Returns the rules whose receivers did not fail a short while ago.
    fn awake(&self, rules: &[NotifyRule]) -> Vec<NotifyRule> {
        rules.iter().filter(|rule| !self.dispatch.is_paused(&rule.receiver)).cloned().collect()
    }

    async fn progress(&mut self, rules: &[NotifyRule], row: &IterationRow) -> PortResult<()> {
        if rules.iter().all(|rule| rule.progress.is_none()) {
            return Ok(());
        }
        let progress = self.world.frontier().progress(&row.crawl, row.number).await?;
        let now = self.world.clock().now();
        let view = ProgressView::new(row, &progress);
        let elapsed = between(row.started_at, now);
        let marks = self.told.entry((row.crawl.clone(), row.number)).or_default();
        marks.resize(rules.len(), 0);
        for (rule, last) in rules.iter().zip(marks) {
            let Some(step) = rule.progress else { continue };
            let mark = mark(step, &progress, &view, elapsed);
            if mark <= *last || self.dispatch.is_paused(&rule.receiver) {
                continue;
            }
            let unit = match step {
                ProgressStep::Percent(_) => "percent",
                ProgressStep::Minutes(_) => "minutes",
            };
            let name = format!("progress {} {} {mark} {unit}", row.number, row.started_at.as_millisecond());
            let message = Message::derived(&row.crawl, &name, now, Derived::IterationProgress(view.clone()));
            self.dispatch.tell(&[rule], &message).await?;
            *last = mark;
        }
        Ok(())
    }

    async fn disk(&self, rules: &[NotifyRule], row: &IterationRow) -> PortResult<()> {
        // Where the system cannot tell, nothing is told.
        let free_bytes = dragline_local::free_bytes(&self.data).unwrap_or(u64::MAX);
        if free_bytes >= self.free_bytes_low {
            return Ok(());
        }
        let now = self.world.clock().now();
        let name = format!("disk {}", now.strftime("%Y-%m-%d"));
        let message = Message::derived(&row.crawl, &name, now, Derived::DiskLow { free_bytes });
        let rules = self.awake(rules);
        self.dispatch.tell(&rules_for(&rules, NotifyEvent::DiskLow), &message).await
    }
}

/// Returns the last mark that an iteration has passed, in percent or minutes; 0 before the first.
/// The end of an iteration is no progress.
fn mark(step: ProgressStep, progress: &Progress, view: &ProgressView, elapsed: Duration) -> u64 {
    match step {
        ProgressStep::Percent(percent) => {
            let step = u64::from(percent).max(1);
            let known = progress.added.max(1);
            let percent = view.crawled.saturating_mul(100) / known;
            (percent.min(99) / step) * step
        }
        ProgressStep::Minutes(minutes) => {
            let step = u64::from(minutes).max(1);
            (elapsed.as_secs() / 60 / step) * step
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_multiples_of_a_step() {
        use ProgressStep::{Minutes, Percent};
        let trigger = dragline_domain::ids::TriggerId("t".to_owned());
        let (crawl, at) = ("docs".parse().unwrap(), jiff::Timestamp::UNIX_EPOCH);
        let row = IterationRow::begin(crawl, Iteration::FIRST, trigger, Default::default(), at, None, at);
        for (step, (added, requests), minutes, expected, why) in [
            (Percent(10), (100, 9), 0, 0, "not yet"),
            (Percent(10), (100, 35), 0, 30, "the last one passed"),
            (Percent(10), (100, 100), 0, 90, "its end is another notice"),
            (Percent(30), (100, 95), 0, 90, "no mark beyond"),
            (Percent(10), (0, 0), 0, 0, "nothing is known"),
            (Minutes(30), (100, 50), 29, 0, "not yet"),
            (Minutes(30), (100, 50), 95, 90, "the last one passed"),
        ] {
            let mut progress = Progress { added, ..Progress::default() };
            progress.crawler.requests = requests;
            let view = ProgressView::new(&row, &progress);
            let passed = mark(step, &progress, &view, Duration::from_secs(60 * minutes));
            assert_eq!(passed, expected, "{why}");
        }
    }
}
