//! Runs without faults, which every invariant must let pass.

use dragline_simulation::invariants::{
    Deaths, check, everything_in_reach_is_found, redelivery_changes_nothing, snapshot,
};

use crate::run::Ran;

#[tokio::test]
async fn a_run_without_faults_satisfies_every_invariant() {
    for seed in [1, 2, 3, 4] {
        let ran = Ran::of_seed(seed, 1).await;
        let evidence = ran.evidence();
        assert_eq!(check(&evidence, &ran.progress, Deaths::None).unwrap(), [], "seed {seed}");
        assert_eq!(everything_in_reach_is_found(&evidence, ran.servers.site()).unwrap(), [], "seed {seed}");
    }
}

#[tokio::test]
async fn a_second_iteration_satisfies_every_invariant_and_asks_conditionally() {
    let ran = Ran::of_seed(5, 2).await;
    let evidence = ran.evidence();
    assert_eq!(check(&evidence, &ran.progress, Deaths::None).unwrap(), []);
    assert_eq!(everything_in_reach_is_found(&evidence, ran.servers.site()).unwrap(), []);
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
