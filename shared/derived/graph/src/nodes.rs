//! Writes URLs and links.

use dragline_domain::document::LinkKind;
use dragline_domain::frontier::CHECK_DEPTH;
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;
use dragline_domain::simhash::Simhash;
use dragline_domain::words::count_words;
use dragline_formats::warc::Sha1Digest;
use dragline_ports::reader::{CandidateRow, LinkRow, LogRow, PageRow};
use foldhash::{HashMap, HashMapExt};
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::FileError;
use crate::make::SourceState;
use crate::markup;
use crate::place::BuildPosition;
use crate::state::{State, breaks_links};

/// The maximum number of URLs in a graph. The algorithms over all of them need some 30 bytes of
/// memory each.
const NODES_MAX: u32 = 8_000_000;

/// The maximum number of URLs, and of anchor texts, whose ids are cached. A site's navigation links
/// to the same pages again and again.
const CACHED_MAX: usize = 50_000;

/// The kind of links for a delayed redirect of a page (refresh). Visitors see the page first, so it
/// counts as a link.
const REFRESH: i64 = 0;

/// The minimum number of words for a meaningful fingerprint.
const WORDS_MIN: usize = 20;

/// The ids of recently written texts.
#[derive(Default)]
struct Cache(HashMap<String, i64>);

impl Cache {
    fn put(&mut self, text: &str, id: i64) {
        if self.0.len() >= CACHED_MAX {
            self.0.clear();
        }
        self.0.insert(text.to_owned(), id);
    }
}

/// The writer of a graph.
pub(crate) struct GraphWriter {
    pub(crate) db: Connection,
    urls: Cache,
    anchors: Cache,
    dispositions: HashMap<String, i64>,
    /// The page whose links are being added: its URL, its id, and the number of its links so far.
    page: Option<(String, i64, i64)>,
}

impl GraphWriter {
    /// Starts a graph, in a transaction.
    pub(crate) fn new(db: Connection) -> Result<Self, FileError> {
        for kind in LinkKind::ALL {
            let row = params![i64::from(kind.code()), kind.name(), kind.leads_to_page()];
            db.execute("INSERT INTO kind VALUES (?, ?, ?)", row)?;
        }
        db.execute("INSERT INTO kind VALUES (?, ?, ?)", params![REFRESH, "refresh", true])?;
        markup::name_reasons(&db)?;
        Self::resume(db, None)
    }

