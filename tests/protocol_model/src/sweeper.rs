//! The sweeper, the user, and time.

use std::rc::Rc;

use dragline_domain::frontier::{
    IterationRow, IterationStatus, LeaseState, LeftoverReason, Need, OriginRows, SegmentState, StatusChange, need,
};

use crate::config::{Faults, History, Reading, Sweeping};
use crate::crawler::run_out_steps;
use crate::model::Model;
use crate::mutation::Mutation;
use crate::site::{ORIGINS, OriginNumber};
use crate::state::{Message, SegmentKey, State, Ticket, TriggerNumber, now};
use crate::steps::Steps;
use crate::store::time_steps;
use crate::tidying::Tidying;

/// The state of the sweeper.
#[derive(Clone)]
pub(crate) enum Sweeper {
    Idle,
    /// It settles an overdue origin.
    Tidying(Tidying),
    /// It has read an origin in order to give it up.
    GivingUp {
        origin: OriginNumber,
        seen: Rc<OriginRows>,
        reason: LeftoverReason,
    },
}

impl Sweeper {
    pub(crate) const fn tidying(&self) -> Option<&Tidying> {
        match self {
            Self::Tidying(tidying) => Some(tidying),
            Self::Idle | Self::GivingUp { .. } => None,
        }
    }

    /// The origin that it is about to give up, the reason, and the rows that it saw.
    pub(crate) fn giving_up(&self) -> Option<(OriginNumber, LeftoverReason, &OriginRows)> {
        match self {
            Self::GivingUp { origin, seen, reason } => Some((*origin, *reason, seen)),
            Self::Idle | Self::Tidying(_) => None,
        }
    }
}

pub(crate) fn steps(model: &Model, steps: &mut Steps<'_>) {
    (0..ORIGINS).for_each(|origin| run_out_steps(origin, steps));
    time_steps(model, steps);
    send_commands(model, steps);
    let Some(row) = steps.state.latest() else { return };
    user(model, row, steps);
    if model.config.sweeping == Sweeping::Whole {
        send_overdue(model, row, steps);
    }
    match &steps.state.sweeper {
        Sweeper::Idle => (0..ORIGINS).for_each(|origin| look_at(model, row, origin, steps)),
        Sweeper::Tidying(tidying) => steps.owed(
            || format!("the sweeper {}", tidying.label()),
            |next| next.sweeper = tidying.step(model, next).map_or(Sweeper::Idle, Sweeper::Tidying),
        ),
        Sweeper::GivingUp { origin, seen, reason } => steps.owed(
            || format!("the sweeper gives origin {origin} up as it was read"),
            |next| {
                next.sweeper = Sweeper::Idle;
                model.give_up(next, *origin, seen, *reason);
            },
        ),
    }
    if model.closed(row).is_some() {
        steps.owed(|| "the sweeper closes the iteration".to_owned(), |next| model.close_iteration(next, row.number));
    }
}

fn user(model: &Model, row: &IterationRow, steps: &mut Steps<'_>) {
    type Left = fn(&mut Faults) -> &mut u8;
    let commands: [(StatusChange, Left, &str); 2] = [
        (StatusChange::Stop, |faults| &mut faults.stops, "the user stops the crawl"),
        (StatusChange::Pause, |faults| &mut faults.pauses, "the user pauses the crawl"),
    ];
    for (change, left, label) in commands {
        if model.changed(row, change).is_some() {
            steps.fault(|| label.to_owned(), left, |next| model.change_status(next, row.number, change));
        }
    }
    if model.changed(row, StatusChange::Resume).is_some() {
        let resumes = |next: &mut State| model.change_status(next, row.number, StatusChange::Resume);
        steps.owed(|| "the user resumes the crawl".to_owned(), resumes);
    }
}

/// Sends commands again that were not completed: the schedule before the iteration, the sweeper
/// while the token is out.
fn send_commands(model: &Model, steps: &mut Steps<'_>) {
    let state = steps.state;
    let is_wanted = |trigger: TriggerNumber| match state.begun[trigger].and_then(|number| state.iteration(number)) {
        Some(row) => row.token_out && !model.lacks(Mutation::SweepForgetsToken),
        None if trigger == 0 => state.latest().is_none(),
        None => {
            let is_over = state.latest().is_some_and(|row| row.status == IterationStatus::Closed);
            match model.config.history {
                History::New => false,
                History::CrawledOnce | History::ToBeRepeated => is_over,
            }
        }
    };
    let is_at_hand = |trigger: TriggerNumber| {
        state.messages.contains(&Message::Command(trigger))
            || state.schedulers.iter().any(|scheduler| scheduler.trigger() == Some(trigger))
    };
    for trigger in (0..state.begun.len()).filter(|&trigger| is_wanted(trigger) && !is_at_hand(trigger)) {
        let message = Message::Command(trigger);
        steps.owed(|| format!("{message:?} is sent again"), |next| next.send(message));
    }
}

