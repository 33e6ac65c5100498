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
        to: Address,
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
            Err(error) => Err(ResultsError::Sink { to: target.address, error }),
        }
    }
}
