//! Publishes iterations after they close, and writes results to a database.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dragline_domain::frontier::{IterationRow, IterationStatus};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_lambda::{Event, Message, MessageError, Reply, Work, read_message, work_all};
use dragline_pipeline::World;
use dragline_ports::clock::{Clock as _, Rng as _};
use dragline_ports::editions::Editions;
use dragline_ports::error::{PortError, PortErrorKind};
use dragline_ports::notifier::{Notice, Notifier as _};
use dragline_ports::publications::{Publications, PublishPlace, SitePlace};
use dragline_ports::queue::{self, PublishCommand, Publishing, Queue as _};
use dragline_ports::reader::Reader;
use dragline_publish::{
    PartLimits, Publication, PublishedReport, SiteEnd, SiteError, SiteLimits, SitePublication, SiteResult,
    publish_items, publish_site_from,
};
use dragline_report::site::ReportStamp;
use serde::Deserialize;
use tokio::runtime::Handle;
use tracing::Instrument as _;

use super::results::{Database, ResultsError, Written};

/// The `kind` of the notice that an iteration closed.
const CLOSED: &str = "iteration_closed";

/// How often a site's publication is tried at once while others publish or forget; then the message
/// is delivered again.
const SITE_TRIES: u32 = 3;

/// How long a message waits while another process writes the same crawl to the database.
const BUSY_WAIT: Duration = Duration::from_secs(60);

/// The maximum duration of an uninterruptible step: a part of an index, or an index with its
/// report.
const SITE_RESERVE: Duration = Duration::from_secs(300);

/// The state of a warm process.
pub(crate) struct Publisher<W, R, P, E> {
    pub(crate) world: W,
    /// Returns a reader of a crawl for a kind of publication.
    pub(crate) reader: R,
    pub(crate) publications: P,
    pub(crate) editions: E,
    /// A folder for the derived data of one crawl at a time. Existing files save work if they
    /// belong to the same crawl.
    pub(crate) folder: PathBuf,
    /// Where results are written; `None` if the stack has no database.
    pub(crate) database: Option<Arc<Database>>,
}

