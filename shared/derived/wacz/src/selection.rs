//! The visits in an archive, and what they need: requisites of pages, and bodies that unchanged
//! visits confirm.

use std::ops::ControlFlow;

use dragline_domain::definition::Condition;
use dragline_domain::document::{Document, LinkKind};
use dragline_domain::ids::Iteration;
use dragline_domain::url::CrawlUrl;
use dragline_formats::warc::{ExtensionName, RecordType, StoredRecord, TargetUri};
use dragline_ports::reader::{Cursor, DocumentRow, Filter, Reader, each_row};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::ArchiveError;
use crate::merge::Object;

/// The number of documents per read.
const BATCH_ROWS: usize = 200;

/// The visits in an archive; by default all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// The iteration; `None` for all.
    pub iteration: Option<Iteration>,
    /// The earliest time of a visit; `None` for any.
    pub since: Option<Timestamp>,
    /// The condition on their URLs; `None` for all.
    pub condition: Option<Condition>,
}

impl Selection {
    /// Returns whether everything is selected.
    #[must_use]
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether segments of this iteration may be needed: bodies may be older, but not
    /// newer.
    pub(crate) fn may_use(&self, iteration: Iteration) -> bool {
        self.iteration.is_none_or(|wanted| iteration <= wanted)
    }

    fn has(&self, iteration: Iteration, url: &str, at: Timestamp) -> bool {
        let is_of_url =
            |condition: &Condition| CrawlUrl::try_from(url.to_owned()).is_ok_and(|url| condition.matches(&url));
        self.iteration.is_none_or(|wanted| wanted == iteration)
            && self.since.is_none_or(|since| at >= since)
            && self.condition.as_ref().is_none_or(is_of_url)
    }
}

/// The visits of a crawl, and which of them are selected, in a temporary file. SQLite deletes it
/// when it is closed.
pub(crate) struct SelectedVisits(Connection);

impl SelectedVisits {
    /// Returns an empty table of visits; `None` if everything is selected.
    pub(crate) fn for_selection(selection: &Selection) -> Result<Option<Self>, ArchiveError> {
        if selection.is_all() { Ok(None) } else { Self::new().map(Some) }
    }

