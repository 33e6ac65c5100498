//! The crawls of a run, the calls about them, and when schedules are looked at, drawn from the
//! seed.

use std::collections::BTreeMap;
use std::time::Duration;

use dragline_domain::definition::{Definition, Draft, Schedule};
use dragline_domain::frontier::StatusChange;
use dragline_domain::ids::{CrawlId, TriggerId};
use dragline_domain::url::{CrawlUrl, Origin};
use dragline_service::ScheduleState;
use jiff::{SignedDuration, Timestamp};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use super::calendar::Calendar;
use crate::web::{Directive, Host, Page, PageKind, Revision, RobotsPhase, RobotsPlan, RobotsTxt, Site, Wants};

/// The zones, each with a moment at which its clocks are changed: put back or forward by an hour or
/// half an hour, or forward at midnight.
const ZONES: [(&str, Timestamp); 7] = [
    ("Europe/Berlin", Timestamp::constant(1_792_890_000, 0)),
    ("Europe/Berlin", Timestamp::constant(1_806_195_600, 0)),
    ("America/New_York", Timestamp::constant(1_793_512_800, 0)),
    ("America/New_York", Timestamp::constant(1_805_007_600, 0)),
    ("Australia/Lord_Howe", Timestamp::constant(1_791_041_400, 0)),
    ("Australia/Lord_Howe", Timestamp::constant(1_806_764_400, 0)),
    ("America/Havana", Timestamp::constant(1_805_000_400, 0)),
];

/// Times around those at which clocks are changed, and others.
const CRONS: [&str; 13] = [
    "0 */3 * * *",
    "30 */6 * * *",
    "0 * * * *",
    "30 2 * * *",
    "0 2,3 * * *",
    "15 1,2,3 * * *",
    "0,20,40 2 * * *",
    "20,35 2 * * *",
    "10,40 2 * * *",
    "0 0 * * *",
    "30 0,1 * * *",
    "45 23 * * *",
    "5 1,5,9,13,17,21 * * *",
];

/// The clients, who may give the same call at the same time.
pub(super) const CLIENTS: usize = 2;

/// The workers that look at schedules.
pub(super) const TICKERS: usize = 2;

/// Where the steps run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// On a machine: the queue is lost with everything else.
    Machine,
    /// On AWS: the queue stays.
    Stack,
}

/// What is called for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Call {
    /// Adds a crawl, or gives it this definition.
    Add(Box<Definition>),
    Start,
    Change(StatusChange),
    Remove,
    SetSchedule(ScheduleState),
    /// Gives a paused crawl this definition.
    PutPaused(Box<Definition>),
}

/// A call about a crawl.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Order {
    pub(super) crawl: CrawlId,
    pub(super) call: Call,
    pub(super) trigger: TriggerId,
    /// How often it is given again after it was answered, if it has a trigger.
    pub(super) again: usize,
}

/// A run.
#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub(super) began: Timestamp,
    /// After that long no call is given, and no tick is lost.
    pub(super) length: Duration,
    pub(super) home: Home,
    pub(super) site: Site,
    pub(super) crawls: Vec<CrawlId>,
    /// What each client calls for, and when.
    pub(super) orders: [Vec<(Duration, Order)>; CLIENTS],
    /// When each ticker looks.
    pub(super) ticks: [Vec<Duration>; TICKERS],
    /// How long turns wait for parses.
    pub(super) parse_wait: Duration,
}

/// Draws one scenario.
struct Drawing {
    dice: StdRng,
    began: Timestamp,
    length: Duration,
    zone: &'static str,
    /// Moments at which something is due.
    due: Vec<Duration>,
    orders: [Vec<(Duration, Order)>; CLIENTS],
    count: usize,
}

impl Scenario {
    pub(super) fn of_seed(seed: u64) -> Self {
        let mut dice = StdRng::seed_from_u64(seed.rotate_left(24));
        let (zone, changed) = ZONES[dice.random_range(0..ZONES.len())];
        let began = changed - SignedDuration::from_mins(dice.random_range(4 * 60..30 * 60));
        let length = Duration::from_mins(dice.random_range(30 * 60..48 * 60));
        let home = if dice.random_bool(0.5) { Home::Machine } else { Home::Stack };
        let parse_wait = Duration::from_secs(if home == Home::Stack { 15 } else { 0 });
        let origins: Vec<Origin> =
            (1..=dice.random_range(1..=3)).map(|n| format!("http://c{n}.example").parse().unwrap()).collect();
        let site = Site {
            seeds: origins.iter().map(|origin| origin.url_at("/").unwrap()).collect(),
            hosts: origins.iter().map(|origin| (origin.clone(), host(&mut dice, origin))).collect(),
        };
        let mut drawing = Drawing { dice, began, length, zone, due: Vec::new(), orders: Default::default(), count: 0 };
        for seed in &site.seeds {
            drawing.crawl(seed);
        }
        let ticks = drawing.ticks();
        let crawls = site.seeds.iter().map(|seed| CrawlId::for_origin(&seed.origin())).collect();
        for orders in &mut drawing.orders {
            orders.sort_by_key(|(at, _)| *at);
        }
        Self { began, length, home, site, crawls, orders: drawing.orders, ticks, parse_wait }
    }
}

