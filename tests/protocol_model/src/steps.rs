//! The steps from a state.

use crate::config::Faults;
use crate::state::State;

/// Whether a step is owed, or a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It is certain to happen eventually.
    Owed,
    /// A fault, or a command of the user: it may happen, but need not.
    Fault,
}

/// One step from a state.
pub(crate) struct Step {
    /// What happens, for traces.
    pub label: String,
    pub kind: Kind,
    pub next: State,
}

/// Whether steps get labels, which take longer to make than the steps.
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

    /// Adds a step that is owed.
    pub(crate) fn owed(&mut self, label: impl FnOnce() -> String, change: impl FnOnce(&mut State)) {
        self.push(Kind::Owed, label, change);
    }

    /// Adds a fault, if `left` says that another may happen.
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
