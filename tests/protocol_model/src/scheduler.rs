//! A scheduler: begins the iteration, claims the seeds, opens their origins, returns the token.

use dragline_domain::frontier::{Claim, Claimable, Claimer, UrlHistory, claim};
use dragline_domain::ids::Iteration;

use crate::model::Model;
use crate::mutation::Mutation;
use crate::site::{ORIGINS, OriginNumber, Page};
use crate::state::{Message, State, TriggerNumber, now};
use crate::steps::Steps;
use crate::tidying::Tidying;

/// The state of a scheduler.
#[derive(Clone)]
pub(crate) enum Scheduler {
    Idle,
    /// It claims the seeds of an origin, those in `own` so far.
    Claiming {
        job: Job,
        own: Vec<Page>,
        left: Vec<Page>,
    },
    /// It adds these seeds to the origin.
    Seeding {
        job: Job,
        own: Vec<Page>,
    },
    /// It settles the origin.
    Tidying {
        job: Job,
        tidying: Tidying,
    },
    /// Every seed is added.
    Returning {
        job: Job,
    },
}

/// What a scheduler works on.
#[derive(Clone, Copy, Hash)]
pub(crate) struct Job {
    trigger: TriggerNumber,
    iteration: Iteration,
    opening: Opening,
}

/// The origin to open: first those of seeds, then those with only candidates.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Opening {
    ForSeeds(OriginNumber),
    ForRecrawl(OriginNumber),
}

impl Opening {
    const fn origin(self) -> OriginNumber {
        match self {
            Self::ForSeeds(origin) | Self::ForRecrawl(origin) => origin,
        }
    }

    /// What comes next; `None` after the last.
    const fn next(self) -> Option<Self> {
        match self {
            Self::ForSeeds(origin) if origin + 1 < ORIGINS => Some(Self::ForSeeds(origin + 1)),
            Self::ForSeeds(_) => Some(Self::ForRecrawl(0)),
            Self::ForRecrawl(origin) if origin + 1 < ORIGINS => Some(Self::ForRecrawl(origin + 1)),
            Self::ForRecrawl(_) => None,
        }
    }
}

impl Scheduler {
    fn job(&self) -> Option<&Job> {
        match self {
            Self::Idle => None,
            Self::Claiming { job, .. }
            | Self::Seeding { job, .. }
            | Self::Tidying { job, .. }
            | Self::Returning { job } => Some(job),
        }
    }

    /// The trigger whose command it has.
    pub(crate) fn trigger(&self) -> Option<TriggerNumber> {
        self.job().map(|job| job.trigger)
    }

    pub(crate) const fn tidying(&self) -> Option<&Tidying> {
        match self {
            Self::Tidying { tidying, .. } => Some(tidying),
            _ => None,
        }
    }

    /// Its state, for fingerprints.
    pub(crate) fn stage(&self) -> impl std::hash::Hash + use<> {
        let pages = match self {
            Self::Claiming { own, left, .. } => (own.clone(), left.clone()),
            Self::Seeding { own, .. } => (own.clone(), Vec::new()),
            Self::Idle | Self::Tidying { .. } | Self::Returning { .. } => (Vec::new(), Vec::new()),
        };
        (std::mem::discriminant(self), self.job().copied(), pages)
    }
}

