//! Generated sites.

use dragline_simulation::web::Site;

#[test]
fn the_same_seed_gives_the_same_site() {
    assert_eq!(Site::generate(7), Site::generate(7));
    assert_ne!(Site::generate(7), Site::generate(8), "another seed gives another site");
}

#[test]
fn every_site_has_something_to_find_and_stays_small() {
    let mut rich = 0;
    for seed in 0..300 {
        let reach = Site::generate(seed).reach("Dragline", None);
        assert!(!reach.certain.is_empty(), "seed {seed}: {reach:?}");
        rich += usize::from(reach.certain.len() > 5);
        assert!(reach.possible.len() <= 120, "seed {seed} has {} URLs", reach.possible.len());
        assert!(reach.certain.is_subset(&reach.possible), "seed {seed}");
    }
    assert!(rich > 100, "{rich} of 300 sites have more than five URLs to find in any case");
}
