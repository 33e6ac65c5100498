//! Once and exactly once: killed at every commit, run again, and started from scratch.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dragline_sink::{Event, SinkError, Start, Target, Totals, write};
use tokio::sync::Notify;

use crate::cluster::{Database, assert_equal, target, target_in};
use crate::proxy::{Cut, Proxy};
use crate::stored::Stored;

/// Longer than any test takes.
const PATIENT: Duration = Duration::from_secs(60);

pub(crate) async fn write_to(stored: &Stored, target: &Target) -> Result<Totals, SinkError> {
    write(stored, &stored.crawl, target, &|_| {}).await
}

/// A crawl whose second iteration changed a page, lost one, and found one.
fn second_iteration(stored: &mut Stored) {
    stored.begin(2);
    stored.put_page(2, "/0", "Changed");
    stored.put_page(2, "/later", "Later");
    stored.remove_page("/1");
    stored.links.remove(0);
}

#[tokio::test]
async fn the_database_equals_the_crawl_and_follows_it() {
    let (database, mut stored) = (Database::create().await, Stored::with_pages(10));
    let target = target_in(&database);
    let first = write_to(&stored, &target).await.unwrap();
    assert_equal(&database, &stored, "docs").await;
    // Ten pages with three links, a visit and an item each, and the iteration.
    assert_eq!(first, Totals { rows: 61, changed: 61, removed: 0 });

    let again = write_to(&stored, &target).await.unwrap();
    assert_eq!((again.changed, again.removed), (0, 0), "nothing is new");
    assert_eq!(again.rows, 1, "only the iteration is looked at");

    second_iteration(&mut stored);
    let second = write_to(&stored, &target).await.unwrap();
    assert_equal(&database, &stored, "docs").await;
    assert!(second.changed < 20 && second.removed >= 5, "{second:?}: equal rows are left alone");

    stored.forget("/2");
    write_to(&stored, &target).await.unwrap();
    assert_equal(&database, &stored, "docs").await;
    assert_eq!(database.value("SELECT count(*) FROM dragline.log WHERE url LIKE '%/2'").await.as_deref(), Some("0"));

    // A pruned iteration keeps little of its log.
    stored.iterations.get_mut(&1).unwrap().pruned_at = Some(crate::stored::at(9_000));
    stored.log.retain(|visit| visit.iteration > 1);
    write_to(&stored, &target).await.unwrap();
    assert_equal(&database, &stored, "docs").await;
    // Later it is dropped.
    stored.iterations.remove(&1);
    write_to(&stored, &target).await.unwrap();
    assert_eq!(database.value("SELECT count(*) FROM dragline.iteration_progress").await.as_deref(), Some("1"));
}

#[tokio::test]
async fn changes_are_a_view_of_the_log() {
    let (database, mut stored) = (Database::create().await, Stored::with_pages(2));
    second_iteration(&mut stored);
    write_to(&stored, &target_in(&database)).await.unwrap();
    let sql = "SELECT iteration || ' ' || url || ' ' || change FROM dragline.change ORDER BY 1";
    let changes: Vec<String> = database.values(sql).await.into_iter().flatten().collect();
    let expected = ["1 https://a.example/0 new", "1 https://a.example/1 new", "2 https://a.example/0 changed"];
    assert_eq!(changes[..3], expected);
    assert_eq!(changes.len(), 4);
}

#[tokio::test]
async fn a_start_from_scratch_has_the_same_result() {
    let (database, stored) = (Database::create().await, Stored::with_pages(7));
    let target = target_in(&database);
    write_to(&stored, &target).await.unwrap();
    database.run("UPDATE dragline.page SET title = 'mine'; DELETE FROM dragline.link WHERE n = 1").await;
    assert_eq!(write_to(&stored, &target).await.unwrap().changed, 0, "it looks only at what is new");
    let from_start = Target { start: Start::FromStart, ..target };
    let totals = write_to(&stored, &from_start).await.unwrap();
    assert_eq!((totals.rows, totals.changed, totals.removed), (43, 14, 0));
    assert_equal(&database, &stored, "docs").await;
}

#[tokio::test]
async fn crawls_in_one_schema_leave_each_other_alone() {
    let (database, stored) = (Database::create().await, Stored::with_pages(3));
    let mut other = Stored::with_pages(0);
    other.crawl = "other".parse().unwrap();
    for n in 0..5 {
        other.put_page(1, &format!("/{n}"), "Other");
    }
    write_to(&stored, &target_in(&database)).await.unwrap();
    write_to(&other, &target_in(&database)).await.unwrap();
    other.forget("/0");
    write_to(&other, &target_in(&database)).await.unwrap();
    assert_equal(&database, &stored, "docs").await;
    assert_equal(&database, &other, "other").await;
}

/// Every commit of a first and a second iteration, cut on both sides.
#[tokio::test]
async fn a_connection_that_breaks_at_any_commit_costs_nothing() {
    let whole = {
        let (database, stored) = (Database::create().await, Stored::with_pages(2));
        let proxy = Proxy::start(&database, None);
        write_to(&stored, &target(&proxy.address())).await.unwrap();
        proxy.commits()
    };
    assert!(whole > 10, "{whole} commits");
    let database = Database::create().await;
    for nth in 1..=whole {
        for cut in [Cut::Before, Cut::After] {
            database.run("DROP SCHEMA IF EXISTS dragline CASCADE").await;
            let mut stored = Stored::with_pages(2);
            let proxy = Proxy::start(&database, Some((nth, cut)));
            let cut_off = write_to(&stored, &target(&proxy.address())).await;
            assert!(matches!(cut_off, Err(SinkError::Away(_))), "commit {nth}, {cut:?}: {cut_off:?}");
            // The server may still hold the lock of the connection that broke.
            let patient = Target { patience: PATIENT, ..target(&proxy.address()) };
            write_to(&stored, &patient).await.unwrap();
            assert_equal(&database, &stored, "docs").await;
            if nth % 4 == 0 {
                second_iteration(&mut stored);
                write_to(&stored, &patient).await.unwrap();
                assert_equal(&database, &stored, "docs").await;
            }
        }
    }
}

