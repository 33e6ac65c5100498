//! Messages between the steps. Each may come late, twice, or never: the sweeper makes up for it.

use std::future::Future;
use std::time::Duration;

use dragline_domain::frontier::{OriginKey, SegmentId};
use dragline_domain::ids::{CrawlId, Iteration, TriggerId, Turn};
use serde::{Deserialize, Serialize};

use super::error::PortResult;

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
