//! The simulation's runs.

use dragline_simulation::{Plan, Setup, run, simulate};

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
