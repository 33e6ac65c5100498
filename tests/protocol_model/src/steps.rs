//! What can happen next.

use crate::config::Faults;
use crate::state::State;

/// Whether a step is owed, or something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It can be relied on to happen some time.
    Owed,
    /// A fault, or a wish of the user: it may happen, and need not.
    Fault,
}

/// One step from a state.
pub(crate) struct Step {
    /// What happens, for traces.
    pub label: String,
    pub kind: Kind,
    pub next: State,
}

/// Whether steps are told in words, which takes longer than making them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Labels {
    Told,
    Left,
}

/// The steps from a state.
pub(crate) struct Steps<'s> {
    pub state: &'s State,
    labels: Labels,
    steps: Vec<Step>,
}

impl<'s> Steps<'s> {
    pub(crate) const fn from(state: &'s State, labels: Labels) -> Self {
        Self { state, labels, steps: Vec::new() }
    }

    pub(crate) fn into_vec(self) -> Vec<Step> {
        self.steps
    }

    /// A step that can be relied on.
    pub(crate) fn owed(&mut self, label: impl FnOnce() -> String, change: impl FnOnce(&mut State)) {
        self.push(Kind::Owed, label, change);
    }

    /// A fault, if `left` says that another may happen.
    pub(crate) fn fault(
        &mut self,
        label: impl FnOnce() -> String,
        left: fn(&mut Faults) -> &mut u8,
        change: impl FnOnce(&mut State),
    ) {
        let mut faults = self.state.faults;
        if *left(&mut faults) == 0 {
            return;
        }
        *left(&mut faults) -= 1;
        self.push(Kind::Fault, label, |next| {
            next.faults = faults;
            change(next);
        });
    }

    fn push(&mut self, kind: Kind, label: impl FnOnce() -> String, change: impl FnOnce(&mut State)) {
        let mut next = self.state.clone();
        change(&mut next);
        let label = if self.labels == Labels::Told { label() } else { String::new() };
        self.steps.push(Step { label, kind, next });
    }
}
