//! Candidates, and the `PartiQL` statements that write them.

use aws_sdk_dynamodb::types::AttributeValue;
use dragline_domain::frontier::{
    CandidateState, CandidateUpdate, Claimer, DocumentStanding, LastDocument, LastVisit, LinkDecisions, NamersUpdate,
    OriginKey, ReadAs, RulesDigest, SeedDistance, Sighting, StateChange, TodoEntry, UrlHistory, VisitPlace,
    VisitResult, VisitTarget,
};
use dragline_domain::ids::{Iteration, Turn};
use dragline_domain::lastmod::PageTimes;
use dragline_domain::outcome::Outcome;
use dragline_domain::url::CrawlUrl;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{fields, iteration_number, keys, row};
use crate::dynamo::{Expression, Fields, Item, Statement, instant, json, number, text};
use crate::errors::StoreError;
use crate::meter::capacity::item_bytes;
use crate::tables::{PARTITION, SORT, Table};

const PATH: &str = "path";
pub(super) const QUEUED_IN: &str = "queued_in";
const CLAIMED_BY: &str = "claimed_by";
pub(super) const LAST_OUTCOME: &str = "last_outcome";
pub(super) const VERSION: &str = "version";
pub(super) const DOCUMENT: &str = "document";
const STANDING: &str = "standing";
const AWAY: &str = "away";
const INTERVAL: &str = "interval_ms";
const BLOCKED_BY: &str = "blocked_by";
const REQUISITE_STEPS: &str = "requisite_steps";
const READ_AS: &str = "read_as";
const NEARER: &str = "nearer";
pub(super) const LEADS_TO: &str = "leads_to";
pub(super) const WORDS: &str = "text_words";
pub(super) const SIMHASH: &str = "text_print";
/// The prefix of the attributes for the taken places of [`Namers`](dragline_domain::doubt::Namers).
pub(super) const NAMED: &str = "namer_";
pub(super) const CHECKED_AT: &str = "checked_at";
pub(super) const CHANGED_AT: &str = "changed_at";

/// The approximate size of a visited candidate: besides its key, it has attributes for two entity
/// tags.
pub(crate) const VISITED_BYTES: u64 = 600;

/// The part of a candidate needed for claims and recrawls.
pub(crate) struct Candidate {
    pub(crate) path_and_query: String,
    pub(crate) state: CandidateState,
    pub(crate) sighting: Sighting,
    pub(crate) known: UrlHistory,
}

/// The last good document as stored; its standing has an attribute of its own, as it changes more
/// often.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredDocument {
    #[serde(rename = "p")]
    pub(super) place: VisitPlace,
    #[serde(rename = "o")]
    pub(super) outcome: Outcome,
    #[serde(rename = "l")]
    pub(super) links: LinkDecisions,
}

impl Candidate {
    pub(crate) fn read(item: &Item) -> Result<Self, StoreError> {
        let fields = fields(item)?;
        let last_visit = |outcome| {
            let iteration = super::known::version_iteration(fields.text(VERSION)?)?;
            Ok::<_, StoreError>(LastVisit { iteration, outcome })
        };
        let sighting = Sighting {
            depth: fields.number("depth")?,
            via: fields.maybe("via", Fields::parsed::<CrawlUrl>)?,
            requisite_steps: fields.maybe(REQUISITE_STEPS, Fields::number)?.unwrap_or(0),
            read_as: read_as(fields)?,
        };
        let state = CandidateState {
            queued_in: iteration_number(fields, QUEUED_IN)?,
            claimed_by: Claimer::from_stored(fields.text(CLAIMED_BY)?.to_owned()),
            found_at: sighting.seed_distance(),
            nearer: fields.maybe(NEARER, Fields::json)?.unwrap_or_default(),
            due_at: fields.maybe_instant("due_at")?,
            last_visit: fields.maybe(LAST_OUTCOME, outcome)?.map(last_visit).transpose()?,
            blocked_by: fields.maybe(BLOCKED_BY, Fields::number)?.map(RulesDigest),
        };
        let path_and_query = if fields.has(PATH) { fields.text(PATH)? } else { fields.text(SORT)? };
        Ok(Self {
            path_and_query: path_and_query.to_owned(),
            state,
            sighting,
            known: UrlHistory {
                last: fields.maybe("capture", Fields::json)?,
                document: fields.maybe(DOCUMENT, document)?,
                interval_ms: fields.maybe_number(INTERVAL)?,
                away: fields.maybe(AWAY, Fields::json)?,
            },
        })
    }

