//! The progress of a request, and its time limits.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;
use tokio::time::Instant;

/// The longest time of a request, whatever its limits; keeps sums of instants and limits in range.
const LONGEST: Duration = Duration::from_hours(24);

tokio::task_local! {
    /// The attempt of the current task's request. The client's connector has no other way to know
    /// for which request it connects.
    pub(crate) static ATTEMPT: Arc<Attempt>;
}

/// The clock for the times in signatures.
#[expect(clippy::disallowed_methods, reason = "dates a signature, as whoever verifies it compares the real time")]
pub(crate) fn wall_clock() -> Timestamp {
    Timestamp::now()
}

/// The monotonic clock for request times.
#[expect(clippy::disallowed_methods, reason = "measures an exchange with the real world; decides nothing about when")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Returns the deadline of something that starts at `from` and may take `limit`.
pub(crate) fn deadline(from: Instant, limit: Duration) -> Instant {
    from + limit.min(LONGEST)
}

/// The progress of a request's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No new connection was requested: the request waits for, or uses, an open one.
    Open,
    /// Name lookup, TCP or TLS is under way.
    Connecting,
    /// The new connection is open; or it failed, and its ends are `None`.
    Connected {
        /// When connecting ended.
        at: Instant,
        /// The ends of the connection.
        ends: Option<Ends>,
    },
}

/// The two ends of a connection, which identify it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    /// Our end.
    pub(crate) local: SocketAddr,
    /// The server's end.
    pub(crate) peer: SocketAddr,
}

impl Phase {
    /// Returns when the response header must have arrived; `None` while connecting, which has its
    /// own limit.
    pub(crate) fn header_deadline(self, started: Instant, limit: Duration) -> Option<Instant> {
        match self {
            Self::Open => Some(deadline(started, limit)),
            Self::Connecting => None,
            Self::Connected { at, .. } => Some(deadline(at, limit)),
        }
    }

    /// Returns the ends of the new connection.
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
    /// The limit of name lookup, TCP and TLS together.
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
    async fn the_header_timeout_starts_when_the_request_could_be_sent() {
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
        assert_eq!(deadline(started, Duration::MAX), started + LONGEST, "no limit can overflow");
    }
}
