//! Runs with faults drawn from their seed, whose last digits decide on the scenario.

use dragline_simulation::{Kind, Plan, Setup, run, simulate};

/// How many seeds of each last digit to run, unless `DRAGLINE_SEEDS` is set.
const SEEDS: usize = 200;

/// Runs seeds with this last digit.
fn hold(digit: u64, kind: Kind) {
    hold_all((0..).map(|n| 10 * n + digit), count(), kind);
}

/// Runs the seeds of a kind with this last digit, which others have, too.
fn hold_some(digit: u64, kind: Kind) {
    hold_all(drawn_seeds(digit, kind), count(), kind);
}

/// Runs half as many seeds of a kind whose sites are larger than others.
fn hold_half(digit: u64, kind: Kind) {
    hold_all(drawn_seeds(digit, kind), count().div_ceil(2), kind);
}

fn drawn_seeds(digit: u64, kind: Kind) -> impl Iterator<Item = u64> {
    (0..).map(move |n| 10 * n + digit).filter(move |seed| Kind::of_seed(*seed) == kind)
}

fn count() -> usize {
    std::env::var("DRAGLINE_SEEDS").ok().map_or(SEEDS, |count| count.parse().expect("a number"))
}

fn hold_all(seeds: impl Iterator<Item = u64>, count: usize, kind: Kind) {
    let mut struck = 0;
    for seed in seeds.take(count) {
        assert_eq!(Kind::of_seed(seed), kind);
        let report = simulate(seed);
        report.assert_holds();
        struck += report.struck.faults.len();
    }
    assert!(struck > 0, "no fault struck in any run");
}

#[test]
fn an_iteration_holds_under_faults_0() {
    hold(0, Kind::Once);
}

#[test]
fn a_changing_site_holds_under_faults() {
    hold_some(1, Kind::Editions);
}

#[test]
fn a_changing_definition_holds_under_faults() {
    hold_some(1, Kind::Redefined);
}

#[test]
fn a_changing_site_with_budgets_holds_under_faults() {
    hold_some(1, Kind::Rationed);
}

#[test]
fn an_iteration_holds_under_faults_2() {
    hold_some(2, Kind::Once);
}

#[test]
fn pages_of_too_many_links_hold_under_faults() {
    hold_half(2, Kind::ManyLinks);
}

#[test]
fn an_iteration_of_many_seeds_holds_under_faults() {
    hold_half(2, Kind::ManySeeds);
}

#[test]
fn schedules_and_calls_hold_under_faults() {
    // A run is of two days, and takes as long as some twenty others.
    hold_all(drawn_seeds(2, Kind::Scheduled), count().div_ceil(20), Kind::Scheduled);
}

#[test]
fn a_shallow_iteration_holds_under_faults() {
    hold(3, Kind::Shallow);
}

#[test]
fn a_second_iteration_holds_under_faults() {
    hold(4, Kind::Twice);
}

#[test]
fn a_stopped_iteration_holds_under_faults() {
    hold(5, Kind::Stopped);
}

#[test]
fn a_paused_iteration_holds_under_faults() {
    hold(6, Kind::Paused);
}

#[test]
fn an_iteration_with_a_page_budget_holds_under_faults() {
    hold(7, Kind::PageBudget);
}

#[test]
fn an_iteration_with_budgets_of_origins_holds_under_faults() {
    hold(8, Kind::OriginBudget);
}

#[test]
fn an_iteration_whose_origins_die_holds_under_faults() {
    hold(9, Kind::DyingOrigins);
}

#[test]
fn a_run_without_faults_holds() {
    let mut unchanged = 0;
    for seed in 0..100 {
        let report = run(Setup::new(seed, Plan::Clean));
        report.assert_holds();
        assert!(report.struck.faults.is_empty(), "a clean run has no faults: {:?}", report.struck);
        let responses = report.remains.accesses.iter().filter_map(|access| access.response());
        unchanged += responses.filter(|response| response.status == 304).count();
    }
    assert!(unchanged > 0, "no page of any second iteration was asked for conditionally");
}
