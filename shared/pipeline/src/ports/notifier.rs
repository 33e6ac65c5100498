//! Telling people what happens.

use std::future::Future;

use dragline_domain::frontier::{IterationRow, LeftoverReason, OriginKey};
use dragline_domain::ids::TriggerId;

use super::error::PortResult;

/// Something that a person may want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// An iteration closed.
    IterationClosed(IterationRow),
    /// An iteration was to begin while the last one still runs.
    StartSkipped {
        /// What asked for it.
        trigger: TriggerId,
        /// The one that runs.
        running: IterationRow,
    },
    /// An origin ended with work left.
    OriginEnded {
        /// Whose.
        origin: OriginKey,
        /// Why.
        reason: LeftoverReason,
        /// URLs left.
        count: u64,
    },
    /// A capture broke the parser.
    Stuck {
        /// Whose.
        origin: OriginKey,
        /// Which, and how.
        detail: String,
    },
    /// Another origin joined the scope.
    OriginJoined {
        /// The one that sent us there.
        from: OriginKey,
        /// The one that joined.
        origin: dragline_domain::url::Origin,
    },
    /// robots.txt could not be read; it is tried again, or the origin is given up.
    RobotsUnreadable {
        /// Whose.
        origin: OriginKey,
        /// Why.
        detail: String,
    },
}

/// Tells people.
pub trait Notifier: Send + Sync {
    /// Tells it. May tell twice after a crash.
    fn notify(&self, notice: Notice) -> impl Future<Output = PortResult<()>> + Send;
}