    /// Continues a graph after links of this page, in a transaction.
    pub(crate) fn resume(db: Connection, page: Option<&str>) -> Result<Self, FileError> {
        db.set_prepared_statement_cache_capacity(32);
        let mut dispositions = HashMap::new();
        for row in
            db.prepare("SELECT name, id FROM disposition")?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        {
            let (name, id): (String, i64) = row?;
            dispositions.insert(name, id);
        }
        let sql =
            "SELECT n.url, n.id, (SELECT count(*) FROM edge e WHERE e.from_id = n.id) FROM node n WHERE n.url = ?";
        let page = db.query_row(sql, [page], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
        let (urls, anchors) = Default::default();
        Ok(Self { db, urls, anchors, dispositions, page })
    }

    /// Returns the id of a URL, and inserts a new one.
    fn node(&mut self, url: &str) -> Result<i64, FileError> {
        if let Some(id) = self.urls.0.get(url) {
            return Ok(*id);
        }
        let found = self.db.prepare_cached("SELECT id FROM node WHERE url = ?")?.query_row([url], |row| row.get(0));
        let id = match found.optional()? {
            Some(id) => id,
            None => {
                let sql = "INSERT INTO node (url, host, state) VALUES (?, ?, ?)";
                self.db.prepare_cached(sql)?.execute(params![url, url_host(url), State::Outside.name()])?;
                let id = self.db.last_insert_rowid();
                if id > i64::from(NODES_MAX) {
                    return Err(FileError::TooManyUrls(NODES_MAX));
                }
                id
            }
        };
        self.urls.put(url, id);
        Ok(id)
    }

    /// Adds a URL that the crawl knows.
    pub(crate) fn add_candidate(&mut self, row: &CandidateRow) -> Result<(), FileError> {
        let id = self.node(&row.url)?;
        let outcome = row.last_outcome;
        let state = outcome.map_or(State::Unvisited, State::after);
        let is_start = row.via.is_none() && row.depth == 0;
        let sql = "UPDATE node SET state = ?2, is_start = ?3, is_broken = ?4, outcome = ?5, outcome_name = ?6, last_at = ?7, last_iteration = ?8,
                   body_sha1 = ?9, is_checked = ?10 WHERE id = ?1";
        self.db.prepare_cached(sql)?.execute(params![
            id,
            state.name(),
            is_start,
            outcome.is_some_and(breaks_links),
            outcome.map(Outcome::code),
            outcome.map(Outcome::name),
            row.last_at.map(|at| format!("{at:.3}")),
            row.last_iteration,
            row.decoded_sha1,
            row.depth >= CHECK_DEPTH
        ])?;
        Ok(())
    }

    /// Adds the current page of a URL. A failed last visit determines its state, but the earlier
    /// page's details are kept.
    pub(crate) fn add_page(&mut self, row: &PageRow) -> Result<(), FileError> {
        let id = self.node(&row.url)?;
        let is_copy = row.outcome == Outcome::NotCanonical;
        let state = match (&row.text, is_copy) {
            (_, true) => State::Copy,
            (Some(_), false) => State::Page,
            (None, false) => State::File,
        };
        let text = row.text.as_deref().filter(|text| !text.is_empty());
        let words = row.text.as_deref().map(count_words);
        let sha1 = text.map(|text| Sha1Digest::compute(text.as_bytes()).to_hex());
        let simhash = text.filter(|_| words.is_some_and(|words| words >= WORDS_MIN)).map(Simhash::compute);
        let sql = "UPDATE node SET state = iif(state IN ('file', 'copy'), ?2, state), status = ?3, content_type = ?4, body_bytes = ?5, title = ?6,
                   description = ?7, language = ?8, canonical = ?9, words = ?10, text_sha1 = ?11, simhash = ?12 WHERE id = ?1";
        self.db.prepare_cached(sql)?.execute(params![
            id,
            state.name(),
            row.status,
            row.content_type,
            row.body_bytes,
            row.title,
            row.description,
            row.language,
            row.canonical,
            words,
            sha1,
            simhash.map(|hash| hash.0.cast_signed())
        ])?;
        self.add_markup(id, row)
    }

    /// Adds a link. The links of a page come one after another, in the order of the page.
    pub(crate) fn add_link(&mut self, row: &LinkRow) -> Result<(), FileError> {
        if row.kind.is_trial() {
            return Ok(());
        }
        let (from, place) = match self.page.take() {
            Some((url, id, links)) if url == row.from_url => (id, links),
            _ => {
                let id = self.node(&row.from_url)?;
                // The page was visited again meanwhile and is read twice: the later links count.
                self.db.prepare_cached("DELETE FROM edge WHERE from_id = ?")?.execute([id])?;
                (id, 0)
            }
        };
        let to = self.node(&row.to_url)?;
        self.page = Some((row.from_url.clone(), from, place + 1));
        if row.kind == LinkKind::Redirect {
            let sql = "UPDATE node SET redirects_to = ?2 WHERE id = ?1 AND state = 'redirect'";
            self.db.prepare_cached(sql)?.execute(params![from, to])?;
        }
        let kind = match row.kind {
            LinkKind::Redirect if self.is_page(from)? => REFRESH,
            kind => kind.code().into(),
        };
        let disposition = self.disposition(row.disposition.name())?;
        let anchor = row.anchor.as_deref().map(|text| self.anchor(text)).transpose()?;
        let sql = "INSERT INTO edge VALUES (?, ?, ?, ?, ?, ?)";
        self.db.prepare_cached(sql)?.execute(params![from, place, to, kind, disposition, anchor])?;
        Ok(())
    }

    /// Returns whether there is a visible page, so that its redirect is a delayed one.
    fn is_page(&self, id: i64) -> Result<bool, FileError> {
        let sql = "SELECT words IS NOT NULL FROM node WHERE id = ?";
        Ok(self.db.prepare_cached(sql)?.query_row([id], |row| row.get(0))?)
    }

    /// Returns the id of a text of links, and inserts a new one.
    pub(crate) fn anchor(&mut self, text: &str) -> Result<i64, FileError> {
        if let Some(id) = self.anchors.0.get(text) {
            return Ok(*id);
        }
        let found = self.db.prepare_cached("SELECT id FROM anchor WHERE text = ?")?.query_row([text], |row| row.get(0));
        let id = match found.optional()? {
            Some(id) => id,
            None => {
                self.db.prepare_cached("INSERT INTO anchor (text) VALUES (?)")?.execute([text])?;
                self.db.last_insert_rowid()
            }
        };
        self.anchors.put(text, id);
        Ok(id)
    }

    fn disposition(&mut self, name: &str) -> Result<i64, FileError> {
        if let Some(id) = self.dispositions.get(name) {
            return Ok(*id);
        }
        self.db.execute("INSERT INTO disposition (name) VALUES (?)", [name])?;
        let id = self.db.last_insert_rowid();
        self.dispositions.insert(name.to_owned(), id);
        Ok(id)
    }

    /// Returns the iterations of the last visits without content, newest first.
    pub(crate) fn iterations_to_look_up(&self) -> Result<Vec<Iteration>, FileError> {
        let sql = "SELECT DISTINCT last_iteration FROM node WHERE last_iteration IS NOT NULL AND state NOT IN ('page', 'file', 'copy') ORDER BY 1 DESC";
        let mut statement = self.db.prepare(sql)?;
        let numbers = statement.query_map([], |row| row.get::<_, u32>(0))?;
        Ok(numbers.collect::<Result<Vec<_>, _>>()?.into_iter().filter_map(Iteration::new).collect())
    }

    /// Adds the result of the last visit of a URL.
    pub(crate) fn add_visit(&mut self, row: &LogRow) -> Result<(), FileError> {
        if !row.r#final {
            return Ok(());
        }
        let sql = "UPDATE node SET status = coalesce(?3, iif(state IN ('page', 'file', 'copy'), status, NULL)), detail = ?4, duration_ms = ?5
                   WHERE url = ?1 AND last_iteration = ?2";
        self.db.prepare_cached(sql)?.execute(params![
            row.url,
            row.iteration,
            row.status,
            row.detail,
            row.duration_ms
        ])?;
        Ok(())
    }

    /// Stops, and records where to continue.
    pub(crate) fn interrupt(self, place: &BuildPosition) -> Result<(), FileError> {
        let Self { db, page, .. } = self;
        BuildPosition { page: page.map(|(url, ..)| url), ..place.clone() }.store(&db)?;
        db.execute_batch("COMMIT")?;
        Ok(())
    }

    /// Finishes the graph, and records the state that it was built from.
    pub(crate) fn finish(self, from: &SourceState) -> Result<Connection, FileError> {
        let Self { db, .. } = self;
        db.execute_batch("DROP TABLE IF EXISTS unfinished")?;
        db.execute("INSERT INTO made VALUES (?, ?)", params![from.text, from.iteration.number()])?;
        Ok(db)
    }
}

/// Returns the host of an absolute URL, with its port if it has one.
fn url_host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or(rest)
}
