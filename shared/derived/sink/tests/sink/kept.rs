//! A database that is kept up to date, goes away and comes back.

use std::sync::Mutex;
use std::time::Duration;

use dragline_sink::{Destination, Notice, Target, keep};
use dragline_testkit::clock::HandClock;
use tokio::sync::Semaphore;

use crate::cluster::{Database, assert_equal, target};
use crate::proxy::Proxy;
use crate::stored::Stored;

const SECOND: Duration = Duration::from_secs(1);

/// An upkeep, and what it has told.
struct Upkeep {
    clock: HandClock,
    told: Mutex<Vec<Notice>>,
    destination: Destination,
}

impl Upkeep {
    fn new(target: Target) -> Self {
        let destination = Destination::Database(Box::new(target));
        Self { clock: HandClock::default(), told: Mutex::default(), destination }
    }

    fn told(&self) -> usize {
        self.told.lock().unwrap().len()
    }

    /// Keeps the destination up to date until the end of what happens meanwhile.
    async fn run(&self, stored: &Stored, meanwhile: impl Future<Output = ()>) {
        let (tell, at_once) = (|notice| self.told.lock().unwrap().push(notice), Semaphore::new(1));
        tokio::select! {
            () = keep(stored, &stored.crawl, &self.destination, (&self.clock, &at_once), &tell) => {}
            () = meanwhile => {}
        }
    }

    /// Lets time pass until this many things were told.
    async fn until_told(&self, count: usize) {
        while self.told() < count {
            self.clock.pass(SECOND);
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn what_was_stored_while_the_database_was_away_is_there_once_it_is_back() {
    let (database, mut stored) = (Database::create().await, Stored::with_pages(4));
    let mut proxy = Proxy::start(&database, None);
    let upkeep = Upkeep::new(target(&proxy.address()));
    upkeep.run(&stored, upkeep.until_told(1)).await;
    assert!(matches!(upkeep.told.lock().unwrap()[..], [Notice::Written(totals)] if totals.changed > 20));
    assert_equal(&database, &stored, "docs").await;

    proxy.go_away();
    stored.begin(2);
    stored.put_page(2, "/later", "Later");
    let hour = async {
        upkeep.until_told(2).await;
        for _second in 0..3_600 {
            upkeep.clock.pass(SECOND);
            tokio::task::yield_now().await;
        }
        assert_eq!(upkeep.told(), 2, "it is tried again and again, and said once");
        proxy.come_back();
        upkeep.until_told(3).await;
    };
    upkeep.run(&stored, hour).await;
    let told = upkeep.told.into_inner().unwrap();
    assert!(matches!(told[1..], [Notice::Away(_), Notice::Back(totals)] if totals.changed > 0), "{told:?}");
    assert_equal(&database, &stored, "docs").await;
}
