//! Writing a crawl's results until the database equals the crawl.

use std::time::Duration;

use dragline_domain::ids::CrawlId;
use dragline_ports::error::PortResult;
use dragline_ports::reader::{self, Cursor, Filter, Reader, Rest};

use crate::address::Address;
use crate::batch::{Outcome, Rows, Written};
use crate::error::{Failed, SinkError};
use crate::items::ItemBatch;
use crate::names::{RoleName, SchemaName};
use crate::place::{Begun, Kind, Pass, PassEnd, Place};
use crate::session::Session;
use crate::source::Source;

/// The number of rows per read and per transaction.
const BATCH_ROWS: usize = 1_000;

/// How often a batch is tried again because other processes have changed columns meanwhile.
const OUTDATED_MAX: u32 = 100;

/// The waits between attempts to reach the database: the first one, which doubles up to the
/// longest.
const WAITS: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(30));

/// Where results are written, and how.
#[derive(Clone, Debug)]
pub struct Target {
    /// The database.
    pub address: Address,
    /// The schema with the tables, which is created if it does not exist.
    pub schema: SchemaName,
    /// A role that gets the right to read all tables, now and later; `None` for no role.
    pub reader: Option<RoleName>,
    /// Where to start.
    pub start: Start,
    /// How long to wait for a database that does not answer, since it last did.
    pub patience: Duration,
    /// The number of rows per transaction; `None` for what suits most.
    pub batch_rows: Option<usize>,
}

/// Where to start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// Where the last process stopped.
    #[default]
    Continue,
    /// At the beginning: every row is compared with the crawl again, and missing tables and columns
    /// are created anew.
    FromStart,
}

/// What happens while results are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The database does not answer, for this reason; it is tried again after a pause.
    Waiting(String),
    /// A transaction was committed, with this many rows of a kind (`pages`).
    Committed {
        /// The kind of the rows, in the plural.
        what: &'static str,
        /// How many rows.
        rows: u64,
    },
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The rows that were compared with the database; those of finished parts are not.
    pub rows: u64,
    /// Those of them that were new in the database, or different.
    pub changed: u64,
    /// The rows that were removed, as they are gone from the crawl.
    pub removed: u64,
}

impl Totals {
    fn add(&mut self, written: Written) {
        self.rows += written.rows;
        self.changed += written.changed;
        self.removed += written.removed;
    }
}

/// Writes the results of a crawl until the database equals it, as it was at the beginning.
///
/// Each batch is committed together with its place, so it may be killed or dropped at any time: the
/// next call goes on after the last batch that was committed, even if the crawl has gone on. If
/// nothing is new, nothing is written. `watch` is called after each transaction, and before each
/// pause.
///
/// # Errors
/// The crawl cannot be read, or the database does not answer for too long or refuses a statement.
/// What was committed stays in any case.
pub async fn write(
    reader: &impl Reader,
    crawl: &CrawlId,
    target: &Target,
    watch: &impl Fn(Event),
) -> Result<Totals, SinkError> {
    let source = Source::read(reader).await?;
    let mut run = Run {
        reader,
        crawl,
        target,
        source: &source,
        watch,
        totals: Totals::default(),
        start: target.start,
        commits: 0,
    };
    let (mut pause, mut waited) = (WAITS.0, Duration::ZERO);
    loop {
        let before = run.commits;
        let failed = match run.attempt().await {
            Ok(()) => return Ok(run.totals),
            Err(failed) => failed,
        };
        // Waiting begins anew whenever something was committed.
        if run.commits > before {
            (pause, waited) = (WAITS.0, Duration::ZERO);
        }
        let (why, lasting) = match failed {
            Failed::Lasting(error) => return Err(error),
            Failed::Busy => (SinkError::Busy.to_string(), SinkError::Busy),
            Failed::Away(why) => (why.clone(), SinkError::Away(why)),
        };
        let left = target.patience.saturating_sub(waited);
        if left.is_zero() {
            return Err(lasting);
        }
        watch(Event::Waiting(why));
        tokio::time::sleep(pause.min(left)).await;
        waited += pause;
        pause = (pause * 2).min(WAITS.1);
    }
}

