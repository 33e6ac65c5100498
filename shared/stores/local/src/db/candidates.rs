//! Rows of `known_url`.

use std::ops::ControlFlow;

use dragline_domain::frontier::{
    CandidateState, CandidateUpdate, Claimer, DocumentStanding, FieldsDigest, LastCapture, LastDocument, LastVisit,
    LinkDecisions, NamersUpdate, ReadAs, RulesDigest, SeedDistance, Sighting, StateChange, UrlHistory, VisitPlace,
};
use dragline_domain::ids::{CrawlId, Iteration, Turn};
use dragline_domain::lastmod::PageTimes;
use dragline_domain::outcome::Outcome;
use dragline_domain::recrawl::Absence;
use dragline_domain::url::Origin;
use jiff::Timestamp;
use rusqlite::{Row, Statement, params};

use super::crawls::iteration_number;
use super::urls::{restore_claimer, shorten, shorten_claimer};
use super::values::{Code, Millis, NamedColumns, Sha1};
use super::{Db, OriginRowId, StoreError, VisitId};

macro_rules! select_candidates {
    ($condition:literal) => {
        concat!(
            "SELECT k.path_query, k.queued_in, k.claimed_by, k.due_at, k.last_outcome, k.last_iteration, k.blocked_by, k.depth, k.via,
                    k.capture_outcome, k.captured_at, k.payload_sha1, k.decoded_sha1, k.etag, k.last_modified, k.interval_ms, k.read_by,
                    k.document_id, s.iteration, s.turn, s.n, k.document_outcome, k.standing, k.links_by, k.links_depth, k.away, k.away_since, k.requisite_steps,
                    k.read_as, k.nearer
             FROM known_url k LEFT JOIN segment s ON s.id = k.document_id >> 24 WHERE ",
            $condition
        )
    };
}

/// The most rows that are read to find a page of due candidates.
const SCAN_MAX: usize = 10_000;

/// The part of a candidate that claims and recrawls need.
pub(crate) struct Candidate {
    pub(crate) path_and_query: String,
    pub(crate) state: CandidateState,
    /// As shortened by [`shorten`].
    pub(crate) via: Option<String>,
    pub(crate) read_as: ReadAs,
    pub(crate) known: UrlHistory,
}

/// The part of a candidate that most claims need.
pub(crate) struct Claimed {
    /// The iteration in which it was last queued.
    pub(crate) queued_in: Iteration,
    /// By whom.
    pub(crate) by: Claimer,
    pub(crate) found_at: SeedDistance,
    /// Whether a shorter way was found since.
    pub(crate) has_shorter_ways: bool,
}

impl Candidate {
    fn read(row: &Row<'_>, origin: &Origin) -> Result<Self, StoreError> {
        let row = &NamedColumns::new(row);
        let last_visit = match (row.get::<Option<Code>>("last_outcome")?, row.get::<Option<u32>>("last_iteration")?) {
            (Some(Code(outcome)), Some(number)) => Some(LastVisit { iteration: iteration_number(number)?, outcome }),
            _ => None,
        };
        let state = CandidateState {
            queued_in: iteration_number(row.get("queued_in")?)?,
            claimed_by: restore_claimer(origin, row.get("claimed_by")?),
            found_at: SeedDistance { depth: row.get("depth")?, requisite_steps: row.get("requisite_steps")? },
            nearer: nearer(row.get("nearer")?)?,
            due_at: row.get::<Option<Millis>>("due_at")?.map(|due| due.0),
            last_visit,
            blocked_by: row.get::<Option<u32>>("blocked_by")?.map(RulesDigest),
        };
        let known = UrlHistory {
            last: read_capture(row)?.map(Box::new),
            document: read_document(row)?,
            interval_ms: row.get("interval_ms")?,
            away: read_away(row)?,
        };
        Ok(Self { path_and_query: row.get("path_query")?, state, via: row.get("via")?, read_as: read_as(row)?, known })
    }
}

/// Reads who found shorter ways.
fn nearer(list: Option<String>) -> Result<Vec<Claimer>, StoreError> {
    Ok(list.map(|list| serde_json::from_str(&list)).transpose()?.unwrap_or_default())
}

/// Reads since when it is away; the two columns are NULL together.
fn read_away(row: &NamedColumns<'_>) -> Result<Option<Absence>, StoreError> {
    let (Some(name), Some(Millis(since))) = (row.get::<Option<String>>("away")?, row.get("away_since")?) else {
        return Ok(None);
    };
    let away = Absence::from_name(&name, since);
    away.map(Some).ok_or_else(|| StoreError::Damaged(format!("a candidate is away as `{name}`")))
}

