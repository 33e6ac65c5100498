//! Messages between the steps. Each may arrive late, twice, or never: the sweeper makes up for it.

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

/// The longest delay of a message (a limit of SQS). The sweeper handles longer waits.
pub const DELAY_MAX: Duration = Duration::from_secs(900);

/// A request for a turn, to a crawler.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ticket {
    /// The origin.
    pub origin: OriginKey,
    /// The iteration.
    pub iteration: Iteration,
    /// The turn. A ticket is void if the lease is at another turn.
    pub turn: Turn,
}

/// The most tickets in one message: as many as one invocation of the crawler can work at once.
pub const CONVOY_MAX: usize = 20;

/// A request to parse a segment.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParseMessage {
    /// The segment.
    pub segment: SegmentId,
    /// The iteration.
    pub iteration: Iteration,
}

/// A request to the scheduler to begin an iteration, or to continue beginning it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartCommand {
    /// The crawl.
    pub crawl: CrawlId,
    /// Its trigger. Handled once.
    pub trigger: TriggerId,
}

/// A request to the scheduler to prune a crawl, or to continue pruning it. Exactly one of `keep`
/// and `older_than` is set.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PruneCommand {
    /// The crawl.
    pub crawl: CrawlId,
    /// How many iterations to keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<NonZeroU32>,
    /// The age beyond which iterations are dropped, in seconds since their end, with the unit:
    /// `7776000s`.
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
    /// Creates the message that prunes a crawl from a place on.
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

/// A request to the publisher to publish an iteration, or to continue publishing it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishCommand {
    /// The crawl.
    pub crawl: CrawlId,
    /// The iteration.
    pub iteration: Iteration,
    /// What to publish, and where to continue.
    pub what: Publishing,
}

/// The subject of a publication, and where to continue; `None` to begin. Each has its own message,
/// so that none waits for another that fails.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Publishing {
    /// The items of the iteration.
    Items(Option<PublishPlace>),
    /// The crawl's word index in its current state, and the report on the iteration.
    Site(Option<SitePlace>),
    /// The crawl's results in the stack's database, which knows where to continue, whether the
    /// iteration is over or not.
    Results,
}

/// A message of any kind. The kind decides its queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// To the turns queue.
    Ticket(Ticket),
    /// Several tickets, to the turns queue, at most [`CONVOY_MAX`]: they are worked together, and
    /// the message is done when all of them are.
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
    /// Creates one message with tickets; a single one keeps its own form.
    #[must_use]
    pub fn from_tickets(tickets: &[Ticket]) -> Self {
        match tickets {
            [one] => Self::Ticket(one.clone()),
            several => Self::Tickets(several.to_vec()),
        }
    }
}

/// A sender of messages.
pub trait Queue: Send + Sync {
    /// Sends a message, to be delivered after `delay`, which is cut to [`DELAY_MAX`].
    fn send(&self, message: Message, delay: Duration) -> impl Future<Output = PortResult<()>> + Send;
}

/// The queue without receivers, which sends nothing: a single process reads everything from the
/// database.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

impl Queue for Nobody {
    async fn send(&self, _message: Message, _delay: Duration) -> PortResult<()> {
        Ok(())
    }
}