/// The writing of a crawl, over any number of connections.
struct Run<'r, R, W> {
    reader: &'r R,
    crawl: &'r CrawlId,
    target: &'r Target,
    source: &'r Source,
    watch: &'r W,
    totals: Totals,
    start: Start,
    /// The transactions that were committed.
    commits: u64,
}

impl<R: Reader, W: Fn(Event)> Run<'_, R, W> {
    /// Writes what is left over one connection.
    async fn attempt(&mut self) -> Result<(), Failed> {
        let mut session = Session::connect(self.target, self.crawl).await?;
        let written = self.write_all(&mut session).await;
        match written {
            // A table that somebody changed while rows were written: say which.
            Err(Failed::Lasting(SinkError::Refused(why))) => {
                session.load_catalog().await?;
                session.catalog.check(&session.client, &session.schema).await?;
                Err(SinkError::Refused(why).into())
            }
            written => written,
        }
    }

    async fn write_all(&mut self, session: &mut Session) -> Result<(), Failed> {
        session.prepare(self.start, self.target.reader.as_ref()).await?;
        if self.start == Start::FromStart {
            session.forget_places().await?;
            self.start = Start::Continue;
        }
        self.write_iterations(session).await?;
        let source = self.source;
        let site = [Kind::Page, Kind::Link, Kind::Item].map(|kind| Pass { kind, source: &source.site });
        let logs = source.iterations.iter().map(|iteration| {
            let kind = Kind::Log(iteration.row.number);
            Pass { kind, source: &iteration.log }
        });
        let mut passes: Vec<Pass<'_>> = site.into_iter().chain(logs).collect();
        // A process that has to stop in time leaves a pass open, and the crawl may have gone on
        // since. The pass is ended as it was begun, and what was written the longest ago comes
        // next: so all parts get their turn, however often it has to stop.
        for Begun { kind, source, .. } in session.begun().await?.iter().filter(|begun| begun.end == PassEnd::Open) {
            if let Some(pass) = passes.iter().find(|pass| pass.kind.stored_name() == *kind) {
                self.pass(session, Pass { kind: pass.kind, source }).await?;
            }
        }
        let begun = session.begun().await?;
        passes.sort_by_cached_key(|pass| begun.iter().position(|begun| begun.kind == pass.kind.stored_name()));
        for pass in passes {
            self.pass(session, pass).await?;
        }
        Ok(())
    }

    async fn write_iterations(&mut self, session: &mut Session) -> Result<(), Failed> {
        for _ in 0..OUTDATED_MAX {
            let outcome = session.write_iterations(self.source).await?;
            if self.note(session, "iterations", outcome).await? != After::Retry {
                return Ok(());
            }
        }
        Err(Failed::Busy)
    }

    /// Writes what is left of a stream, and removes what is gone from it.
    async fn pass(&mut self, session: &mut Session, pass: Pass<'_>) -> Result<(), Failed> {
        let stream = Stream {
            reader: self.reader,
            crawl: self.crawl,
            kind: pass.kind,
            limit: self.target.batch_rows.unwrap_or(BATCH_ROWS),
        };
        loop {
            let mut place = session.place(pass).await?;
            if place == Place::Finished {
                return Ok(());
            }
            let mut more = Some(stream.read(&place).await?);
            while let Some(Batch { rows, cursor, rest }) = more {
                let next = cursor.map_or(Place::Start, Place::Within);
                // A process that stopped after the last batch finds nothing more. To commit that
                // again would not bring it any further.
                if next == place {
                    more = stream.read_rest(&next, rest).await?;
                    continue;
                }
                // The next batch is read while this one is written.
                let (written, read) = tokio::join!(
                    self.write_batch(session, pass, (&place, &next), &rows),
                    stream.read_rest(&next, rest)
                );
                written?;
                (place, more) = (next, read?);
            }
            if self.finish(session, pass, &place).await? == After::Proceed {
                return Ok(());
            }
        }
    }

    async fn write_batch(
        &mut self,
        session: &mut Session,
        pass: Pass<'_>,
        (from, to): (&Place, &Place),
        rows: &Rows,
    ) -> Result<(), Failed> {
        for _ in 0..OUTDATED_MAX {
            if let Rows::Items(items) = rows {
                session.ensure(&items.needed(&session.catalog)).await?;
            }
            let outcome = session.write(pass, from, to, rows).await?;
            if self.note(session, pass.kind.plural(), outcome).await? != After::Retry {
                return Ok(());
            }
        }
        Err(Failed::Busy)
    }

    async fn finish(&mut self, session: &mut Session, pass: Pass<'_>, place: &Place) -> Result<After, Failed> {
        for _ in 0..OUTDATED_MAX {
            let outcome = session.finish(pass, place).await?;
            let after = self.note(session, pass.kind.plural(), outcome).await?;
            if after != After::Retry {
                return Ok(after);
            }
        }
        Err(Failed::Busy)
    }

    /// Counts what a transaction wrote, and returns what is next.
    async fn note(&mut self, session: &mut Session, what: &'static str, outcome: Outcome) -> Result<After, Failed> {
        let (written, after) = match outcome {
            Outcome::Outdated => {
                session.load_catalog().await?;
                return Ok(After::Retry);
            }
            Outcome::Committed(written) => (written, After::Proceed),
            Outcome::Repeat(written) => (written, After::Repeat),
        };
        self.commits += 1;
        self.totals.add(written);
        (self.watch)(Event::Committed { what, rows: written.rows });
        Ok(after)
    }
}