    /// Returns the candidate as a todo entry, and its depth.
    pub(crate) fn into_entry(self) -> (TodoEntry, u32) {
        let Self { path_and_query, sighting: Sighting { depth, via, requisite_steps, read_as }, known, .. } = self;
        let (demand, follow_up) = Default::default();
        (TodoEntry { path_and_query, via, redirects: 0, requisite_steps, read_as, known, demand, follow_up }, depth)
    }
}

/// Returns what was seen of a known page; `None` if no visit found it.
pub(crate) fn page_times(item: &Item) -> Result<Option<PageTimes>, StoreError> {
    let fields = fields(item)?;
    let Some(checked_at) = fields.maybe_instant(CHECKED_AT)? else { return Ok(None) };
    let (first_seen, changed_at) = (fields.instant("first_seen")?, fields.maybe_instant(CHANGED_AT)?);
    Ok(Some(PageTimes { first_seen, changed_at, checked_at }))
}

fn document(fields: Fields<'_>, name: &str) -> Result<LastDocument, StoreError> {
    let StoredDocument { place, outcome, links } = fields.json(name)?;
    let standing = fields.text(STANDING)?;
    let standing = DocumentStanding::from_name(standing)
        .ok_or_else(|| StoreError::Damaged(format!("`{standing}` is not a candidate's standing")))?;
    Ok(LastDocument { place, outcome, standing, links })
}

pub(super) fn outcome(fields: Fields<'_>, name: &str) -> Result<Outcome, StoreError> {
    let code: i16 = fields.number(name)?;
    Outcome::try_from(code).map_err(|_| StoreError::Damaged(format!("{code} is not an outcome")))
}

/// Returns the steps as stored: absent unless it is a requisite.
fn requisite_steps(sighting: &Sighting) -> Option<AttributeValue> {
    (sighting.requisite_steps > 0).then(|| number(sighting.requisite_steps))
}

fn read_as(fields: Fields<'_>) -> Result<ReadAs, StoreError> {
    let name = fields.has(READ_AS).then(|| fields.text(READ_AS)).transpose()?;
    ReadAs::from_name(name).ok_or_else(|| StoreError::Damaged(format!("a candidate is read as `{name:?}`")))
}

/// The claimer of newly queued URLs, with their table, origin and iteration.
#[derive(Clone, Copy)]
pub(crate) struct Queueing<'q> {
    pub(crate) table: &'q str,
    pub(crate) origin: &'q OriginKey,
    pub(crate) iteration: Iteration,
    pub(crate) claimer: &'q Claimer,
}

impl Queueing<'_> {
    /// Queues a URL that was never seen.
    pub(crate) fn insert(&self, path: &str, sighting: &Sighting, now: Timestamp) -> Statement {
        let key = keys::candidate(self.origin, path);
        let mut attributes = vec![
            (QUEUED_IN, number(self.iteration.number())),
            (CLAIMED_BY, text(self.claimer.as_str())),
            ("first_seen", instant(now)),
            ("depth", number(sighting.depth)),
        ];
        attributes.extend(sighting.via.as_ref().map(|via| ("via", text(via.as_str()))));
        attributes.extend(requisite_steps(sighting).map(|steps| (REQUISITE_STEPS, steps)));
        attributes.extend(sighting.read_as.name().map(|name| (READ_AS, text(name))));
        if key.sort != path {
            attributes.push((PATH, text(path)));
        }
        let item = row(&key, attributes);
        let bytes = item_bytes(&item);
        let (names, parameters): (Vec<String>, Vec<AttributeValue>) = item.into_iter().unzip();
        let fields: Vec<String> = names.iter().map(|name| format!("'{name}': ?")).collect();
        let text = format!("INSERT INTO \"{}\" VALUE {{{}}}", self.table, fields.join(", "));
        Statement { table: Table::Candidates, text, parameters, bytes }
    }

    /// Queues a URL of an earlier iteration again, unless somebody else did since it was read.
    pub(crate) fn update(&self, path: &str, sighting: &Sighting, was_in: Iteration) -> Statement {
        let mut change = Change::new(self.table);
        change.set(QUEUED_IN, number(self.iteration.number()));
        change.set(CLAIMED_BY, text(self.claimer.as_str()));
        change.sight(sighting);
        change.set_or_remove(NEARER, None);
        let condition = format!("{QUEUED_IN} = ?");
        change.into_statement(&keys::candidate(self.origin, path), &condition, [number(was_in.number())])
    }
}

