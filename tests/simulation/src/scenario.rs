//! The scenario of a run: a site, how it is crawled, and the commands given meanwhile, all drawn
//! from the seed.

use std::time::Duration;

use dragline_domain::definition::{Definition, Draft, OtherHosts, Recrawl, RecrawlWord, RenderWhen, Soft404, Within};
use dragline_domain::frontier::{ClaimLimits, Selection, StatusChange, Task};
use dragline_domain::ids::Iteration;
use dragline_pipeline::Timing;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use crate::rules::Rules;
use crate::web::{Sending, Site};

/// The delay between requests to an origin.
const DELAY: Duration = Duration::from_secs(1);

/// The delay of some runs: longer than a turn waits, and than a robots.txt is valid there.
const LONG_DELAY: Duration = Duration::from_secs(60);

/// How many iterations a site that changes has.
const EDITIONS: u32 = 5;

/// The shortest pause between two of them: longer than a robots.txt is valid there.
const EDITIONS_PAUSE_S: u64 = 300;

/// The kind of a run, decided by the last digit of its seed, and by the one before it if the last
/// one is 1 or 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One iteration. 0, and 2 after 0, 2, 5 and 7.
    Once,
    /// Five iterations over a site that changes. 1 after 0, 3, 6 and 9.
    Editions,
    /// The same, with rules that change in between. 1 after 1, 4 and 7.
    Redefined,
    /// Five iterations over a site that changes, each with a budget too small for it. 1 after 2, 5
    /// and 8.
    Rationed,
    /// One iteration over pages of too many links, within budgets of origins and sometimes of
    /// pages. 2 after 1 and 6.
    ManyLinks,
    /// One iteration of many seeds, many of which moved. 2 after 3 and 8.
    ManySeeds,
    /// Several crawls with schedules, and calls about them. 2 after 4 and 9.
    Scheduled,
    /// One iteration over several origins, limited to a few links deep. 3.
    Shallow,
    /// Two iterations, with some pages changed in between. 4.
    Twice,
    /// One iteration that is stopped. 5.
    Stopped,
    /// One iteration that is paused and later resumed. 6.
    Paused,
    /// One iteration with this page budget. 7.
    PageBudget,
    /// One iteration with this page budget for each origin. 8.
    OriginBudget,
    /// One iteration in which origins stop answering. 9.
    DyingOrigins,
}

impl Kind {
    /// The kind of a seed's run.
    #[must_use]
    pub const fn of_seed(seed: u64) -> Self {
        match seed % 10 {
            1 => match seed / 10 % 10 % 3 {
                0 => Self::Editions,
                1 => Self::Redefined,
                _ => Self::Rationed,
            },
            2 => match seed / 10 % 5 {
                1 => Self::ManyLinks,
                3 => Self::ManySeeds,
                4 => Self::Scheduled,
                _ => Self::Once,
            },
            0 => Self::Once,
            3 => Self::Shallow,
            4 => Self::Twice,
            5 => Self::Stopped,
            6 => Self::Paused,
            7 => Self::PageBudget,
            8 => Self::OriginBudget,
            _ => Self::DyingOrigins,
        }
    }

    /// Whether its site changes from iteration to iteration.
    #[must_use]
    pub const fn has_editions(self) -> bool {
        matches!(self, Self::Editions | Self::Redefined | Self::Rationed)
    }
}

/// A command for a running iteration.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    /// Changes its status.
    Change(StatusChange),
    /// Puts a definition with other URLs for the next iteration, which must not affect this one.
    Redefine(Box<Definition>),
}

/// A site, how it is crawled, and the commands given meanwhile.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) kind: Kind,
    /// The site in each of its editions; the last one stays.
    pub(crate) editions: Vec<Site>,
    /// The definition of each iteration; the last one stays.
    definitions: Vec<Definition>,
    /// The rules in them, where they change.
    pub(crate) rules: Vec<Rules>,
    pub(crate) iterations: u32,
    /// Whether pages come whole, or are made by scripts.
    pub(crate) sending: Sending,
    /// The iteration that makes documents again in place of visiting anything; `None` if all crawl.
    pub(crate) reparse: Option<Iteration>,
    /// The commands, and when each is given, counted from the beginning of the run.
    pub(crate) orders: Vec<(Duration, Order)>,
    /// From the end of an iteration to the beginning of the next.
    pub(crate) pause: Duration,
    /// How long turns wait for parses: not at all, as in one process, or for a while, as on AWS.
    pub(crate) parse_wait: Duration,
    /// How many URLs may wait where there is a budget of pages.
    pub(crate) claims: ClaimLimits,
    /// How much the links of a segment may take.
    pub(crate) links_bytes: u32,
    /// How long steps may walk origins: without limit, as in one process, or one origin at a time.
    pub(crate) walk: Option<Duration>,
}

