//! A run: its iterations from command to close, with a new life after each crash.

use std::path::PathBuf;
use std::sync::Arc;

use dragline_domain::definition::Definition;
use dragline_domain::frontier::Task;
use dragline_domain::ids::{Iteration, TriggerId};
use dragline_local::LocalStore;
use dragline_pipeline::Timing;
use dragline_ports::frontier::{Crawls, Iterations, Progress, PutCrawl};
use dragline_ports::queue::{Message, StartCommand};
use jiff::Timestamp;
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::runtime::Builder;

use crate::conductor::Conductor;
use crate::faults::{Plan, Processes, Struck};
use crate::invariants::{
    self, Checked, Deaths, Evidence, Invariant, KnownBefore, ShownBefore, State, Truth, Violation,
};
use crate::life::{Begins, LifeEnd, live};
use crate::mutations::Mutation;
use crate::ports::START;
use crate::report::{Remains, Report};
use crate::scenario::{Kind, Scenario};
use crate::schedules;
use crate::setup::Setup;
use crate::web::{Access, Servers};
use crate::workers::{Memory, Workshop};

/// What survives of a life when everything dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Afterlife {
    /// The queue and the leases. As nobody knows that their holders died, leases run out.
    Cloud,
    /// Only the disk. Opening the directory again voids the leases, and the command is given again.
    Local,
}

/// Runs the scenario of a seed with random faults.
#[must_use]
pub fn simulate(seed: u64) -> Report {
    run(Setup::new(seed, Plan::Random))
}

/// Runs a scenario, and checks the invariants after each iteration.
///
/// # Panics
/// If no data directory can be made.
#[must_use]
pub fn run(setup: Setup) -> Report {
    if Kind::of_seed(setup.seed) == Kind::Scheduled {
        return schedules::run(setup);
    }
    let mut run = Run::new(setup);
    let (mut iteration, mut violations) = (Iteration::FIRST, Vec::new());
    loop {
        violations.extend(run.iteration(iteration).unwrap());
        if iteration.number() == run.scenario.iterations || !violations.is_empty() {
            return run.report(iteration, violations);
        }
        run.servers.publish_next_edition();
        run.conductor.pass_time(run.scenario.pause);
        iteration = iteration.next();
    }
}

struct Run {
    setup: Setup,
    scenario: Scenario,
    conductor: Arc<Conductor>,
    servers: Arc<Servers>,
    /// Requests of earlier iterations.
    accesses_before: usize,
    iteration: Iteration,
    /// What must be shown since the last iteration.
    state: State,
    /// What is shown since the last iteration.
    shown: ShownBefore,
    /// The URLs known at the end of the last iteration.
    known: KnownBefore,
    directory: TempDir,
    /// `None` while no worker is alive.
    store: Option<LocalStore>,
}

impl Run {
    fn new(setup: Setup) -> Self {
        let directory = tempfile::Builder::new().prefix("dragline-simulation").tempdir_in(fast_disk()).unwrap();
        let scenario = Scenario::of_seed(setup.seed);
        let conductor = Arc::new(Conductor::new(setup.seed, setup.plan, scenario.editions[0].seeds.len()));
        let servers = Arc::new(Servers::new(scenario.editions.clone(), START).sending(scenario.sending));
        Self {
            setup,
            scenario,
            conductor,
            servers,
            accesses_before: 0,
            iteration: Iteration::FIRST,
            state: State::default(),
            shown: ShownBefore::default(),
            known: KnownBefore::default(),
            directory,
            store: None,
        }
    }

    fn report(self, iteration: Iteration, violations: Vec<Violation>) -> Report {
        let (trace, struck) = self.conductor.story();
        let definition = self.definition().clone();
        let progress = self.progress(iteration);
        let remains = Remains {
            directory: self.directory,
            accesses: self.servers.accesses(),
            accesses_before: self.accesses_before,
            unsent: self.servers.unsent(),
            clocks_apart: self.conductor.clocks().apart(),
            clocks_wrong_by: self.conductor.clocks().wrong_by(),
            site: self.servers.site().clone(),
            definition,
            parse_wait: self.scenario.parse_wait,
            iteration,
            progress,
            lost: struck.lost.clone(),
        };
        Report { setup: self.setup, trace, struck, violations, remains }
    }

