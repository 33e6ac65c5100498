//! Which receiver is told what.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dragline_domain::change::ChangeKind;
use dragline_domain::definition::{ItemTest, NotifyEvent, NotifyRule, Receiver};
use dragline_domain::frontier::IterationRow;
use dragline_domain::ids::CrawlId;
use dragline_local::{LocalStore, SystemClock};
use dragline_ports::clock::Clock as _;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::notifier::{ClosedIteration, Notice};
use dragline_service::IterationView;
use jiff::Timestamp;

use super::items;
use super::message::{Derived, Message, event_of_notice};
use super::receivers::{Receivers, run_command};

/// The most deliveries that are remembered. What is forgotten may be sent again, with its id.
const REMEMBERED_MAX: usize = 100_000;

/// How long a receiver that failed is left alone by what is not owed.
const PAUSE: Duration = Duration::from_secs(60);

/// Somebody who is told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Addressee {
    Receiver(Receiver),
    Command(PathBuf),
}

/// Sends messages to those whom rules name.
pub(super) struct Dispatch {
    data: PathBuf,
    receivers: Receivers,
    /// The rules of the command line, for all crawls.
    rules: Vec<NotifyRule>,
    /// A command that is told whatever a rule without events is.
    command: Option<PathBuf>,
    delivered: Mutex<HashSet<(String, Addressee)>>,
    clock: SystemClock,
    /// When each failed, by the monotonic clock.
    failed: Mutex<HashMap<Addressee, Duration>>,
}

impl Dispatch {
    /// Returns a dispatch for the crawls of a data directory.
    pub(super) fn new(data: PathBuf, receivers: Receivers, rules: Vec<NotifyRule>, command: Option<PathBuf>) -> Self {
        Self {
            data,
            receivers,
            rules,
            command,
            delivered: Mutex::default(),
            clock: SystemClock::new(),
            failed: Mutex::default(),
        }
    }

    /// Returns the rules for a crawl: those of its definition, and of the command line.
    ///
    /// # Errors
    /// The definition cannot be read.
    pub(super) fn rules(&self, crawl: &CrawlId) -> PortResult<Vec<NotifyRule>> {
        let failed = |error| PortError::new(PortErrorKind::Other, "read rules of", crawl.as_str(), error);
        let reading = LocalStore::open_read_only(&self.data).map_err(|error| failed(error.to_string()))?;
        let row = reading.load_crawl(crawl).map_err(|error| failed(error.to_string()))?;
        let own = row.map(|row| row.definition.notify.clone()).unwrap_or_default();
        Ok(own.into_iter().chain(self.rules.iter().cloned()).collect())
    }

    /// Sends a notice to all who are told of it. Those who have it already do not get it again.
    ///
    /// # Errors
    /// Some of them could not be told.
    pub(super) async fn notice(&self, notice: &Notice, message: &Message, since: Timestamp) -> PortResult<()> {
        let rules = self.rules(notice.crawl())?;
        let mut first_error = None;
        let mut note = |sent: PortResult<()>| {
            if let Err(error) = sent {
                first_error.get_or_insert(error);
            }
        };
        if let Notice::IterationClosed(closed) = notice {
            // An iteration may be over before anybody looked.
            note(self.started(&rules, &closed.row).await);
        }
        let event = event_of_notice(notice);
        let has_changes = matches!(notice, Notice::IterationClosed(closed) if has_changes(&closed.changes));
        for rule in &rules {
            if rule.includes(event) || (has_changes && rule.includes(NotifyEvent::Changed)) {
                note(self.deliver(&Addressee::Receiver(rule.receiver.clone()), message).await);
            }
        }
        if let Some(command) = &self.command {
            note(self.deliver(&Addressee::Command(command.clone()), message).await);
        }
        if let Notice::IterationClosed(closed) = notice {
            note(self.items(&rules, closed, since).await);
        }
        first_error.map_or(Ok(()), Err)
    }

    /// Tells of the beginning of an iteration.
    ///
    /// # Errors
    /// Somebody could not be told.
    pub(super) async fn started(&self, rules: &[NotifyRule], row: &IterationRow) -> PortResult<()> {
        let name = format!("started {} {}", row.number, row.started_at.as_millisecond());
        let derived =
            Derived::IterationStarted(IterationView { status: "open", closed_at: None, ..IterationView::from(row) });
        let message = Message::derived(&row.crawl, &name, row.started_at, derived);
        self.tell(&rules_for(rules, NotifyEvent::Started), &message).await
    }

    /// Tells of the items of an iteration that came to pass a test.
    async fn items(&self, rules: &[NotifyRule], closed: &ClosedIteration, since: Timestamp) -> PortResult<()> {
        let row = &closed.row;
        for rule in rules {
            let Some(test) = &rule.items else { continue };
            let Some(derived) = self.matched(row, test).await? else { continue };
            let item_type = test.item_type.as_deref().unwrap_or_default();
            let name = format!("items {} {} {item_type} {test}", row.number, row.started_at.as_millisecond());
            let message = Message::derived(&row.crawl, &name, since, derived);
            self.tell(&[rule], &message).await?;
        }
        Ok(())
    }

    /// Returns the items that came to pass a test; `None` if there are none.
    async fn matched(&self, row: &IterationRow, test: &ItemTest) -> PortResult<Option<Derived>> {
        let (data, row, test) = (self.data.clone(), row.clone(), test.clone());
        // It reads all changes of the iteration.
        let runtime = tokio::runtime::Handle::current();
        let read = tokio::task::spawn_blocking(move || runtime.block_on(items::matched(&data, &row, &test)));
        read.await.map_err(|error| PortError::new(PortErrorKind::Other, "read", "the items", error.to_string()))?
    }

    /// Sends a message to the receivers of rules, also after one could not be told.
    ///
    /// # Errors
    /// Somebody could not be told.
    pub(super) async fn tell(&self, rules: &[&NotifyRule], message: &Message) -> PortResult<()> {
        let mut told = Ok(());
        for rule in rules {
            told = told.and(self.deliver(&Addressee::Receiver(rule.receiver.clone()), message).await);
        }
        told
    }

    /// Whether a receiver failed a short while ago.
    pub(super) fn is_paused(&self, receiver: &Receiver) -> bool {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed
            .get(&Addressee::Receiver(receiver.clone()))
            .is_some_and(|at| self.clock.monotonic().saturating_sub(*at) < PAUSE)
    }

    async fn deliver(&self, to: &Addressee, message: &Message) -> PortResult<()> {
        let delivered = || self.delivered.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = || self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (message.id.clone(), to.clone());
        if delivered().contains(&key) {
            return Ok(());
        }
        let sent = match to {
            Addressee::Receiver(receiver) => self.receivers.send(receiver, message).await,
            Addressee::Command(path) => run_command(path, message).await,
        };
        if sent.is_err() {
            failed().insert(to.clone(), self.clock.monotonic());
            return sent;
        }
        failed().remove(to);
        let mut delivered = delivered();
        if delivered.len() >= REMEMBERED_MAX {
            delivered.clear();
        }
        delivered.insert(key);
        Ok(())
    }
}

/// Returns the rules that include an event.
pub(super) fn rules_for(rules: &[NotifyRule], event: NotifyEvent) -> Vec<&NotifyRule> {
    rules.iter().filter(|rule| rule.includes(event)).collect()
}

fn has_changes(changes: &BTreeMap<ChangeKind, u64>) -> bool {
    changes.iter().any(|(kind, count)| *kind != ChangeKind::Unchanged && *count > 0)
}
