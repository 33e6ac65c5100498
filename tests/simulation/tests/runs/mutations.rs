//! The invariants find deliberate defects.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use dragline_simulation::invariants::Invariant;
use dragline_simulation::{Kind, Mutation, Plan, Setup, run};

/// How many seeds to try before a defect counts as not found.
const SEEDS: usize = 2_000;

/// The same, of runs about schedules, each of which takes longer.
const SEEDS_OF_SCHEDULES: usize = 30;

/// Seeds that show what few others do, tried first, as searching takes minutes. When sites or runs
/// are drawn differently, other seeds show it, and the test prints which.
const RARE: [u64; 8] = [1_217, 786, 269, 160, 77, 75, 56, 1_312];

/// The page that lists which invariant finds which defect.
const PAGE: &str = include_str!("../../../../docs/internals/simulation.md");

/// The first seed whose run violates the invariant, or else the invariants that those runs
/// violated.
fn first_caught(mutation: Mutation, expected: Invariant) -> Result<u64, BTreeSet<Invariant>> {
    let mut others = BTreeSet::new();
    // Each of the others is caught where there are no schedules.
    let is_of_schedules = expected >= Invariant::SchedulesKept;
    let seeds = RARE.into_iter().chain(0..);
    let seeds = seeds.filter(|seed| (Kind::of_seed(*seed) == Kind::Scheduled) == is_of_schedules);
    for seed in seeds.take(if is_of_schedules { SEEDS_OF_SCHEDULES } else { SEEDS }) {
        let report = run(Setup { seed, plan: Plan::Random, mutation: Some(mutation) });
        let violated: BTreeSet<Invariant> = report.violations.iter().map(|violation| violation.invariant).collect();
        if violated.contains(&expected) {
            return Ok(seed);
        }
        others.extend(violated);
    }
    Err(others)
}

#[test]
fn every_mutation_is_caught_by_its_invariant() {
    let (next, missed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(&(mutation, expected)) = Mutation::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match first_caught(mutation, expected) {
                        Ok(seed) => println!("{mutation}: {expected:?}, seed {seed}"),
                        Err(others) => {
                            let line = format!("{mutation} violates {others:?} in {SEEDS} seeds, not {expected:?}");
                            println!("{line}");
                            missed.lock().unwrap().push(line);
                        }
                    }
                }
            });
        }
    });
    assert_eq!(missed.into_inner().unwrap(), [""; 0]);
}

#[test]
fn the_page_lists_every_mutation_with_what_catches_it() {
    for (mutation, invariant) in Mutation::ALL {
        let cells = format!("| `{mutation}` | `{invariant:?}` |");
        assert!(PAGE.contains(&cells), "docs/internals/simulation.md lacks {cells}");
    }
    assert_eq!(PAGE.matches("\n| `").count(), Mutation::ALL.len() + 22, "and lists nothing else but the invariants");
}
