//! Each invariant finds damage done by hand to the results of a good run.

use std::fs;

use dragline_domain::time::after;
use dragline_simulation::invariants::{
    Deaths, Invariant, at_any_time, at_the_end, captures_are_readable, every_link_is_recorded,
    everything_in_reach_is_found, few_origins_are_opened, links_are_counted, pages_lead_to_few_origins,
    redelivery_changes_nothing, robots_txt_allows_each_request, seeds_and_joined_are_claimed, snapshot,
    stuck_only_by_deaths, the_delay_is_kept, visited_once,
};
use dragline_simulation::web::Access;
use dragline_simulation::{Kind, Remains, Struck};
use rusqlite::Connection;

use super::ran;

/// The run's database, to be damaged row by row.
fn database(ran: &Remains) -> Connection {
    let database = Connection::open(ran.directory.path().join(dragline_local::DATABASE)).unwrap();
    database.pragma_update(None, "foreign_keys", false).unwrap();
    database
}

#[test]
fn damage_to_the_database_is_seen() {
    let ran = ran(20);
    let database = database(&ran);
    for (sql, invariant, why) in [
        (
            "DELETE FROM visit WHERE id = (SELECT max(id) FROM visit WHERE is_final)",
            Invariant::NothingLost,
            "a lost outcome",
        ),
        (
            "UPDATE known_url SET queued_in = 0 WHERE path_query = '/'",
            Invariant::NothingLost,
            "an outcome without a claim",
        ),
        (
            "UPDATE leftover SET urls = urls + 1; INSERT INTO leftover SELECT id, 1, 99, 'stopped', 3 FROM origin LIMIT 1",
            Invariant::NothingLost,
            "more leftovers than there are",
        ),
        (
            "UPDATE visit SET url = (SELECT url FROM visit WHERE is_final AND duration_ms IS NOT NULL LIMIT 1) WHERE is_final AND duration_ms IS NOT NULL",
            Invariant::VisitedOnce,
            "one URL, visited repeatedly",
        ),
        ("UPDATE segment SET n = n + 100", Invariant::OnlyTheHolderCommits, "numbers with a gap"),
        (
            "UPDATE segment SET token = 'f' WHERE id = (SELECT min(id) FROM segment)",
            Invariant::OnlyTheHolderCommits,
            "an object of another token",
        ),
        (
            "UPDATE document SET state = 'stuck' WHERE id = (SELECT min(id) FROM document)",
            Invariant::ProgressEqualsLog,
            "a capture that was not counted as stuck",
        ),
        (
            "UPDATE visit SET body_bytes = body_bytes + 1 WHERE id = (SELECT min(id) FROM file)",
            Invariant::ProgressEqualsLog,
            "a byte too many",
        ),
        ("UPDATE iteration SET status = 'open'", Invariant::Over, "not closed"),
        (
            "UPDATE segment SET state = 'crawled', part = 0 WHERE id = (SELECT min(id) FROM segment)",
            Invariant::Over,
            "not parsed",
        ),
        ("UPDATE lease SET record = json_set(record, '$.state', 'idle')", Invariant::Over, "not closed"),
        (
            "UPDATE visit SET offset = offset + 1 WHERE id = (SELECT min(id) FROM file)",
            Invariant::CapturesReadable,
            "an offset that is off by one",
        ),
        (
            "UPDATE visit SET payload_sha1 = zeroblob(20) WHERE record IS NOT NULL",
            Invariant::CapturesReadable,
            "a digest of something else",
        ),
    ] {
        database.execute_batch(&format!("BEGIN; {sql}")).unwrap();
        let mut found = at_any_time(&ran.evidence(&database), Deaths::None).unwrap();
        found.extend(at_the_end(&ran.evidence(&database), &ran.progress).unwrap());
        database.execute_batch("ROLLBACK").unwrap();
        assert!(found.iter().any(|violation| violation.invariant == invariant), "{why}: {found:?}");
    }
}

/// A run of pages with too many links, some of which a budget of origins leaves.
fn ran_beyond_budgets() -> Remains {
    let seeds = (0..).filter(|seed| Kind::of_seed(*seed) == Kind::ManyLinks).map(ran);
    let is_one = |ran: &Remains| {
        let budget = &ran.definition.budget;
        budget.pages.is_none()
            && budget.origins_per_page < 5
            && budget.origins < 5
            && ran.progress.parser.links_beyond_budget > 5
    };
    seeds.into_iter().find(is_one).unwrap()
}