/// What comes after a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    /// The next one.
    Proceed,
    /// The same one, as columns have changed before it.
    Retry,
    /// The whole pass.
    Repeat,
}

/// A stream of the reader.
struct Stream<'r, R> {
    reader: &'r R,
    crawl: &'r CrawlId,
    kind: Kind,
    limit: usize,
}

/// A batch of rows that are all of one kind.
struct Batch {
    rows: Rows,
    cursor: Option<Cursor>,
    rest: Rest,
}

impl<R: Reader> Stream<'_, R> {
    /// Reads the batch after a place, if there is one.
    async fn read_rest(&self, place: &Place, rest: Rest) -> PortResult<Option<Batch>> {
        match rest {
            Rest::More => self.read(place).await.map(Some),
            Rest::Nothing => Ok(None),
        }
    }

    async fn read(&self, place: &Place) -> PortResult<Batch> {
        let after = match place {
            Place::Within(cursor) => Some(cursor),
            Place::Start | Place::Finished => None,
        };
        let all = Filter::default();
        match self.kind {
            Kind::Page => Ok(Batch::new(self.reader.pages(&all, after, self.limit).await?, Rows::Pages)),
            Kind::Link => Ok(Batch::new(self.reader.links(&all, after, self.limit).await?, Rows::Links)),
            Kind::Item => {
                let documents = self.reader.shown_documents(&all, after, self.limit).await?;
                Ok(Batch::new(documents, |rows| Rows::Items(ItemBatch::new(self.crawl, &rows))))
            }
            Kind::Log(iteration) => {
                let filter = Filter::by_iteration(iteration);
                Ok(Batch::new(self.reader.log(&filter, after, self.limit).await?, Rows::Log))
            }
        }
    }
}

impl Batch {
    fn new<T>(batch: reader::Batch<T>, rows: impl FnOnce(Vec<T>) -> Rows) -> Self {
        let reader::Batch { rows: read, cursor, rest } = batch;
        Self { rows: rows(read), cursor, rest }
    }
}
