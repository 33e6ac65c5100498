//! What turns that wait for parses are good for.

use dragline_simulation::{Kind, Plan, Setup, run};
use rusqlite::Connection;

/// Turns that committed something, for each origin that was crawled.
fn turns_an_origin(seeds: &[u64]) -> f64 {
    let (mut turns, mut origins) = (0, 0);
    for &seed in seeds {
        let report = run(Setup::new(seed, Plan::Clean));
        report.assert_holds();
        let database = report.remains.directory.path().join(dragline_local::DATABASE);
        let database = Connection::open(database).expect("the run's database");
        let count = |what: &str| {
            let sql = format!("SELECT COUNT(*) FROM (SELECT DISTINCT {what} FROM segment)");
            database.query_row(&sql, [], |row| row.get::<_, u32>(0)).expect("a count")
        };
        turns += count("origin_id, turn");
        origins += count("origin_id");
    }
    f64::from(turns) / f64::from(origins)
}

#[test]
fn a_turn_that_waits_for_parses_spares_others() {
    let seeds = (0..200).filter(|&seed| Kind::of_seed(seed) == Kind::Once);
    let (at_once, waiting): (Vec<u64>, Vec<u64>) =
        seeds.partition(|&seed| run(Setup::new(seed, Plan::Clean)).remains.parse_wait.is_zero());
    let [at_once, waiting] = [at_once, waiting].map(|seeds| turns_an_origin(&seeds[..20]));
    assert!(waiting < 0.7 * at_once, "{waiting} turns an origin where they wait, {at_once} where they do not");
}
