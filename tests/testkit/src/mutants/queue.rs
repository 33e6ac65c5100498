//! Queues with one defect each.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dragline_domain::ids::Turn;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::queue::{DELAY_MAX, Message, Queue};

use super::mutations;
use QueueMutation as M;

mutations! {
    /// What is wrong with a queue.
    QueueMutation {
        /// Every tenth message is lost.
        TenthLost,
        /// Messages arrive at once, whatever their delay.
        DelayForgotten,
        /// Messages arrive a second late.
        DelayedFurther,
        /// A delay over the maximum is an error.
        LongDelayRefused,
        /// A message with a delay over the maximum arrives at once.
        LongDelayForgotten,
        /// Every ticket is for the first turn.
        TurnsLost,
        /// Of tickets sent in one message only the first arrives.
        ConvoysCut,
        /// Commands are not sent.
        CommandsDropped,
    }
}

/// A queue with one defect.
#[derive(Debug)]
pub struct MutantQueue<Q> {
    inner: Q,
    mutation: QueueMutation,
    sent: AtomicU64,
}

impl<Q: Queue> MutantQueue<Q> {
    /// Wraps a queue with this defect.
    #[must_use]
    pub const fn new(inner: Q, mutation: QueueMutation) -> Self {
        Self { inner, mutation, sent: AtomicU64::new(0) }
    }
}

impl<Q: Queue> Queue for MutantQueue<Q> {
    async fn send(&self, mut message: Message, delay: Duration) -> PortResult<()> {
        let number = self.sent.fetch_add(1, Ordering::Relaxed);
        let delay = match self.mutation {
            M::TenthLost if number % 10 == 9 => return Ok(()),
            M::LongDelayRefused if delay > DELAY_MAX => {
                return Err(PortError::new(
                    PortErrorKind::Other,
                    "send",
                    format!("{delay:?}"),
                    "the delay is too long",
                ));
            }
            M::LongDelayForgotten if delay > DELAY_MAX => Duration::ZERO,
            M::DelayForgotten => Duration::ZERO,
            M::DelayedFurther => delay.saturating_add(Duration::from_secs(1)),
            _ => delay,
        };
        match (self.mutation, &mut message) {
            (M::TurnsLost, Message::Ticket(ticket)) => ticket.turn = Turn(1),
            (M::ConvoysCut, Message::Tickets(tickets)) => tickets.truncate(1),
            (M::CommandsDropped, Message::Start(_)) => return Ok(()),
            _ => {}
        }
        self.inner.send(message, delay).await
    }
}