#[test]
fn damage_to_links_seeds_and_origins_is_seen() {
    let ran = ran_beyond_budgets();
    let database = database(&ran);
    let some = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 50)";
    for (sql, invariant, why) in [
        (
            "UPDATE document_text SET links = json_remove(links, '$[0]') WHERE links IS NOT NULL".to_owned(),
            Invariant::NothingLost,
            "links that nobody knows of",
        ),
        (
            "UPDATE document SET cut = 'links' WHERE cut = 'whole'".to_owned(),
            Invariant::NothingLost,
            "pages that say they lack links",
        ),
        (
            "UPDATE document_text SET links = replace(links, '[1,6,', '[1,3,')".to_owned(),
            Invariant::ProgressEqualsLog,
            "links beyond the budget that are counted as something else",
        ),
        (
            "UPDATE document_text SET links = replace(links, '[1,6,', '[1,0,')".to_owned(),
            Invariant::BudgetKept,
            "links beyond the budget that are followed",
        ),
        (
            format!(
                "INSERT INTO origin (id, crawl_id, origin) {some} SELECT 1000 + n, 1, 'http://x' || n || '.example' FROM n;
                 INSERT INTO inbox (origin_id, record) SELECT id, (SELECT record FROM inbox LIMIT 1) FROM origin WHERE id > 1000"
            ),
            Invariant::BudgetKept,
            "more origins than were allowed",
        ),
        (
            "UPDATE known_url SET queued_in = 0 WHERE path_query = '/'".to_owned(),
            Invariant::NothingLost,
            "a seed that nobody claimed",
        ),
        (
            "INSERT INTO origin (crawl_id, origin, joined) SELECT crawl_id, 'https://nobody.example', 1 FROM origin LIMIT 1"
                .to_owned(),
            Invariant::NothingLost,
            "an origin that joined, and was not visited",
        ),
    ] {
        database.execute_batch(&format!("BEGIN; {sql}")).unwrap();
        let evidence = ran.evidence(&database);
        let found = [
            every_link_is_recorded(&evidence, &ran.site, usize::MAX / 2),
            pages_lead_to_few_origins(&evidence, &ran.site),
            few_origins_are_opened(&evidence, &Struck::default()),
            links_are_counted(&evidence, &ran.progress),
            seeds_and_joined_are_claimed(&evidence),
        ];
        let found: Vec<_> = found.into_iter().flat_map(Result::unwrap).collect();
        database.execute_batch("ROLLBACK").unwrap();
        assert!(found.iter().any(|violation| violation.invariant == invariant), "{why}: {found:?}");
    }
}

#[test]
fn two_snapshots_of_the_same_database_do_not_differ() {
    let ran = ran(20);
    let database = database(&ran);
    let (before, after) = (snapshot(&database).unwrap(), snapshot(&database).unwrap());
    assert_eq!(redelivery_changes_nothing(&before, &after), []);
}

#[test]
fn a_changed_row_is_seen_between_snapshots() {
    let ran = ran(2);
    let database = database(&ran);
    let before = snapshot(&database).unwrap();
    database.execute_batch("UPDATE segment SET attempts = attempts + 1 WHERE id = 1").unwrap();
    let changes = redelivery_changes_nothing(&before, &snapshot(&database).unwrap());
    assert_eq!(changes.len(), 2, "the old row is gone and a new one is there: {changes:?}");
}

#[test]
fn pages_given_up_without_a_death_are_seen() {
    let mut ran = ran(20);
    let database = database(&ran);
    let struck = |fault| Struck { faults: [(fault, 9)].into(), ..Struck::default() };
    for (stuck, unreadable, fault, violations, why) in [
        (0, 0, "fail before", 0, "nothing was given up"),
        (1, 0, "fail before", 1, "the store was out of reach"),
        (1, 0, "fail after", 1, "its answers were lost"),
        (1, 0, "worker dies before", 0, "a parser may have died"),
        (1, 0, "delay after", 0, "a parser may have taken too long"),
        (0, 1, "worker dies before", 1, "nothing was lost, and no segment killed that many"),
    ] {
        (ran.progress.parser.stuck, ran.progress.parser.unreadable) = (stuck, unreadable);
        let found = stuck_only_by_deaths(&ran.evidence(&database), &ran.progress, &struck(fault)).unwrap();
        assert_eq!(found.len(), violations, "{why}: {found:?}");
    }
}

#[test]
fn a_url_that_was_missed_is_seen() {
    let ran = ran(2);
    let database = database(&ran);
    database
        .execute_batch(
            "BEGIN; UPDATE visit SET url = url || '/other' WHERE id = (SELECT min(id) FROM visit WHERE is_final)",
        )
        .unwrap();
    let found = everything_in_reach_is_found(&ran.evidence(&database), &ran.site).unwrap();
    assert_eq!(found.len(), 2, "one is missing and one is unexpected: {found:?}");
}

#[test]
fn damage_to_the_servers_log_is_seen() {
    let mut ran = ran(20);
    let database = database(&ran);
    let good = ran.accesses.clone();
    let a_page = good.iter().rposition(|access| !access.is_robots_txt()).unwrap();

    let late = Access { begun: after(good[a_page].begun, std::time::Duration::from_hours(1)), ..good[a_page].clone() };
    ran.accesses.push(late);
    assert_ne!(visited_once(&ran.evidence(&database), Deaths::Some).unwrap(), [], "requested again after its outcome");

    let minutes = |n: u64| std::time::Duration::from_mins(n);
    let apart =
        (0..).zip(&good).map(|(n, access)| Access { begun: after(good[0].begun, minutes(5 * n)), ..access.clone() });
    ran.accesses = apart.collect();
    assert_eq!(
        the_delay_is_kept(&ran.evidence(&database)).unwrap(),
        [],
        "five minutes are beyond any delay of the site"
    );
    ran.accesses = good.iter().map(|access| Access { begun: good[0].begun, ..access.clone() }).collect();
    assert_ne!(the_delay_is_kept(&ran.evidence(&database)).unwrap(), [], "everything requested at once");

    ran.accesses = good.iter().filter(|access| !access.is_robots_txt()).cloned().collect();
    assert_ne!(robots_txt_allows_each_request(&ran.evidence(&database)), [], "robots.txt was never read");
}

#[test]
fn a_damaged_object_is_seen() {
    let ran = ran(2);
    let database = database(&ran);
    let sql = "SELECT object FROM segment WHERE id = (SELECT min(id >> 24) FROM file)";
    let object: String = database.query_row(sql, [], |row| row.get(0)).unwrap();
    let path = ran.directory.path().join(object);
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(bytes.len() - 1);
    fs::write(&path, bytes).unwrap();
    assert_ne!(captures_are_readable(&ran.evidence(&database)).unwrap(), []);
}
