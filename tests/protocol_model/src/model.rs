//! The model of a configuration: its first state, and the steps from any state.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use dragline_domain::frontier::{IterationStatus, OriginKey, SegmentId};
use dragline_domain::ids::TriggerId;

use crate::config::{Config, Faults, History, Hosts, LateMessages};
use crate::crawler::Crawler;
use crate::mutation::Mutation;
use crate::parser::Parser;
use crate::scheduler::Scheduler;
use crate::site::Page;
use crate::state::{Message, SegmentKey, State};
use crate::steps::{Labels, Step, Steps};
use crate::sweeper::Sweeper;
use crate::{crawler, parser, scheduler, sweeper};

/// A configuration, and production's names for what is in it.
pub(crate) struct Model {
    pub config: Config,
    pub keys: [OriginKey; 2],
    pub triggers: [TriggerId; 2],
}

impl Model {
    pub(crate) fn new(config: Config) -> Self {
        let key = |origin: &str| OriginKey {
            crawl: "c".parse().expect("a crawl's name"),
            origin: origin.parse().expect("an origin"),
        };
        let [first, second] = match config.hosts {
            Hosts::Apart => ["https://a.example", "https://b.example"],
            Hosts::Shared => ["https://a.example", "http://a.example"],
            Hosts::OfOneDomain => ["https://a.example.org", "https://b.example.org"],
        };
        Self { config, keys: [key(first), key(second)], triggers: [TriggerId("t".into()), TriggerId("u".into())] }
    }

    pub(crate) fn lacks(&self, mutation: Mutation) -> bool {
        self.config.mutation == Some(mutation)
    }

    /// Production's key of an origin.
    pub(crate) fn segment_id(&self, key: SegmentKey) -> SegmentId {
        SegmentId { origin: self.keys[key.origin].clone(), turn: key.turn, n: key.n }
    }

    /// The links of a page at this depth that are not too deep.
    pub(crate) fn links(&self, page: Page, depth: u32) -> impl Iterator<Item = Page> + use<> {
        let is_followed = self.config.depth_max.is_none_or(|most| depth < most);
        self.config.site.links[page].iter().copied().filter(move |_| is_followed)
    }

    pub(crate) fn initial(&self) -> State {
        match self.config.history {
            History::New | History::ToBeRepeated => self.new_state(0..self.config.commands),
            History::CrawledOnce => State {
                faults: self.config.faults,
                messages: BTreeSet::from([Message::Command(1)]),
                ..self.crawled_once()
            },
        }
    }

    fn new_state(&self, commands: impl Iterator<Item = usize>) -> State {
        let workers = self.config.workers;
        State {
            iterations: [None, None],
            begun: [None, None],
            origins: [None, None],
            host: None,
            domain: None,
            segments: Rc::default(),
            seedings: Rc::default(),
            todo: Rc::default(),
            candidates: Rc::default(),
            leftovers: Rc::default(),
            messages: commands.map(Message::Command).collect(),
            schedulers: vec![Scheduler::Idle; workers.schedulers],
            crawlers: vec![Crawler::Idle; workers.crawlers],
            parsers: vec![Parser::Idle; workers.parsers],
            sweeper: Sweeper::Idle,
            faults: self.config.faults,
            broken: None,
        }
    }

    /// The state after an iteration without faults, by the first path found.
    fn crawled_once(&self) -> State {
        let first = Self::new(Config { mutation: None, faults: Faults::NONE, ..self.config });
        let mut state = first.new_state(0..1);
        let mut been = HashSet::new();
        while !is_over(&state) {
            been.insert(state.fingerprint());
            let steps = first.steps(&state, Labels::Left).into_iter().map(|step| step.next);
            state = steps.into_iter().find(|next| !been.contains(&next.fingerprint())).expect("the end is in reach");
        }
        state
    }

    /// All steps from a state.
    pub(crate) fn steps(&self, state: &State, labels: Labels) -> Vec<Step> {
        let mut steps = Steps::from(state, labels);
        (0..state.schedulers.len()).for_each(|number| scheduler::steps(self, number, &mut steps));
        (0..state.crawlers.len()).for_each(|number| crawler::steps(self, number, &mut steps));
        (0..state.parsers.len()).for_each(|number| parser::steps(self, number, &mut steps));
        sweeper::steps(self, &mut steps);
        for message in &state.messages {
            let lost = |next: &mut State| {
                next.messages.remove(message);
            };
            steps.fault(|| format!("{message:?} is lost"), |faults| &mut faults.losses, lost);
        }
        let mut steps = steps.into_vec();
        if self.config.late_messages == LateMessages::Dropped {
            steps.iter_mut().for_each(|step| step.next.drop_late_messages());
        }
        steps
    }

    /// Whether a state is the end that must stay in reach: the last iteration is closed, and none
    /// is about to begin.
    pub(crate) fn is_done(&self, state: &State) -> bool {
        let is_last = self.config.history != History::ToBeRepeated || state.iterations[1].is_some();
        is_last && is_over(state)
    }

    /// Receives a message, which is deleted or delivered again later.
    pub(crate) fn receive(steps: &mut Steps, worker: &str, message: Message, change: impl Fn(&mut State)) {
        steps.owed(
            || format!("{worker} gets {message:?}"),
            |next| {
                next.messages.remove(&message);
                change(next);
            },
        );
        steps.fault(
            || format!("{worker} gets {message:?}, which will be delivered again"),
            |faults| &mut faults.duplicates,
            change,
        );
    }
}

fn is_over(state: &State) -> bool {
    let is_requested = state.messages.iter().any(|message| matches!(message, Message::Command(_)));
    let is_idle = state.schedulers.iter().all(|scheduler| matches!(scheduler, Scheduler::Idle));
    state.latest().is_some_and(|row| row.status == IterationStatus::Closed) && !is_requested && is_idle
}
