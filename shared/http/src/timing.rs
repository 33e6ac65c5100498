//! How far a request has come, and until when it may go on.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// No request lasts longer, whatever its limits say; keeps sums of instants and limits in range.
const LONGEST: Duration = Duration::from_hours(24);

tokio::task_local! {
    /// The attempt that the current task's request belongs to. The client's connector has no other way to know for
    /// which request it connects.
    pub(crate) static ATTEMPT: Arc<Attempt>;
}

/// The monotonic clock that request times are measured with.
#[expect(clippy::disallowed_methods, reason = "measures an exchange with the real world; decides nothing about when")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// When something that starts at `from` and may take `limit` has to be over.
pub(crate) fn deadline(from: Instant, limit: Duration) -> Instant {
    from + limit.min(LONGEST)
}

/// How far the connection of a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No new connection was asked for: the request waits for, or uses, one that is open.
    Open,
    /// Name lookup, TCP or TLS is under way.
    Connecting,
    /// A new connection is there; or there is none, and its ends are absent.
    Connected {
        /// When connecting ended.
        at: Instant,
        /// Of the connection.
        ends: Option<Ends>,
    },
}

/// The two ends of a connection, which tell it from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    /// Ours.
    pub(crate) local: SocketAddr,
    /// Whom it leads to.
    pub(crate) peer: SocketAddr,
}

impl Phase {
    /// Until when the response header has to be there; absent while connecting, which has its own limit.
    pub(crate) fn header_deadline(self, started: Instant, limit: Duration) -> Option<Instant> {
        match self {
            Self::Open => Some(deadline(started, limit)),
            Self::Connecting => None,
            Self::Connected { at, .. } => Some(deadline(at, limit)),
        }
    }

    /// The new connection.
    pub(crate) fn ends(self) -> Option<Ends> {
        match self {
            Self::Connected { ends, .. } => ends,
            Self::Open | Self::Connecting => None,
        }
    }

    /// Whether there is a connection, so that the request was or may have been sent.
    pub(crate) fn has_connection(self) -> bool {
        matches!(self, Self::Open | Self::Connected { ends: Some(_), .. })
    }
}

/// One request, as its connector sees it.
#[derive(Debug)]
pub(crate) struct Attempt {
    phase: watch::Sender<Phase>,
    /// What name lookup, TCP and TLS may take together.
    pub(crate) connect_timeout: Duration,
}

impl Attempt {
    pub(crate) fn new(connect_timeout: Duration) -> Self {
        Self { phase: watch::Sender::new(Phase::Open), connect_timeout: connect_timeout.min(LONGEST) }
    }

    pub(crate) fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_header_may_take_its_time_from_when_the_request_could_be_sent() {
        let second = Duration::from_secs(1);
        let started = now();
        let connected = Phase::Connected { at: started + 5 * second, ends: None };
        let cases = [
            (Phase::Open, Some(started + second), "an open connection: from the start"),
            (Phase::Connecting, None, "connecting is under its own limit"),
            (connected, Some(started + 6 * second), "from the end of connecting"),
        ];
        for (phase, expected, why) in cases {
            assert_eq!(phase.header_deadline(started, second), expected, "{why}");
        }
        assert_eq!(deadline(started, Duration::MAX), started + LONGEST, "no limit is so large that it overflows");
    }
}
