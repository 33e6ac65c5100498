//! The faults of port operations, all decided here.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use dragline_ports::error::PortErrorKind;
use rand::RngExt;
use rand::rngs::StdRng;

use crate::clocks::Clocks;
use crate::parked::Operation;
use crate::worker::Worker;

/// How much dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The current task of one worker. Its process lives on with its memory.
    Task,
    /// One worker, with its process and memory.
    Worker,
    /// Every worker.
    All,
}

/// The side of an operation on which a crash falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It has no effect.
    Before,
    /// It has its effect, but the answer is lost.
    After,
}

/// What happens to one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Passes,
    FailBefore,
    /// It fails, as it does each time with these values.
    FailForGood(PortErrorKind),
    FailAfter,
    DelayBefore(Duration),
    DelayAfter(Duration),
    CrashBefore(Scope),
    CrashAfter(Scope),
    /// It gets the alternative answer that the port allows: a conflict, a list that lags, a message
    /// sent twice.
    Twist,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passes => Ok(()),
            other => write!(f, "  <- {other:?}"),
        }
    }
}

/// How many operations there were, and which faults struck.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Struck {
    /// Port operations, in all lives of the run.
    pub operations: usize,
    /// How often each fault struck.
    pub faults: BTreeMap<&'static str, usize>,
    /// How many faults may have interrupted a parse between its documents and its commit.
    pub parses_interrupted: usize,
    /// The keys of objects that were deleted or truncated, and the operations that always fail.
    pub lost: BTreeSet<String>,
}

/// How an object gets lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    Deleted,
    CutShort,
}

impl Struck {
    /// Whether nothing died or failed, so that everything that began was finished, however late.
    #[must_use]
    pub fn only_delayed(&self) -> bool {
        self.faults.keys().all(|fault| BENIGN.contains(fault))
    }

    /// Whether a request may have failed through no fault of a server. A URL may then end without
    /// having been seen.
    #[must_use]
    pub fn broke_a_connection(&self) -> bool {
        self.faults.contains_key(CONNECTION)
    }

    /// Whether any fault struck that may have killed a parse or made it exceed its time.
    #[must_use]
    pub fn broke_a_parse(&self) -> bool {
        !self.lost.is_empty() || self.faults.keys().any(|fault| !HARMLESS_TO_PARSES.contains(fault))
    }
}

/// The odds that a message is delivered twice.
const DOUBLED: f64 = 0.02;

/// Faults that a parse survives in good order.
const HARMLESS_TO_PARSES: [&str; 6] =
    ["fail before", "fail after", "twist", "delivered twice", CONNECTION, LEFT_ASLEEP];

/// The odds that an object is lost before it is parsed, where objects are.
const LOST: f64 = 0.15;

/// The odds that a notice is struck, in runs where notices are.
const NOTICE_ODDS: f64 = 0.3;

/// Not drawn: a possible result of a long delay.
const LEFT_ASLEEP: &str = "left asleep";

/// The faults of a request.
const CONNECTION: &str = "connection";

/// The faults that stop no worker in the middle of something.
const BENIGN: [&str; 5] = [CONNECTION, "delay before", "delay after", "delivered twice", "twist"];

/// The plan of faults for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// No faults.
    Clean,
    /// Everything dies at the operation of this number, counted from 0.
    CrashAt(usize, Side),
    /// Any faults, drawn from the seed.
    Random,
}

/// How many faults a random run has, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Weather {
    /// The odds that an operation is struck.
    odds: f64,
    /// The most faults in a run, so that it ends.
    faults_max: usize,
    focus: Focus,
}

/// Which operations can be struck. Rare combinations of faults are found by concentrating them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Focus {
    Everything,
    Parsers,
    /// A crawler's operations at the end of segments and turns: one that is slow there loses the
    /// lease.
    Commits,
    /// Objects, which are gone or damaged when they are parsed; other operations are struck, too.
    Objects,
    /// A parser's operations on the store, which is often out of reach; nothing dies.
    Away,
    /// One operation of parsers, which fails for some subjects each time, whatever else happens;
    /// others are struck, too.
    ForGood(&'static str),
    /// What begins iterations and changes crawls, and what people are told.
    Schedules,
}

/// Operations of parsers that may fail for good. Without the others no segment can end.
const FOR_GOOD: [&str; 5] =
    ["documents.load", "documents.put_new", "frontier.claim", "frontier.put_log", "frontier.update_candidates"];

/// Operations of a parse from the one that puts its documents to its commit.
const TO_COMMIT: [&str; 7] = [
    "documents.put_new",
    "frontier.claim",
    "frontier.nearer",
    "frontier.put_log",
    "frontier.update_candidates",
    "frontier.add_namers",
    "frontier.commit_parse",
];

/// Of how many subjects one operation fails for good.
const FOR_GOOD_ONE_OF: u64 = 3;