    /// Runs an iteration to its end, and returns the violations.
    fn iteration(&mut self, iteration: Iteration) -> Checked {
        self.iteration = iteration;
        let crawl = self.definition().name.clone();
        let task = self.scenario.task(iteration);
        let command = StartCommand { crawl, trigger: TriggerId(format!("{} {iteration}", task.name())) };
        self.conductor.aim_at(iteration, self.scenario.iterations);
        self.accesses_before = self.servers.accesses().len();
        self.conductor.with_mail(|mail, now| mail.send(Message::Start(command.clone()), now));
        let is_over = self.live_until_over(&command);
        let database = LocalStore::open_read_only(self.directory.path()).unwrap();
        let violations = self.judge(&database, iteration, is_over)?;
        if !is_over {
            return Ok(violations);
        }
        let state = self.judge_state(&database, iteration)?;
        let redelivered = self.redeliver(&database, &command)?;
        Ok([violations, state, redelivered, self.judge_archive(&database, iteration)?].concat())
    }

    /// Finds what is shown, reported or visited otherwise than it should be, where the site changes
    /// from iteration to iteration.
    fn judge_state(&mut self, database: &Connection, iteration: Iteration) -> Checked {
        let number = iteration.number() as usize;
        let Some(rules) = self.scenario.rules.get(number - 1) else { return Ok(Vec::new()) };
        let (struck, accesses) = (self.conductor.struck(), self.servers.accesses());
        let evidence = self.evidence(database, &accesses, &struck, iteration);
        let truth = Truth { editions: &self.scenario.editions[..number], rules, struck: &struck };
        if self.scenario.task(iteration) != Task::Crawl {
            let (violations, state) = invariants::state_is_kept(&evidence, &self.shown, &self.state)?;
            self.state = state;
            return Ok(violations);
        }
        let (mut violations, state) = invariants::state_is_fresh(&evidence, &truth, &self.state)?;
        violations.extend(invariants::never_visited_go_first(&evidence, rules, &self.known)?);
        let (shown, known) = (invariants::shown_now(&evidence)?, invariants::known_urls(&evidence)?);
        (self.state, self.shown, self.known) = (state, shown, known);
        Ok(violations)
    }

    /// The definition of the current iteration.
    fn definition(&self) -> &Definition {
        self.scenario.definition(self.iteration)
    }

    /// Finds orphan objects, once everything is done.
    fn judge_archive(&self, database: &Connection, iteration: Iteration) -> Checked {
        let struck = self.conductor.struck();
        if !struck.only_delayed() {
            return Ok(Vec::new());
        }
        invariants::no_object_is_left(&self.evidence(database, &self.servers.accesses(), &struck, iteration))
    }

