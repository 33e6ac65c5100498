//! Messages between the steps. Each may come late, twice, or never: the sweeper makes up for it.

use std::future::Future;
use std::num::NonZeroU32;
use std::time::Duration;

use dragline_domain::frontier::{OriginKey, SegmentId};
use dragline_domain::ids::{CrawlId, Iteration, TriggerId, Turn};
use dragline_domain::retention::{PrunePlace, Retention};
use dragline_domain::url::Origin;
use serde::{Deserialize, Serialize};

use super::error::PortResult;
use super::publications::{PublishPlace, SitePlace};

/// The longest delay of a message (a limit of SQS). Longer waits are left to the sweeper.
pub const DELAY_MAX: Duration = Duration::from_secs(900);

/// Asks a crawler for a turn.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ticket {
    /// Whose.
    pub origin: OriginKey,
    /// The iteration.
    pub iteration: Iteration,
    /// The turn. A ticket for another turn than the lease's is void.
    pub turn: Turn,
}

/// The most tickets in one message: as many turns as one invocation of the crawler works at once.
pub const CONVOY_MAX: usize = 20;

/// Asks a parser for a segment.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParseMessage {
    /// The segment.
    pub segment: SegmentId,
    /// The iteration.
    pub iteration: Iteration,
}

/// Asks the scheduler to begin an iteration, or to continue beginning it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartCommand {
    /// The crawl.
    pub crawl: CrawlId,
    /// What asks for it. Handled once.
    pub trigger: TriggerId,
}

/// Asks the scheduler to prune a crawl, or to go on pruning it. One of `keep` and `older_than` is given.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PruneCommand {
    /// The crawl.
    pub crawl: CrawlId,
    /// How many iterations are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<NonZeroU32>,
    /// How long ago iterations ended that are dropped, in seconds, with the unit: `7776000s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub older_than: Option<String>,
    /// The origin to continue after, or in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Origin>,
    /// The turn of the segment to continue after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    /// The number of that segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<u64>,
}

impl PruneCommand {
    /// Returns the message that prunes a crawl from a place on.
    #[must_use]
    pub fn new(crawl: CrawlId, retention: Retention, from: Option<PrunePlace>) -> Self {
        let (keep, older_than) = match retention {
            Retention::Newest(newest) => (Some(newest), None),
            Retention::Within(time) => (None, Some(format!("{}s", time.as_secs()))),
        };
        let (after, turn, segment) = match from {
            None => (None, None, None),
            Some(PrunePlace::After(origin)) => (Some(origin), None, None),
            Some(PrunePlace::Within(id)) => (Some(id.origin.origin), Some(id.turn), Some(id.n)),
        };
        Self { crawl, keep, older_than, after, turn, segment }
    }
}

/// Asks the publisher to publish an iteration that is over, or to go on publishing it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishCommand {
    /// The crawl.
    pub crawl: CrawlId,
    /// The iteration.
    pub iteration: Iteration,
    /// What is published.
    #[serde(default)]
    pub what: Publishing,
    /// Where to continue with items; `None` to begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<PublishPlace>,
    /// Where to continue with the site; `None` to begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<SitePlace>,
}

/// What a message asks the publisher for. Each is asked for by a message of its own, so that none waits for another that fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Publishing {
    /// The items of the iteration.
    #[default]
    Items,
    /// The crawl's word index as the crawl is then, and the report on the iteration.
    Site,
}

/// A message of any kind, with the queue it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// To the turns queue.
    Ticket(Ticket),
    /// Several, to the turns queue, at most [`CONVOY_MAX`]: they are worked together, and the message is done when all of them are.
    Tickets(Vec<Ticket>),
    /// To the segments queue.
    Parse(ParseMessage),
    /// To the commands queue.
    Start(StartCommand),
    /// To the commands queue.
    Prune(PruneCommand),
    /// To the publications queue.
    Publish(PublishCommand),
}

impl Message {
    /// Returns tickets as one message; a single one keeps its own form.
    #[must_use]
    pub fn of_tickets(tickets: &[Ticket]) -> Self {
        match tickets {
            [one] => Self::Ticket(one.clone()),
            several => Self::Tickets(several.to_vec()),
        }
    }
}

/// Sends messages.
pub trait Queue: Send + Sync {
    /// Sends a message, to be delivered after `delay` (at most [`DELAY_MAX`]; longer ones are cut).
    fn send(&self, message: Message, delay: Duration) -> impl Future<Output = PortResult<()>> + Send;
}

/// Where nobody receives messages, none is sent: in one process, everything is read from the database.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

impl Queue for Nobody {
    async fn send(&self, _message: Message, _delay: Duration) -> PortResult<()> {
        Ok(())
    }
}