impl Scenario {
    pub(crate) fn of_seed(seed: u64) -> Self {
        let kind = Kind::of_seed(seed);
        // Separate from the site, which draws from the seed itself.
        let mut dice = StdRng::seed_from_u64(seed.rotate_left(32));
        let is_rationed = kind == Kind::ManyLinks && dice.random_bool(0.4);
        let mut editions = match kind {
            Kind::Editions | Kind::Redefined | Kind::Rationed => Site::editions(seed, EDITIONS as usize),
            Kind::Shallow => vec![Site::spread(seed)],
            Kind::ManyLinks => vec![Site::of_many_links(seed, is_rationed)],
            Kind::ManySeeds => vec![Site::of_many_seeds(seed)],
            _ => vec![Site::generate(seed)],
        };
        let mut draft = Draft::for_seeds(editions[0].seeds.clone());
        draft.politeness.delay = DELAY;
        draft.politeness.patience = Duration::from_secs(20);
        draft.politeness.hosts_per_domain = if (seed / 40).is_multiple_of(2) { 1 } else { 2 };
        // Drawn apart, so that all else is as it would be without.
        if StdRng::seed_from_u64(seed.rotate_left(16)).random_bool(0.3) {
            draft.soft_404 = Soft404::Detect;
        }
        let sending = if StdRng::seed_from_u64(seed.rotate_left(8)).random_bool(0.25) {
            draft.render.when = RenderWhen::Always;
            draft.render.other_hosts = OtherHosts::All;
            Sending::Shell
        } else {
            Sending::Whole
        };
        let (mut iterations, mut orders) = (1, Vec::new());
        let moment = |dice: &mut StdRng| Duration::from_millis(dice.random_range(0..30_000));
        match kind {
            Kind::Once | Kind::Scheduled => {}
            Kind::Editions | Kind::Redefined | Kind::Rationed => {
                iterations = EDITIONS;
                draft.politeness.robots_max_age = LONG_DELAY;
                draft.recrawl = recrawl(&mut dice);
                if kind == Kind::Rationed && dice.random_bool(0.7) {
                    draft.budget.pages = Some(dice.random_range(2..=7));
                } else if kind == Kind::Rationed {
                    draft.budget.pages_per_origin = Some(dice.random_range(2..=5));
                }
            }
            Kind::ManyLinks => {
                draft.scope.within = Within::Domain;
                if dice.random_bool(0.7) {
                    draft.budget.origins_per_page = dice.random_range(1..=5);
                }
                if dice.random_bool(0.5) {
                    draft.budget.origins = dice.random_range(1..=3);
                }
                draft.budget.pages = is_rationed.then(|| dice.random_range(5..30));
            }
            Kind::ManySeeds => {
                if dice.random_bool(0.3) {
                    draft.budget.origins = dice.random_range(1..=6);
                }
            }
            Kind::Shallow => draft.scope.max_depth = Some(dice.random_range(1..=3)),
            Kind::Twice => iterations = 2,
            Kind::Stopped => orders.push((moment(&mut dice), Order::Change(StatusChange::Stop))),
            Kind::Paused => {
                let (pause, wait) = (moment(&mut dice), Duration::from_secs(dice.random_range(1..600)));
                let changes = [(pause, StatusChange::Pause), (pause + wait, StatusChange::Resume)];
                orders.extend(changes.map(|(at, change)| (at, Order::Change(change))));
            }
            Kind::PageBudget => draft.budget.pages = Some(dice.random_range(1..12)),
            Kind::OriginBudget => draft.budget.pages_per_origin = Some(dice.random_range(1..6)),
            Kind::DyingOrigins => {
                for host in editions.iter_mut().flat_map(|site| site.hosts.values_mut()) {
                    host.dies_at = dice.random_bool(0.6).then(|| moment(&mut dice));
                }
            }
        }
        if dice.random_bool(0.1) {
            draft.politeness.delay = LONG_DELAY;
            draft.politeness.robots_max_age = LONG_DELAY;
        }
        if iterations == 1 && dice.random_bool(0.2) {
            let mut other = draft.clone();
            other.seeds.truncate(1);
            other.scope.max_depth = Some(0);
            let other = Definition::new(other).expect("a draft of few fields");
            orders.insert(0, (Duration::from_millis(dice.random_range(0..3_000)), Order::Redefine(Box::new(other))));
        }
        let pause_min_s = if kind.has_editions() { EDITIONS_PAUSE_S } else { 0 };
        let pause = Duration::from_secs(dice.random_range(pause_min_s..7_200));
        let mut rules = if kind.has_editions() { Rules::of(kind, &mut dice, &editions) } else { Vec::new() };
        let reparse = reparse_in(seed, kind);
        if let Some(reparse) = reparse {
            // Nobody looks at the site meanwhile, and the rules stay.
            let place = reparse.number() as usize - 1;
            editions[place] = editions[place - 1].clone();
            rules[place] = rules[place - 1].clone();
        }
        let definition = |draft| Definition::new(draft).expect("a draft of few fields");
        let definitions = match rules.as_slice() {
            [] => vec![definition(draft)],
            rules => rules.iter().map(|rules| definition(rules.put_into(draft.clone()))).collect(),
        };
        let parse_wait = Duration::from_secs(if dice.random_bool(0.5) { 15 } else { 0 });
        let claims = if (kind == Kind::PageBudget || is_rationed) && dice.random_bool(0.7) {
            ClaimLimits { waiting_per_page: dice.random_range(0..3), waiting_min: dice.random_range(1..8) }
        } else {
            ClaimLimits::default()
        };
        let links_bytes = if kind == Kind::ManyLinks && dice.random_bool(0.5) {
            dice.random_range(1_000..60_000)
        } else {
            Timing::default().links_bytes
        };
        let walk = dice.random_bool(0.4).then_some(Duration::ZERO);
        Self {
            kind,
            editions,
            definitions,
            rules,
            iterations,
            sending,
            reparse,
            orders,
            pause,
            parse_wait,
            claims,
            links_bytes,
            walk,
        }
    }