/// Reads what decides how its body is read; NULL where its type does.
fn read_as(row: &NamedColumns<'_>) -> Result<ReadAs, StoreError> {
    let name: Option<String> = row.get("read_as")?;
    ReadAs::from_name(name.as_deref()).ok_or_else(|| StoreError::Damaged(format!("a candidate is read as `{name:?}`")))
}

/// Reads what the last good capture left; its columns are NULL together.
fn read_capture(row: &NamedColumns<'_>) -> rusqlite::Result<Option<LastCapture>> {
    let Some(Code(outcome)) = row.get::<Option<Code>>("capture_outcome")? else { return Ok(None) };
    Ok(Some(LastCapture {
        outcome,
        fetched_at: row.get::<Millis>("captured_at")?.0,
        payload_sha1: row.get::<Sha1>("payload_sha1")?.0,
        decoded_sha1: row.get::<Sha1>("decoded_sha1")?.0,
        etag: row.get("etag")?,
        last_modified: row.get("last_modified")?,
        read_by: row.get::<Option<u32>>("read_by")?.map(FieldsDigest),
    }))
}

/// Reads which document is the last good one; its columns are NULL together.
fn read_document(row: &NamedColumns<'_>) -> Result<Option<LastDocument>, StoreError> {
    let Some(id) = row.get::<Option<VisitId>>("document_id")? else { return Ok(None) };
    let Some(iteration) = row.get::<Option<u32>>("iteration")? else {
        return Err(StoreError::Damaged("the segment of a document is missing".to_owned()));
    };
    let standing = DocumentStanding::from_name(&row.get::<String>("standing")?);
    Ok(Some(LastDocument {
        place: VisitPlace {
            iteration: iteration_number(iteration)?,
            turn: Turn(row.get("turn")?),
            segment: row.get("n")?,
            n: id.n(),
        },
        outcome: row.get::<Code>("document_outcome")?.0,
        standing: standing.ok_or_else(|| StoreError::Damaged("a candidate has an unknown standing".to_owned()))?,
        links: LinkDecisions { by: RulesDigest(row.get("links_by")?), depth: row.get("links_depth")? },
    }))
}