impl Weather {
    fn draw(dice: &mut StdRng) -> Self {
        let (odds, faults_max, focus) = match dice.random_range(0..11) {
            0..=3 => (0.04, 25, Focus::Everything),
            10 => (0.02, 10, Focus::ForGood(FOR_GOOD[dice.random_range(0..FOR_GOOD.len())])),
            4 => (0.15, 40, Focus::Everything),
            5 => (0.2, 25, Focus::Parsers),
            6 => (0.02, 25, Focus::Objects),
            7 => (0.4, 60, Focus::Away),
            _ => (0.2, 25, Focus::Commits),
        };
        Self { odds, faults_max, focus }
    }
}

impl Focus {
    fn includes(self, worker: Worker, name: &str) -> bool {
        match self {
            Self::Everything | Self::Objects | Self::ForGood(_) => true,
            Self::Parsers | Self::Away => matches!(worker, Worker::Parser(_)),
            Self::Schedules => {
                matches!(worker, Worker::Client(_) | Worker::Ticker(_) | Worker::Scheduler | Worker::Sweeper)
            }
            Self::Commits => ["archive.put_new", "frontier.commit_segment", "frontier.release"].contains(&name),
        }
    }
}

/// How many processes the workers run in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Processes {
    /// In one, which lives on: only the task of a worker can die.
    One,
    /// In several, each of which may die.
    Several,
}

impl Processes {
    /// Depends on the clocks: where one is set all workers run in one process, as no other process
    /// knows that a turn is alive.
    pub(crate) fn of(clocks: &Clocks) -> Self {
        if clocks.are_set() { Self::One } else { Self::Several }
    }
}

/// Decides on faults and counts them.
#[derive(Clone, Debug)]
pub(crate) struct Faults {
    plan: Plan,
    weather: Weather,
    /// Without faults and without counting.
    is_calm: bool,
    processes: Processes,
    /// Which of how many iterations is under way: each has its share of the faults.
    iteration: (usize, usize),
    struck: Struck,
}

impl Faults {
    pub(crate) fn new(plan: Plan, processes: Processes, dice: &mut StdRng) -> Self {
        Self {
            plan,
            weather: Weather::draw(dice),
            is_calm: false,
            processes,
            iteration: (1, 1),
            struck: Struck::default(),
        }
    }

    /// Faults of a run about schedules.
    pub(crate) fn of_schedules(plan: Plan, dice: &mut StdRng) -> Self {
        let (odds, faults_max, focus) = match dice.random_range(0..4) {
            0 => (0.02, 25, Focus::Everything),
            1 => (0.2, 60, Focus::Schedules),
            _ => (0.05, 40, Focus::Schedules),
        };
        Self { weather: Weather { odds, faults_max, focus }, ..Self::new(plan, Processes::Several, dice) }
    }

    /// Says which of how many iterations begins.
    pub(crate) const fn begin(&mut self, iteration: usize, iterations: usize) {
        self.iteration = (iteration, iterations);
    }

    /// Stops all faults until [`Self::wake`].
    pub(crate) const fn calm(&mut self) {
        self.is_calm = true;
    }

    pub(crate) const fn wake(&mut self) {
        self.is_calm = false;
    }

    /// Records that a crawler was left asleep in the middle of a turn when the run ended.
    pub(crate) fn leave_asleep(&mut self) {
        *self.struck.faults.entry(LEFT_ASLEEP).or_default() += 1;
    }

    pub(crate) fn struck(&self) -> Struck {
        self.struck.clone()
    }

    pub(crate) fn decide(&mut self, dice: &mut StdRng, worker: Worker, operation: &Operation) -> Fault {
        if let Some(kind) = self.fails_for_good(worker, operation) {
            self.struck.lost.insert(format!("{} {}", operation.name, operation.subject));
            *self.struck.faults.entry("fails for good").or_default() += 1;
            return Fault::FailForGood(kind);
        }
        if self.is_calm {
            return Fault::Passes;
        }
        let name = operation.name;
        let number = self.struck.operations;
        self.struck.operations += 1;
        let (fault, kind) = match self.plan {
            Plan::CrashAt(at, Side::Before) if at == number => (Fault::CrashBefore(Scope::All), "crash before"),
            Plan::CrashAt(at, Side::After) if at == number => (Fault::CrashAfter(Scope::All), "crash after"),
            Plan::Random if self.strikes(dice, worker, name) => match self.weather.focus {
                // Mostly delayed until another holder is at work.
                Focus::Commits if dice.random_bool(0.6) => (Fault::DelayBefore(dawdle(dice)), "delay before"),
                Focus::Away if dice.random_bool(0.8) => (Fault::FailBefore, "fail before"),
                Focus::Away => (Fault::FailAfter, "fail after"),
                _ => draw(dice, name),
            },
            _ => return Fault::Passes,
        };
        let (fault, kind) = match (self.processes, fault) {
            (Processes::One, Fault::CrashBefore(_)) => (Fault::CrashBefore(Scope::Task), "task dies before"),
            (Processes::One, Fault::CrashAfter(_)) => (Fault::CrashAfter(Scope::Task), "task dies after"),
            _ => (fault, kind),
        };
        *self.struck.faults.entry(kind).or_default() += 1;
        let strikes_all = matches!(fault, Fault::CrashBefore(Scope::All) | Fault::CrashAfter(Scope::All));
        let is_slow = matches!(fault, Fault::DelayBefore(_) | Fault::DelayAfter(_) | Fault::Twist);
        if strikes_all {
            // Each parser may be at one.
            self.struck.parses_interrupted += 2;
        } else if matches!(worker, Worker::Parser(_)) && !is_slow && TO_COMMIT.contains(&name) {
            self.struck.parses_interrupted += 1;
        }
        fault
    }