/// Sends tickets and parse messages again that may be lost. One that a worker still has makes a
/// duplicate.
fn send_overdue(model: &Model, row: &IterationRow, steps: &mut Steps<'_>) {
    let state = steps.state;
    let mut overdue = Vec::new();
    for (origin, rows) in state.rows_in(row.number) {
        let lease = &rows.lease;
        let is_owed = matches!(lease.state, LeaseState::Ready | LeaseState::Leased(_)) && lease.is_free(now());
        if row.status.is_open() && is_owed && !model.lacks(Mutation::SweepForgetsTickets) {
            let ticket = Ticket { iteration: row.number, origin, turn: lease.turn };
            overdue.push((Message::Ticket(ticket), is_anyone_at(state, origin)));
        }
    }
    for (key, segment) in state.segments.iter() {
        let is_owed = segment.row.state != SegmentState::Processed && segment.row.due.is_some();
        if is_owed && !model.lacks(Mutation::SweepForgetsParses) {
            overdue.push((Message::Parse(*key), is_anyone_parsing(state, *key)));
        }
    }
    for (message, is_at_hand) in overdue.into_iter().filter(|(message, _)| !state.messages.contains(message)) {
        let sends = |next: &mut State| next.send(message);
        let label = || format!("the sweeper sends {message:?}");
        if is_at_hand {
            steps.fault(label, |faults| &mut faults.duplicates, sends);
        } else {
            steps.owed(label, sends);
        }
    }
}

/// Whether any worker works on an origin, or is about to settle it.
fn is_anyone_at(state: &State, origin: OriginNumber) -> bool {
    let tidying = state.parsers.iter().map(crate::parser::Parser::tidying);
    let mut tidying = tidying.chain(state.schedulers.iter().map(crate::scheduler::Scheduler::tidying)).flatten();
    state.crawlers.iter().any(|crawler| crawler.is_about(origin)) || tidying.any(|tidying| tidying.is_about(origin))
}

/// Whether any worker has this segment's parse message, or is about to send it.
fn is_anyone_parsing(state: &State, key: SegmentKey) -> bool {
    state.crawlers.iter().any(|crawler| crawler.owes(key))
        || state.parsers.iter().any(|parser| parser.segment() == Some(key))
}

/// Settles an overdue origin, or gives it up.
fn look_at(model: &Model, row: &IterationRow, origin: OriginNumber, steps: &mut Steps<'_>) {
    let state = steps.state;
    let Some(rows) = state.rows(origin).filter(|rows| rows.lease.iteration == row.number) else { return };
    let is_settled = model.config.sweeping == Sweeping::OnlyCloses || model.lacks(Mutation::SweepForgetsIdle);
    let is_left_alone = model.config.reading == Reading::Merged && is_anyone_at(state, origin);
    if !is_settled && !is_left_alone && rows.inbox.due.is_some() && need(rows) == Need::Settling {
        steps.owed(
            || format!("the sweeper takes on origin {origin}"),
            |next| {
                let tidying = Tidying::begin(row.number, vec![origin]).and_then(|tidying| tidying.step(model, next));
                next.sweeper = tidying.map_or(Sweeper::Idle, Sweeper::Tidying);
            },
        );
    }
    let Some(reason) = row.gives_up() else { return };
    let is_held = state.rows_in(row.number).any(|(_, rows)| rows.lease.holder().is_some());
    if reason == LeftoverReason::BudgetExhausted && is_held {
        return;
    }
    let is_unparsed = rows.lease.segments != rows.inbox.parsed && !model.lacks(Mutation::GiveUpUnparsed);
    if rows.lease.state == LeaseState::Closed || is_unparsed {
        return;
    }
    steps.owed(
        || format!("the sweeper gives origin {origin} up"),
        |next| match model.config.reading {
            Reading::Merged => model.give_up(next, origin, rows, reason),
            Reading::Apart => next.sweeper = Sweeper::GivingUp { origin, seen: Rc::clone(rows), reason },
        },
    );
}
