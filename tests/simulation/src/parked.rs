//! What whoever is parked at the conductor waits for.

use std::time::Duration;

use tokio::sync::oneshot;

use crate::faults::Fate;
use crate::mail::{Kind, Letter};
use crate::worker::Worker;

/// A port operation.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// Port and operation, such as `frontier.claim`.
    pub(crate) name: &'static str,
    /// What it is done to, for people.
    pub(crate) subject: String,
}

/// What is waited for.
pub(crate) enum Until {
    /// The turn to do a port operation.
    Operation(Operation),
    /// A reading of the clock.
    Time(Duration),
    /// A message.
    Message(Kind),
}

/// What whoever waited may do now.
pub(crate) enum Grant {
    Operation(Fate),
    Time,
    Message(Letter),
}

/// Whoever waits, and how it is woken.
pub(crate) struct Parked {
    pub(crate) worker: Worker,
    pub(crate) until: Until,
    pub(crate) wake: oneshot::Sender<Grant>,
}
