//! Visits every reachable state, breadth first, and checks that the end stays in reach.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use crate::config::Config;
use crate::invariants::Invariant;
use crate::model::Model;
use crate::state::State;
use crate::steps::{Kind, Labels};

/// The result of an exploration.
#[derive(Debug)]
pub struct Report {
    /// The number of states visited.
    pub states: usize,
    /// The first violation, with a shortest path to it; `None` if everything holds.
    pub finding: Option<Finding>,
}

/// A violation, and the path to it.
#[derive(Debug)]
pub struct Finding {
    /// The invariant that is violated.
    pub what: Invariant,
    /// The steps on the path, in order.
    pub trace: Vec<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, after these steps:", self.what)?;
        (1..).zip(&self.trace).try_for_each(|(number, step): (usize, _)| write!(f, "\n{number:4}. {step}"))
    }
}

/// How a state was first reached.
struct Visited {
    from: u32,
    step: u16,
    is_done: bool,
}

/// Visits the states of a configuration until an invariant is violated.
///
/// States are identified by a hash of 128 bits: among a million states the chance of a collision is
/// about one in 10^26.
#[must_use]
pub fn explore(config: Config) -> Report {
    let model = Model::new(config);
    let initial = model.initial();
    let mut known = HashMap::from([(initial.fingerprint(), 0_u32)]);
    let mut visited = vec![Visited { from: 0, step: 0, is_done: model.is_done(&initial) }];
    let mut reverse: Vec<(u32, u32)> = Vec::new();
    let mut queue = VecDeque::from([(0_u32, initial)]);
    while let Some((from, state)) = queue.pop_front() {
        for (number, step) in (0..).zip(model.steps(&state, Labels::Left)) {
            let index = u32::try_from(visited.len()).expect("fewer states than 2^32");
            let to = *known.entry(step.next.fingerprint()).or_insert(index);
            if step.kind == Kind::Owed && to != from {
                reverse.push((to, from));
            }
            if to != index {
                continue;
            }
            visited.push(Visited { from, step: number, is_done: model.is_done(&step.next) });
            if let Some(what) = model.broken(&step.next) {
                let trace = trace(&model, &visited, to);
                return Report { states: visited.len(), finding: Some(Finding { what, trace }) };
            }
            queue.push_back((to, step.next));
        }
    }
    let finding = out_of_reach(&visited, reverse)
        .map(|state| Finding { what: Invariant::EndInReach, trace: trace(&model, &visited, state) });
    Report { states: visited.len(), finding }
}

/// The first state from which the owed steps alone do not lead to the end.
fn out_of_reach(visited: &[Visited], mut reverse: Vec<(u32, u32)>) -> Option<u32> {
    reverse.sort_unstable();
    let mut reaches: Vec<bool> = visited.iter().map(|state| state.is_done).collect();
    let mut open: Vec<u32> = (0..).zip(visited).filter(|(_, state)| state.is_done).map(|(index, _)| index).collect();
    while let Some(to) = open.pop() {
        let first = reverse.partition_point(|edge| edge.0 < to);
        for &(_, from) in reverse[first..].iter().take_while(|edge| edge.0 == to) {
            if !std::mem::replace(&mut reaches[from as usize], true) {
                open.push(from);
            }
        }
    }
    (0..).zip(reaches).find(|(_, reaches)| !reaches).map(|(index, _)| index)
}

/// Repeats the path to a state to collect the labels of its steps.
fn trace(model: &Model, visited: &[Visited], mut index: u32) -> Vec<String> {
    let mut path = Vec::new();
    while index != 0 {
        let Visited { from, step, .. } = visited[index as usize];
        path.push(step);
        index = from;
    }
    let mut state: State = model.initial();
    let mut labels = Vec::new();
    for number in path.into_iter().rev() {
        let step = model.steps(&state, Labels::Told).into_iter().nth(number.into()).expect("the step that was taken");
        labels.push(step.label);
        state = step.next;
    }
    labels
}
