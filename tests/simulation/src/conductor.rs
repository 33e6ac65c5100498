//! Scheduling: every port operation, sleep and wait for a message is parked here, and the conductor
//! resumes one at a time.
//!
//! The run is deterministic because the driver acts only when nothing can proceed by itself, and
//! then draws what to resume from the seed. The driver also waits for work on other threads (the
//! database's, parsing).

use std::collections::BTreeSet;
use std::fmt;
use std::future::{Future, pending, poll_fn};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use dragline_domain::ids::Iteration;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::notifier::Notice;
use jiff::Timestamp;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::sync::oneshot;

use crate::clocks::Clocks;
use crate::faults::{Fault, Faults, Loss, Plan, Processes, Scope, Struck};
use crate::mail::{Kind, Letter, Mail};
use crate::parked::{Grant, Operation, Parked, Until};
use crate::trace::Trace;
use crate::worker::Worker;

/// The longest run by its own clock, beyond what its scenario takes: an iteration that is still
/// open then will not close.
const TIME_MAX: Duration = Duration::from_secs(24 * 3600);

/// The most port operations of a run, but for those of its seeds: runs of these sites have a few
/// thousand at most.
const OPERATIONS_MAX: usize = 15_000;

/// The most port operations for each seed: where there are many, up to half as many.
const SEED_OPERATIONS_MAX: usize = 400;

/// As many operations as this many seeds have runs about schedules, which go on for days.
const SCHEDULES_SEEDS: usize = 100;

/// An alternative answer that the port allows.
pub(crate) enum Twist<T> {
    /// There is none.
    None,
    /// This answer, without doing anything.
    Instead(T),
    /// The answer of a second try, as the first one's was lost.
    Again(fn(T) -> T),
}

/// What the driver has to do next.
#[derive(Debug)]
pub(crate) enum Next {
    /// Something was resumed; look again when everything is parked.
    GoesOn,
    /// A worker's task died: start it again, with the memory of its process.
    TaskDied(Worker),
    /// A worker died: drop its memory and start another.
    Died(Worker),
    /// Everything died.
    Crashed,
    /// The iteration is closed and every message is done with.
    Over,
    /// The iteration is open and will not close.
    NeverEnds,
}

struct State {
    dice: StdRng,
    faults: Faults,
    operations: usize,
    operations_max: usize,
    time_max: Duration,
    now: Duration,
    parked: Vec<Parked>,
    /// Operations under way of workers that do several things at a time.
    busy: usize,
    /// Other workers that are not parked: each goes on where all calls that it makes together are
    /// answered.
    running: BTreeSet<Worker>,
    is_quiet: bool,
    driver: Option<Waker>,
    fallen: Option<(Worker, Scope)>,
    /// The iteration that must close.
    goal: Iteration,
    is_closed: bool,
    /// Whether to wait for a crawler that sleeps in the middle of a turn that others have already
    /// ended.
    waits_for_sleepers: bool,
    mail: Mail,
    /// The notices that were delivered, in order.
    told: Vec<Notice>,
    trace: Trace,
}

/// Resumes one parked task at a time.
pub(crate) struct Conductor {
    clocks: Clocks,
    state: Mutex<State>,
}

impl Conductor {
    /// The conductor of iterations of this many seeds.
    pub(crate) fn new(seed: u64, plan: Plan, seeds: usize) -> Self {
        Self::assemble(seed, Clocks::of_seed(seed), |processes, dice| Faults::new(plan, processes, dice), seeds)
    }

    /// The conductor of a run of this length about schedules, which begins then.
    pub(crate) fn of_schedules(seed: u64, plan: Plan, began: Timestamp, length: Duration) -> Self {
        let clocks = Clocks::well_kept(seed, began);
        let conductor = Self::assemble(seed, clocks, |_, dice| Faults::of_schedules(plan, dice), SCHEDULES_SEEDS);
        conductor.state().time_max += length;
        conductor
    }

