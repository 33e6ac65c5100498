//! A candidate with all its data, for display.

use dragline_domain::doubt::Namers;
use dragline_domain::frontier::{DocumentStanding, LastDocument, LastVisit, Sighting, UrlHistory};
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;
use dragline_domain::simhash::Simhash;
use dragline_domain::simhash::TextPrint;
use dragline_domain::url::CrawlUrl;
use jiff::Timestamp;

use super::candidate::{CHANGED_AT, CHECKED_AT, Candidate, LEADS_TO, NAMED, SIMHASH, WORDS, outcome};
use super::fields;
use crate::dynamo::{Fields, Item};
use crate::errors::StoreError;

/// A known URL, within its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownUrl {
    /// Its path and query.
    pub(crate) path_and_query: String,
    /// The iteration that it was last queued in.
    pub(crate) queued_in: Iteration,
    /// When it was first found.
    pub(crate) first_seen: Timestamp,
    /// How it was found when it was last queued.
    pub(crate) sighting: Sighting,
    /// When it is due again; `None` for every iteration.
    pub(crate) due_at: Option<Timestamp>,
    /// How it last ended; `None` if it has not yet.
    pub(crate) last: Option<LastEnd>,
    /// The last lasting outcome, and when that was; `None` if it had none.
    pub(crate) contentful: Option<(Outcome, Timestamp)>,
    /// The knowledge that it brings into its next iteration.
    pub(crate) known: UrlHistory,
    /// When its last good document was last confirmed to be current, and when a part of it last
    /// changed.
    pub(crate) checked_at: Option<Timestamp>,
    pub(crate) changed_at: Option<Timestamp>,
    /// The target of its redirect or canonical link; `None` if it stands for itself.
    pub(crate) leads_to: Option<CrawlUrl>,
    /// The text of the page that it shows; `None` if it shows none, or an older version parsed it.
    pub(crate) text: Option<TextPrint>,
    /// The texts of pages that name it as canonical.
    pub(crate) namers: Namers,
}

/// How a URL last ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LastEnd {
    /// The outcome.
    pub(crate) outcome: Outcome,
    /// When it was requested or decided on.
    pub(crate) at: Timestamp,
    /// The iteration.
    pub(crate) iteration: Iteration,
}

impl KnownUrl {
    /// Returns its last good document if that belongs to the current state of the site; `None` if
    /// it shows none.
    pub(crate) fn shown(&self) -> Option<LastDocument> {
        self.known.document.filter(|document| document.standing == DocumentStanding::Shown)
    }

    pub(crate) fn read(item: &Item) -> Result<Self, StoreError> {
        let Candidate { path_and_query, state, sighting, known } = Candidate::read(item)?;
        let fields = fields(item)?;
        let last_end = |last: LastVisit| -> Result<LastEnd, StoreError> {
            Ok(LastEnd { outcome: last.outcome, at: fields.instant("last_at")?, iteration: last.iteration })
        };
        let (words, simhash) = (fields.maybe(WORDS, Fields::number)?, fields.maybe(SIMHASH, Fields::number)?);
        let places = item.keys().filter_map(|name| name.strip_prefix(NAMED)?.parse::<u32>().ok());
        let namers = places.filter_map(|place| 1_u64.checked_shl(place)).fold(0, |namers, bit| namers | bit);
        let contentful = fields.maybe("contentful_outcome", outcome)?;
        Ok(Self {
            path_and_query,
            queued_in: state.queued_in,
            first_seen: fields.instant("first_seen")?,
            sighting,
            due_at: state.due_at,
            last: state.last_visit.map(last_end).transpose()?,
            contentful: contentful.zip(fields.maybe("contentful_at", Fields::instant)?),
            known,
            checked_at: fields.maybe_instant(CHECKED_AT)?,
            changed_at: fields.maybe_instant(CHANGED_AT)?,
            leads_to: fields.maybe(LEADS_TO, Fields::parsed)?,
            text: words.zip(simhash).map(|(words, simhash)| TextPrint { words, simhash: Simhash(simhash) }),
            namers: Namers(namers),
        })
    }
}

/// Returns the iteration at the beginning of the version of a candidate's ending.
pub(super) fn version_iteration(version: &str) -> Result<Iteration, StoreError> {
    let number = version.split('#').next().and_then(|digits| digits.parse().ok());
    let iteration = number.and_then(Iteration::new);
    iteration.ok_or_else(|| StoreError::Damaged(format!("`{version}` is not a version of a candidate's ending")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_contains_the_iteration_of_the_ending() {
        let version = "0000000007#00000000000000000002#00000000000000000005";
        assert_eq!(version_iteration(version).unwrap(), Iteration::new(7).unwrap());
        for version in ["", "#1#2", "0000000000#1#2", "x#1#2"] {
            assert!(version_iteration(version).is_err(), "{version}");
        }
    }
}
