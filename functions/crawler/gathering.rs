//! Sends the tickets of an invocation's turns together. Turns end one after another, and the
//! queue's pollers would scatter single tickets, so that each turn would wait in an invocation of
//! its own.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dragline_domain::time::after;
use dragline_pipeline::wake::Convoy;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::queue::{Message, Queue};
use tokio::sync::Notify;

/// How long a ticket waits for others: turns that began together use up their time within seconds
/// of each other.
const HELD_FOR: Duration = Duration::from_secs(5);

/// A queue that delays tickets for a moment, and sends other messages at once.
///
/// A ticket counts as sent although it may be lost with the process, like any message of a queue:
/// the sweeper sends it again.
#[derive(Debug)]
pub(crate) struct TicketBuffer<Q, C>(Arc<BufferState<Q, C>>);

#[derive(Debug)]
struct BufferState<Q, C> {
    queue: Q,
    clock: C,
    tickets: Mutex<Convoy>,
    /// A ticket was added.
    added: Notify,
}

impl<Q, C> Clone for TicketBuffer<Q, C> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<Q: Queue, C: Clock> TicketBuffer<Q, C> {
    pub(crate) fn new(queue: Q, clock: C) -> Self {
        Self(Arc::new(BufferState { queue, clock, tickets: Mutex::default(), added: Notify::new() }))
    }

    /// Runs the work, and meanwhile sends tickets that have waited long enough; the rest follow at
    /// the end. The work runs in tasks of its own, so it continues while tickets are sent.
    pub(crate) async fn run_with<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            let held_for_long = async {
                self.0.added.notified().await;
                self.0.clock.sleep(HELD_FOR).await;
            };
            let done = tokio::select! {
                done = &mut work => Some(done),
                () = held_for_long => None,
            };
            let tickets = std::mem::take(&mut *self.tickets());
            if let Err(error) = self.send_held(tickets).await {
                tracing::error!(%error, "tickets are lost until the sweeper sends them again");
            }
            if let Some(done) = done {
                return done;
            }
        }
    }

    async fn send_held(&self, tickets: Convoy) -> PortResult<()> {
        tickets.send_through(&self.0.queue, self.0.clock.now()).await
    }

    fn tickets(&self) -> MutexGuard<'_, Convoy> {
        self.0.tickets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Q: Queue, C: Clock> Queue for TicketBuffer<Q, C> {
    async fn send(&self, message: Message, delay: Duration) -> PortResult<()> {
        let Message::Ticket(ticket) = message else { return self.0.queue.send(message, delay).await };
        let not_before = after(self.0.clock.now(), delay);
        let full = {
            let mut tickets = self.tickets();
            tickets.add(ticket, not_before);
            tickets.is_full().then(|| std::mem::take(&mut *tickets))
        };
        match full {
            Some(full) => self.send_held(full).await,
            None => {
                self.0.added.notify_one();
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use dragline_domain::frontier::{OriginKey, SegmentId};
    use dragline_domain::ids::{Iteration, Turn};
    use dragline_ports::queue::{ParseMessage, Ticket};
    use jiff::Timestamp;
    use tokio::sync::watch;

    use super::*;

    /// A manual clock.
    #[derive(Clone)]
    struct Hands(watch::Sender<Duration>);

    impl Clock for Hands {
        fn now(&self) -> Timestamp {
            Timestamp::from_second(1_795_000_000).unwrap() + self.monotonic()
        }

        fn monotonic(&self) -> Duration {
            *self.0.borrow()
        }

        async fn sleep(&self, wait: Duration) {
            let until = self.monotonic() + wait;
            _ = self.0.subscribe().wait_for(|now| *now >= until).await;
        }
    }

    /// A queue that records the number of tickets in each message, and its delay in seconds.
    #[derive(Clone, Default)]
    struct Noted(Arc<Mutex<Vec<(usize, u64)>>>);

    impl Noted {
        fn messages(&self) -> Vec<(usize, u64)> {
            self.0.lock().unwrap().clone()
        }
    }

    impl Queue for Noted {
        async fn send(&self, message: Message, delay: Duration) -> PortResult<()> {
            let tickets = match message {
                Message::Ticket(_) => 1,
                Message::Tickets(tickets) => tickets.len(),
                Message::Parse(_) | Message::Start(_) | Message::Prune(_) | Message::Publish(_) => 0,
            };
            self.0.lock().unwrap().push((tickets, delay.as_secs()));
            Ok(())
        }
    }

    fn gathering() -> (TicketBuffer<Noted, Hands>, Noted, Hands) {
        let (noted, hands) = (Noted::default(), Hands(watch::Sender::new(Duration::ZERO)));
        (TicketBuffer::new(noted.clone(), hands.clone()), noted, hands)
    }

    fn origin() -> OriginKey {
        OriginKey { crawl: "docs".parse().unwrap(), origin: "https://a.example".parse().unwrap() }
    }

    async fn send_tickets(queue: &impl Queue, count: u64, delay_s: u64) {
        for turn in 0..count {
            let ticket = Ticket { origin: origin(), iteration: Iteration::FIRST, turn: Turn(turn) };
            queue.send(Message::Ticket(ticket), Duration::from_secs(delay_s)).await.unwrap();
        }
    }

    #[tokio::test]
    async fn tickets_of_an_invocation_are_sent_as_one_message_at_its_end() {
        let (gathering, noted, _) = gathering();
        gathering.run_with(send_tickets(&gathering, 3, 0)).await;
        assert_eq!(noted.messages(), [(3, 0)]);
    }

    #[tokio::test]
    async fn a_full_message_is_sent_at_once() {
        let (gathering, noted, _) = gathering();
        send_tickets(&gathering, 45, 0).await;
        assert_eq!(noted.messages(), [(20, 0), (20, 0)], "five wait for others");
    }

    #[tokio::test]
    async fn tickets_wait_five_seconds_for_others() {
        let (gathering, noted, hands) = gathering();
        send_tickets(&gathering, 2, 1).await;
        send_tickets(&gathering, 1, 60).await;
        let turns_go_on = tokio::spawn({
            let gathering = gathering.clone();
            async move { gathering.run_with(pending::<()>()).await }
        });
        for (second, sent) in [(0, vec![]), (4, vec![]), (5, vec![(2, 0), (1, 55)])] {
            hands.0.send_replace(Duration::from_secs(second));
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            assert_eq!(noted.messages(), sent, "after {second} s");
        }
        turns_go_on.abort();
    }

    #[tokio::test]
    async fn segments_do_not_wait() {
        let (gathering, noted, _) = gathering();
        let segment = SegmentId { origin: origin(), turn: Turn(1), n: 0 };
        let parse = ParseMessage { segment, iteration: Iteration::FIRST };
        gathering.send(Message::Parse(parse), Duration::ZERO).await.unwrap();
        assert_eq!(noted.messages(), [(0, 0)]);
    }
}
