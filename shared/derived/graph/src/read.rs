//! Queries to the graph.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use dragline_domain::document::LinkKind;
use dragline_ports::reader::Reader;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};

use crate::error::{FileError, GraphError};
use crate::make::{SourceState, make};
use crate::rows::{Broken, Chain, Counts, Direction, Duplicate, Edge, LinkingPage, Node, Orphan, SiteLink, Step};
use crate::unchecked::Unchecked;

/// The columns of a link.
const COLUMNS: &str = "f.url, t.url, nullif(coalesce(w.text, a.text), ''), k.name, d.name, t.state, t.outcome_name,
             iif(t.redirects_to IS NULL, NULL, l.url), l.is_broken, u.fragment, u.part, r.text, p.text";

/// The tables of these columns, for a link `e`: a row for each of its uses.
const JOINS: &str = "JOIN node f ON f.id = e.from_id JOIN node t ON t.id = e.to_id JOIN node l ON l.id = t.lands_on JOIN kind k ON k.id = e.kind
             JOIN disposition d ON d.id = e.disposition LEFT JOIN anchor a ON a.id = e.anchor
             LEFT JOIN link_use u ON u.from_id = e.from_id AND u.place = e.place LEFT JOIN anchor r ON r.id = u.rel
             LEFT JOIN anchor p ON p.id = u.alt LEFT JOIN anchor w ON w.id = u.text";

fn site_link(row: &Row<'_>, direction: Direction) -> rusqlite::Result<SiteLink> {
    Ok(SiteLink {
        direction,
        from_url: row.get(0)?,
        to_url: row.get(1)?,
        anchor: row.get(2)?,
        kind: row.get(3)?,
        disposition: row.get(4)?,
        state: row.get(5)?,
        outcome_name: row.get(6)?,
        lands_on: row.get(7)?,
        is_broken: row.get(8)?,
        fragment: row.get(9)?,
        part: row.get(10)?,
        rel: row.get(11)?,
        alt: row.get(12)?,
    })
}

/// The columns of a URL `n` with the destination `l`.
const NODE_COLUMNS: &str =
    "n.url, n.state, n.outcome_name, n.status, n.title, n.depth, n.rank, n.linked_from, n.links_to, l.url";

fn node(row: &Row<'_>) -> rusqlite::Result<(i64, Node)> {
    let node = Node {
        url: row.get(1)?,
        state: row.get(2)?,
        outcome_name: row.get(3)?,
        status: row.get(4)?,
        title: row.get(5)?,
        depth: row.get(6)?,
        rank: row.get(7)?,
        linked_from: row.get(8)?,
        links_to: row.get(9)?,
        lands_on: row.get(10)?,
    };
    Ok((row.get(0)?, node))
}

/// The link graph of a crawl.
#[derive(Debug)]
pub struct Graph {
    pub(crate) db: Connection,
    path: PathBuf,
    pub(crate) made_from: String,
}