impl Queueing<'_> {
    /// Records a shorter way to a URL that others queued in this iteration, unless it was queued
    /// again or somebody found another way since it was read: each is shorter than the one before.
    ///
    /// # Errors
    /// Fails if the list of claimers cannot be written.
    pub(crate) fn come_nearer(
        &self,
        path: &str,
        sighting: &Sighting,
        was: &CandidateState,
    ) -> Result<Statement, StoreError> {
        let nearer: Vec<&Claimer> = was.nearer.iter().chain([self.claimer]).collect();
        let mut change = Change::new(self.table);
        change.sight(sighting);
        change.set(NEARER, json(&nearer)?);
        let SeedDistance { depth, requisite_steps } = was.found_at;
        let mut values = vec![number(self.iteration.number()), number(depth)];
        let steps = if requisite_steps > 0 {
            values.push(number(requisite_steps));
            "= ?"
        } else {
            "IS MISSING"
        };
        let condition = format!("{QUEUED_IN} = ? AND depth = ? AND {REQUISITE_STEPS} {steps}");
        Ok(change.into_statement(&keys::candidate(self.origin, path), &condition, values))
    }
}

/// Returns the condition for a candidate that has not ended yet.
pub(crate) fn unvisited() -> Expression {
    Expression::new(format!("attribute_not_exists(#{LAST_OUTCOME})"))
}

/// Writes the changes of a segment's entry, unless something newer is stored.
pub(crate) fn end(table: &str, origin: &OriginKey, update: &CandidateUpdate) -> Result<Statement, StoreError> {
    let version = ending_version(update.iteration, update.turn, update.n);
    let mut change = Change::new(table);
    if let Some(ended) = &update.ended {
        change.end(&version, ended)?;
    }
    let checked_at = update.ended.as_ref().map(|ended| instant(ended.at));
    match &update.state {
        StateChange::Kept => {}
        StateChange::Confirmed => change.stand(DocumentStanding::Shown, checked_at),
        StateChange::Hidden(standing) => change.stand(*standing, checked_at),
        StateChange::Shown { place, outcome, links, changed_at } => {
            change.stand(DocumentStanding::Shown, checked_at);
            change.set(DOCUMENT, json(&StoredDocument { place: *place, outcome: *outcome, links: *links })?);
            if let Some(changed_at) = changed_at {
                change.set(CHANGED_AT, instant(*changed_at));
            }
        }
    }
    match &update.leads_to {
        VisitTarget::AsBefore => {}
        VisitTarget::Nowhere => change.set_or_remove(LEADS_TO, None),
        VisitTarget::Url(url) => change.set(LEADS_TO, text(url.as_str())),
    }
    if matches!(update.state, StateChange::Shown { .. }) {
        change.set_or_remove(WORDS, update.text.map(|text| number(text.words)));
        change.set_or_remove(SIMHASH, update.text.map(|text| number(text.simhash.0)));
    }
    let key = keys::candidate(origin, &update.path_and_query);
    Ok(change.into_statement(&key, "(version IS MISSING OR version <= ?)", [text(version)]))
}

/// Returns the version of an ending, for comparing its age: that of its segment.
pub(super) fn ending_version(iteration: Iteration, turn: Turn, n: u64) -> String {
    format!("{:010}#{:020}#{n:020}", iteration.number(), turn.0)
}

/// Adds the texts of pages that name a canonical URL, if the URL is known. Each place is an
/// attribute of its own, so that concurrent writers do not overwrite each other.
pub(crate) fn add_namers(table: &str, origin: &OriginKey, named: &NamersUpdate) -> Statement {
    let mut change = Change::new(table);
    named.by.places().for_each(|place| change.set(&format!("{NAMED}{place}"), number(1)));
    let key = keys::candidate(origin, &named.path_and_query);
    change.into_statement(&key, &format!("{QUEUED_IN} > ?"), [number(0)])
}

/// An `UPDATE` of one item.
pub(super) struct Change {
    text: String,
    parameters: Vec<AttributeValue>,
}

impl Change {
    pub(super) fn new(table: &str) -> Self {
        Self { text: format!("UPDATE \"{table}\""), parameters: Vec::new() }
    }

