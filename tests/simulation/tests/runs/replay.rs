//! Replaying a run exactly.

use dragline_simulation::{Mutation, Plan, Setup, Side, run};

/// The run that `DRAGLINE_RUN` names, with its whole trace.
#[test]
fn one_run() {
    let text = std::env::var("DRAGLINE_RUN").unwrap_or_else(|_| "1".to_owned());
    let report = run(text.parse().expect("a seed, a plan and a mutation"));
    println!("{}", report.trace.lines().join("\n"));
    report.assert_holds();
}

#[test]
fn a_setup_is_read_as_it_is_written() {
    let mutated = |mutation| Setup { mutation: Some(mutation), ..Setup::new(7, Plan::Random) };
    let plans = [Plan::Clean, Plan::Random, Plan::CrashAt(0, Side::Before), Plan::CrashAt(117, Side::After)];
    let setups = plans.map(|plan| Setup::new(2, plan)).into_iter();
    for setup in setups.chain(Mutation::ALL.iter().map(|(mutation, _)| mutated(*mutation))) {
        assert_eq!(setup.to_string().parse(), Ok(setup), "{setup}");
    }
    assert_eq!("1001".parse(), Ok(Setup::new(1001, Plan::Random)), "a seed alone is a random run");
    for wrong in ["", "x", "1 stormy", "1 crash-before", "1 clean=3", "1 random Nothing", "1 random ClaimAlwaysOwn 2"] {
        assert!(wrong.parse::<Setup>().is_err(), "{wrong:?} does not name a run");
    }
}

#[test]
fn a_run_replays_exactly_from_what_is_printed_of_it() {
    let random = (0..10).map(|seed| Setup::new(seed, Plan::Random));
    let mutated = Mutation::ALL
        .iter()
        .enumerate()
        .map(|(seed, (mutation, _))| Setup { mutation: Some(*mutation), ..Setup::new(seed as u64, Plan::Random) });
    let others = [Plan::Clean, Plan::CrashAt(100, Side::Before), Plan::CrashAt(100, Side::After)];
    let others = others.into_iter().map(|plan| Setup::new(4, plan));
    for setup in random.chain(others).chain(mutated) {
        let (first, again) = (run(setup), run(setup.to_string().parse().unwrap()));
        let lines = first.trace.lines().iter().zip(again.trace.lines());
        let differing = lines.clone().find(|(one, other)| one != other);
        assert_eq!(differing, None, "{setup}");
        assert_eq!(first.trace.lines().len(), again.trace.lines().len(), "{setup}");
        assert_eq!((first.violations, first.struck), (again.violations, again.struck), "{setup}");
    }
}
