//! What befalls port operations: the one place that decides it.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use rand::Rng;
use rand::rngs::StdRng;

use crate::conductor::Worker;

/// How much dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One worker, with what it had in memory.
    Worker,
    /// Every worker.
    All,
}

/// Which side of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It has no effect.
    Before,
    /// It has its effect, and nobody learns of it.
    After,
}

/// What befalls one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Passes,
    FailBefore,
    FailAfter,
    DelayBefore(Duration),
    DelayAfter(Duration),
    CrashBefore(Scope),
    CrashAfter(Scope),
    /// What the port may answer as well: a conflict, a list that lags, a message sent twice.
    Twist,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passes => Ok(()),
            other => write!(f, "  <- {other:?}"),
        }
    }
}

/// What was struck: how often each kind of fault, and how many operations there were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Struck {
    /// Port operations, in all lives of the run.
    pub operations: usize,
    /// How often each fault struck.
    pub faults: BTreeMap<&'static str, usize>,
}

/// What is to befall a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Plan {
    /// Nothing.
    Clean,
    /// Everything dies at the operation of this number, counted from 0.
    CrashAt(usize, Side),
    /// Anything, by the seed, at each operation with these odds, and at most so often.
    Random {
        /// The odds of each operation.
        odds: f64,
        /// How often at most, so that a run ends.
        faults_max: usize,
    },
}

/// Decides, and counts.
#[derive(Clone, Debug)]
pub(crate) struct Faults {
    plan: Plan,
    struck: Struck,
}

impl Faults {
    pub(crate) fn new(plan: Plan) -> Self {
        Self { plan, struck: Struck::default() }
    }

    pub(crate) const fn operations(&self) -> usize {
        self.struck.operations
    }

    pub(crate) fn struck(&self) -> Struck {
        self.struck.clone()
    }

    pub(crate) fn decide(&mut self, dice: &mut StdRng, worker: Worker, name: &str) -> Fate {
        let number = self.struck.operations;
        self.struck.operations += 1;
        let (fate, kind) = match self.plan {
            Plan::CrashAt(at, Side::Before) if at == number => (Fate::CrashBefore(Scope::All), "crash before"),
            Plan::CrashAt(at, Side::After) if at == number => (Fate::CrashAfter(Scope::All), "crash after"),
            Plan::Random { odds, faults_max } if self.count() < faults_max && dice.random_bool(odds) => {
                match draw(dice, worker, name) {
                    // A process that stands still between its look at the clock and its request cannot keep a delay.
                    (Fate::DelayBefore(_) | Fate::DelayAfter(_), _) if name.contains("fetcher.send") => {
                        return Fate::Passes;
                    }
                    struck => struck,
                }
            }
            _ => return Fate::Passes,
        };
        *self.struck.faults.entry(kind).or_default() += 1;
        fate
    }

    fn count(&self) -> usize {
        self.struck.faults.values().sum()
    }
}

fn draw(dice: &mut StdRng, worker: Worker, name: &str) -> (Fate, &'static str) {
    match dice.random_range(0..16) {
        0..=2 => (Fate::FailBefore, "fail before"),
        3..=5 => (Fate::FailAfter, "fail after"),
        6 => (Fate::CrashBefore(Scope::Worker), "worker dies before"),
        7 => (Fate::CrashAfter(Scope::Worker), "worker dies after"),
        8 => (Fate::CrashBefore(Scope::All), "crash before"),
        9 => (Fate::CrashAfter(Scope::All), "crash after"),
        10..=11 => (Fate::DelayBefore(delay(dice, worker, name)), "delay before"),
        12..=13 => (Fate::DelayAfter(delay(dice, worker, name)), "delay after"),
        _ => (Fate::Twist, "twist"),
    }
}

/// A commit may come as late as it likes. What stands between a crawler's look at its lease and its request may not take longer than what it
/// keeps in reserve.
fn delay(dice: &mut StdRng, worker: Worker, name: &str) -> Duration {
    let is_commit = ["put_new", "commit_segment", "release"].iter().any(|commit| name.contains(commit));
    let ms_max = if matches!(worker, Worker::Crawler(_)) && !is_commit { 5_000 } else { 400_000 };
    Duration::from_millis(dice.random_range(1..ms_max))
}
