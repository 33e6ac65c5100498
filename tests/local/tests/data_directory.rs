//! Opening a data directory: whether it belongs to dragline, whether it is free, and what a dead
//! process left there.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::{at, commit, origin, take};
use dragline_domain::frontier::{LeaseState, ObjectKey};
use dragline_domain::ids::{Iteration, Turn};
use dragline_local::{DATABASE, LocalStore, OpenError};
use dragline_ports::archive::Archive;
use dragline_ports::frontier::{Iterations, Origins};
use rusqlite::Connection;
use tempfile::TempDir;

fn database(directory: &Path, sql: &str) {
    Connection::open(directory.join(DATABASE)).unwrap().execute_batch(sql).unwrap();
}

/// An error with its hint.
fn describe(error: &OpenError) -> String {
    format!("{error}; {}", error.hint().unwrap_or_default())
}

#[test]
fn what_cannot_be_opened_is_told_in_a_line() {
    type Make = fn(&Path);
    let cases: [(Make, &str, &str); 5] = [
        (|_| {}, "", "a new directory"),
        (|d| fs::write(d.join(".hidden"), "").unwrap(), "", "hidden files are ignored"),
        (
            |d| fs::write(d.join("thesis.txt"), "").unwrap(),
            "DIR is not empty and holds no crawl; name a new or an empty directory",
            "other files",
        ),
        (
            |d| {
                fs::write(d.join(DATABASE), "no database, though as long as one's header. ".repeat(9)).unwrap();
            },
            "DIR/dragline.db is not a dragline database; name another directory",
            "not a database",
        ),
        (
            |d| database(d, "CREATE TABLE t (a)"),
            "DIR/dragline.db is not a dragline database; name another directory",
            "another program's database",
        ),
    ];
    for (make, expected, why) in cases {
        let directory = TempDir::new().unwrap();
        make(directory.path());
        let answer =
            LocalStore::open(directory.path(), at(0)).map(drop).err().map(|e| describe(&e)).unwrap_or_default();
        assert_eq!(answer.replace(directory.path().to_str().unwrap(), "DIR"), expected, "{why}");
    }
}

#[test]
fn another_format_is_refused_and_left_as_it_is() {
    for (format, why) in [
        (0, "no version ever wrote it"),
        (2, "an early one from before the first release"),
        (15, "the last one from before the first release"),
        (16, "the next one"),
        (-1, "a number that no version will write"),
    ] {
        let directory = TempDir::new().unwrap();
        LocalStore::open(directory.path(), at(0)).map(drop).unwrap();
        database(directory.path(), &format!("DROP TABLE visit; PRAGMA user_version = {format}"));
        let path = directory.path().join(DATABASE);
        let wal = directory.path().join(format!("{DATABASE}-wal"));
        while wal.exists() {
            std::thread::yield_now();
        }
        let before = fs::read(&path).unwrap();
        let refused = [
            LocalStore::open(directory.path(), at(0)).map(drop).unwrap_err(),
            LocalStore::open_read_only(directory.path()).map(drop).unwrap_err(),
        ];
        for error in refused {
            let expected = format!(
                "{} has format {format}, and this dragline reads format 1; \
                 crawl anew into another directory (`--data`), or use the version that wrote it",
                path.display()
            );
            assert_eq!(describe(&error), expected, "{why}");
        }
        assert_eq!(fs::read(&path).unwrap(), before, "{why}: not a byte was changed");
    }
}

#[test]
fn one_process_writes_at_a_time_and_others_read() {
    let directory = TempDir::new().unwrap();
    let told = LocalStore::open_read_only(directory.path()).unwrap_err().to_string();
    assert!(told.ends_with("holds no crawl"), "{told}");
    let store = LocalStore::open(directory.path(), at(0)).unwrap();
    let frontier = store.frontier();
    let told = LocalStore::open(directory.path(), at(0)).map(drop).unwrap_err().to_string();
    assert!(told.contains("is in use by another dragline process"), "{told}");
    let reader = LocalStore::open_read_only(directory.path()).unwrap();
    let count: i64 = reader.query_row("SELECT count(*) FROM outcome", [], |row| row.get(0)).unwrap();
    assert!(count > 20, "it can read while the other writes");
    assert!(reader.execute("DELETE FROM outcome", []).is_err(), "but not write");
    drop(store);
    assert!(LocalStore::open(directory.path(), at(0)).is_err(), "an adapter is still alive");
    drop(frontier);
    LocalStore::open(directory.path(), at(0)).map(drop).unwrap();
}

#[test]
fn who_looks_whether_a_process_writes_keeps_none_from_it() {
    let directory = TempDir::new().unwrap();
    let is_in_use = || LocalStore::is_in_use(directory.path()).unwrap();
    assert!(!is_in_use(), "nothing is there");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "and nothing was created");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                is_in_use();
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        for _ in 0..20 {
            let store = LocalStore::open(directory.path(), at(0));
            assert!(store.is_ok(), "{:?}", store.err());
            assert!(is_in_use(), "by this one");
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(!is_in_use(), "no more");
}

#[tokio::test]
async fn what_a_dead_process_held_is_free_and_what_it_did_not_commit_is_gone() {
    let directory = TempDir::new().unwrap();
    let store = LocalStore::open(directory.path(), at(0)).unwrap();
    let (crawl, lease) = take(&store).await;
    let segment = commit(&store, &lease).await;
    let turn = ObjectKey::turn_prefix(&origin(), Iteration::FIRST, Turn(1));
    let other_turn = ObjectKey::turn_prefix(&origin(), Iteration::FIRST, Turn(11));
    let write = |name: String| fs::write(directory.path().join(name), "x").unwrap();
    write(format!("{turn}1-ff.warc.gz"));
    write(format!("{turn}2-ff.warc.gz~"));
    write(format!("{other_turn}0-ff.warc.gz"));
    drop(store);

    let store = LocalStore::open(directory.path(), at(50)).unwrap();
    let rows = store.frontier().load_origin(&origin()).await.unwrap().unwrap();
    assert_eq!((rows.lease.state, rows.lease.turn), (LeaseState::Ready, Turn(2)), "without waiting for its end");
    assert_eq!((rows.lease.not_before, rows.lease.segments), (at(53), 1), "the delay is kept");
    let iteration = store.frontier().load_iteration(&crawl, Iteration::FIRST).await.unwrap().unwrap();
    assert_eq!(iteration.budget.pages, Some(9), "the unused reservation was returned");
    let left: Vec<_> = fs::read_dir(directory.path().join(segment.object.as_str()).parent().unwrap())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    let expected = |key: String| left.iter().any(|name| key.ends_with(name.to_str().unwrap()));
    assert!(expected(segment.object.to_string()), "what was committed stays: {left:?}");
    assert!(expected(format!("{other_turn}0-ff.warc.gz")), "so does another turn's: {left:?}");
    assert_eq!(left.len(), 2, "the rest is gone: {left:?}");
}

#[tokio::test]
async fn the_database_is_no_object() {
    let directory = TempDir::new().unwrap();
    let archive = LocalStore::open(directory.path(), at(0)).unwrap().archive();
    let key = ObjectKey::try_from(DATABASE.to_owned()).unwrap();
    assert!(archive.delete(&key).await.is_err());
    assert!(archive.get(&key, u64::MAX).await.is_err());
    assert!(directory.path().join(DATABASE).exists());
}
