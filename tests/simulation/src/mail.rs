//! The queue between the steps, like SQS: at least once, in any order, and again unless a message
//! is deleted.

use std::time::Duration;

use dragline_ports::queue::Message;
use rand::RngExt;
use rand::rngs::StdRng;

/// A received message that is not deleted comes back after this time, which is longer than a turn.
const INVISIBLE: Duration = Duration::from_secs(360);

/// A message whose work failed comes back after this time.
const AGAIN: Duration = Duration::from_secs(5);

/// The name of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Ticket,
    Parse,
    Start,
}

impl Kind {
    const fn from_message(message: &Message) -> Self {
        match message {
            Message::Ticket(_) | Message::Tickets(_) => Self::Ticket,
            Message::Parse(_) => Self::Parse,
            Message::Start(_) | Message::Prune(_) | Message::Publish(_) => Self::Start,
        }
    }
}

/// A message in a queue.
#[derive(Clone, Debug)]
pub(crate) struct Letter {
    pub(crate) id: u64,
    pub(crate) message: Message,
    due: Duration,
}

/// The queues.
#[derive(Debug, Default)]
pub(crate) struct Mail {
    letters: Vec<Letter>,
    sent: u64,
    /// Every message ever sent, each once.
    history: Vec<Message>,
}

impl Mail {
    pub(crate) fn send(&mut self, message: Message, due: Duration) {
        self.sent += 1;
        if !self.history.contains(&message) {
            self.history.push(message.clone());
        }
        self.letters.push(Letter { id: self.sent, message, due });
    }

    pub(crate) fn send_all_again(&mut self, due: Duration) {
        for message in self.history.clone() {
            self.send(message, due);
        }
    }

    pub(crate) fn has_due(&self, kind: Kind, now: Duration) -> bool {
        self.letters.iter().any(|letter| letter.due <= now && Kind::from_message(&letter.message) == kind)
    }

    /// Any message that is due.
    pub(crate) fn take(&mut self, kind: Kind, now: Duration, dice: &mut StdRng) -> Option<Letter> {
        let is_due = |letter: &&mut Letter| letter.due <= now && Kind::from_message(&letter.message) == kind;
        let mut due: Vec<&mut Letter> = self.letters.iter_mut().filter(is_due).collect();
        if due.is_empty() {
            return None;
        }
        let letter = due.swap_remove(dice.random_range(0..due.len()));
        letter.due = now + INVISIBLE;
        Some(letter.clone())
    }

    pub(crate) fn done(&mut self, id: u64) {
        self.letters.retain(|letter| letter.id != id);
    }

    pub(crate) fn failed(&mut self, id: u64, now: Duration) {
        if let Some(letter) = self.letters.iter_mut().find(|letter| letter.id == id) {
            letter.due = now + AGAIN;
        }
    }

    /// When the next message that is not due yet becomes due.
    pub(crate) fn next_due(&self, now: Duration) -> Option<Duration> {
        self.letters.iter().map(|letter| letter.due).filter(|due| *due > now).min()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }

    pub(crate) fn lose_all(&mut self) {
        self.letters.clear();
    }
}