    fn new() -> Result<Self, ArchiveError> {
        // SQLite creates a temporary file for the empty name.
        let db = Connection::open("")?;
        db.execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
             CREATE TABLE visit (url TEXT NOT NULL, at TEXT NOT NULL, object TEXT NOT NULL, answer TEXT, digest BLOB, since TEXT,
                                 is_kept INTEGER NOT NULL, PRIMARY KEY (url, at));
             CREATE TABLE needs (page TEXT NOT NULL, requisite TEXT NOT NULL, PRIMARY KEY (page, requisite)) WITHOUT ROWID;
             CREATE TABLE listed (url TEXT PRIMARY KEY) WITHOUT ROWID;
             BEGIN;",
        )?;
        Ok(Self(db))
    }

    /// Adds a record, if it is a visit.
    pub(crate) fn add(
        &self,
        selection: &Selection,
        Object { key, iteration }: Object<'_>,
        record: &StoredRecord,
    ) -> Result<(), ArchiveError> {
        let (Some(url), Some(at), Some(_)) =
            (record.target_uri(), record.date(), record.extension(ExtensionName::VISIT))
        else {
            return Ok(());
        };
        let answer = match record.record_type {
            RecordType::Response => Some("response"),
            RecordType::Revisit => Some("revisit"),
            _ => None,
        };
        let digest = record.payload_digest();
        let digest = digest.as_ref().map(|digest| digest.as_bytes().as_slice());
        let since = record.refers_to_date().map(instant);
        let is_kept = selection.has(iteration, url, at);
        let mut note = self.0.prepare_cached("INSERT OR IGNORE INTO visit VALUES (?, ?, ?, ?, ?, ?, ?)")?;
        note.execute(params![url, instant(at), key, answer, digest, since, is_kept])?;
        Ok(())
    }

    /// Adds the requisites of selected pages, and the bodies that unchanged visits confirm.
    pub(crate) async fn complete(&self, reader: &impl Reader) -> Result<(), ArchiveError> {
        let (all, mut noted) = (&Filter::default(), Ok(()));
        let documents = |after: Option<Cursor>| async move { reader.documents(all, after.as_ref(), BATCH_ROWS).await };
        each_row(documents, |row: DocumentRow| {
            noted = self.add_links(&row.document);
            if noted.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .await?;
        noted?;
        // For requisites that were not requested again, the last visit.
        self.0.execute_batch(
            "CREATE TABLE needed AS
               WITH RECURSIVE need (url) AS (SELECT url FROM visit WHERE is_kept
                                             UNION SELECT n.requisite FROM need JOIN needs n ON n.page = need.url)
               SELECT url FROM need WHERE NOT EXISTS (SELECT 1 FROM visit v WHERE v.url = need.url AND v.is_kept);
             UPDATE visit SET is_kept = 1 WHERE (url, at) IN
               (SELECT v.url, max(v.at) FROM needed JOIN visit v ON v.url = needed.url WHERE v.answer IS NOT NULL GROUP BY v.url);
             UPDATE visit SET is_kept = 1 WHERE rowid IN
               (SELECT coalesce(
                  (SELECT r.rowid FROM visit r WHERE r.url = v.url AND r.answer = 'response' AND (r.digest = v.digest OR v.digest IS NULL AND r.at = v.since)
                   ORDER BY r.at IS v.since DESC, r.at DESC LIMIT 1),
                  (SELECT r.rowid FROM visit r WHERE r.digest = v.digest AND r.answer = 'response' LIMIT 1))
                FROM visit v WHERE v.is_kept AND v.answer = 'revisit');",
        )?;
        Ok(())
    }

    fn add_links(&self, document: &Document) -> Result<(), ArchiveError> {
        let is_needed = |kind: LinkKind| kind.is_requisite() || matches!(kind, LinkKind::Iframe | LinkKind::Redirect);
        let page = TargetUri::new(document.url.as_str());
        for link in document.links.iter().filter(|link| is_needed(link.kind)) {
            let mut note = self.0.prepare_cached("INSERT OR IGNORE INTO needs VALUES (?, ?)")?;
            note.execute([page.as_str(), TargetUri::new(link.target.as_str()).as_str()])?;
        }
        Ok(())
    }

    /// Returns whether an object has selected records.
    pub(crate) fn uses(&self, object: &str) -> Result<bool, ArchiveError> {
        let mut find = self.0.prepare_cached("SELECT 1 FROM visit WHERE object = ? AND is_kept LIMIT 1")?;
        Ok(find.exists([object])?)
    }

    /// Returns whether a record is in the archive. Records that are not visits, such as robots.txt,
    /// are if their object has selected visits.
    pub(crate) fn has(&self, record: &StoredRecord) -> Result<bool, ArchiveError> {
        let (Some(url), Some(at)) = (record.target_uri(), record.date()) else { return Ok(true) };
        let mut find = self.0.prepare_cached("SELECT is_kept FROM visit WHERE url = ? AND at = ?")?;
        Ok(find.query_row([url, &instant(at)], |row| row.get(0)).optional()?.unwrap_or(true))
    }

    /// Lists a page that was answered then. Returns whether the answer is in the archive, and the
    /// page was not listed before.
    pub(crate) fn list(&self, url: &str, at: &str) -> Result<bool, ArchiveError> {
        let mut list = self.0.prepare_cached(
            "INSERT OR IGNORE INTO listed SELECT url FROM visit WHERE url = ? AND at = ? AND is_kept AND answer IS NOT NULL",
        )?;
        Ok(list.execute([TargetUri::new(url).as_str(), at])? > 0)
    }
}

/// Formats a time as in a reader's rows.
fn instant(at: Timestamp) -> String {
    format!("{at:.3}")
}
