//! Pruning: what a crawl shows of the iterations that are kept, and what its next iteration does,
//! are the same as without it.

mod dying;
mod site;
mod view;

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::path::Path;

use dragline_domain::ids::CrawlId;
use dragline_domain::retention::Retention;
use dragline_local::{Compaction, DATABASE, LocalStore, SystemClock};
use dragline_pipeline::retention::{PruneTotals, Stores, forget, prune};
use dragline_ports::archive::Archive;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::queue::Nobody;
use dragline_ports::retention::PruneMode;
use dragline_testkit::whole_crawls::crawl;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use dying::Dying;
pub(super) use site::{Days, definition_of};
use view::{next_iteration, view};

/// How many iterations there are before anything is pruned.
const DAYS: usize = 6;

fn keep(kept: u32) -> Retention {
    Retention::Newest(NonZeroU32::new(kept).unwrap())
}

/// Prunes with this archive, through which objects are deleted.
async fn prune_by(
    archive: &impl Archive,
    store: &LocalStore,
    crawl: &CrawlId,
    kept: u32,
    effect: PruneMode,
) -> PortResult<PruneTotals> {
    let (retained, origins) = (store.retained(), store.frontier());
    let stores = Stores { retained: &retained, origins: &origins, archive, queue: &Nobody };
    let now = SystemClock::new().now();
    let done = prune(&stores, crawl, keep(kept), effect, now, None, || ControlFlow::Continue(())).await?;
    assert_eq!(done.1, None, "nobody stopped it");
    Ok(done.0)
}

pub(super) async fn prune_in(data: &Path, crawl: &CrawlId, kept: u32, effect: PruneMode) -> PruneTotals {
    let store = LocalStore::open(data, SystemClock::new().now()).unwrap();
    prune_by(&store.archive(), &store, crawl, kept, effect).await.unwrap()
}

pub(super) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn objects(directory: &Path, below: &Path, found: &mut BTreeSet<String>) {
    let Ok(entries) = fs::read_dir(below) else { return };
    for entry in entries.map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            objects(directory, &entry.path(), found);
        } else {
            found.insert(entry.path().strip_prefix(directory).unwrap().to_str().unwrap().to_owned());
        }
    }
}

/// Checks what holds of any data directory: rows refer to rows that are there, and each object that
/// is there is named, and the other way round.
#[track_caller]
pub(super) fn assert_sound(data: &Path) -> BTreeSet<String> {
    let db = Connection::open(data.join(DATABASE)).unwrap();
    let count =
        |sql: &str| db.query_row(&format!("SELECT count(*) FROM ({sql})"), [], |row| row.get::<_, u32>(0)).unwrap();
    for (sql, why) in [
        ("SELECT * FROM pragma_foreign_key_check", "rows that refer to nothing"),
        ("SELECT * FROM pragma_integrity_check WHERE integrity_check <> 'ok'", "damage"),
        (
            "SELECT 1 FROM file f JOIN segment s ON s.id = f.id >> 24 WHERE NOT s.is_stored",
            "files in objects that are gone",
        ),
        (
            "SELECT 1 FROM crawl_candidate k WHERE k.document_id NOT IN (SELECT id FROM document)",
            "documents that are gone",
        ),
        (
            "SELECT 1 FROM document d LEFT JOIN file f ON f.id = d.body_id WHERE d.body_id IS NOT NULL AND f.id IS NULL",
            "bodies that are gone",
        ),
        ("SELECT 1 FROM file WHERE id NOT IN (SELECT id FROM crawl_log)", "files of no visit"),
        ("SELECT 1 FROM document WHERE id NOT IN (SELECT id FROM crawl_log)", "documents of no visit"),
    ] {
        assert_eq!(count(sql), 0, "{why}");
    }
    let mut named = db.prepare("SELECT object FROM segment WHERE is_stored").unwrap();
    let named: BTreeSet<String> = named.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut found = BTreeSet::new();
    objects(data, &data.join("raw"), &mut found);
    assert_eq!(found, named, "the objects that rows name are those that are there");
    found
}

