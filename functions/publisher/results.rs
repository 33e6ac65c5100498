//! The results of crawls, in the database that the stack's parameters name.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dragline_domain::definition::SecretReference;
use dragline_domain::ids::CrawlId;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortError;
use dragline_ports::reader::Reader;
use dragline_ports::secrets::{SecretError, Secrets};
use dragline_sink::{Address, AddressError, Event, SchemaName, SinkError, Start, Target, Totals, write};

/// How long a database that does not answer is waited for, as when it fails over. The next tick
/// tries again.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where results are written.
pub(crate) struct Database {
    secrets: Arc<dyn Secrets>,
    /// Where its address is.
    secret: SecretReference,
}

/// How far it got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// The database equals the crawl.
    All(Totals),
    /// The time was over after this many transactions. The next call goes on after them.
    Part(u64),
    /// Another process is writing this crawl.
    Busy,
}

/// The results are not in the database. Nothing in the message is secret.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResultsError {
    /// Its address cannot be read.
    #[error("the address of the database: {0}")]
    Secret(#[from] SecretError),
    /// Its address is not valid.
    #[error("`{secret}`: {error}; write it as `postgres://USER@HOST/DATABASE`")]
    Address {
        /// Where it is.
        secret: SecretReference,
        /// What is wrong with it.
        error: AddressError,
    },
    /// They cannot be written there.
    #[error("the results are not in {to}: {error}")]
    Sink {
        /// Where the database is.
        to: Box<Address>,
        /// Why.
        error: SinkError,
    },
    /// No transaction fitted into the time.
    #[error("the results are not in the database: it committed nothing in {} s", .0.as_secs())]
    Slow(Duration),
    /// The crawl cannot be read, or a message not be sent.
    #[error(transparent)]
    Port(#[from] PortError),
}

impl ResultsError {
    /// Returns whether another crawl may be written all the same.
    pub(crate) const fn is_of_the_crawl(&self) -> bool {
        matches!(self, Self::Port(_) | Self::Sink { error: SinkError::Reader(_) | SinkError::Refused(_), .. })
    }
}

impl Database {
    /// Returns the database whose address is a secret of this name.
    pub(crate) fn by_secret(name: String, secrets: Arc<dyn Secrets>) -> Self {
        Self { secrets, secret: SecretReference::Managed(name) }
    }

    /// Writes what is new in a crawl, as far as there is time.
    ///
    /// # Errors
    /// The crawl cannot be read, or its results cannot be written. What was committed stays.
    pub(crate) async fn write(
        &self,
        (reader, crawl): (&impl Reader, &CrawlId),
        clock: &impl Clock,
        time: Duration,
    ) -> Result<Written, ResultsError> {
        let address = self.secrets.read(&self.secret).await?;
        let address: Address =
            address.reveal().parse().map_err(|error| ResultsError::Address { secret: self.secret.clone(), error })?;
        let target = Target {
            address,
            schema: SchemaName::default(),
            reader: None,
            start: Start::Continue,
            patience: PATIENCE,
            batch_rows: None,
        };
        let commits = AtomicU64::new(0);
        let watch = |event: Event| {
            if let Event::Committed { .. } = event {
                commits.fetch_add(1, Ordering::Relaxed);
            }
        };
        let written = tokio::select! {
            written = write(reader, crawl, &target, &watch) => written,
            () = clock.sleep(time) => return Ok(Written::Part(commits.into_inner())),
        };
        match written {
            Ok(totals) => Ok(Written::All(totals)),
            Err(SinkError::Busy) => Ok(Written::Busy),
            Err(error) => Err(ResultsError::Sink { to: Box::new(target.address), error }),
        }
    }
}

#[cfg(test)]
mod tests {
    use dragline_local::LocalStore;
    use dragline_ports::secrets::{NoSecrets, Secret, SecretFuture};
    use dragline_ports::system::SystemClock;
    use dragline_testkit::postgres::{Database as Postgres, OWNER, assert_equal};
    use dragline_testkit::site::{GeneratedSite, Site};
    use dragline_testkit::whole_crawls::{crawl, definition};

    use super::*;

    /// A place where every secret is this one.
    struct Only(String);

    impl Secrets for Only {
        fn read<'a>(&'a self, _reference: &'a SecretReference) -> SecretFuture<'a> {
            Box::pin(async { Ok(Secret::new(&self.0)) })
        }
    }

    /// Crawls a site of some pages, and returns a reader of the crawl `docs`.
    async fn crawled(directory: &std::path::Path) -> (impl Reader, CrawlId) {
        let pages = GeneratedSite { pages: 20, links_per_page: 5, bytes_per_page: 800, seed: 7 };
        let site = Site::builder().generated(pages).start().await.unwrap();
        let docs: CrawlId = "docs".parse().unwrap();
        crawl(directory, &definition(&[site.url()], |draft| draft.name = docs.clone())).await;
        (LocalStore::open_read_only(directory).unwrap().into_reader(docs.clone()), docs)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_does_not_fit_into_the_time_is_left_to_the_next_call() {
        let (postgres, directory) = (Postgres::create().await, tempfile::tempdir().unwrap());
        let (reader, docs) = crawled(directory.path()).await;
        let database = Database::by_secret("results".to_owned(), Arc::new(Only(postgres.address(OWNER))));
        let (clock, mut time, mut stops) = (SystemClock::new(), Duration::from_millis(1), 0);
        // The server may still hold the lock of a call that was stopped.
        while !matches!(database.write((&reader, &docs), &clock, time).await.unwrap(), Written::All(_)) {
            time *= 2;
            stops += 1;
        }
        assert!(stops > 0, "a millisecond is too short");
        assert_equal(&postgres, &reader, "docs").await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_is_wrong_is_said_without_the_address() {
        let directory = tempfile::tempdir().unwrap();
        let (reader, docs) = crawled(directory.path()).await;
        let only = |address: &str| -> Arc<dyn Secrets> { Arc::new(Only(address.to_owned())) };
        for (secrets, expected, why) in [
            (
                Arc::new(NoSecrets) as Arc<dyn Secrets>,
                "the address of the database: `secret:results` cannot be read here",
                "there is none",
            ),
            (
                only("mysql://me:staple@db.example/results"),
                "`secret:results`: the address of the database is not valid; write it as `postgres://USER@HOST/DATABASE`",
                "it is another database's",
            ),
            (
                only("postgres://me:staple@127.0.0.1:1/results"),
                "the results are not in `results` at 127.0.0.1: the database does not answer: error connecting to server: Connection refused (os error 111)",
                "nobody listens there",
            ),
        ] {
            let database = Database::by_secret("results".to_owned(), secrets);
            let error = database.write((&reader, &docs), &SystemClock::new(), Duration::MAX).await.unwrap_err();
            assert_eq!(error.to_string(), expected, "{why}");
            assert!(!error.is_of_the_crawl(), "{why}: no other crawl is written either");
        }
    }
}
