//! What waiting for parses saves.

use dragline_simulation::{Kind, Plan, Report, Setup, run};
use rusqlite::Connection;

/// How many turns committed something, and how many origins were crawled.
#[derive(Default)]
struct Turns {
    turns: u32,
    origins: u32,
}

impl Turns {
    fn add(&mut self, report: &Report) {
        let database = report.remains.directory.path().join(dragline_local::DATABASE);
        let database = Connection::open(database).expect("the run's database");
        let count = |what: &str| {
            let sql = format!("SELECT COUNT(*) FROM (SELECT DISTINCT {what} FROM segment)");
            database.query_row(&sql, [], |row| row.get::<_, u32>(0)).expect("a count")
        };
        self.turns += count("origin_id, turn");
        self.origins += count("origin_id");
    }

    fn an_origin(&self) -> f64 {
        f64::from(self.turns) / f64::from(self.origins)
    }
}

#[test]
fn a_turn_that_waits_for_parses_spares_others() {
    let (mut at_once, mut waiting) = (Turns::default(), Turns::default());
    for seed in (0..200).filter(|&seed| Kind::of_seed(seed) == Kind::Once) {
        let report = run(Setup::new(seed, Plan::Clean));
        report.assert_holds();
        let turns = if report.remains.parse_wait.is_zero() { &mut at_once } else { &mut waiting };
        turns.add(&report);
    }
    let (at_once, waiting) = (at_once.an_origin(), waiting.an_origin());
    assert!(waiting < 0.7 * at_once, "{waiting} turns an origin where they wait, {at_once} where they do not");
}