impl<W, R, T, P, E> Publisher<W, R, P, E>
where
    W: World,
    R: Fn(&CrawlId, &Publishing) -> T + Send + Sync + 'static,
    T: Reader + 'static,
    P: Publications + 'static,
    E: Editions,
{
    /// Publishes the iterations of a batch.
    pub(crate) async fn handle(self: Arc<Self>, event: Event) -> Reply {
        match event {
            Event::Messages(messages) => work_all(messages, |message| Arc::clone(&self).iteration(message)).await,
            Event::Tick | Event::Request(_) => Reply::default(),
        }
    }

    async fn iteration(self: Arc<Self>, message: Message) -> Result<Work, PortError> {
        let asked = match read(&message.body) {
            Ok(asked) => asked,
            Err(error) => {
                tracing::error!(%error, "a malformed message about an iteration");
                return Ok(Work::Refused);
            }
        };
        let command = match asked {
            PublishRequest::For(command) => command,
            PublishRequest::IsOver(command) => {
                // The site has a message of its own: if it fails, the items are published all the
                // same.
                let site = PublishCommand { what: Publishing::Site(None), ..command.clone() };
                self.world.queue().send(queue::Message::Publish(site), Duration::ZERO).await?;
                if self.database.is_some() {
                    self.send_results(&command.crawl, command.iteration, Duration::ZERO).await?;
                }
                command
            }
        };
        let span = tracing::info_span!("publish", crawl = %command.crawl, iteration = %command.iteration);
        Box::pin(self.publish(command)).instrument(span).await
    }

    async fn publish(self: Arc<Self>, command: PublishCommand) -> Result<Work, PortError> {
        let PublishCommand { crawl, iteration, what } = command;
        let reader = (self.reader)(&crawl, &what);
        let closed = async || {
            let row = reader.load_iteration(iteration).await?.filter(|row| row.status == IterationStatus::Closed);
            if row.is_none() {
                tracing::info!("nothing to publish: the iteration is not over");
            }
            Ok::<_, PortError>(row)
        };
        match what {
            Publishing::Items(from) => match closed().await? {
                Some(row) => self.items(&reader, row, from).await,
                None => Ok(Work::Done),
            },
            Publishing::Site(from) => match closed().await? {
                Some(row) => self.site(row, from).await,
                None => Ok(Work::Done),
            },
            Publishing::Results => self.results(&reader, crawl, iteration).await,
        }
    }

    /// Publishes items while there is time, and sends a message for the rest. Each run completes at
    /// least one part.
    async fn items(&self, reader: &T, iteration: IterationRow, from: Option<PublishPlace>) -> Result<Work, PortError> {
        let IterationRow { crawl, number: iteration, .. } = iteration;
        let rest = self.rest(Duration::ZERO);
        let publication = Publication { crawl: crawl.clone(), iteration, limits: PartLimits::default() };
        let (published, from) = publish_items(reader, &self.publications, &publication, from, rest).await?;
        tracing::info!(?published, is_through = from.is_none(), "published");
        if from.is_some() {
            let command = PublishCommand { crawl, iteration, what: Publishing::Items(from) };
            self.world.queue().send(queue::Message::Publish(command), Duration::ZERO).await?;
        }
        Ok(Work::Done)
    }

    /// Writes what is new in a crawl to the database while there is time, and sends a message for
    /// the rest. An error keeps no other message waiting: the next tick tries again.
    async fn results(&self, reader: &T, crawl: CrawlId, iteration: Iteration) -> Result<Work, PortError> {
        let Some(database) = &self.database else { return Ok(Work::Done) };
        let time = self.world.timing().walk.unwrap_or(Duration::MAX);
        let written = database.write((reader, &crawl), self.world.clock(), time).await;
        let written = match written {
            Ok(Written::Part(0)) => Err(ResultsError::Slow(time)),
            written => written,
        };
        match written {
            Ok(Written::All(totals)) => tracing::info!(?totals, "the results are in the database"),
            Ok(Written::Part(commits)) => {
                tracing::info!(commits, "the results are in the database as far as there was time");
                self.send_results(&crawl, iteration, Duration::ZERO).await?;
            }
            Ok(Written::Busy) => self.send_results(&crawl, iteration, BUSY_WAIT).await?,
            Err(error) => tracing::error!(%error, "results wait for the next tick"),
        }
        Ok(Work::Done)
    }

    /// Writes what is new in these crawls to the database while there is time, beginning with any
    /// of them. If it ends within one, a message is sent for its rest.
    ///
    /// # Errors
    /// Returns the first error, at once if it is one of the database.
    pub(crate) async fn tick(&self, mut crawls: Vec<CrawlId>) -> Result<(), ResultsError> {
        let Some(database) = &self.database else { return Ok(()) };
        let (clock, mut failed) = (self.world.clock(), None);
        let until = clock.monotonic().saturating_add(self.world.timing().walk.unwrap_or(Duration::MAX));
        // If there is not enough time for all, each has its turn at some tick.
        let first = self.world.rng().bits().checked_rem(crawls.len() as u128).and_then(|first| first.try_into().ok());
        crawls.rotate_left(first.unwrap_or(0));
        for crawl in crawls {
            let reader = (self.reader)(&crawl, &Publishing::Results);
            let Some(latest) = reader.latest_iteration().await? else { continue };
            let time = until.saturating_sub(clock.monotonic());
            match database.write((&reader, &crawl), clock, time).await {
                Ok(Written::All(totals)) => tracing::info!(%crawl, ?totals, "the results are in the database"),
                Ok(Written::Part(commits)) => {
                    tracing::info!(%crawl, commits, "the results are in the database as far as there was time");
                    self.send_results(&crawl, latest.number, Duration::ZERO).await?;
                    break;
                }
                Ok(Written::Busy) => tracing::info!(%crawl, "another process is writing the results"),
                Err(error) if error.is_of_the_crawl() => {
                    tracing::error!(%crawl, %error, "results wait for the next tick");
                    failed.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    async fn send_results(&self, crawl: &CrawlId, iteration: Iteration, delay: Duration) -> Result<(), PortError> {
        let command = PublishCommand { crawl: crawl.clone(), iteration, what: Publishing::Results };
        self.world.queue().send(queue::Message::Publish(command), delay).await
    }

    /// Returns a function that breaks once there is not enough time for a step of this length.
    fn rest(&self, reserve: Duration) -> impl Fn() -> ControlFlow<()> + Send {
        let clock = self.world.clock();
        let until = self.world.timing().walk.map(|walk| clock.monotonic().saturating_add(walk.saturating_sub(reserve)));
        move || match until.is_some_and(|until| clock.monotonic() >= until) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Publishes the word index and the report while there is time, and sends a message for the
    /// rest. Notifies people of the report's location.
    async fn site(self: Arc<Self>, iteration: IterationRow, from: Option<SitePlace>) -> Result<Work, PortError> {
        let (crawl, number) = (iteration.crawl.clone(), iteration.number);
        let failed = |error| port_error(&crawl, error);
        let folder = crawl_folder(&self.folder, &crawl).map_err(|error| failed(error.into()))?;
        let making = ReportStamp {
            program: concat!("dragline ", env!("CARGO_PKG_VERSION")).to_owned(),
            at: self.world.clock().now(),
        };
        let publication = SitePublication { iteration, folder, making, limits: SiteLimits::default() };
        let (this, runtime) = (Arc::clone(&self), Handle::current());
        // Most of it is computation. Meanwhile, the runtime's thread makes the requests to AWS.
        let published = tokio::task::spawn_blocking(move || {
            runtime.block_on(async {
                let (mut tries_left, mut from, rest) = (SITE_TRIES, from, this.rest(SITE_RESERVE));
                loop {
                    // A new one for each try: a reader may cache URLs forgotten since.
                    let reader = (this.reader)(&publication.iteration.crawl, &Publishing::Site(None));
                    let publication = (publication.clone(), from.take());
                    let tried =
                        publish_site_from(&reader, &this.editions, &this.publications, publication, &rest).await;
                    tries_left -= 1;
                    if tries_left == 0 || !matches!(tried, Err(SiteError::Superseded)) {
                        return tried;
                    }
                }
            })
        });
        let published = published.await.map_err(|error| failed(io::Error::other(error).into()))?;
        let SiteResult { index, report } = match published.map_err(failed)? {
            SiteEnd::Published(published) => published,
            SiteEnd::Stopped(place) => {
                tracing::info!(?place, "the site is published as far as there was time");
                let command = PublishCommand { crawl, iteration: number, what: Publishing::Site(Some(place)) };
                self.world.queue().send(queue::Message::Publish(command), Duration::ZERO).await?;
                return Ok(Work::Done);
            }
        };
        tracing::info!(?index, is_reported = report.is_some(), "published");
        if let Some(PublishedReport { place, findings }) = report {
            let notice = Notice::ReportWritten { crawl: crawl.clone(), iteration: number, place, findings };
            // The report exists in any case.
            if let Err(error) = self.world.notifier().notify(notice, self.world.clock().now()).await {
                tracing::error!(%error, "nobody was told of the report");
            }
        }
        Ok(Work::Done)
    }
}

/// Returns the folder of a crawl, after deleting those of others, for which there is no room.
fn crawl_folder(all: &Path, crawl: &CrawlId) -> io::Result<PathBuf> {
    let folder = all.join(crawl.to_string());
    fs::create_dir_all(&folder)?;
    for other in fs::read_dir(all)? {
        let other = other?.path();
        if other != folder {
            fs::remove_dir_all(other)?;
        }
    }
    Ok(folder)
}

/// Every failure may be temporary, so another delivery may succeed.
fn port_error(crawl: &CrawlId, error: SiteError) -> PortError {
    match error {
        SiteError::Port(error) => error,
        error => PortError::new(PortErrorKind::Unavailable, "publish the site", crawl, error),
    }
}

/// A request to publish.
#[derive(Debug, PartialEq, Eq)]
enum PublishRequest {
    /// The notice that an iteration closed: everything is to be published, beginning with this.
    IsOver(PublishCommand),
    /// Our own message.
    For(PublishCommand),
}

/// Parses a request: the topic's notice that an iteration closed, or our own message.
fn read(body: &str) -> Result<PublishRequest, MessageError> {
    #[derive(Deserialize)]
    struct Notice {
        kind: String,
        crawl: CrawlId,
        iteration: Iteration,
    }
    match serde_json::from_str(body) {
        Ok(Notice { kind, crawl, iteration }) if kind == CLOSED => {
            Ok(PublishRequest::IsOver(PublishCommand { crawl, iteration, what: Publishing::Items(None) }))
        }
        _ => read_message(body, publish).map(PublishRequest::For),
    }
}

fn publish(message: queue::Message) -> Option<PublishCommand> {
    match message {
        queue::Message::Publish(command) => Some(command),
        queue::Message::Ticket(_)
        | queue::Message::Tickets(_)
        | queue::Message::Parse(_)
        | queue::Message::Start(_)
        | queue::Message::Prune(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::event;
    use dragline_ports::reader::Cursor;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_end_of_an_iteration_and_our_own_messages_are_parsed() {
        let docs = |what| PublishCommand { crawl: "docs".parse().unwrap(), iteration: Iteration::FIRST, what };
        let Event::Messages(told) = event(include_str!("../../events/publications.json")) else { panic!("messages") };
        assert_eq!(read(&told[0].body).unwrap(), PublishRequest::IsOver(docs(Publishing::Items(None))));
        let place = PublishPlace { after: Cursor::new("https://docs.example x"), part: 3 };
        let site = SitePlace { draft: "1-1-0.draft".to_owned(), bytes: 7, stops: 1 };
        for command in [
            docs(Publishing::Items(None)),
            docs(Publishing::Items(Some(place))),
            docs(Publishing::Site(None)),
            docs(Publishing::Site(Some(site))),
            docs(Publishing::Results),
        ] {
            let body = serde_json::to_string(&queue::Message::Publish(command.clone())).unwrap();
            assert_eq!(read(&body).unwrap(), PublishRequest::For(command));
        }
    }

    #[test]
    fn other_notifications_are_refused() {
        let Event::Messages(told) = event(include_str!("../../events/publications-malformed.json")) else {
            panic!("messages")
        };
        for message in told {
            assert!(read(&message.body).is_err(), "{}", message.body);
        }
        let other = json!({"kind": "start_skipped", "crawl": "docs", "iteration": 1});
        assert!(read(&other.to_string()).is_err(), "an iteration that did not begin");
    }
}
