//! Clocks that are set back between two runs: the first run stored times that are in the future of
//! the second.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dragline_domain::definition::Definition;
use dragline_domain::frontier::OriginKey;
use dragline_domain::outcome::Outcome;
use dragline_local::{LocalStore, SystemClock};
use dragline_ports::clock::Clock;
use dragline_ports::frontier::{Origins, Progress};
use dragline_testkit::whole_crawls::{Network, crawl_in, definition};

use super::ahead::open_ahead;
use super::scripted::{Act, ScriptedSite, answer, page};

/// Longer than a crawl of a few pages takes, and far shorter than the error of any clock.
const PATIENCE: Duration = Duration::from_mins(1);

/// Crawls by a clock that is this far ahead.
pub(crate) async fn crawl(directory: &Path, definition: &Definition, ahead: Duration) -> Progress {
    let world = open_ahead(directory, ahead, 1);
    let messages = world.queue.clone();
    let crawl = crawl_in(world, messages, Network::default().fetcher(), definition);
    tokio::time::timeout(PATIENCE, crawl).await.expect("it waits for a time set by an earlier clock")
}

/// Crawls until an origin's URL waits for another try, then dies.
async fn crawl_and_die(directory: &Path, definition: &Definition, origin: &OriginKey, ahead: Duration) {
    let world = open_ahead(directory, ahead, 1);
    let (messages, frontier) = (world.queue.clone(), world.frontier.clone());
    let waits = async {
        while frontier.load_origin(origin).await.unwrap().is_none_or(|rows| rows.lease.retries.is_empty()) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        _ = crawl_in(world, messages, Network::default().fetcher(), definition) => panic!("it ended"),
        () = waits => {}
    }
}

/// Opens a directory, which fails while a thread of the previous run still holds it.
pub(crate) async fn until_free(directory: &Path) {
    while let Err(error) = LocalStore::open(directory, SystemClock::new().now()) {
        assert!(error.to_string().contains("in use"), "{error}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Two pages; the second one is not answered while `fails` is set.
async fn site(fails: &Arc<AtomicBool>) -> ScriptedSite {
    let fails = Arc::clone(fails);
    ScriptedSite::start(move |asked| -> Act {
        match asked.target.as_str() {
            "/" => page("<a href=/flaky>on</a>"),
            "/flaky" if fails.load(Ordering::Relaxed) => Act::HangUp,
            "/flaky" => page("well"),
            _ => answer(404, &[], ""),
        }
    })
    .await
}

#[tokio::test]
async fn a_clock_that_is_set_back_between_two_iterations_stops_nothing() {
    for ahead in [Duration::from_hours(24), Duration::from_hours(24 * 365)] {
        let data = tempfile::tempdir().unwrap();
        let site = site(&Arc::default()).await;
        let definition = definition(&[site.url("/")], |draft| draft.politeness.delay = Duration::from_millis(100));
        crawl(data.path(), &definition, ahead).await;
        until_free(data.path()).await;
        let progress = crawl(data.path(), &definition, Duration::ZERO).await;
        assert_eq!((progress.count(Outcome::FileDidNotChange), progress.waiting()), (2, 0), "{ahead:?} ahead");
        let robots = site.log().iter().filter(|asked| asked.target == "/robots.txt").count();
        assert_eq!(robots, 2, "the age of a robots.txt fetched in the future is unknown");
    }
}

#[tokio::test]
async fn a_clock_that_is_set_back_after_a_death_stops_nothing() {
    for ahead in [Duration::from_hours(24), Duration::from_hours(24 * 365)] {
        let data = tempfile::tempdir().unwrap();
        let fails = Arc::new(AtomicBool::new(true));
        let site = site(&fails).await;
        let definition = definition(&[site.url("/")], |draft| draft.politeness.delay = Duration::from_millis(100));
        let seed = definition.seeds.first().unwrap();
        let origin = OriginKey { crawl: definition.name.clone(), origin: seed.origin() };
        crawl_and_die(data.path(), &definition, &origin, ahead).await;
        until_free(data.path()).await;
        fails.store(false, Ordering::Relaxed);
        let progress = crawl(data.path(), &definition, Duration::ZERO).await;
        assert_eq!((progress.count(Outcome::FileIngested), progress.waiting()), (2, 0), "{ahead:?} ahead");
    }
}