    fn end(&mut self, version: &str, ended: &VisitResult) -> Result<(), StoreError> {
        self.set(VERSION, text(version));
        self.set(LAST_OUTCOME, number(ended.outcome.code()));
        self.set("last_at", instant(ended.at));
        self.set_or_remove("due_at", ended.due_at.map(instant));
        self.set_or_remove(AWAY, ended.away.map(|away| json(&away)).transpose()?);
        let interval_ms = ended.interval.map(|interval| u64::try_from(interval.as_millis()).unwrap_or(u64::MAX));
        self.set_or_remove(INTERVAL, interval_ms.map(number));
        self.set_or_remove(BLOCKED_BY, ended.blocked_by.map(|rules| number(rules.0)));
        if ended.outcome.is_contentful() {
            self.set("contentful_outcome", number(ended.outcome.code()));
            self.set("contentful_at", instant(ended.at));
        }
        if let Some(capture) = &ended.capture {
            self.set("capture", json(capture)?);
        }
        Ok(())
    }

    /// Sets how the URL was found.
    fn sight(&mut self, sighting: &Sighting) {
        self.set("depth", number(sighting.depth));
        self.set_or_remove("via", sighting.via.as_ref().map(|via| text(via.as_str())));
        self.set_or_remove(REQUISITE_STEPS, requisite_steps(sighting));
        self.set_or_remove(READ_AS, sighting.read_as.name().map(text));
    }

    /// Sets the standing, which has no meaning without a document.
    fn stand(&mut self, standing: DocumentStanding, checked_at: Option<AttributeValue>) {
        self.set(STANDING, text(standing.name()));
        if let Some(checked_at) = checked_at {
            self.set(CHECKED_AT, checked_at);
        }
    }

    fn set(&mut self, name: &str, value: AttributeValue) {
        self.text.push_str(&format!(" SET \"{name}\"=?"));
        self.parameters.push(value);
    }

    pub(super) fn set_or_remove(&mut self, name: &str, value: Option<AttributeValue>) {
        match value {
            Some(value) => self.set(name, value),
            None => self.text.push_str(&format!(" REMOVE \"{name}\"")),
        }
    }

    pub(super) fn into_statement(
        mut self,
        key: &crate::dynamo::Key,
        condition: &str,
        values: impl IntoIterator<Item = AttributeValue>,
    ) -> Statement {
        self.text.push_str(&format!(" WHERE {PARTITION}=? AND {SORT}=? AND {condition}"));
        self.parameters.extend([text(&key.partition), text(&key.sort)]);
        self.parameters.extend(values);
        Statement { table: Table::Candidates, text: self.text, parameters: self.parameters, bytes: VISITED_BYTES }
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::ids::Turn;

    use super::*;

    fn origin() -> OriginKey {
        OriginKey { crawl: "docs".parse().unwrap(), origin: "https://a.example".parse().unwrap() }
    }

    #[test]
    fn an_ending_has_the_condition_to_be_newer() {
        let update = CandidateUpdate {
            path_and_query: "/a".into(),
            iteration: Iteration::FIRST,
            turn: Turn(2),
            n: 5,
            ended: Some(VisitResult {
                outcome: Outcome::ConnectionFailed,
                at: Timestamp::from_second(5).unwrap(),
                capture: None,
                due_at: None,
                interval: None,
                away: None,
                blocked_by: None,
            }),
            state: StateChange::Hidden(DocumentStanding::Gone),
            leads_to: VisitTarget::AsBefore,
            text: None,
        };
        let statement = end("t", &origin(), &update).unwrap();
        assert_eq!(
            statement.text,
            "UPDATE \"t\" SET \"version\"=? SET \"last_outcome\"=? SET \"last_at\"=? REMOVE \"due_at\" REMOVE \"away\" \
             REMOVE \"interval_ms\" REMOVE \"blocked_by\" SET \"standing\"=? SET \"checked_at\"=? \
             WHERE pk=? AND sk=? AND (version IS MISSING OR version <= ?)"
        );
        assert_eq!(statement.text.matches('?').count(), statement.parameters.len(), "a value for each");
        let version = "0000000001#00000000000000000002#00000000000000000005";
        assert_eq!(statement.parameters.last(), Some(&text(version)), "which sorts as the three numbers do");
    }

    #[test]
    fn a_long_path_is_kept_beside_its_hash() {
        let claimer = Claimer::recrawl();
        let queueing = Queueing { table: "t", origin: &origin(), iteration: Iteration::FIRST, claimer: &claimer };
        let sighting = Sighting { depth: 1, ..Sighting::SEED };
        let now = Timestamp::from_second(5).unwrap();
        for (path, holds_path) in [("/a".to_owned(), false), (format!("/{}", "a".repeat(1_024)), true)] {
            let statement = queueing.insert(&path, &sighting, now);
            assert_eq!(statement.text.contains("'path': ?"), holds_path, "{} bytes", path.len());
            assert_eq!(statement.text.matches('?').count(), statement.parameters.len(), "a value for each");
        }
    }
}