/// Every row of every table, except when iterations were pruned, hosts, which are released whenever
/// a directory is opened, and who opened it.
pub(super) fn dump(data: &Path) -> Vec<String> {
    let db = Connection::open(data.join(DATABASE)).unwrap();
    let tables: Vec<String> = db
        .prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('host', 'process') ORDER BY name",
        )
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut lines = Vec::new();
    for table in tables {
        let mut rows = db.prepare(&format!("SELECT * FROM \"{table}\" ORDER BY 1, 2")).unwrap();
        let names: Vec<String> = rows.column_names().map(str::to_owned).collect();
        let mut rows = rows.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values = names.iter().enumerate().filter(|(_, name)| *name != "pruned_at");
            let values = values.map(|(n, name)| format!("{name}={}", shown(row.get_ref(n).unwrap())));
            lines.push(format!("{table}: {}", values.collect::<Vec<_>>().join(", ")));
        }
    }
    lines
}

fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        other => format!("{other:?}"),
    }
}

/// Checks that two lists of rows are the same, and otherwise says which rows differ.
#[track_caller]
pub(super) fn assert_same(found: &[String], expected: &[String], why: &str) {
    let only = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|row| !those.contains(row)).cloned().collect()
    };
    let (more, fewer) = (only(found, expected), only(expected, found));
    assert!(
        found == expected,
        "{why}: there are {} rows:\n{}\nand not these:\n{}",
        found.len(),
        more.join("\n"),
        fewer.join("\n")
    );
}