    /// What an iteration does.
    pub(crate) fn task(&self, iteration: Iteration) -> Task {
        if self.reparse == Some(iteration) { Task::Reparse(Selection::All) } else { Task::Crawl }
    }

    /// The definition of an iteration.
    pub(crate) fn definition(&self, iteration: Iteration) -> &Definition {
        let number = iteration.number() as usize;
        self.definitions.get(number - 1).or(self.definitions.last()).expect("there is a definition")
    }

    /// Whether a stop or a page budget for all origins ends iterations before everything has its
    /// turn.
    pub(crate) fn is_cut_short(&self) -> bool {
        self.kind == Kind::Stopped || self.definitions.iter().any(|definition| definition.budget.pages.is_some())
    }

    /// Whether everything that links lead to is found if nothing goes wrong. Where the site
    /// changes, what is shown is checked instead.
    pub(crate) fn finds_everything(&self) -> bool {
        match self.kind {
            Kind::Once | Kind::ManySeeds | Kind::Shallow | Kind::Twice | Kind::Paused => true,
            // Which origins are opened first, and which pages share a segment, is left to chance.
            Kind::ManyLinks => {
                let is_limited =
                    |definition: &Definition| definition.budget.origins < Draft::for_seeds(Vec::new()).budget.origins;
                !self.is_cut_short()
                    && !self.definitions.iter().any(is_limited)
                    && self.links_bytes == Timing::default().links_bytes
            }
            Kind::Stopped
            | Kind::PageBudget
            | Kind::Scheduled
            | Kind::OriginBudget
            | Kind::DyingOrigins
            | Kind::Editions
            | Kind::Redefined
            | Kind::Rationed => false,
        }
    }
}

/// The iteration that makes documents again, in half of all runs over a site that changes.
fn reparse_in(seed: u64, kind: Kind) -> Option<Iteration> {
    let mut dice = StdRng::seed_from_u64(!seed);
    let place = kind.has_editions() && dice.random_bool(0.5);
    place.then(|| dice.random_range(2..=EDITIONS)).and_then(Iteration::new)
}

/// When known pages are due again: some in every iteration, some in every other.
fn recrawl(dice: &mut StdRng) -> Recrawl {
    let policy = *[None, Some(RecrawlWord::Fixed), Some(RecrawlWord::Adaptive)].choose(dice).expect("not empty");
    let interval = policy.map(|_| Duration::from_mins(dice.random_range(60..300)));
    Recrawl { policy, interval, ..Recrawl::default() }
}