    /// Returns how an operation of a parser fails, if it does so each time. Only where nothing is
    /// compared with an iteration before.
    fn fails_for_good(&self, worker: Worker, operation: &Operation) -> Option<PortErrorKind> {
        let Focus::ForGood(name) = self.weather.focus else { return None };
        let is_it = self.plan == Plan::Random
            && self.iteration == (1, 1)
            && matches!(worker, Worker::Parser(_))
            && operation.name == name;
        let mut hasher = DefaultHasher::new();
        operation.subject.hash(&mut hasher);
        let kinds = [PortErrorKind::TooLarge, PortErrorKind::Corrupt, PortErrorKind::Other];
        let (number, kind) = (hasher.finish(), kinds[(hasher.finish() >> 8) as usize % kinds.len()]);
        (is_it && number % FOR_GOOD_ONE_OF == 0).then_some(kind)
    }

    /// Draws whether an object is lost before it is read.
    pub(crate) fn loses(&mut self, dice: &mut StdRng, key: &str) -> Option<Loss> {
        let may_be = !self.is_calm && self.plan == Plan::Random && self.weather.focus == Focus::Objects;
        if !may_be || self.struck.lost.contains(key) || !dice.random_bool(LOST) {
            return None;
        }
        self.struck.lost.insert(key.to_owned());
        *self.struck.faults.entry("object lost").or_default() += 1;
        Some(if dice.random_bool(0.5) { Loss::Deleted } else { Loss::CutShort })
    }

    /// Draws whether a message is delivered twice, and how much later.
    pub(crate) fn doubles(&mut self, dice: &mut StdRng) -> Option<Duration> {
        let is_struck = !self.is_calm && self.plan == Plan::Random && dice.random_bool(DOUBLED);
        is_struck.then(|| {
            *self.struck.faults.entry("delivered twice").or_default() += 1;
            Duration::from_millis(dice.random_range(0..900_000))
        })
    }

    fn strikes(&self, dice: &mut StdRng, worker: Worker, name: &str) -> bool {
        let Weather { odds, faults_max, focus } = self.weather;
        // There are few notices in a run.
        let odds = if name == "notifier.notify" { NOTICE_ODDS } else { odds };
        let count: usize = self.struck.faults.values().sum();
        let (iteration, iterations) = self.iteration;
        count * iterations < faults_max * iteration && focus.includes(worker, name) && dice.random_bool(odds)
    }
}

fn draw(dice: &mut StdRng, name: &str) -> (Fault, &'static str) {
    let is_fetch = name.starts_with("fetcher.");
    match dice.random_range(0..18) {
        0..=5 if is_fetch => (Fault::FailBefore, CONNECTION),
        10..=13 if is_fetch => (Fault::DelayBefore(delay(dice)), CONNECTION),
        0..=2 => (Fault::FailBefore, "fail before"),
        3..=5 => (Fault::FailAfter, "fail after"),
        6 => (Fault::CrashBefore(Scope::Worker), "worker dies before"),
        7 => (Fault::CrashAfter(Scope::Worker), "worker dies after"),
        8 => (Fault::CrashBefore(Scope::All), "crash before"),
        9 => (Fault::CrashAfter(Scope::All), "crash after"),
        16 => (Fault::CrashBefore(Scope::Task), "task dies before"),
        17 => (Fault::CrashAfter(Scope::Task), "task dies after"),
        10..=11 => (Fault::DelayBefore(delay(dice)), "delay before"),
        12..=13 => (Fault::DelayAfter(delay(dice)), "delay after"),
        _ => (Fault::Twist, "twist"),
    }
}

/// Long enough for a lease to run out and for lost work to be sent again.
fn dawdle(dice: &mut StdRng) -> Duration {
    Duration::from_secs(dice.random_range(200..500))
}

/// As short as a slow store's answer, or longer than any lease.
fn delay(dice: &mut StdRng) -> Duration {
    let ms_max = if dice.random_bool(0.5) { 5_000 } else { 400_000 };
    Duration::from_millis(dice.random_range(1..ms_max))
}
