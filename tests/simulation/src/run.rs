//! A run: an iteration from its command to its close, through as many lives as there are crashes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dragline_domain::definition::{Definition, Draft};
use dragline_domain::ids::TriggerId;
use dragline_domain::time::after;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_local::LocalStore;
use dragline_pipeline::ports::frontier::{Frontier, PutCrawl};
use dragline_pipeline::ports::queue::{Message, StartCommand};
use tokio::runtime::Builder;

use crate::checks::{Violation, check};
use crate::conductor::{Conductor, Next};
use crate::faults::{Faults, Plan, Struck};
use crate::mutations::Mutation;
use crate::ports::START;
use crate::site::{HOSTS, Site};
use crate::trace::Trace;
use crate::workers::{WORKERS, Workshop};

/// The delay between requests to an origin.
pub(crate) const DELAY: Duration = Duration::from_secs(1);

/// What to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setup {
    /// Draws the site, the order of things, and the faults.
    pub seed: u64,
    /// What befalls it.
    pub plan: Plan,
    /// Which defect it has.
    pub mutation: Option<Mutation>,
}

/// How a run went.
#[derive(Clone, Debug)]
pub struct Report {
    /// The seed.
    pub seed: u64,
    /// What happened.
    pub trace: Trace,
    /// What befell it.
    pub struck: Struck,
    /// Which invariants do not hold.
    pub violations: Vec<Violation>,
}

impl Report {
    /// # Panics
    /// If an invariant is violated: with all that is needed to look into it.
    pub fn assert_holds(&self) {
        assert!(
            self.violations.is_empty(),
            "seed {} violates {:#?}\n{}\nAgain: DRAGLINE_SEED={} cargo nextest run -p dragline-simulation one_seed",
            self.seed,
            self.violations,
            self.trace.end(),
            self.seed
        );
    }
}

/// What of a life is left when everything died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Afterlife {
    /// The queue and the leases: nobody knows who holds them, so they run out.
    Cloud,
    /// Nothing but the disk. Whoever opens the directory next voids the leases, and the command is given again.
    Local,
}

enum LifeEnd {
    Over,
    Crashed,
    NeverEnds,
}

/// Runs a random site with random faults.
#[must_use]
pub fn simulate(seed: u64) -> Report {
    run(Setup { seed, plan: Plan::Random { odds: 0.04, faults_max: 25 }, mutation: None })
}

/// Runs an iteration, and checks what came of it.
///
/// # Panics
/// If the machine gives no room for a data directory.
#[must_use]
pub fn run(setup: Setup) -> Report {
    let directory = tempfile::Builder::new().prefix("dragline-simulation").tempdir_in(fast_disk()).unwrap();
    let conductor = Arc::new(Conductor::new(setup.seed, Faults::new(setup.plan)));
    let site = Arc::new(Site::generate(setup.seed));
    let definition = definition();
    let command = StartCommand { crawl: definition.name.clone(), trigger: TriggerId("trigger".to_owned()) };
    let mut store = Some(open(directory.path(), &conductor));
    conductor.with_mail(|mail, now| mail.send(Message::Start(command.clone()), now));
    let mut violations = Vec::new();
    loop {
        let workshop = Workshop {
            conductor: Arc::clone(&conductor),
            store: store.clone().unwrap(),
            site: Arc::clone(&site),
            crawl: definition.name.clone(),
            mutation: setup.mutation,
        };
        match live(&workshop, &definition) {
            LifeEnd::Over => break,
            LifeEnd::NeverEnds => {
                violations.push(Violation::never_closes());
                break;
            }
            LifeEnd::Crashed => {
                drop(workshop);
                conductor.forget_the_parked();
                let afterlife = if conductor.draw(0.5) { Afterlife::Cloud } else { Afterlife::Local };
                conductor.note(format_args!("everything died; {afterlife:?}"));
                if afterlife == Afterlife::Local {
                    drop(store.take());
                    conductor.with_mail(|mail, now| {
                        mail.lose_all();
                        mail.send(Message::Start(command.clone()), now);
                    });
                    store = Some(open(directory.path(), &conductor));
                }
            }
        }
    }
    drop(store);
    let (trace, struck) = conductor.story();
    violations.extend(check(directory.path(), &site, &struck));
    Report { seed: setup.seed, trace, struck, violations }
}

fn open(directory: &Path, conductor: &Conductor) -> LocalStore {
    LocalStore::open(directory, after(START, conductor.now())).unwrap()
}

/// A disk in memory, where there is one: nothing here survives the test, so nothing need reach a real one.
fn fast_disk() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}

fn definition() -> Definition {
    let seeds = HOSTS.map(|host| CrawlUrl::parse(&format!("{host}/"), &UrlRules::default()).unwrap());
    let mut draft = Draft::for_seeds(seeds.into());
    draft.politeness.delay = DELAY;
    Definition::new(draft).unwrap()
}

/// One life: workers that work until everything is done, or dies.
fn live(workshop: &Workshop, definition: &Definition) -> LifeEnd {
    let conductor = &workshop.conductor;
    let hook = Arc::clone(conductor);
    let runtime = Builder::new_current_thread().on_thread_park(move || hook.thread_parks()).build().unwrap();
    runtime.block_on(async {
        // A life that is not the first finds it there.
        let put = PutCrawl { definition: definition.clone(), seen: None, next: None };
        workshop.store.frontier().put_crawl(&put).await.unwrap();
        let mut tasks = WORKERS.map(|worker| (worker, workshop.start(worker)));
        loop {
            conductor.quiet().await;
            match conductor.next() {
                Next::GoesOn => {}
                Next::Over => return LifeEnd::Over,
                Next::Crashed => return LifeEnd::Crashed,
                Next::NeverEnds => return LifeEnd::NeverEnds,
                Next::Died(worker) => {
                    let Some((_, task)) = tasks.iter_mut().find(|(of, _)| *of == worker) else { continue };
                    task.abort();
                    let _dead = (&mut *task).await;
                    *task = workshop.start(worker);
                }
            }
        }
    })
}
