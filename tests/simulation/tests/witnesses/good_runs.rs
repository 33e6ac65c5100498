//! Runs without faults, which every invariant must let pass.

use dragline_simulation::invariants::{
    Deaths, Invariant, Violation, check, everything_in_reach_is_found, redelivery_changes_nothing, snapshot,
};

use crate::run::Ran;

/// What is wrong, the delay left out: this clock goes on while the machine is busy between a request's two readings of it.
fn wrong(ran: &Ran) -> Vec<Violation> {
    let mut found = check(&ran.evidence(), &ran.progress, Deaths::None).unwrap();
    found.retain(|violation| violation.invariant != Invariant::DelayKept);
    found.extend(everything_in_reach_is_found(&ran.evidence(), ran.servers.site()).unwrap());
    found
}

#[tokio::test]
async fn a_run_without_faults_satisfies_the_invariants() {
    for seed in [1, 2, 3, 4] {
        let ran = Ran::of_seed(seed, 1).await;
        assert_eq!(wrong(&ran), [], "seed {seed}");
    }
}

#[tokio::test]
async fn a_second_iteration_satisfies_the_invariants_and_asks_conditionally() {
    let ran = Ran::of_seed(5, 2).await;
    assert_eq!(wrong(&ran), []);
    let unchanged =
        ran.accesses.iter().filter_map(|access| access.response()).filter(|response| response.status == 304);
    assert!(unchanged.count() > 0, "some page says that it did not change");
}

#[tokio::test]
async fn two_snapshots_of_the_same_database_do_not_differ() {
    let ran = Ran::of_seed(6, 1).await;
    let (before, after) = (snapshot(&ran.database).unwrap(), snapshot(&ran.database).unwrap());
    assert_eq!(redelivery_changes_nothing(&before, &after), []);
}