impl Graph {
    /// Opens the graph in a file, and rebuilds it first unless it is up to date. `making` is called
    /// before a build, which may take a while.
    ///
    /// The graph is built beside the file and replaces it at the end, so that others can read the
    /// older one meanwhile. A graph from before URLs were forgotten is out of date. A caller that
    /// keeps the graph has to check that no URLs were forgotten during the build.
    ///
    /// # Errors
    /// Nothing was crawled yet, the crawl cannot be read, or the file cannot be read or written.
    pub async fn up_to_date(reader: &impl Reader, path: &Path, making: impl FnOnce()) -> Result<Self, GraphError> {
        let from = SourceState::read(reader).await?;
        if let Some(graph) = Self::open(path, &from) {
            return Ok(graph);
        }
        making();
        let failed = |source: FileError| GraphError::File { path: path.to_owned(), source };
        let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|error| failed(error.into()))?;
        let mut file = tempfile::Builder::new();
        // As for other files, the user's umask decides who may read it.
        #[cfg(unix)]
        file.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let new = file
            .prefix(".graph-")
            .suffix(".new")
            .tempfile_in(folder)
            .map_err(|error| failed(error.into()))?
            .into_temp_path();
        // Never interrupted.
        _ = make(reader, &from, &new, || ControlFlow::Continue(())).await?;
        new.persist(path).map_err(|error| failed(error.error.into()))?;
        Self::open(path, &from).ok_or_else(|| failed(std::io::Error::other("it was changed by another process").into()))
    }

    /// Returns what `Graph::made_from` would return for a graph built now.
    ///
    /// # Errors
    /// Nothing was crawled yet, or the crawl cannot be read.
    pub async fn current_source_state(reader: &impl Reader) -> Result<String, GraphError> {
        Ok(SourceState::read(reader).await?.text)
    }

    /// Opens a file; `None` if it is missing, was built from another state, or is damaged.
    fn open(path: &Path, from: &SourceState) -> Option<Self> {
        Self::open_finished(path).filter(|graph| graph.made_from == from.text)
    }

    /// Opens a file built from any state; `None` if it is missing, unfinished, or damaged.
    pub(crate) fn open_finished(path: &Path) -> Option<Self> {
        let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .ok()?;
        let made_from: String = db.query_row("SELECT made_from FROM made", [], |row| row.get(0)).ok()?;
        Some(Self { db, path: path.to_owned(), made_from })
    }

    /// Returns the state of the crawl that it was built from. While it is the same, the graph and
    /// data derived from it are up to date.
    #[must_use]
    pub fn source_state(&self) -> &str {
        &self.made_from
    }

    pub(crate) fn file_error(&self, source: rusqlite::Error) -> GraphError {
        GraphError::File { path: self.path.clone(), source: source.into() }
    }

    /// Runs statements that only write temporary tables, for queries that are run several times.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn prepare(&self, sql: &str) -> Result<(), GraphError> {
        self.db.execute_batch(sql).map_err(|error| self.file_error(error))
    }

    /// Calls back with each row of a query until told to stop. `docs/reference/links.md` describes
    /// the tables and views.
    ///
    /// # Errors
    /// The file cannot be read, or does not have these tables.
    pub fn each<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
        mut visit: impl FnMut(T) -> ControlFlow<()>,
    ) -> Result<(), GraphError> {
        let walk = || {
            let mut statement = self.db.prepare_cached(sql)?;
            let mut rows = statement.query(values)?;
            while let Some(row) = rows.next()? {
                if visit(read(row)?).is_break() {
                    break;
                }
            }
            Ok(())
        };
        walk().map_err(|error| self.file_error(error))
    }

    fn list<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, GraphError> {
        let mut list = Vec::new();
        self.each(sql, values, read, |row| {
            list.push(row);
            ControlFlow::Continue(())
        })?;
        Ok(list)
    }

    /// The same, with another query to complete each row.
    fn each_completed<T, U>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
        complete: impl Fn(T) -> Result<U, GraphError>,
        mut visit: impl FnMut(U) -> ControlFlow<()>,
    ) -> Result<(), GraphError> {
        let mut failed = Ok(());
        self.each(sql, values, read, |row| match complete(row) {
            Ok(row) => visit(row),
            Err(error) => {
                failed = Err(error);
                ControlFlow::Break(())
            }
        })?;
        failed
    }

    /// Returns the totals of the graph.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn counts(&self) -> Result<Counts, GraphError> {
        let sql = "SELECT (SELECT count(*) FROM node), (SELECT count(*) FROM node WHERE state = 'page'), (SELECT count(*) FROM edge),
                   (SELECT count(*) FROM node WHERE is_broken AND (linked_from > 0 OR in_sitemap)), (SELECT count(*) FROM broken_link),
                   (SELECT count(*) FROM node WHERE hops > 1 OR chain <> 'lands'), (SELECT count(*) FROM orphan)";
        let read = |row: &Row<'_>| {
            Ok(Counts {
                urls: row.get(0)?,
                pages: row.get(1)?,
                links: row.get(2)?,
                broken: row.get(3)?,
                broken_links: row.get(4)?,
                chains: row.get(5)?,
                orphans: row.get(6)?,
            })
        };
        self.db.query_row(sql, [], read).map_err(|error| self.file_error(error))
    }

    /// Returns what the graph does not cover. `to_go` is the number of URLs still to be visited;
    /// `None` if the crawl is over.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn unchecked(&self, to_go: Option<u64>) -> Result<Unchecked, GraphError> {
        let kinds = LinkKind::ALL.iter().filter(|kind| kind.is_requisite()).map(|kind| format!("'{}'", kind.name()));
        let sql = format!(
            "SELECT (SELECT count(DISTINCT e.to_id) FROM edge e JOIN kind k ON k.id = e.kind JOIN node t ON t.id = e.to_id
                     WHERE t.state = 'outside' AND k.name IN ({})),
                    (SELECT count(*) FROM node WHERE state = 'unvisited')",
            kinds.collect::<Vec<_>>().join(", ")
        );
        let read = |row: &Row<'_>| Ok(Unchecked { requisites: row.get(0)?, unvisited: row.get(1)?, to_go });
        self.db.query_row(&sql, [], read).map_err(|error| self.file_error(error))
    }

    /// Returns a URL; `None` if the crawl does not know it and no page links to it.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn node(&self, url: &str) -> Result<Option<Node>, GraphError> {
        let sql = format!("SELECT n.id, {NODE_COLUMNS} FROM node n JOIN node l ON l.id = n.lands_on WHERE n.url = ?");
        let read = |row: &Row<'_>| Ok(node(row)?.1);
        self.db.query_row(&sql, [url], read).optional().map_err(|error| self.file_error(error))
    }

    /// Calls back with each URL of the graph and its id, by URL. Ids are only valid in this file:
    /// they number URLs in the order of discovery.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn each_node(&self, mut visit: impl FnMut(i64, Node) -> ControlFlow<()>) -> Result<(), GraphError> {
        let sql = format!("SELECT n.id, {NODE_COLUMNS} FROM node n JOIN node l ON l.id = n.lands_on ORDER BY n.url");
        self.each(&sql, [], node, |(id, node)| visit(id, node))
    }

    /// Calls back with each link, page by page, in the same order.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn each_edge(&self, visit: impl FnMut(Edge) -> ControlFlow<()>) -> Result<(), GraphError> {
        let sql = "SELECT e.from_id, e.to_id, k.name, a.text FROM node f CROSS JOIN edge e ON e.from_id = f.id
                   CROSS JOIN kind k ON k.id = e.kind LEFT JOIN anchor a ON a.id = e.anchor ORDER BY f.url, e.place";
        let read =
            |row: &Row<'_>| Ok(Edge { from: row.get(0)?, to: row.get(1)?, kind: row.get(2)?, anchor: row.get(3)? });
        self.each(sql, [], read, visit)
    }

    /// Calls back with each link to a URL or to a redirect that leads to it, from pages with high
    /// rank first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn links_to(&self, url: &str, visit: impl FnMut(SiteLink) -> ControlFlow<()>) -> Result<(), GraphError> {
        let sql = format!(
            "WITH target (id) AS (
                 SELECT id FROM node WHERE url = ?1
                 UNION SELECT t.id FROM node n JOIN node t ON t.lands_on = n.id WHERE n.url = ?1 AND t.redirects_to IS NOT NULL)
             SELECT {COLUMNS} FROM target x CROSS JOIN edge e ON e.to_id = x.id {JOINS}
             WHERE f.url <> ?1 ORDER BY f.rank DESC, f.url, e.place, u.n"
        );
        self.each(&sql, [url], |row| site_link(row, Direction::In), visit)
    }

    /// Calls back with each link of a page, in the order of the page.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn links_from(&self, url: &str, visit: impl FnMut(SiteLink) -> ControlFlow<()>) -> Result<(), GraphError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM node x CROSS JOIN edge e ON e.from_id = x.id {JOINS} WHERE x.url = ?1 ORDER BY e.place, u.n"
        );
        self.each(&sql, [url], |row| site_link(row, Direction::Out), visit)
    }

    /// Calls back with each broken URL that pages link to, the most linked first. Each comes with
    /// up to `holders_max` of the links.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn broken(&self, holders_max: u32, visit: impl FnMut(Broken) -> ControlFlow<()>) -> Result<(), GraphError> {
        let sql = "SELECT n.id, n.url, n.outcome_name, n.status, n.detail, n.last_at, n.linked_from
                   FROM node n WHERE n.is_broken AND (n.linked_from > 0 OR n.in_sitemap) ORDER BY n.linked_from DESC, n.url";
        let of_one = "SELECT f.url, t.url, a.text, k.name
                      FROM broken_target x CROSS JOIN edge e ON e.to_id = x.id JOIN node f ON f.id = e.from_id JOIN node t ON t.id = e.to_id
                      JOIN kind k ON k.id = e.kind LEFT JOIN anchor a ON a.id = e.anchor
                      WHERE x.broken_id = ?1 AND k.name NOT IN ('redirect', 'canonical') ORDER BY f.rank DESC, f.url, e.place LIMIT ?2";
        let read = |row: &Row<'_>| {
            let broken = Broken {
                url: row.get(1)?,
                outcome_name: row.get(2)?,
                status: row.get(3)?,
                detail: row.get(4)?,
                last_at: row.get(5)?,
                linked_from: row.get(6)?,
                holders: Vec::new(),
            };
            Ok((row.get::<_, i64>(0)?, broken))
        };
        let holder = |row: &Row<'_>| {
            Ok(LinkingPage { from_url: row.get(0)?, to_url: row.get(1)?, anchor: row.get(2)?, kind: row.get(3)? })
        };
        let complete = |(id, broken): (i64, Broken)| {
            Ok(Broken { holders: self.list(of_one, params![id, holders_max], holder)?, ..broken })
        };
        self.each_completed(sql, [], read, complete, visit)
    }

    /// Calls back with each chain of at least this many redirects, and each loop or overlong chain,
    /// the longest first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn chains(&self, hops_min: u32, visit: impl FnMut(Chain) -> ControlFlow<()>) -> Result<(), GraphError> {
        let sql = "SELECT n.id, n.url, n.hops, n.chain, n.linked_from FROM node n
                   WHERE n.redirects_to IS NOT NULL AND (n.hops >= ?1 OR n.chain <> 'lands')
                   ORDER BY n.chain = 'lands', n.hops DESC, n.linked_from DESC, n.url";
        let of_one = "WITH RECURSIVE way (place, id, redirects_to) AS (
                          SELECT 0, id, redirects_to FROM node WHERE id = ?1
                          UNION ALL SELECT w.place + 1, n.id, n.redirects_to FROM way w JOIN node n ON n.id = w.redirects_to WHERE w.place < ?2)
                      SELECT n.url, n.status, n.state, n.outcome_name FROM way w JOIN node n ON n.id = w.id ORDER BY w.place";
        let read = |row: &Row<'_>| {
            let chain = Chain {
                url: row.get(1)?,
                hops: row.get(2)?,
                ends: row.get(3)?,
                linked_from: row.get(4)?,
                steps: Vec::new(),
            };
            Ok((row.get::<_, i64>(0)?, chain))
        };
        let step = |row: &Row<'_>| {
            Ok(Step { url: row.get(0)?, status: row.get(1)?, state: row.get(2)?, outcome_name: row.get(3)? })
        };
        let complete =
            |(id, chain): (i64, Chain)| Ok(Chain { steps: self.list(of_one, params![id, chain.hops], step)?, ..chain });
        self.each_completed(sql, [hops_min], read, complete, visit)
    }

    /// Calls back with each page that no other page links to, by URL.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn orphans(&self, visit: impl FnMut(Orphan) -> ControlFlow<()>) -> Result<(), GraphError> {
        let read = |row: &Row<'_>| {
            Ok(Orphan { url: row.get(0)?, title: row.get(1)?, last_at: row.get(2)?, in_sitemap: row.get(3)? })
        };
        self.each("SELECT url, title, last_at, in_sitemap FROM orphan ORDER BY url", [], read, visit)
    }

    /// Calls back with each duplicate of an earlier URL, group by group.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn duplicates(&self, visit: impl FnMut(Duplicate) -> ControlFlow<()>) -> Result<(), GraphError> {
        let sql = "SELECT of_what, same_as, url, distance, canonical, title FROM duplicate WHERE url <> same_as
                   ORDER BY of_what = 'near', of_what = 'text', same_as, distance, url";
        let read = |row: &Row<'_>| {
            Ok(Duplicate {
                of_what: row.get(0)?,
                same_as: row.get(1)?,
                url: row.get(2)?,
                distance: row.get(3)?,
                canonical: row.get(4)?,
                title: row.get(5)?,
            })
        };
        self.each(sql, [], read, visit)
    }
}
