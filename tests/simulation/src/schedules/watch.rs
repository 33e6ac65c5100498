//! What becomes of crawls in the store, seen after each operation that may change them.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dragline_domain::frontier::Switch;
use dragline_domain::ids::{CrawlId, TriggerId};
use dragline_local::{LocalStore, Reading};
use dragline_pipeline::schedule::CommandResult;
use dragline_ports::frontier::CrawlRow;
use dragline_ports::notifier::Notice;
use jiff::Timestamp;

use super::scenario::Order;
use crate::worker::Worker;

/// The operations that may change a crawl or its iterations.
const CHANGING: [&str; 6] = [
    "frontier.put_crawl",
    "frontier.switch_off",
    "frontier.move_schedule",
    "frontier.begin_iteration",
    "frontier.change_status",
    "frontier.close_iteration",
];

/// The place of an event in the order of all of them.
pub(super) type Place = usize;

/// A crawl as the store shows it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sight {
    pub(super) row: CrawlRow,
    /// The iterations, from the first on.
    pub(super) iterations: Vec<Seen>,
}

/// An iteration as the store shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) number: u32,
    pub(super) trigger: TriggerId,
    pub(super) status: String,
}

/// A worker's doings, to which changes belong.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Doing {
    /// A tick, with what the clock showed at its beginning.
    Tick(Timestamp),
    /// A try of a call.
    Call(Order),
}

/// One of the doings of a worker.
#[derive(Clone, Debug)]
pub(super) struct Deed {
    pub(super) doing: Doing,
    /// The time, and the place in the order of events.
    pub(super) began: (Timestamp, Place),
    /// Where it ended, and how; `None` if its worker died, or if it failed.
    pub(super) done: Option<(Place, Answer)>,
}

/// What came of a deed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    /// It was done.
    Done,
    /// A command was done, with this result.
    Result(Box<CommandResult>),
    /// It does not fit.
    Refused,
}

/// A change of a crawl.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) crawl: CrawlId,
    pub(super) at: Timestamp,
    pub(super) worker: Option<Worker>,
    /// The deed to which it belongs.
    pub(super) deed: Option<usize>,
    pub(super) before: Option<Sight>,
    pub(super) after: Sight,
}

/// Something that happened.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Changed(Box<Change>),
    /// A receiver got a notice, which came to be owed at this time.
    Told(Box<Notice>, Timestamp),
    /// A deed began or ended.
    Deed,
}

/// All that happened.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    pub(super) events: Vec<Event>,
    pub(super) deeds: Vec<Deed>,
    /// What each worker does now.
    current: Vec<(Worker, usize)>,
}

impl History {
    /// The deed that a worker is at.
    fn deed_of(&self, worker: Worker) -> Option<usize> {
        self.current.iter().find(|(at, _)| *at == worker).map(|(_, deed)| *deed)
    }

    /// The changes with their places, in order.
    pub(super) fn changes(&self) -> impl Iterator<Item = (Place, &Change)> {
        self.events.iter().enumerate().filter_map(|(place, event)| match event {
            Event::Changed(change) => Some((place, &**change)),
            _ => None,
        })
    }

    /// How a crawl was at a place.
    pub(super) fn at(&self, crawl: &CrawlId, place: Place) -> Option<&Sight> {
        let changes = self.changes().take_while(|(at, _)| *at <= place);
        changes.filter(|(_, change)| change.crawl == *crawl).last().map(|(_, change)| &change.after)
    }

    /// How a crawl was at the beginning of a time, and after each change in it.
    pub(super) fn during(&self, crawl: &CrawlId, from: Place, to: Place) -> Vec<&Sight> {
        let within = self.changes().skip_while(move |(at, _)| *at <= from).take_while(move |(at, _)| *at <= to);
        let changes = within.filter(|(_, change)| change.crawl == *crawl).map(|(_, change)| &change.after);
        self.at(crawl, from).into_iter().chain(changes).collect()
    }
}

/// Looks at the store, and remembers.
pub(crate) struct Watch {
    directory: PathBuf,
    began: Timestamp,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    reading: Option<Reading>,
    seen: Vec<(CrawlId, Sight)>,
    history: History,
    /// How many orders each client, and ticks each ticker, is through with.
    through: Vec<(Worker, usize)>,
}

