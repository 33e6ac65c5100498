//! The queue: every message arrives at least once, none before it is due. The order is not
//! promised.
//!
//! Receiving is not part of the port, as each platform delivers messages in its own way. An
//! adapter's tests implement [`Receiver`].

use std::collections::HashSet;
use std::future::Future;
use std::time::Duration;

use dragline_domain::frontier::SegmentId;
use dragline_domain::ids::{Iteration, Turn};
use dragline_ports::queue::{CONVOY_MAX, DELAY_MAX, Message, ParseMessage, Queue, StartCommand, Ticket};

use super::lag::until;
use super::samples::{crawl, key, trigger};

/// The receiving end of a queue.
pub trait Receiver {
    /// Lets time pass on the queue's clock.
    fn pass(&self, time: Duration) -> impl Future<Output = ()>;

    /// Receives all messages that are available now, of every kind.
    fn receive(&self) -> impl Future<Output = Vec<Message>>;
}

/// Runs every behaviour of a queue on `((queue, receiver), guard)`, which the future given makes;
/// the guard is dropped after the test.
#[macro_export]
macro_rules! queue_suite {
    ($make:expr) => {
        $crate::queue_suite! { behaviours, $make }
    };
    ($what:ident, $make:expr) => {
        $crate::$what! { queue, $make;
            every_kind_of_message_comes_as_it_was_sent
            tickets_that_travel_together_all_come
            many_messages_all_come
            a_delayed_message_comes_when_it_is_due
            a_delay_over_the_longest_is_cut_to_it
        }
    };
}

/// A delay short enough for a test to wait for.
const SHORT: Duration = Duration::from_secs(2);

fn ticket_of(turn: u64) -> Ticket {
    Ticket { origin: key("a.example"), iteration: Iteration::FIRST, turn: Turn(turn) }
}

fn ticket(turn: u64) -> Message {
    Message::Ticket(ticket_of(turn))
}

async fn send(queue: &impl Queue, messages: &[Message], delay: Duration) {
    for message in messages {
        queue.send(message.clone(), delay).await.unwrap();
    }
}

/// Checks that each of these messages arrives, and nothing else.
async fn assert_received(receiver: &impl Receiver, expected: &[Message], why: &str) {
    let expected: HashSet<Message> = expected.iter().cloned().collect();
    let mut received = HashSet::new();
    let all = async || {
        received.extend(receiver.receive().await);
        received.clone()
    };
    assert_eq!(until(all, |received| received.len() >= expected.len()).await, expected, "{why}");
}

/// Every kind of message arrives complete.
pub async fn every_kind_of_message_comes_as_it_was_sent((queue, receiver): &(impl Queue, impl Receiver)) {
    let iteration = Iteration::new(u32::MAX).unwrap();
    let origin = key("[2001:db8::1]:8443");
    let segment = SegmentId { origin: origin.clone(), turn: Turn(u64::MAX >> 1), n: 7 };
    let messages = [
        Message::Ticket(Ticket { origin, iteration, turn: Turn(3) }),
        Message::Parse(ParseMessage { segment, iteration }),
        Message::Start(StartCommand {
            crawl: crawl(),
            trigger: trigger("cli-2026-11-21T16:00:00.123Z \"#\" \u{1f577}"),
        }),
    ];
    send(queue, &messages, Duration::ZERO).await;
    assert_received(receiver, &messages, "as they were sent").await;
}

/// Tickets sent in one message all arrive, in one message or in several.
pub async fn tickets_that_travel_together_all_come((queue, receiver): &(impl Queue, impl Receiver)) {
    let convoy: Vec<Ticket> = (1..=CONVOY_MAX as u64).map(ticket_of).collect();
    send(queue, &[Message::from_tickets(&convoy)], Duration::ZERO).await;
    let mut received = HashSet::new();
    let all = async || {
        for message in receiver.receive().await {
            match message {
                Message::Ticket(ticket) => _ = received.insert(ticket),
                Message::Tickets(tickets) => received.extend(tickets),
                other => panic!("nobody sent {other:?}"),
            }
        }
        received.clone()
    };
    let expected: HashSet<Ticket> = convoy.iter().cloned().collect();
    assert_eq!(until(all, |received| received.len() >= expected.len()).await, expected, "all of them");
}

/// None of a hundred messages gets lost.
pub async fn many_messages_all_come((queue, receiver): &(impl Queue, impl Receiver)) {
    let messages: Vec<Message> = (1..=100).map(ticket).collect();
    send(queue, &messages, Duration::ZERO).await;
    assert_received(receiver, &messages, "all of them").await;
}

/// A delayed message does not arrive before its delay is over.
pub async fn a_delayed_message_comes_when_it_is_due((queue, receiver): &(impl Queue, impl Receiver)) {
    send(queue, &[ticket(1)], SHORT).await;
    assert_eq!(receiver.receive().await, [], "it is not due");
    receiver.pass(SHORT).await;
    assert_received(receiver, &[ticket(1)], "it is due").await;
}

/// A message delayed for longer than the maximum arrives after the maximum.
pub async fn a_delay_over_the_longest_is_cut_to_it((queue, receiver): &(impl Queue, impl Receiver)) {
    send(queue, &[ticket(1)], DELAY_MAX + Duration::from_secs(1)).await;
    send(queue, &[ticket(2)], Duration::MAX).await;
    assert_eq!(receiver.receive().await, [], "neither is due");
    receiver.pass(DELAY_MAX).await;
    assert_received(receiver, &[ticket(1), ticket(2)], "both are due").await;
}
