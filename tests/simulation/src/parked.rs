//! What parked tasks wait for.

use std::time::Duration;

use tokio::sync::oneshot;

use crate::faults::Fault;
use crate::mail::{Kind, Letter};
use crate::worker::Worker;

/// A port operation.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    /// Port and operation, such as `frontier.claim`.
    pub(crate) name: &'static str,
    /// Its subject, for the trace.
    pub(crate) subject: String,
}

/// What a parked task waits for.
pub(crate) enum Until {
    /// The turn to do a port operation.
    Operation(Operation),
    /// A reading of the clock.
    Time(Duration),
    /// A message.
    Message(Kind),
}

/// What a resumed task may do now.
pub(crate) enum Grant {
    Operation(Fault),
    Time,
    Message(Letter),
}

/// A parked task, and how it is woken.
pub(crate) struct Parked {
    pub(crate) worker: Worker,
    pub(crate) until: Until,
    pub(crate) wake: oneshot::Sender<Grant>,
}
