//! The position of an interrupted build, stored in its file.

use dragline_domain::ids::Iteration;
use dragline_ports::reader::Cursor;
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::FileError;
use crate::make::SourceState;

/// A stream of input for a graph, in reading order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Candidates,
    Pages,
    Links,
    /// The log of an iteration whose visits ended without content, the newest first.
    Log(Iteration),
}

impl Stream {
    /// Returns the next stream; `None` after the last. `iterations` are those with needed logs, the
    /// newest first.
    pub(crate) fn next(
        self,
        iterations: impl FnOnce() -> Result<Vec<Iteration>, FileError>,
    ) -> Result<Option<Self>, FileError> {
        let done = match self {
            Self::Candidates => return Ok(Some(Self::Pages)),
            Self::Pages => return Ok(Some(Self::Links)),
            Self::Links => None,
            Self::Log(done) => Some(done),
        };
        Ok(iterations()?.into_iter().find(|next| done.is_none_or(|done| *next < done)).map(Self::Log))
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Candidates => "candidates",
            Self::Pages => "pages",
            Self::Links => "links",
            Self::Log(_) => "log",
        }
    }

    fn from_name(name: &str, iteration: Option<u32>) -> Option<Self> {
        [Self::Candidates, Self::Pages, Self::Links]
            .into_iter()
            .chain(iteration.and_then(Iteration::new).map(Self::Log))
            .find(|stream| stream.name() == name)
    }
}

/// The position of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BuildPosition {
    /// The state of the crawl at the start of the build. It may have progressed since.
    pub(crate) from: SourceState,
    /// The current stream.
    pub(crate) stream: Stream,
    /// The last row; `None` at the stream's beginning.
    pub(crate) after: Option<Cursor>,
    /// The last page whose links were added.
    pub(crate) page: Option<String>,
}

impl BuildPosition {
    pub(crate) const fn beginning(from: SourceState) -> Self {
        Self { from, stream: Stream::Candidates, after: None, page: None }
    }

    /// Reads the position; `None` in a new or finished file.
    pub(crate) fn load(db: &Connection) -> Result<Option<Self>, FileError> {
        let is_there = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'unfinished'";
        if db.query_row(is_there, [], |_| Ok(())).optional()?.is_none() {
            return Ok(None);
        }
        let sql = "SELECT made_from, iteration, stream, log_of, after, page FROM unfinished";
        let found = db.query_row(sql, [], |row| {
            let (iteration, stream): (Option<Iteration>, Option<Stream>) =
                (Iteration::new(row.get(1)?), Stream::from_name(&row.get::<_, String>(2)?, row.get(3)?));
            let after = row.get::<_, Option<String>>(4)?.map(Cursor::new);
            let (text, page) = (row.get(0)?, row.get(5)?);
            Ok(iteration.zip(stream).map(|(iteration, stream)| Self {
                from: SourceState { iteration, text },
                stream,
                after,
                page,
            }))
        });
        Ok(found.optional()?.flatten())
    }

    /// Writes the position.
    pub(crate) fn store(&self, db: &Connection) -> Result<(), FileError> {
        db.execute_batch(
            "DROP TABLE IF EXISTS unfinished;
             CREATE TABLE unfinished (made_from TEXT, iteration INTEGER, stream TEXT, log_of INTEGER, after TEXT, page TEXT) STRICT;",
        )?;
        let Self { from, stream, after, page } = self;
        let log_of = if let Stream::Log(iteration) = stream { Some(iteration.number()) } else { None };
        let after = after.as_ref().map(Cursor::as_str);
        let row = params![from.text, from.iteration.number(), stream.name(), log_of, after, page];
        db.execute("INSERT INTO unfinished VALUES (?, ?, ?, ?, ?, ?)", row)?;
        Ok(())
    }
}