impl Db {
    /// Returns how many known URLs of a crawl have not ended yet.
    pub(crate) fn unvisited(&self, crawl: &CrawlId) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM known_url k JOIN origin o ON o.id = k.origin_id
                   WHERE o.crawl_id = ?1 AND k.last_outcome IS NULL";
        let Some(crawl) = self.crawl_id(crawl)? else { return Ok(0) };
        Ok(self.find(sql, params![crawl], |row| row.get(0))?.unwrap_or(0))
    }

    /// Returns how a URL was last queued; `None` if it is not known.
    pub(crate) fn claimed(&self, origin: (OriginRowId, &Origin), path: &str) -> Result<Option<Claimed>, StoreError> {
        let sql = "SELECT queued_in, claimed_by, depth, requisite_steps, nearer IS NOT NULL FROM known_url WHERE origin_id = ?1 AND path_query = ?2";
        self.find_with(sql, params![origin.0, path], |row| {
            Ok(Claimed {
                queued_in: iteration_number(row.get(0)?)?,
                by: restore_claimer(origin.1, row.get(1)?),
                found_at: SeedDistance { depth: row.get(2)?, requisite_steps: row.get(3)? },
                has_shorter_ways: row.get(4)?,
            })
        })
    }

    pub(crate) fn candidate(
        &self,
        origin: (OriginRowId, &Origin),
        path: &str,
    ) -> Result<Option<Candidate>, StoreError> {
        let sql = select_candidates!("k.origin_id = ?1 AND k.path_query = ?2");
        self.find_with(sql, params![origin.0, path], |row| Candidate::read(row, origin.1))
    }

    /// Walks an origin's candidates in the order of their paths until told to stop. Returns the
    /// path to continue after; `None` when the last was seen. Reads at most [`SCAN_MAX`] rows, so
    /// that nobody else waits for long.
    pub(crate) fn scan_candidates(
        &self,
        origin: (OriginRowId, &Origin),
        after: &str,
        mut visit: impl FnMut(Candidate) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<Option<String>, StoreError> {
        let sql = select_candidates!("k.origin_id = ?1 AND k.path_query > ?2 ORDER BY k.path_query LIMIT ?3");
        let mut statement = self.statement(sql)?;
        // Every path starts with `/`, so all come after the empty string.
        let mut rows = statement.query(params![origin.0, after, SCAN_MAX])?;
        let (mut count, mut last) = (0, None);
        while let Some(row) = rows.next()? {
            let candidate = Candidate::read(row, origin.1)?;
            count += 1;
            last = Some(candidate.path_and_query.clone());
            if visit(candidate)?.is_break() {
                return Ok(last);
            }
        }
        Ok(last.filter(|_| count == SCAN_MAX))
    }

    /// Queues a new candidate.
    pub(crate) fn insert_candidate(
        &self,
        origin: (OriginRowId, &Origin),
        path: &str,
        queued: (Iteration, &Claimer),
        sighting: &Sighting,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO known_url (origin_id, path_query, queued_in, claimed_by, first_seen, depth, via, requisite_steps, read_as)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let via = sighting.via.as_ref().map(|via| shorten(origin.1, via));
        let (iteration, claimer) = (queued.0.number(), shorten_claimer(origin.1, queued.1));
        let Sighting { depth, requisite_steps: steps, read_as, .. } = sighting;
        let values = params![origin.0, path, iteration, claimer, Millis(now), depth, via, steps, read_as.name()];
        self.execute(sql, values)?;
        Ok(())
    }

    /// Queues a candidate again, with how it was found this time.
    pub(crate) fn queue_candidate(
        &self,
        origin: (OriginRowId, &Origin),
        path: &str,
        queued: (Iteration, &Claimer),
        sighting: &Sighting,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE known_url SET queued_in = ?3, claimed_by = ?4, depth = ?5, via = ?6, requisite_steps = ?7, read_as = ?8, nearer = NULL
                   WHERE origin_id = ?1 AND path_query = ?2";
        let via = sighting.via.as_ref().map(|via| shorten(origin.1, via));
        let (iteration, claimer) = (queued.0.number(), shorten_claimer(origin.1, queued.1));
        let Sighting { depth, requisite_steps: steps, read_as, .. } = sighting;
        self.execute(sql, params![origin.0, path, iteration, claimer, depth, via, steps, read_as.name()])?;
        Ok(())
    }

    /// Records a shorter way to a candidate, and who found it after these.
    pub(crate) fn put_nearer(
        &self,
        origin: (OriginRowId, &Origin),
        path: &str,
        (earlier, claimer): (&[Claimer], &Claimer),
        sighting: &Sighting,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE known_url SET depth = ?3, via = ?4, requisite_steps = ?5, nearer = ?6
                   WHERE origin_id = ?1 AND path_query = ?2";
        let via = sighting.via.as_ref().map(|via| shorten(origin.1, via));
        let nearer: Vec<&str> = earlier.iter().chain([claimer]).map(Claimer::as_str).collect();
        let nearer = serde_json::to_string(&nearer)?;
        let Sighting { depth, requisite_steps, .. } = sighting;
        self.execute(sql, params![origin.0, path, depth, via, requisite_steps, nearer])?;
        Ok(())
    }

    /// Writes what the entries of a segment change, each unless something newer is there. A segment
    /// may mention a URL twice: the later one counts.
    ///
    /// With each update comes the visit of the document that is shown from now on, if it says so.
    pub(crate) fn update_candidates<'u>(
        &self,
        origin: OriginRowId,
        updates: impl Iterator<Item = Result<(&'u CandidateUpdate, Option<VisitId>), StoreError>>,
    ) -> Result<(), StoreError> {
        let mut statement = self.statement(UPDATE)?;
        let mut print = self.statement("UPDATE document SET words = ?2, simhash = ?3 WHERE id = ?1")?;
        for update in updates {
            let (update, document) = update?;
            if let (Some(document), Some(text)) = (document, update.text) {
                print.execute(params![document, text.words, text.simhash.0.cast_signed()])?;
            }
            put_update(&mut statement, origin, update, document)?;
        }
        Ok(())
    }

    /// Returns what was seen of a known page; `None` if no visit found it.
    pub(crate) fn page_times(&self, origin: OriginRowId, path: &str) -> Result<Option<PageTimes>, StoreError> {
        let sql = "SELECT first_seen, changed_at, checked_at FROM known_url
                   WHERE origin_id = ?1 AND path_query = ?2 AND checked_at IS NOT NULL";
        let read = |row: &Row<'_>| {
            let (first_seen, changed_at, checked_at): (Millis, Option<Millis>, Millis) = row.try_into()?;
            let changed_at = changed_at.map(|changed| changed.0);
            Ok(PageTimes { first_seen: first_seen.0, changed_at, checked_at: checked_at.0 })
        };
        self.find(sql, params![origin, path], read)
    }

    /// Adds which texts the pages have that call URLs canonical.
    pub(crate) fn add_namers(&self, origin: OriginRowId, named: &[NamersUpdate]) -> Result<(), StoreError> {
        let sql = "UPDATE known_url SET named_by = named_by | ?3 WHERE origin_id = ?1 AND path_query = ?2";
        named.iter().try_for_each(|NamersUpdate { path_and_query, by }| {
            self.execute(sql, params![origin, path_and_query, by.0.cast_signed()]).map(drop)
        })
    }
}

