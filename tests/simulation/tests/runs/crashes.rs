//! A crash before and after every port operation of one run, which has two iterations.

use dragline_simulation::{Plan, Setup, Side, run};

/// The run in which each operation is struck in turn.
const SEED: u64 = 34;

/// Crashes a run at each operation, checks that each was struck, and returns how many there are.
fn crash_at_every_operation(side: Side) -> usize {
    let clean = run(Setup::new(SEED, Plan::Clean));
    let operations = clean.struck.operations;
    assert!(operations > 200, "too short a run to show anything: {operations}");
    for at in 0..operations {
        let report = run(Setup::new(SEED, Plan::CrashAt(at, side)));
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