#[tokio::test]
async fn a_killed_process_goes_on_after_its_last_commit() {
    let (database, mut stored) = (Database::create().await, Stored::with_pages(9));
    let target = target_in(&database);
    write_to(&stored, &target).await.unwrap();
    second_iteration(&mut stored);
    stored.pages.iter_mut().for_each(|page| page.title = Some("Anew".to_owned()));
    let mut written = 0;
    for _ in 0..100 {
        // Dropping the future is what a kill is to the database: the connection ends.
        let (commits, killed) = (AtomicUsize::new(0), Notify::new());
        let watch = |event: Event| {
            if matches!(event, Event::Committed { what, .. } if what != "iterations") {
                commits.fetch_add(1, Ordering::SeqCst);
                killed.notify_one();
            }
        };
        let patient = Target { patience: PATIENT, ..target.clone() };
        tokio::select! {
            biased;
            () = killed.notified() => written += 1,
            ended = write(&stored, &stored.crawl, &patient, &watch) => {
                ended.unwrap();
                break;
            }
        }
    }
    assert!(written > 10, "it was killed {written} times");
    assert_equal(&database, &stored, "docs").await;
}

#[tokio::test]
async fn a_process_that_stops_in_time_gets_through_a_crawl_that_goes_on() {
    let (database, mut stored) = (Database::create().await, Stored::with_pages(9));
    let tables = ["page", "link", "log", "item_product"];
    for run in 0..30 {
        // Less than any part takes.
        let (commits, stopped) = (AtomicUsize::new(0), Notify::new());
        let watch = |event: Event| {
            if matches!(event, Event::Committed { .. }) && commits.fetch_add(1, Ordering::SeqCst) == 2 {
                stopped.notify_one();
            }
        };
        let patient = Target { patience: PATIENT, ..target_in(&database) };
        tokio::select! {
            biased;
            () = stopped.notified() => {}
            ended = write(&stored, &stored.crawl, &patient, &watch) => { ended.unwrap(); }
        }
        // Whatever was begun is of an earlier state of the crawl then.
        stored.forgotten += 1;
        stored.put_page(1, "/0", &format!("After run {run}"));
    }
    for table in tables {
        let there = database.value(&format!("SELECT to_regclass('dragline.{table}') IS NOT NULL")).await;
        assert_eq!(there.as_deref(), Some("true"), "{table}");
        let urls = if table == "link" { "from_url" } else { "url" };
        let count = database.value(&format!("SELECT count(DISTINCT {urls}) FROM dragline.{table}")).await;
        assert_eq!(count.as_deref(), Some("9"), "{table}");
    }
    write_to(&stored, &Target { patience: PATIENT, ..target_in(&database) }).await.unwrap();
    assert_equal(&database, &stored, "docs").await;
}

#[tokio::test]
async fn a_database_that_comes_back_in_time_is_waited_for() {
    let (database, stored) = (Database::create().await, Stored::with_pages(6));
    let mut proxy = Proxy::start(&database, None);
    proxy.go_away();
    let impatient = target(&proxy.address());
    let error = write_to(&stored, &impatient).await.unwrap_err();
    assert!(matches!(error, SinkError::Away(_)) && error.hint().is_some(), "{error}");

    let patient = Target { patience: PATIENT, ..impatient.clone() };
    let waiting = Notify::new();
    let watch = |event: Event| {
        if let Event::Waiting(why) = event {
            assert!(why.contains("connect"), "{why}");
            waiting.notify_one();
        }
    };
    let back = async {
        waiting.notified().await;
        proxy.come_back();
    };
    let (written, ()) = tokio::join!(write(&stored, &stored.crawl, &patient, &watch), back);
    written.unwrap();
    assert_equal(&database, &stored, "docs").await;
}

#[tokio::test]
async fn an_administrator_who_ends_the_connection_is_no_reason_to_stop() {
    let (database, stored) = (Database::create().await, Stored::with_pages(9));
    let patient = Target { patience: PATIENT, ..target_in(&database) };
    let client = database.client().await;
    let (commits, first) = (AtomicUsize::new(0), Notify::new());
    let watch = |event: Event| {
        if matches!(event, Event::Committed { .. }) && commits.fetch_add(1, Ordering::SeqCst) == 3 {
            first.notify_one();
        }
    };
    let end = async {
        first.notified().await;
        let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dragline' AND datname = current_database()";
        assert_eq!(client.query(sql, &[]).await.unwrap().len(), 1);
    };
    let (written, ()) = tokio::join!(write(&stored, &stored.crawl, &patient, &watch), end);
    written.unwrap();
    assert_equal(&database, &stored, "docs").await;
}

#[tokio::test]
async fn two_processes_do_not_write_one_crawl_at_once() {
    let (database, stored) = (Database::create().await, Stored::with_pages(3));
    let client = database.client().await;
    write_to(&stored, &target_in(&database)).await.unwrap();
    client.query_one("SELECT pg_advisory_lock(1685217639, hashtext('dragline docs'))", &[]).await.unwrap();
    let error = write_to(&stored, &target_in(&database)).await.unwrap_err();
    assert!(matches!(error, SinkError::Busy), "{error}");
    drop(client);
    let patient = Target { patience: PATIENT, ..target_in(&database) };
    write_to(&stored, &patient).await.unwrap();
}