    fn assemble(
        seed: u64,
        clocks: Clocks,
        faults: impl FnOnce(Processes, &mut StdRng) -> Faults,
        seeds: usize,
    ) -> Self {
        let mut dice = StdRng::seed_from_u64(seed);
        let processes = Processes::of(&clocks);
        Self {
            clocks,
            state: Mutex::new(State {
                faults: faults(processes, &mut dice),
                operations: 0,
                operations_max: OPERATIONS_MAX + seeds * SEED_OPERATIONS_MAX,
                time_max: TIME_MAX,
                dice,
                now: Duration::ZERO,
                parked: Vec::new(),
                busy: 0,
                running: BTreeSet::new(),
                is_quiet: false,
                driver: None,
                fallen: None,
                goal: Iteration::FIRST,
                is_closed: false,
                waits_for_sleepers: false,
                mail: Mail::default(),
                told: Vec::new(),
                trace: Trace::default(),
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time since the run began.
    pub(crate) fn now(&self) -> Duration {
        self.state().now
    }

    /// What a worker's clock shows.
    pub(crate) fn worker_clock(&self, worker: Worker) -> Timestamp {
        self.clocks.of(worker, self.now())
    }

    /// What the clocks show.
    pub(crate) const fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// What the machine's clock shows.
    pub(crate) fn clock(&self) -> Timestamp {
        self.clocks.machine(self.now())
    }

    /// Random bits.
    pub(crate) fn bits(&self) -> u128 {
        self.state().dice.random()
    }

    pub(crate) fn with_mail<T>(&self, act: impl FnOnce(&mut Mail, Duration) -> T) -> T {
        let mut state = self.state();
        let now = state.now;
        act(&mut state.mail, now)
    }

    /// Records a delivered notice.
    pub(crate) fn people_are_told(&self, notice: Notice) {
        self.state().told.push(notice);
    }

    /// The notices that were delivered.
    pub(crate) fn told(&self) -> Vec<Notice> {
        self.state().told.clone()
    }

    pub(crate) fn note(&self, line: impl fmt::Display) {
        let mut state = self.state();
        let now = state.now;
        state.trace.add(now, &line);
    }

    /// The faults that have struck so far.
    pub(crate) fn struck(&self) -> Struck {
        self.state().faults.struck()
    }

    /// The trace and the faults so far.
    pub(crate) fn story(&self) -> (Trace, Struck) {
        let state = self.state();
        (state.trace.clone(), state.faults.struck())
    }

    /// Sets the iteration, of so many, that must close from now on.
    pub(crate) fn aim_at(&self, iteration: Iteration, iterations: u32) {
        let mut state = self.state();
        state.faults.begin(iteration.number() as usize, iterations as usize);
        state.goal = iteration;
        state.is_closed = false;
    }

    /// Records that this newest iteration is closed and that no notice is due.
    pub(crate) fn iteration_closed(&self, iteration: Iteration) {
        let mut state = self.state();
        state.is_closed = state.goal == iteration;
    }

    /// Records that there is nothing left to do but what is in the mail.
    pub(crate) fn finish(&self) {
        self.state().is_closed = true;
    }

    /// Records that there is something to do.
    pub(crate) fn go_on(&self) {
        self.state().is_closed = false;
    }

    /// Lets time pass without anything happening.
    pub(crate) fn pass_time(&self, wait: Duration) {
        self.state().now += wait;
    }

    /// Draws whether an object is lost before it is read.
    pub(crate) fn loses(&self, key: &str) -> Option<Loss> {
        let mut guard = self.state();
        let state = &mut *guard;
        let loss = state.faults.loses(&mut state.dice, key)?;
        state.trace.add(state.now, &format_args!("{key} is lost: {loss:?}"));
        Some(loss)
    }

    /// Delivers every message ever sent again, and stops the faults.
    pub(crate) fn deliver_all_again(&self) {
        let mut state = self.state();
        let now = state.now;
        state.faults.calm();
        state.is_closed = false;
        state.waits_for_sleepers = true;
        state.mail.send_all_again(now);
    }

    /// Lets faults strike again.
    pub(crate) fn let_faults_strike(&self) {
        let mut state = self.state();
        state.faults.wake();
        state.waits_for_sleepers = false;
    }

    /// Records that a sequential worker begins to run.
    pub(crate) fn started(&self, worker: Worker) {
        if worker.is_sequential() {
            self.state().running.insert(worker);
        }
    }

    /// To be called when the runtime has nothing to run.
    pub(crate) fn thread_parks(&self) {
        let mut state = self.state();
        if state.busy == 0
            && state.running.is_empty()
            && let Some(driver) = state.driver.take()
        {
            state.is_quiet = true;
            drop(state);
            driver.wake();
        }
    }

    /// Waits until nothing can proceed by itself.
    pub(crate) async fn quiet(&self) {
        poll_fn(|cx| {
            let mut state = self.state();
            if std::mem::take(&mut state.is_quiet) {
                return Poll::Ready(());
            }
            state.driver = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    async fn park(&self, worker: Worker, until: Until) -> Grant {
        let (wake, woken) = oneshot::channel();
        {
            let mut state = self.state();
            state.running.remove(&worker);
            state.parked.push(Parked { worker, until, wake });
        }
        match woken.await {
            Ok(grant) => grant,
            // The life is over, and so is this task.
            Err(_) => pending().await,
        }
    }

    /// Sleeps.
    pub(crate) async fn sleep(&self, worker: Worker, wait: Duration) {
        if !wait.is_zero() {
            let until = self.now() + wait;
            self.park(worker, Until::Time(until)).await;
        }
    }

    /// Waits for a message.
    pub(crate) async fn receive(&self, worker: Worker, kind: Kind) -> Letter {
        match self.park(worker, Until::Message(kind)).await {
            Grant::Message(letter) => letter,
            Grant::Operation(_) | Grant::Time => pending().await,
        }
    }

    /// Records the end of an operation. It no longer counts as under way, but its sequential worker
    /// does, unless it waits for another.
    fn leave(&self, worker: Worker) {
        if worker.is_sequential() {
            self.goes_on(worker);
        } else {
            self.state().busy -= 1;
        }
    }

    /// Records that a call of a sequential worker is answered: it runs, unless it waits for another
    /// that it made together with this one.
    fn goes_on(&self, worker: Worker) {
        let mut state = self.state();
        if state.parked.iter().any(|parked| parked.worker == worker && !parked.wake.is_closed()) {
            state.running.remove(&worker);
        }
    }

    async fn fall<T>(&self, worker: Worker, scope: Scope) -> T {
        {
            let mut state = self.state();
            if !state.running.remove(&worker) {
                state.busy -= 1;
            }
            state.fallen = Some((worker, scope));
        }
        pending().await
    }

    /// Does a port operation when its turn comes, with the fault that strikes it.
    ///
    /// # Errors
    /// The operation's own, or an injected one: before it had an effect, or after.
    pub(crate) async fn operate<T>(
        &self,
        worker: Worker,
        operation: Operation,
        twist: Twist<T>,
        work: impl Future<Output = PortResult<T>>,
    ) -> PortResult<T> {
        let away = |what| Err(PortError::new(PortErrorKind::Unavailable, operation.name, &operation.subject, what));
        loop {
            let waiting = Until::Operation(operation.clone());
            let Grant::Operation(fault) = self.park(worker, waiting).await else { return pending().await };
            match fault {
                Fault::FailBefore => {
                    self.leave(worker);
                    return away("no answer: nothing was done");
                }
                Fault::FailForGood(kind) => {
                    self.leave(worker);
                    let what = "it fails each time";
                    return Err(PortError::new(kind, operation.name, &operation.subject, what));
                }
                Fault::CrashBefore(scope) => return self.fall(worker, scope).await,
                Fault::DelayBefore(wait) => {
                    self.leave(worker);
                    self.sleep(worker, wait).await;
                    continue;
                }
                _ => {}
            }
            let twist = match (fault, twist) {
                (Fault::Twist, Twist::Instead(other)) => {
                    self.leave(worker);
                    return Ok(other);
                }
                (_, twist) => twist,
            };
            let result = work.await;
            match fault {
                Fault::Twist => {
                    self.leave(worker);
                    return match twist {
                        Twist::Again(again) => result.map(again),
                        Twist::None | Twist::Instead(_) => result,
                    };
                }
                Fault::CrashAfter(scope) => return self.fall(worker, scope).await,
                Fault::FailAfter => {
                    self.leave(worker);
                    return away("the answer was lost");
                }
                Fault::DelayAfter(wait) => {
                    self.leave(worker);
                    self.sleep(worker, wait).await;
                    if worker.is_sequential() {
                        self.goes_on(worker);
                    }
                    return result;
                }
                _ => {}
            }
            self.leave(worker);
            return result;
        }
    }

    /// Resumes one parked task, or says why none can be. To be called when everything is parked.
    pub(crate) fn next(&self) -> Next {
        let mut guard = self.state();
        let state = &mut *guard;
        if let Some((worker, scope)) = state.fallen.take() {
            return match scope {
                Scope::Task => Next::TaskDied(worker),
                Scope::Worker => Next::Died(worker),
                Scope::All => Next::Crashed,
            };
        }
        if state.operations > state.operations_max {
            return Next::NeverEnds;
        }
        state.parked.retain(|parked| !parked.wake.is_closed());
        loop {
            let now = state.now;
            let ready: Vec<usize> = (0..state.parked.len())
                .filter(|&at| match &state.parked[at].until {
                    Until::Operation(_) => true,
                    Until::Time(time) => *time <= now,
                    Until::Message(kind) => state.mail.has_due(*kind, now),
                })
                .collect();
            if !ready.is_empty() {
                let at = ready[state.dice.random_range(0..ready.len())];
                state.released(at);
                return Next::GoesOn;
            }
            if state.is_closed && state.mail.is_empty() && !(state.waits_for_sleepers && state.has_sleepers()) {
                if state.has_sleepers() {
                    state.faults.leave_asleep();
                }
                return Next::Over;
            }
            let times = state.parked.iter().filter_map(|parked| match parked.until {
                Until::Time(time) => Some(time),
                _ => None,
            });
            match times.chain(state.mail.next_due(now)).min() {
                Some(time) if time <= state.time_max => state.now = state.now.max(time),
                _ => return Next::NeverEnds,
            }
        }
    }

    /// Drops all that waits, and with it all that is only in memory.
    pub(crate) fn forget_the_parked(&self) {
        let mut state = self.state();
        state.parked.clear();
        state.busy = 0;
        state.running.clear();
        state.is_quiet = false;
        state.driver = None;
        state.fallen = None;
    }

    /// Draws a yes or no from the seed.
    pub(crate) fn draw(&self, odds: f64) -> bool {
        self.state().dice.random_bool(odds)
    }
}

impl State {
    fn has_sleepers(&self) -> bool {
        let is_at_work = |parked: &Parked| !matches!(parked.until, Until::Message(_));
        self.parked.iter().any(|parked| matches!(parked.worker, Worker::Crawler(_)) && is_at_work(parked))
    }

    fn released(&mut self, at: usize) {
        let Parked { worker, until, wake } = self.parked.remove(at);
        let grant = match until {
            Until::Operation(operation) => {
                self.operations += 1;
                let fault = self.faults.decide(&mut self.dice, worker, &operation);
                let Operation { name, subject } = operation;
                self.trace.add(self.now, &format_args!("{worker}: {name} {subject}{fault}"));
                self.busy += usize::from(!worker.is_sequential());
                Grant::Operation(fault)
            }
            Until::Time(_) => Grant::Time,
            Until::Message(kind) => {
                let Some(letter) = self.mail.take(kind, self.now, &mut self.dice) else { return };
                self.trace.add(self.now, &format_args!("{worker} receives {:?}", letter.message));
                if let Some(wait) = self.faults.doubles(&mut self.dice) {
                    self.mail.send(letter.message.clone(), self.now + wait);
                }
                Grant::Message(letter)
            }
        };
        if worker.is_sequential() {
            self.running.insert(worker);
        }
        if wake.send(grant).is_err() && !self.running.remove(&worker) {
            self.busy -= 1;
        }
    }
}