/// Every change of a row at once: each statement would look for the row, and write all of it.
const UPDATE: &str =
    "UPDATE known_url
     SET last_iteration = iif(?6, ?3, last_iteration), last_turn = iif(?6, ?4, last_turn), last_segment = iif(?6, ?5, last_segment),
         last_outcome = iif(?6, ?7, last_outcome), last_at = iif(?6, ?8, last_at), due_at = iif(?6, ?9, due_at),
         interval_ms = iif(?6, ?10, interval_ms), away = iif(?6, ?11, away), away_since = iif(?6, ?12, away_since),
         blocked_by = iif(?6, ?13, blocked_by),
         last_contentful_outcome = iif(?14, ?7, last_contentful_outcome),
         last_contentful_at = iif(?14, ?8, last_contentful_at),
         capture_outcome = iif(?15, ?16, capture_outcome), captured_at = iif(?15, ?17, captured_at),
         payload_sha1 = iif(?15, ?18, payload_sha1), decoded_sha1 = iif(?15, ?19, decoded_sha1), etag = iif(?15, ?20, etag),
         last_modified = iif(?15, ?21, last_modified), read_by = iif(?15, ?22, read_by),
         document_id = coalesce(?23, document_id), document_outcome = coalesce(?24, document_outcome),
         links_by = coalesce(?25, links_by), links_depth = coalesce(?26, links_depth), changed_at = coalesce(?27, changed_at),
         standing = iif(coalesce(?23, document_id) IS NULL, standing, coalesce(?28, standing)),
         checked_at = iif(?28 IS NULL OR coalesce(?23, document_id) IS NULL, checked_at, coalesce(?8, checked_at))
     WHERE origin_id = ?1 AND path_query = ?2
       AND (last_iteration IS NULL OR (last_iteration, last_turn, last_segment) <= (?3, ?4, ?5))";

fn put_update(
    statement: &mut Statement<'_>,
    origin: OriginRowId,
    update: &CandidateUpdate,
    document: Option<VisitId>,
) -> Result<(), StoreError> {
    let ended = update.ended.as_ref();
    let away = ended.and_then(|ended| ended.away);
    let capture = ended.and_then(|ended| ended.capture.as_ref());
    let shown = Shown::from_state(&update.state);
    statement.execute(params![
        origin,
        update.path_and_query,
        update.iteration.number(),
        update.turn.0,
        update.n,
        ended.is_some(),
        ended.map(|ended| Code(ended.outcome)),
        ended.map(|ended| Millis(ended.at)),
        ended.and_then(|ended| ended.due_at).map(Millis),
        ended.and_then(|ended| ended.interval).map(|interval| u64::try_from(interval.as_millis()).unwrap_or(u64::MAX)),
        away.map(Absence::name),
        away.map(|away| Millis(away.since())),
        ended.and_then(|ended| ended.blocked_by).map(|rules| rules.0),
        ended.is_some_and(|ended| ended.outcome.is_contentful()),
        capture.is_some(),
        capture.map(|capture| Code(capture.outcome)),
        capture.map(|capture| Millis(capture.fetched_at)),
        capture.map(|capture| Sha1(capture.payload_sha1)),
        capture.map(|capture| Sha1(capture.decoded_sha1)),
        capture.and_then(|capture| capture.etag.as_deref()),
        capture.and_then(|capture| capture.last_modified.as_deref()),
        capture.and_then(|capture| capture.read_by).map(|digest| digest.0),
        document,
        shown.outcome.map(Code),
        shown.links.map(|links| links.by.0),
        shown.links.map(|links| links.depth),
        shown.changed_at.map(Millis),
        shown.standing.map(DocumentStanding::name),
    ])?;
    Ok(())
}

/// What an update says about the document of a URL, column by column: `None` leaves what is there.
#[derive(Clone, Copy, Default)]
struct Shown {
    outcome: Option<Outcome>,
    links: Option<LinkDecisions>,
    changed_at: Option<Timestamp>,
    /// Written only where there is a document.
    standing: Option<DocumentStanding>,
}

impl Shown {
    fn from_state(state: &StateChange) -> Self {
        match *state {
            StateChange::Kept => Self::default(),
            StateChange::Confirmed => Self { standing: Some(DocumentStanding::Shown), ..Self::default() },
            StateChange::Hidden(standing) => Self { standing: Some(standing), ..Self::default() },
            StateChange::Shown { place: _, outcome, links, changed_at } => {
                Self { outcome: Some(outcome), links: Some(links), changed_at, standing: Some(DocumentStanding::Shown) }
            }
        }
    }
}
