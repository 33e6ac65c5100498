//! Candidate updates for remade documents.

use aws_sdk_dynamodb::types::AttributeValue;
use dragline_domain::frontier::{SegmentRow, StateChange, VisitPlace};
use dragline_domain::remake::RemadeVisit;
use jiff::Timestamp;

use super::candidate::{
    CHANGED_AT, Change, DOCUMENT, LAST_OUTCOME, LEADS_TO, QUEUED_IN, SIMHASH, StoredDocument, VERSION, WORDS,
    ending_version,
};
use super::keys;
use crate::dynamo::{Fields, Item, Statement, instant, json, number, text};
use crate::errors::StoreError;

/// A remade document, and the candidate of its URL as it was read.
#[derive(Clone, Copy)]
pub(crate) struct RemadeCandidate<'r> {
    pub(crate) segment: &'r SegmentRow,
    pub(crate) visit: &'r RemadeVisit,
    /// Whether the log says that the visit was final; `None` if the log has expired.
    pub(crate) is_final: Option<bool>,
    pub(crate) item: &'r Item,
}

impl RemadeCandidate<'_> {
    /// Whether the document is the last good one of its URL.
    pub(crate) fn is_last(&self) -> Result<bool, StoreError> {
        let stored = Fields(self.item).maybe(DOCUMENT, Fields::json::<StoredDocument>)?;
        let place = VisitPlace {
            iteration: self.segment.iteration,
            turn: self.segment.id.turn,
            segment: self.segment.id.n,
            n: self.visit.document.n,
        };
        Ok(stored.is_some_and(|stored| stored.place == place))
    }

    /// Returns the update, if the candidate is as it was read; `None` if nothing changes.
    /// `changed_at` is when the URL last changed; `None` if unknown.
    pub(crate) fn change(&self, table: &str, changed_at: Option<Timestamp>) -> Result<Option<Statement>, StoreError> {
        let Self { segment, visit: RemadeVisit { document, redirect, state, text: print, .. }, is_final, item } = self;
        let mut changes: Vec<(&str, Option<AttributeValue>)> = Vec::new();
        let version = text(ending_version(segment.iteration, segment.id.turn, segment.id.n));
        if item.get(VERSION) == Some(&version) && is_final.unwrap_or(true) {
            changes.push((LAST_OUTCOME, Some(number(document.outcome.code()))));
        }
        if let (StateChange::Shown { place, outcome, links, .. }, true) = (state, self.is_last()?) {
            let stored = StoredDocument { place: *place, outcome: *outcome, links: *links };
            changes.extend([
                (DOCUMENT, Some(json(&stored)?)),
                (LEADS_TO, redirect.as_ref().map(|redirect| text(redirect.target.as_str()))),
                (WORDS, print.map(|print| number(print.words))),
                (SIMHASH, print.map(|print| number(print.simhash.0))),
            ]);
            changes.extend(changed_at.map(|at| (CHANGED_AT, Some(instant(at)))));
        }
        changes.retain(|(name, value)| item.get(*name) != value.as_ref());
        if changes.is_empty() {
            return Ok(None);
        }
        let mut change = Change::new(table);
        changes.into_iter().for_each(|(name, value)| change.set_or_remove(name, value));
        let (mut conditions, mut values) = (Vec::new(), Vec::new());
        for name in [VERSION, DOCUMENT] {
            match item.get(name) {
                Some(value) => {
                    conditions.push(format!("\"{name}\" = ?"));
                    values.push(value.clone());
                }
                None => conditions.push(format!("\"{name}\" IS MISSING")),
            }
        }
        let key = keys::candidate(&segment.id.origin, document.url.path_and_query());
        // A deleted row must not come back: its key must exist.
        conditions.push(format!("{QUEUED_IN} > ?"));
        values.push(number(0));
        Ok(Some(change.into_statement(&key, &conditions.join(" AND "), values)))
    }
}