    fn evidence<'a>(
        &'a self,
        database: &'a Connection,
        accesses: &'a [Access],
        struck: &'a Struck,
        iteration: Iteration,
    ) -> Evidence<'a> {
        let (directory, definition) = (self.directory.path(), self.definition());
        Evidence {
            database,
            directory,
            accesses,
            accesses_before: self.accesses_before,
            unsent: self.servers.unsent(),
            clocks_apart: self.conductor.clocks().apart(),
            clocks_wrong_by: self.conductor.clocks().wrong_by(),
            definition,
            iteration,
            lost: &struck.lost,
        }
    }

    /// Finds violations in what an iteration left.
    fn judge(&self, database: &Connection, iteration: Iteration, is_over: bool) -> Checked {
        let accesses = self.servers.accesses();
        let struck = self.conductor.struck();
        let evidence = self.evidence(database, &accesses, &struck, iteration);
        let deaths = if struck.faults.is_empty() { Deaths::None } else { Deaths::Some };
        let mut violations = invariants::at_any_time(&evidence, deaths)?;
        if !is_over {
            violations.push(Violation { invariant: Invariant::Over, what: "the iteration stays open".to_owned() });
            return Ok(violations);
        }
        let progress = self.progress(iteration);
        violations.extend(invariants::at_the_end(&evidence, &progress)?);
        violations.extend(invariants::stuck_only_by_deaths(&evidence, &progress, &struck)?);
        violations.extend(invariants::the_end_is_told(iteration, &self.conductor.told()));
        if !self.scenario.is_cut_short() {
            violations.extend(invariants::who_is_given_up_leaves_nothing(&evidence)?);
        }
        violations.extend(self.judge_links(&evidence, &progress, &struck)?);
        let gave_up = invariants::gaps(&evidence)? > 0
            || progress.parser.stuck > 0
            || struck.broke_a_connection()
            || !struck.lost.is_empty();
        if self.scenario.finds_everything() && !gave_up {
            violations.extend(invariants::everything_in_reach_is_found(&evidence, self.servers.site())?);
        }
        Ok(violations)
    }

    /// Finds links, seeds and origins that got lost, were not counted, or are too many.
    fn judge_links(&self, evidence: &Evidence<'_>, progress: &Progress, struck: &Struck) -> Checked {
        if !invariants::are_judged(evidence) {
            return Ok(Vec::new());
        }
        let site = self.servers.site();
        let mut found = [
            invariants::every_link_is_recorded(evidence, site, self.scenario.links_bytes as usize)?,
            invariants::pages_lead_to_few_origins(evidence, site)?,
            invariants::few_origins_are_opened(evidence, struck)?,
            invariants::links_are_counted(evidence, progress)?,
        ]
        .concat();
        // A stop comes before some seeds are claimed, and so does the end of an origin whose pages
        // are stuck before what they lead to.
        if self.scenario.kind != Kind::Stopped && progress.parser.stuck == 0 {
            found.extend(invariants::seeds_and_joined_are_claimed(evidence)?);
        }
        Ok(found)
    }

    fn progress(&self, iteration: Iteration) -> Progress {
        let runtime = Builder::new_current_thread().build().unwrap();
        let Some(store) = &self.store else { return Progress::default() };
        // Asked through the defect, if there is one, to compare what is shown with what is stored.
        let frontier = dragline_testkit::mutants::MutantFrontier::new(
            store.frontier(),
            self.setup.mutation.and_then(Mutation::of_frontier),
        );
        runtime.block_on(frontier.progress(&self.definition().name, iteration)).unwrap()
    }

    /// Delivers every message ever sent again, and returns what that changed.
    fn redeliver(&mut self, database: &Connection, command: &StartCommand) -> Checked {
        let before = invariants::snapshot(database)?;
        self.conductor.deliver_all_again();
        let violations = if self.live_until_over(command) {
            invariants::redelivery_changes_nothing(&before, &invariants::snapshot(database)?)
        } else {
            vec![Violation {
                invariant: Invariant::RedeliveryChangesNothing,
                what: "redelivery does not end".to_owned(),
            }]
        };
        self.conductor.let_faults_strike();
        Ok(violations)
    }

    /// Runs one life after another. Returns whether the iteration ends.
    fn live_until_over(&mut self, command: &StartCommand) -> bool {
        loop {
            match self.live() {
                LifeEnd::Over => return true,
                LifeEnd::NeverEnds => return false,
                LifeEnd::Crashed => {
                    let is_cloud =
                        self.conductor.draw(0.5) && Processes::of(self.conductor.clocks()) == Processes::Several;
                    let afterlife = if is_cloud { Afterlife::Cloud } else { Afterlife::Local };
                    self.conductor.note(format_args!("everything died; {afterlife:?}"));
                    if afterlife == Afterlife::Local {
                        self.store = None;
                        self.conductor.with_mail(|mail, now| {
                            mail.lose_all();
                            mail.send(Message::Start(command.clone()), now);
                        });
                    }
                }
            }
        }
    }

    fn open(&self) -> LocalStore {
        let now = match self.setup.mutation {
            Some(Mutation::DelayForgottenAfterDeath) => Timestamp::UNIX_EPOCH,
            _ => self.conductor.clock(),
        };
        LocalStore::open(self.directory.path(), now).unwrap()
    }

    /// Runs one life: the workers work until everything is done or dies.
    fn live(&mut self) -> LifeEnd {
        let store = self.store.take().unwrap_or_else(|| self.open());
        self.store = Some(store.clone());
        let mut workshop = Workshop {
            memory: Arc::new(Memory::of_seed(self.setup.seed)),
            conductor: Arc::clone(&self.conductor),
            store,
            servers: Arc::clone(&self.servers),
            crawl: self.definition().name.clone(),
            orders: self.scenario.orders.clone(),
            timing: Timing {
                parse_wait: self.scenario.parse_wait,
                claims: self.scenario.claims,
                links_bytes: self.scenario.links_bytes,
                walk: self.scenario.walk,
                ..Timing::default()
            },
            mutation: self.setup.mutation,
            watch: None,
        };
        let (store, workers) = (workshop.store.clone(), workshop.workers());
        live(&self.conductor, self.define(&store), &workers, |worker, begins| {
            if begins == Begins::InANewOne {
                workshop.memory = Arc::new(Memory::of_seed(self.setup.seed));
            }
            workshop.start(worker)
        })
    }

    /// Puts the crawl's definition; lives after the first find it stored. Where definitions change,
    /// the first life of an iteration puts its own.
    async fn define(&self, store: &LocalStore) {
        let (frontier, definition) = (store.frontier(), self.definition());
        let stored = frontier.load_crawl(&definition.name).await.unwrap();
        let seen = match stored {
            Some(row) if !self.scenario.rules.is_empty() && row.definition != *definition => Some(row.version),
            _ => None,
        };
        frontier.put_crawl(&PutCrawl { definition: definition.clone(), seen, next: None }).await.unwrap();
    }
}

/// A file system in memory, if there is one, as nothing outlives the test.
pub(crate) fn fast_disk() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}
