//! The simulation's runs.

use std::collections::BTreeSet;

use dragline_simulation::{Invariant, Mutation, Plan, Setup, Side, run, simulate};

#[test]
fn a_crawl_without_faults_holds_every_invariant() {
    for seed in 0..20 {
        let report = run(Setup { seed, plan: Plan::Clean, mutation: None });
        report.assert_holds();
        assert!(report.struck.faults.is_empty(), "nothing was to befall it: {:?}", report.struck);
    }
}

#[test]
fn one_seed() {
    let seed = std::env::var("DRAGLINE_SEED").ok().map_or(1, |seed| seed.parse().expect("a number"));
    let report = simulate(seed);
    report.assert_holds();
}

fn seeds(from: u64, to: u64) {
    let mut struck = 0;
    for seed in from..to {
        let report = simulate(seed);
        report.assert_holds();
        struck += report.struck.faults.len();
    }
    assert!(struck > 0, "no fault struck in any run");
}

#[test]
fn random_faults_violate_nothing_1() {
    seeds(0, 50);
}

#[test]
fn random_faults_violate_nothing_2() {
    seeds(1000, 1050);
}

#[test]
fn a_seed_gives_the_same_trace_again() {
    for seed in 0..5 {
        let (first, second) = (simulate(seed), simulate(seed));
        let at = first.trace.lines().iter().zip(second.trace.lines()).position(|(a, b)| a != b);
        assert_eq!(first.trace.lines().len(), second.trace.lines().len(), "seed {seed}: first difference at {at:?}");
        assert_eq!(at, None, "seed {seed}");
    }
}

/// The run whose every operation is struck.
const CRASHED_SEED: u64 = 2;

/// How many operations were struck.
fn crash_at_every_operation(side: Side) -> usize {
    let clean = run(Setup { seed: CRASHED_SEED, plan: Plan::Clean, mutation: None });
    let operations = clean.struck.operations;
    assert!(operations > 100, "the run is long enough to say something: {operations}");
    for at in 0..operations {
        let report = run(Setup { seed: CRASHED_SEED, plan: Plan::CrashAt(at, side), mutation: None });
        let crashes: usize = report.struck.faults.values().sum();
        assert_eq!(crashes, 1, "operation {at} of {operations} was struck");
        report.assert_holds();
    }
    operations
}

#[test]
fn a_crash_before_any_operation_costs_nothing() {
    println!("struck {} operations", crash_at_every_operation(Side::Before));
}

#[test]
fn a_crash_after_any_operation_costs_nothing() {
    println!("struck {} operations", crash_at_every_operation(Side::After));
}

#[test]
fn every_mutation_is_caught_by_its_invariant() {
    for (mutation, expected) in [
        (Mutation::ClaimNotChecked, Invariant::NoUrlTwice),
        (Mutation::LogForgotten, Invariant::NoUrlLost),
        (Mutation::ParseNotCommitted, Invariant::ClosesWhenDone),
        (Mutation::WakeUpLeftOut, Invariant::ClosesWhenDone),
        (Mutation::ChunkConsumedTwice, Invariant::NoUrlTwice),
        (Mutation::LeaseTakenEarly, Invariant::DelayKept),
        (Mutation::RobotsFailurePermits, Invariant::RobotsObeyed),
        (Mutation::ParseNotCounted, Invariant::ProgressEqualsLog),
        (Mutation::OpenTokenKept, Invariant::ClosesWhenDone),
    ] {
        const SEEDS: u64 = 40;
        let plan = Plan::Random { odds: 0.04, faults_max: 25 };
        let mut others = BTreeSet::new();
        let caught = (0..SEEDS).find(|&seed| {
            let report = run(Setup { seed, plan, mutation: Some(mutation) });
            others.extend(report.violations.iter().map(|violation| violation.invariant));
            report.violations.iter().any(|violation| violation.invariant == expected)
        });
        assert!(caught.is_some(), "{mutation:?} violates {others:?} in {SEEDS} seeds, not {expected:?}");
        println!("{mutation:?}: {expected:?}, seed {caught:?}");
    }
}
