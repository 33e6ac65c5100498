//! Runs of several crawls with schedules over days in which clocks are changed, while clients call
//! for this and that.
//!
//! What becomes of crawls is read from the store after each operation that may change them
//! ([`Watch`]), and judged at the end ([`judge`]).

mod calendar;
mod judge;
mod scenario;
mod watch;
mod workers;

use std::sync::Arc;

use dragline_domain::ids::Iteration;
use dragline_local::LocalStore;
use dragline_pipeline::Timing;
use dragline_ports::frontier::Progress;
use tempfile::TempDir;

use crate::conductor::Conductor;
use crate::invariants::{Invariant, Violation};
use crate::life::{Begins, LifeEnd, live};
use crate::report::{Remains, Report};
use crate::run::fast_disk;
use crate::setup::Setup;
use crate::web::Servers;
use crate::workers::{Memory, Workshop};
use judge::Case;
use scenario::{Call, Home, Scenario};
use workers::Crew;

pub(crate) use watch::Watch;

struct Run {
    setup: Setup,
    scenario: Arc<Scenario>,
    conductor: Arc<Conductor>,
    servers: Arc<Servers>,
    watch: Arc<Watch>,
    directory: TempDir,
    /// `None` while no worker is alive.
    store: Option<LocalStore>,
}

/// Runs a scenario of schedules, and checks the invariants at its end.
pub(crate) fn run(setup: Setup) -> Report {
    let mut run = Run::new(setup);
    let is_over = run.live_until_over();
    run.report(is_over)
}

impl Run {
    fn new(setup: Setup) -> Self {
        let directory = tempfile::Builder::new().prefix("dragline-simulation").tempdir_in(fast_disk()).unwrap();
        let scenario = Scenario::of_seed(setup.seed);
        let conductor = Conductor::of_schedules(setup.seed, setup.plan, scenario.began, scenario.length);
        let servers = Servers::new(vec![scenario.site.clone()], scenario.began);
        let watch = Watch::new(directory.path().to_owned(), scenario.began);
        Self {
            setup,
            scenario: Arc::new(scenario),
            conductor: Arc::new(conductor),
            servers: Arc::new(servers),
            watch: Arc::new(watch),
            directory,
            store: None,
        }
    }

    fn live_until_over(&mut self) -> bool {
        loop {
            match self.live() {
                LifeEnd::Over => return true,
                LifeEnd::NeverEnds => return false,
                LifeEnd::Crashed => {
                    self.conductor.note(format_args!("everything died on a {:?}", self.scenario.home));
                    if self.scenario.home == Home::Machine {
                        self.store = None;
                        self.conductor.with_mail(|mail, _| mail.lose_all());
                    }
                }
            }
        }
    }

    fn live(&mut self) -> LifeEnd {
        let open = || LocalStore::open(self.directory.path(), self.conductor.clock()).unwrap();
        let store = self.store.take().unwrap_or_else(open);
        self.store = Some(store.clone());
        // What was answered is there after a crash.
        self.watch.look_at_all(None, self.conductor.now());
        let workshop = Workshop {
            memory: Arc::new(Memory::of_seed(self.setup.seed)),
            conductor: Arc::clone(&self.conductor),
            store,
            servers: Arc::clone(&self.servers),
            crawl: self.scenario.crawls[0].clone(),
            orders: Vec::new(),
            timing: Timing { parse_wait: self.scenario.parse_wait, ..Timing::default() },
            mutation: self.setup.mutation,
            watch: Some(Arc::clone(&self.watch)),
        };
        let mut crew = Crew { workshop, scenario: Arc::clone(&self.scenario), watch: Arc::clone(&self.watch) };
        live(&self.conductor, async {}, &Crew::workers(), |worker, begins| {
            if begins == Begins::InANewOne {
                crew.workshop.memory = Arc::new(Memory::of_seed(self.setup.seed));
            }
            crew.start(worker)
        })
    }

    fn judge(&self, is_over: bool) -> Vec<Violation> {
        let (history, accesses) = (self.watch.history(), self.servers.accesses());
        let database = LocalStore::open_read_only(self.directory.path()).unwrap();
        let case = Case { scenario: &self.scenario, history: &history, accesses: &accesses, database: &database };
        if is_over {
            return case.judge().unwrap();
        }
        let over = Violation { invariant: Invariant::Over, what: "something stays to be done".to_owned() };
        [vec![over], case.judge_meanwhile()].concat()
    }

    fn report(self, is_over: bool) -> Report {
        let violations = self.judge(is_over);
        let (trace, struck) = self.conductor.story();
        let added = self.scenario.orders[0].iter().find_map(|(_, order)| match &order.call {
            Call::Add(definition) => Some((**definition).clone()),
            _ => None,
        });
        let remains = Remains {
            directory: self.directory,
            accesses: self.servers.accesses(),
            accesses_before: 0,
            unsent: self.servers.unsent(),
            clocks_apart: self.conductor.clocks().apart(),
            clocks_wrong_by: self.conductor.clocks().wrong_by(),
            site: self.servers.site().clone(),
            definition: added.expect("each crawl is added"),
            parse_wait: self.scenario.parse_wait,
            iteration: Iteration::FIRST,
            progress: Progress::default(),
            lost: struck.lost.clone(),
        };
        Report { setup: self.setup, trace, struck, violations, remains }
    }
}
