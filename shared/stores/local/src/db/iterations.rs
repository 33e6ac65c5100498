//! Rows of `iteration`.

use dragline_domain::frontier::{Cursors, IterationRow, IterationStatus, Reserve, Task};
use dragline_domain::ids::{CrawlId, Iteration, TriggerId};
use jiff::Timestamp;
use rusqlite::{Row, params};

use super::crawls::iteration_number;
use super::values::{Json, Time};
use super::{CrawlRowId, Db, StoreError};

const COLUMNS: &str = "number, status, open, pages_left, bytes_left, token_out, due, \"trigger\", started_at, ends_at, closed_at, version, cursors, task, pruned_at, origins, joined_before";

const STATUSES: [IterationStatus; 4] =
    [IterationStatus::Open, IterationStatus::Paused, IterationStatus::Stopping, IterationStatus::Closed];

/// The columns as stored, before the names among them are checked.
struct Stored {
    number: u32,
    status: String,
    open: u64,
    budget: Reserve,
    token_out: bool,
    due: Option<Timestamp>,
    trigger: String,
    started_at: Timestamp,
    ends_at: Option<Timestamp>,
    closed_at: Option<Timestamp>,
    version: Option<u32>,
    cursors: Option<Json<Cursors>>,
    task: Option<Json<Task>>,
    pruned_at: Option<Timestamp>,
    origins: u64,
    joined_before: Option<u64>,
}

impl Stored {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let time = |name| Ok::<_, rusqlite::Error>(row.get::<_, Option<Time>>(name)?.map(|time| time.0));
        Ok(Self {
            number: row.get("number")?,
            status: row.get("status")?,
            open: row.get("open")?,
            budget: Reserve { pages: row.get("pages_left")?, bytes: row.get("bytes_left")? },
            token_out: row.get("token_out")?,
            due: time("due")?,
            trigger: row.get("trigger")?,
            started_at: row.get::<_, Time>("started_at")?.0,
            ends_at: time("ends_at")?,
            closed_at: time("closed_at")?,
            version: row.get("version")?,
            cursors: row.get("cursors")?,
            task: row.get("task")?,
            pruned_at: time("pruned_at")?,
            origins: row.get("origins")?,
            joined_before: row.get("joined_before")?,
        })
    }

    fn checked(self, crawl: &CrawlId) -> Result<IterationRow, StoreError> {
        let status = STATUSES
            .into_iter()
            .find(|status| status.name() == self.status)
            .ok_or_else(|| StoreError::Damaged("an iteration has an unknown status".to_owned()))?;
        Ok(IterationRow {
            crawl: crawl.clone(),
            number: iteration_number(self.number)?,
            version: self.version,
            status,
            open: self.open,
            origins: self.origins,
            joined_before: self.joined_before,
            budget: self.budget,
            token_out: self.token_out,
            due: self.due,
            trigger: TriggerId(self.trigger),
            started_at: self.started_at,
            ends_at: self.ends_at,
            closed_at: self.closed_at,
            pruned_at: self.pruned_at,
            cursors: self.cursors.map(|Json(cursors)| cursors).unwrap_or_default(),
            task: self.task.map(|Json(task)| task).unwrap_or_default(),
        })
    }
}

impl Db {
    pub(crate) fn iteration(&self, crawl: &CrawlId, number: Iteration) -> Result<Option<IterationRow>, StoreError> {
        let Some(id) = self.crawl_id(crawl)? else { return Ok(None) };
        let sql = format!("SELECT {COLUMNS} FROM iteration WHERE crawl_id = ?1 AND number = ?2");
        let stored = self.find(&sql, params![id, number.number()], Stored::read)?;
        stored.map(|stored| stored.checked(crawl)).transpose()
    }

    pub(crate) fn latest_iteration(&self, crawl: &CrawlId) -> Result<Option<IterationRow>, StoreError> {
        let Some(id) = self.crawl_id(crawl)? else { return Ok(None) };
        let sql = format!("SELECT {COLUMNS} FROM iteration WHERE crawl_id = ?1 ORDER BY number DESC LIMIT 1");
        let stored = self.find(&sql, [id], Stored::read)?;
        stored.map(|stored| stored.checked(crawl)).transpose()
    }

    /// Returns the iterations of a crawl, the newest first.
    pub(crate) fn iterations(&self, crawl: &CrawlId) -> Result<Vec<IterationRow>, StoreError> {
        let Some(id) = self.crawl_id(crawl)? else { return Ok(Vec::new()) };
        let sql = format!("SELECT {COLUMNS} FROM iteration WHERE crawl_id = ?1 ORDER BY number DESC");
        self.all(&sql, [id], Stored::read)?.into_iter().map(|stored| stored.checked(crawl)).collect()
    }

    pub(crate) fn put_iteration(&self, crawl: CrawlRowId, row: &IterationRow) -> Result<(), StoreError> {
        let sql = format!(
            "INSERT OR REPLACE INTO iteration (crawl_id, {COLUMNS})
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)"
        );
        self.execute(
            &sql,
            params![
                crawl,
                row.number.number(),
                row.status.name(),
                row.open,
                row.budget.pages,
                row.budget.bytes,
                row.token_out,
                row.due.map(Time),
                row.trigger.0,
                Time(row.started_at),
                row.ends_at.map(Time),
                row.closed_at.map(Time),
                row.version,
                (!row.cursors.are_not_begun()).then_some(Json(&row.cursors)),
                (row.task != Task::Crawl).then_some(Json(&row.task)),
                row.pruned_at.map(Time),
                row.origins,
                row.joined_before,
            ],
        )?;
        Ok(())
    }

    /// Writes back a row that was read: its crawl is known.
    pub(crate) fn update_iteration(&self, row: &IterationRow) -> Result<(), StoreError> {
        let crawl = self.crawl_id(&row.crawl)?.ok_or(StoreError::Missing("such crawl"))?;
        self.put_iteration(crawl, row)
    }
}
