//! A line in which requests of a page begin in the order in which the page asked, whichever of
//! their tasks runs first.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Those who wait.
#[derive(Debug, Default)]
pub(super) struct Line {
    state: Mutex<State>,
    moved: Notify,
}

#[derive(Debug, Default)]
struct State {
    joined: u64,
    waiting: BTreeSet<u64>,
}

/// A place in line. Dropping it lets those behind it come first.
#[derive(Debug)]
pub(super) struct PlaceInLine {
    line: Arc<Line>,
    number: u64,
}

impl Line {
    /// Takes the last place.
    pub(super) fn join(self: &Arc<Self>) -> PlaceInLine {
        let mut state = self.state();
        state.joined += 1;
        let number = state.joined;
        state.waiting.insert(number);
        PlaceInLine { line: Arc::clone(self), number }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PlaceInLine {
    /// Waits until it is the first one.
    pub(super) async fn is_first(&self) {
        loop {
            let moved = self.line.moved.notified();
            if self.line.state().waiting.first() == Some(&self.number) {
                return;
            }
            moved.await;
        }
    }
}

impl Drop for PlaceInLine {
    fn drop(&mut self) {
        self.line.state().waiting.remove(&self.number);
        self.line.moved.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::poll;

    use super::*;

    #[tokio::test]
    async fn whoever_joined_before_comes_first() {
        let line = Arc::new(Line::default());
        let [one, two, three] = [(); 3].map(|()| line.join());
        let mut last = Box::pin(three.is_first());
        assert!(poll!(&mut last).is_pending());
        drop(two);
        assert!(poll!(&mut last).is_pending(), "the first one is still there");
        one.is_first().await;
        drop(one);
        last.await;
    }
}