/// A crawl of a site that changes at random, up to the last day.
async fn crawled(seed: u64) -> (Days, tempfile::TempDir) {
    let days = Days::start(seed).await;
    let data = tempfile::tempdir().unwrap();
    for day in 0..DAYS {
        days.turn_to(day);
        crawl(data.path(), &definition_of(&days, day)).await;
    }
    // What is gone is due after as long as it has been gone, which here are seconds: they would
    // pass for one copy of this and not for another.
    let db = Connection::open(data.path().join(DATABASE)).unwrap();
    db.execute("UPDATE known_url SET due_at = 0 WHERE away IS NOT NULL", []).unwrap();
    (days, data)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_kept_reads_the_same_and_the_next_iteration_does_the_same() {
    let (mut dropped, mut referred) = (0, 0);
    for seed in 0..10 {
        let (days, data) = crawled(seed).await;
        let next = definition_of(&days, DAYS);
        let crawl_id = &next.name;
        for kept in [1, 2, 4] {
            let of = |what: &str| format!("seed {seed}, {kept} kept: {what}");
            let room = tempfile::tempdir().unwrap();
            let (whole, pruned) = (room.path().join("whole"), room.path().join("pruned"));
            copy(data.path(), &whole);
            copy(data.path(), &pruned);
            let counted = prune_in(&pruned, crawl_id, kept, PruneMode::Count).await;
            assert_same(&dump(&pruned), &dump(&whole), &of("counting deletes nothing"));
            let done = prune_in(&pruned, crawl_id, kept, PruneMode::Delete).await;
            assert_eq!(done, counted, "{}", of("as it was counted"));
            (dropped, referred) = (dropped + done.visits, referred + done.kept);
            let objects = assert_sound(&pruned);
            LocalStore::compact(&pruned, Compaction::IfWorthIt).unwrap();
            assert_eq!(assert_sound(&pruned), objects);
            let cut = done.cut.unwrap();
            assert_same(&view(&pruned, crawl_id, cut).await, &view(&whole, crawl_id, cut).await, &of("reads the same"));

            let again = prune_in(&pruned, crawl_id, kept, PruneMode::Delete).await;
            let nothing = PruneTotals { cut: Some(cut), kept: done.kept, ..PruneTotals::default() };
            assert_eq!(again, nothing, "{}", of("a second time deletes nothing"));

            days.turn_to(DAYS);
            let after_whole = next_iteration(&whole, &next).await;
            let after_pruned = next_iteration(&pruned, &next).await;
            assert_same(&after_pruned, &after_whole, &of("the next iteration does the same"));
            let later = room.path().join("later");
            copy(&pruned, &later);
            let cut = prune_in(&later, crawl_id, kept, PruneMode::Delete).await.cut.unwrap();
            assert_sound(&later);
            let (later, pruned) = (view(&later, crawl_id, cut).await, view(&pruned, crawl_id, cut).await);
            assert_same(&later, &pruned, &of("and reads the same when that is pruned"));
        }
    }
    assert!(dropped > 500 && referred > 100, "{dropped} visits were dropped, and {referred} kept");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wherever_pruning_dies_the_next_run_ends_the_same() {
    let (days, data) = crawled(77).await;
    let crawl_id = definition_of(&days, 0).name.clone();
    let room = tempfile::tempdir().unwrap();
    let whole = room.path().join("whole");
    copy(data.path(), &whole);
    let done = prune_in(&whole, &crawl_id, 2, PruneMode::Delete).await;
    assert!(done.objects >= 3, "there is something to die at: {done:?}");
    let (rows, objects) = (dump(&whole), assert_sound(&whole));
    for deletions in 0..done.objects {
        let died = room.path().join(deletions.to_string());
        copy(data.path(), &died);
        {
            let store = LocalStore::open(&died, SystemClock::new().now()).unwrap();
            let archive = Dying::after(store.archive(), deletions);
            prune_by(&archive, &store, &crawl_id, 2, PruneMode::Delete).await.unwrap_err();
        }
        let db = Connection::open(died.join(DATABASE)).unwrap();
        let mut named = db.prepare("SELECT DISTINCT s.object FROM file f JOIN segment s ON s.id = f.id >> 24").unwrap();
        for object in named.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap) {
            assert!(died.join(&object).exists(), "after {deletions} deletions a row refers to {object}, which is gone");
        }
        prune_in(&died, &crawl_id, 2, PruneMode::Delete).await;
        assert_same(&dump(&died), &rows, &format!("after {deletions} deletions"));
        assert_eq!(assert_sound(&died), objects, "after {deletions} deletions");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_walk_that_rests_after_each_batch_ends_the_same() {
    let (days, data) = crawled(5).await;
    let crawl_id = definition_of(&days, 0).name.clone();
    let room = tempfile::tempdir().unwrap();
    let (whole, rested) = (room.path().join("whole"), room.path().join("rested"));
    copy(data.path(), &whole);
    copy(data.path(), &rested);
    let done = prune_in(&whole, &crawl_id, 1, PruneMode::Delete).await;
    let mut total = (0, 0, 0);
    {
        let store = LocalStore::open(&rested, SystemClock::new().now()).unwrap();
        let (retained, origins, archive) = (store.retained(), store.frontier(), store.archive());
        let stores = Stores { retained: &retained, origins: &origins, archive: &archive, queue: &Nobody };
        let (now, mut from, mut rests) = (SystemClock::new().now(), None, 0);
        loop {
            let rest = || ControlFlow::Break(());
            let (some, place) = prune(&stores, &crawl_id, keep(1), PruneMode::Delete, now, from, rest).await.unwrap();
            total = (total.0 + some.visits, total.1 + some.objects, total.2 + some.kept);
            let Some(place) = place else { break };
            from = Some(place);
            rests += 1;
            assert!(rests < 100, "each run gets on");
        }
        assert!(rests >= 2, "there are more segments than a batch takes");
    }
    assert_eq!(total, (done.visits, done.objects, done.kept));
    assert_same(&dump(&rested), &dump(&whole), "after many rests");
}

#[tokio::test]
async fn wherever_forgetting_dies_the_next_run_ends_the_same() {
    let (days, data) = crawled(77).await;
    let definition = definition_of(&days, 0);
    let crawl_id = definition.name.clone();
    // A page that leads to others, so that records of more than one URL are overwritten.
    let urls = [definition.seeds[0].clone()];
    let room = tempfile::tempdir().unwrap();
    let whole = room.path().join("whole");
    copy(data.path(), &whole);
    let changes = {
        let store = LocalStore::open(&whole, SystemClock::new().now()).unwrap();
        let archive = Dying::after(store.archive(), 1_000);
        let forgotten = forget(&store.retained(), &archive, &crawl_id, &urls).await.unwrap();
        assert!(forgotten.visits > 1, "{forgotten:?}");
        1_000 - archive.left()
    };
    assert!(changes >= 3, "there is something to die at");
    let (rows, objects) = (dump(&whole), contents(&whole));
    for survived in 0..changes {
        let died = room.path().join(survived.to_string());
        copy(data.path(), &died);
        let store = LocalStore::open(&died, SystemClock::new().now()).unwrap();
        let archive = Dying::after(store.archive(), survived);
        forget(&store.retained(), &archive, &crawl_id, &urls).await.unwrap_err();
        forget(&store.retained(), &store.archive(), &crawl_id, &urls).await.unwrap();
        drop((archive, store));
        assert_same(&dump(&died), &rows, &format!("after {survived} objects"));
        assert!(contents(&died) == objects, "after {survived} objects each object is the same");
    }
}

/// Every object with its bytes.
fn contents(data: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = BTreeSet::new();
    objects(data, &data.join("raw"), &mut found);
    found.into_iter().map(|object| (object.clone(), fs::read(data.join(object)).unwrap())).collect()
}