impl Drawing {
    /// Draws the calls about one crawl.
    fn crawl(&mut self, seed: &CrawlUrl) {
        let crawl = CrawlId::for_origin(&seed.origin());
        let first = Duration::from_mins(self.dice.random_range(0..120));
        let definition = self.definition(seed);
        self.give(first, &crawl, &Call::Add(definition), 0..1);
        for _ in 0..self.dice.random_range(2..9) {
            let at = self.moment();
            let call = self.call(seed);
            match self.dice.random_range(0..10) {
                // Both at the same time: the same call, or another one.
                0..=2 => self.give(at, &crawl, &call, 0..CLIENTS),
                3 | 4 => {
                    self.give(at, &crawl, &call, 0..1);
                    let other = self.call(seed);
                    self.give(at, &crawl, &other, 1..CLIENTS);
                }
                n => self.give(at, &crawl, &call, n % CLIENTS..n % CLIENTS + 1),
            }
        }
        // Whatever is paused goes on at the end.
        self.give(self.length, &crawl, &Call::Change(StatusChange::Resume), 0..1);
    }

    fn give(&mut self, at: Duration, crawl: &CrawlId, call: &Call, clients: std::ops::Range<usize>) {
        self.count += 1;
        let trigger = TriggerId(format!("call-{}", self.count));
        let again = if self.dice.random_bool(0.3) { self.dice.random_range(1..3) } else { 0 };
        for client in clients {
            let order = Order { crawl: crawl.clone(), call: call.clone(), trigger: trigger.clone(), again };
            self.orders[client].push((at, order));
        }
    }

    fn call(&mut self, seed: &CrawlUrl) -> Call {
        match self.dice.random_range(0..20) {
            0..=3 => Call::Add(self.definition(seed)),
            4..=6 => Call::Start,
            7 => Call::Change(StatusChange::Pause),
            8 | 9 => Call::Change(StatusChange::Resume),
            10 => Call::Change(StatusChange::Stop),
            11 | 12 => Call::Remove,
            13 => Call::SetSchedule(ScheduleState::Off),
            14 | 15 => Call::SetSchedule(ScheduleState::Paused),
            16..=18 => Call::SetSchedule(ScheduleState::On),
            _ => Call::PutPaused(self.definition(seed)),
        }
    }

    /// When something is due, or shortly before or after that, or any time, but before the end.
    fn moment(&mut self) -> Duration {
        let last = self.length - Duration::from_mins(1);
        let any = Duration::from_secs(self.dice.random_range(0..self.length.as_secs())).min(last);
        if self.dice.random_bool(0.4) {
            return any;
        }
        let shift = Duration::from_secs(self.dice.random_range(0..40));
        let near = self.due.choose(&mut self.dice).map(|due| (*due + shift).saturating_sub(Duration::from_secs(20)));
        near.map_or(any, |near| near.min(last))
    }

    /// A definition unlike any other one of the run.
    fn definition(&mut self, seed: &CrawlUrl) -> Box<Definition> {
        self.count += 1;
        let mut draft = Draft::for_seeds(vec![seed.clone()]);
        draft.politeness.delay = Duration::from_millis(1_000 + self.count as u64);
        if self.dice.random_bool(0.9) {
            let zone =
                if self.dice.random_bool(0.7) { self.zone } else { ZONES[self.dice.random_range(0..ZONES.len())].0 };
            let cron = CRONS.choose(&mut self.dice).expect("there are some");
            let schedule = Schedule::new(cron, zone).expect("it is written above");
            let length = SignedDuration::try_from(self.length).expect("a few days");
            let due = Calendar::of(&schedule).times(self.began, length);
            self.due.extend(due.iter().filter_map(|due| Duration::try_from(due.duration_since(self.began)).ok()));
            draft.schedule = Some(schedule);
        }
        Box::new(Definition::new(draft).expect("a draft of few fields"))
    }

    /// Draws when each ticker looks: every few minutes, twice in a moment, or not for hours.
    fn ticks(&mut self) -> [Vec<Duration>; TICKERS] {
        let mut ticks: [Vec<Duration>; TICKERS] = Default::default();
        let mut at = Duration::ZERO;
        while at < self.length {
            let near = self.due.iter().filter(|due| **due > at).min().copied();
            at = match (self.dice.random_range(0..20), near) {
                (0..=6, Some(due)) => due + Duration::from_secs(self.dice.random_range(0..60)),
                (7..=13, _) => at + Duration::from_secs(self.dice.random_range(60..1_800)),
                (14..=16, _) => at + Duration::from_millis(self.dice.random_range(0..3_000)),
                _ => at + Duration::from_mins(self.dice.random_range(60..400)),
            };
            let ticker = self.dice.random_range(0..TICKERS);
            ticks[ticker].push(at);
            if self.dice.random_bool(0.2) {
                ticks[(ticker + 1) % TICKERS].push(at);
            }
        }
        ticks
    }
}

/// A host of one page or two.
fn host(dice: &mut StdRng, origin: &Origin) -> Host {
    let page = |links| Page {
        kind: PageKind::Html {
            links,
            directive: Directive::None,
            canonical: None,
            revision: Revision::Tagged,
            base: None,
        },
        think: Duration::from_millis(30),
        trouble: None,
        wants: Wants::Nothing,
    };
    let mut pages = BTreeMap::from([("/".to_owned(), page(Vec::new()))]);
    if dice.random_bool(0.3) {
        pages.insert("/".to_owned(), page(vec![origin.url_at("/1").unwrap()]));
        pages.insert("/1".to_owned(), page(Vec::new()));
    }
    let phases = vec![RobotsPhase { from: Duration::ZERO, txt: RobotsTxt::Missing }];
    Host { robots: RobotsPlan { trouble: None, phases }, pages, dies_at: None }
}