pub(crate) fn steps(model: &Model, number: usize, steps: &mut Steps<'_>) {
    let scheduler = &steps.state.schedulers[number];
    let name = || format!("scheduler {number}");
    match scheduler {
        Scheduler::Idle => {
            let messages = steps.state.messages.iter().copied();
            for message in messages.filter(|message| matches!(message, Message::Command(_))) {
                let Message::Command(trigger) = message else { continue };
                Model::receive(steps, &name(), message, |next| next.schedulers[number] = begin(model, next, trigger));
            }
            return;
        }
        Scheduler::Claiming { job, own, left } => {
            steps.owed(
                || format!("{} claims page {}", name(), left[0]),
                |next| {
                    let mut own = own.clone();
                    if model.claim(next, job.iteration, left[0], &Claimer::trigger(&model.triggers[job.trigger])) {
                        own.push(left[0]);
                    }
                    let (job, left) = (*job, left[1..].to_vec());
                    next.schedulers[number] = if left.is_empty() {
                        Scheduler::Seeding { job, own }
                    } else {
                        Scheduler::Claiming { job, own, left }
                    };
                },
            );
        }
        Scheduler::Seeding { job, own } => {
            let origin = job.opening.origin();
            steps.owed(
                || format!("{} opens origin {origin} with pages {own:?}", name()),
                |next| {
                    model.seed_origin(next, job.iteration, job.trigger, origin, own);
                    next.schedulers[number] = match Tidying::begin(job.iteration, vec![origin]) {
                        Some(tidying) => Scheduler::Tidying { job: *job, tidying },
                        None => Scheduler::Idle,
                    };
                },
            );
        }
        Scheduler::Tidying { job, tidying } => steps.owed(
            || format!("{} {}", name(), tidying.label()),
            |next| {
                next.schedulers[number] = match tidying.step(model, next) {
                    Some(tidying) => Scheduler::Tidying { job: *job, tidying },
                    None => go_on(model, next, *job, job.opening.next()),
                };
            },
        ),
        Scheduler::Returning { job } => steps.owed(
            || format!("{} returns its token", name()),
            |next| {
                model.return_token(next, job.iteration);
                next.schedulers[number] = Scheduler::Idle;
            },
        ),
    }
    let Some(trigger) = scheduler.trigger() else { return };
    steps.fault(
        || format!("{} dies", name()),
        |faults| &mut faults.crashes,
        |next| {
            next.schedulers[number] = Scheduler::Idle;
            next.send(Message::Command(trigger));
        },
    );
}

fn begin(model: &Model, next: &mut State, trigger: TriggerNumber) -> Scheduler {
    match model.begin_iteration(next, trigger) {
        Some(row) if row.token_out || model.lacks(Mutation::BeginWithoutToken) => {
            let job = Job { trigger, iteration: row.number, opening: Opening::ForSeeds(0) };
            go_on(model, next, job, Some(job.opening))
        }
        Some(_) | None => Scheduler::Idle,
    }
}

/// Continues with the first origin from here on that has something to do.
fn go_on(model: &Model, state: &State, job: Job, from: Option<Opening>) -> Scheduler {
    let seeds = |origin| {
        let seeds = model.config.site.seeds.iter().copied();
        seeds.filter(|&page| model.config.site.origin_of[page] == origin).collect::<Vec<Page>>()
    };
    let mut opening = from;
    while let Some(at) = opening {
        let job = Job { opening: at, ..job };
        let own_seeds = seeds(at.origin());
        match at {
            Opening::ForSeeds(_) if !own_seeds.is_empty() => {
                return Scheduler::Claiming { job, own: Vec::new(), left: own_seeds };
            }
            Opening::ForRecrawl(origin) if own_seeds.is_empty() && has_due(model, state, &job, origin) => {
                return Scheduler::Seeding { job, own: Vec::new() };
            }
            Opening::ForSeeds(_) | Opening::ForRecrawl(_) => opening = at.next(),
        }
    }
    Scheduler::Returning { job }
}

/// Whether a known origin has candidates due.
fn has_due(model: &Model, state: &State, job: &Job, origin: OriginNumber) -> bool {
    let is_due = |page: Page| {
        let candidate = state.candidates.get(&page);
        let (nothing, recrawl) = (UrlHistory::default(), Claimer::recrawl());
        let claim = claim(candidate, &nothing, job.iteration, &recrawl, Claimable::Due(now()), None).outcome();
        matches!(claim, Claim::Own { .. })
    };
    let mut known = state.candidates.keys().filter(|&&page| model.config.site.origin_of[page] == origin);
    state.rows(origin).is_some() && !model.lacks(Mutation::OnlySeedsOpened) && known.any(|&page| is_due(page))
}
