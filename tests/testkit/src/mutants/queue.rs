//! Queues with one defect each.

use std::time::Duration;

use dragline_domain::ids::Turn;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::queue::{DELAY_MAX, Message, Queue};

use super::{mutants, spoil};

mutants! {
    /// What is wrong with a queue.
    QueueMutation, for Q, |this| this.inner;
    Queue<Q: Queue> {
        fn send(message: Message, delay: Duration) -> ();
            - DelayForgotten: "messages arrive at once, whatever their delay" { let delay = Duration::ZERO; };
            - DelayedFurther: "messages arrive a second late"
                { let delay = delay.saturating_add(Duration::from_secs(1)); };
            - LongDelayRefused: "a delay over the maximum is an error" {
                if delay > DELAY_MAX {
                    return Err(PortError::new(PortErrorKind::Other, "send", "a message", "the delay is too long"));
                }
            };
            - LongDelayForgotten: "a message with a delay over the maximum arrives at once"
                { let delay = if delay > DELAY_MAX { Duration::ZERO } else { delay }; };
            - TurnsLost: "every ticket is for the first turn" {
                let message = spoil(message, |sent| if let Message::Ticket(ticket) = sent { ticket.turn = Turn(1) });
            };
            - ConvoysCut: "of tickets sent in one message only the first arrives" {
                let message = spoil(message, |sent| if let Message::Tickets(all) = sent { all.truncate(1) });
            };
            - CommandsDropped: "commands are not sent" { if let Message::Start(_) = message { return Ok(()) } };
    }
}
