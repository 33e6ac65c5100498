//! A crash before and after every port operation of one run, which has two iterations.

use dragline_simulation::{Plan, Setup, Side, run};

/// The run whose every operation is struck.
const SEED: u64 = 34;

/// Crashes at each operation, sees that each was struck, and says how many there are.
fn crash_at_every_operation(side: Side) -> usize {
    let clean = run(Setup::new(SEED, Plan::Clean));
    let operations = clean.struck.operations;
    assert!(operations > 200, "the run is long enough to say something: {operations}");
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
