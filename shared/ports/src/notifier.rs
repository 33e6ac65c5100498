//! Telling people what happens.

use std::future::Future;

use dragline_domain::frontier::{IterationRow, LeftoverReason, OriginKey};
use dragline_domain::ids::{CrawlId, TriggerId};
use serde::{Deserialize, Serialize};

use super::error::PortResult;

/// Something that a person may want to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

impl Notice {
    /// The crawl that it is about.
    #[must_use]
    pub const fn crawl(&self) -> &CrawlId {
        match self {
            Self::IterationClosed(row) | Self::StartSkipped { running: row, .. } => &row.crawl,
            Self::OriginEnded { origin, .. }
            | Self::Stuck { origin, .. }
            | Self::RobotsUnreadable { origin, .. }
            | Self::OriginJoined { from: origin, .. } => &origin.crawl,
        }
    }

    /// What kind of notice it is, in one word, for filters and keys.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::IterationClosed(_) => "iteration_closed",
            Self::StartSkipped { .. } => "start_skipped",
            Self::OriginEnded { .. } => "origin_ended",
            Self::Stuck { .. } => "stuck",
            Self::OriginJoined { .. } => "origin_joined",
            Self::RobotsUnreadable { .. } => "robots_unreadable",
        }
    }
}

/// Tells people.
pub trait Notifier: Send + Sync {
    /// Tells it. May tell twice after a crash. No step calls this but by `tell`, as none may fail for it.
    fn notify(&self, notice: Notice) -> impl Future<Output = PortResult<()>> + Send;
}
