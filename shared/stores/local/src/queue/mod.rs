//! The queues between the steps, in memory.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::queue::{DELAY_MAX, Message, ParseMessage, Queue, StartCommand, Ticket};
use tokio::sync::Notify;

#[cfg(test)]
mod tests;

/// Three bounded queues in memory: for tickets, parse messages and commands.
///
/// A message beyond the limit is dropped and counted: the sweeper sends it again. The same applies
/// to the contents, which are lost with the process.
#[derive(Debug)]
pub struct MemoryQueue<C> {
    tickets: Arc<Mailbox<Ticket, C>>,
    parses: Arc<Mailbox<ParseMessage, C>>,
    commands: Arc<Mailbox<StartCommand, C>>,
}

impl<C> Clone for MemoryQueue<C> {
    fn clone(&self) -> Self {
        Self {
            tickets: Arc::clone(&self.tickets),
            parses: Arc::clone(&self.parses),
            commands: Arc::clone(&self.commands),
        }
    }
}

impl<C: Clock + Clone> MemoryQueue<C> {
    /// Returns empty queues that hold at most this many messages each, using this clock.
    #[must_use]
    pub fn new(clock: &C, messages_max: usize) -> Self {
        Self {
            tickets: Arc::new(Mailbox::new(clock.clone(), messages_max)),
            parses: Arc::new(Mailbox::new(clock.clone(), messages_max)),
            commands: Arc::new(Mailbox::new(clock.clone(), messages_max)),
        }
    }

    /// Returns the queue of crawlers.
    #[must_use]
    pub fn tickets(&self) -> &Arc<Mailbox<Ticket, C>> {
        &self.tickets
    }

    /// Returns the queue of parsers.
    #[must_use]
    pub fn parses(&self) -> &Arc<Mailbox<ParseMessage, C>> {
        &self.parses
    }

    /// Returns the queue of the scheduler.
    #[must_use]
    pub fn commands(&self) -> &Arc<Mailbox<StartCommand, C>> {
        &self.commands
    }

    /// Returns the number of waiting messages, including those that are not due.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.tickets.pending() + self.parses.pending() + self.commands.pending()
    }

    /// Returns the number of messages dropped since the start for lack of room.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.tickets.dropped() + self.parses.dropped() + self.commands.dropped()
    }
}

impl<C: Clock + Clone> Queue for MemoryQueue<C> {
    async fn send(&self, message: Message, delay: Duration) -> PortResult<()> {
        match message {
            Message::Ticket(ticket) => self.tickets.send(ticket, delay),
            // Nobody pays for an invocation here, so each ticket travels alone.
            Message::Tickets(tickets) => tickets.into_iter().for_each(|ticket| self.tickets.send(ticket, delay)),
            Message::Parse(parse) => self.parses.send(parse, delay),
            Message::Start(command) => self.commands.send(command, delay),
            // In one process the command prunes by itself, without a message, and everything is
            // read from the database.
            Message::Prune(_) | Message::Publish(_) => {}
        }
        Ok(())
    }
}

/// One bounded queue with delays. Several workers may receive from it; each message goes to one.
#[derive(Debug)]
pub struct Mailbox<T, C> {
    clock: C,
    messages_max: usize,
    state: Mutex<State<T>>,
    changed: Notify,
}

#[derive(Debug)]
struct State<T> {
    ready: VecDeque<T>,
    /// By the clock's reading at which they are due, then by arrival.
    delayed: BTreeMap<(Duration, u64), T>,
    sent: u64,
    dropped: u64,
}

impl<T> State<T> {
    fn pending(&self) -> usize {
        self.ready.len() + self.delayed.len()
    }

    /// Makes due messages ready.
    fn advance(&mut self, now: Duration) {
        while let Some(first) = self.delayed.first_entry().filter(|first| first.key().0 <= now) {
            self.ready.push_back(first.remove());
        }
    }
}

impl<T, C: Clock> Mailbox<T, C> {
    fn new(clock: C, messages_max: usize) -> Self {
        let state = State { ready: VecDeque::new(), delayed: BTreeMap::new(), sent: 0, dropped: 0 };
        Self { clock, messages_max, state: Mutex::new(state), changed: Notify::new() }
    }

    /// Returns the state. Nothing panics while it is held, so a poisoned lock's state is intact.
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, message: T, delay: Duration) {
        let mut state = self.state();
        if state.pending() >= self.messages_max {
            state.dropped += 1;
            return;
        }
        state.sent += 1;
        if delay.is_zero() {
            state.ready.push_back(message);
        } else {
            let key = (self.clock.monotonic() + delay.min(DELAY_MAX), state.sent);
            state.delayed.insert(key, message);
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Returns the next due message, waiting for one if necessary. Dropping the wait loses nothing.
    pub async fn receive(&self) -> T {
        loop {
            let (message, next_due) = self.try_receive();
            if let Some(message) = message {
                return message;
            }
            match next_due {
                None => self.changed.notified().await,
                Some(wait) => {
                    tokio::select! {
                        () = self.changed.notified() => {}
                        () = self.clock.sleep(wait) => {}
                    }
                }
            }
        }
    }

    /// Returns a due message, or how long to wait for the next known one.
    fn try_receive(&self) -> (Option<T>, Option<Duration>) {
        let now = self.clock.monotonic();
        let mut state = self.state();
        state.advance(now);
        let message = state.ready.pop_front();
        let next_due = state.delayed.first_key_value().map(|((due, _), _)| due.saturating_sub(now));
        let others_wait = message.is_some() && state.pending() > 0;
        drop(state);
        if others_wait {
            // Another waiter may not know about the remaining message: the one woken for it took
            // another.
            self.changed.notify_one();
        }
        (message, next_due)
    }

    /// Whether a due message is waiting.
    #[must_use]
    pub fn has_ready(&self) -> bool {
        let mut state = self.state();
        state.advance(self.clock.monotonic());
        !state.ready.is_empty()
    }

    /// Returns the number of waiting messages, including those that are not due.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.state().pending()
    }

    /// Returns the number of messages dropped since the start for lack of room.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.state().dropped
    }
}