impl Watch {
    pub(super) fn new(directory: PathBuf, began: Timestamp) -> Self {
        Self { directory, began, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that happened so far.
    pub(super) fn history(&self) -> History {
        self.state().history.clone()
    }

    /// Looks what an operation has changed, if it may change anything.
    pub(crate) fn look(&self, operation: &str, worker: Worker, now: Duration) {
        if CHANGING.contains(&operation) {
            self.look_at_all(Some(worker), now);
        }
    }

    /// Looks at all crawls.
    pub(super) fn look_at_all(&self, worker: Option<Worker>, now: Duration) {
        let mut state = self.state();
        let State { reading, seen, history, .. } = &mut *state;
        let reading = reading.get_or_insert_with(|| LocalStore::open_read_only(&self.directory).unwrap());
        for crawl in reading.crawls().unwrap() {
            let Some(row) = reading.load_crawl(&crawl).unwrap() else { continue };
            let after = Sight { row, iterations: iterations(reading, &crawl).unwrap() };
            let known = seen.iter_mut().find(|(name, _)| *name == crawl);
            let before = known.as_ref().map(|(_, sight)| sight.clone());
            if before.as_ref() == Some(&after) {
                continue;
            }
            match known {
                Some((_, sight)) => *sight = after.clone(),
                None => seen.push((crawl.clone(), after.clone())),
            }
            let deed = worker.and_then(|worker| history.deed_of(worker));
            let change = Change { crawl, at: self.began + now, worker, deed, before, after };
            history.events.push(Event::Changed(Box::new(change)));
        }
    }

    /// Records that a notice was delivered.
    pub(crate) fn told(&self, notice: Notice, since: Timestamp) {
        self.state().history.events.push(Event::Told(Box::new(notice), since));
    }

    /// Records that a worker begins something.
    pub(super) fn begin(&self, worker: Worker, doing: Doing, now: Duration) {
        let mut state = self.state();
        let history = &mut state.history;
        history.events.push(Event::Deed);
        let began = (self.began + now, history.events.len() - 1);
        history.current.retain(|(at, _)| *at != worker);
        history.current.push((worker, history.deeds.len()));
        history.deeds.push(Deed { doing, began, done: None });
    }

    /// Records how it ended; `None` if it failed.
    pub(super) fn end(&self, worker: Worker, answer: Option<Answer>) {
        let mut state = self.state();
        let history = &mut state.history;
        history.events.push(Event::Deed);
        let place = history.events.len() - 1;
        if let Some(deed) = history.deed_of(worker) {
            history.deeds[deed].done = answer.map(|answer| (place, answer));
        }
        history.current.retain(|(at, _)| *at != worker);
    }

    /// How many of its tasks a worker is through with.
    pub(super) fn through(&self, worker: Worker) -> usize {
        self.state().through.iter().find(|(at, _)| *at == worker).map_or(0, |(_, count)| *count)
    }

    /// Records that a worker is through with its next task.
    pub(super) fn pass(&self, worker: Worker) {
        let mut state = self.state();
        match state.through.iter_mut().find(|(at, _)| *at == worker) {
            Some((_, count)) => *count += 1,
            None => state.through.push((worker, 1)),
        }
    }
}

fn iterations(reading: &Reading, crawl: &CrawlId) -> rusqlite::Result<Vec<Seen>> {
    let mut statement = reading.prepare(
        "SELECT i.number, i.\"trigger\", i.status FROM iteration i JOIN crawl c ON c.id = i.crawl_id
         WHERE c.name = ?1 ORDER BY i.number",
    )?;
    let seen = |row: &rusqlite::Row<'_>| {
        Ok(Seen { number: row.get(0)?, trigger: TriggerId(row.get(1)?), status: row.get(2)? })
    };
    statement.query_map([crawl.as_str()], seen)?.collect()
}

impl Sight {
    /// When its schedule begins the next iteration; `None` if it does not.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.row.switch.next()
    }

    /// Whether it was removed.
    pub(super) fn is_off(&self) -> bool {
        self.row.switch == Switch::Off
    }
}
