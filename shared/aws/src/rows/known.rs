//! A candidate with all that is known about it, for display.

use dragline_domain::frontier::{LastCapture, Sighting};
use dragline_domain::ids::Iteration;
use dragline_domain::outcome::Outcome;
use dragline_domain::url::CrawlUrl;
use jiff::Timestamp;

use super::candidate::{Candidate, LEADS_TO, outcome};
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
    /// The last outcome that says something lasting, and when that was; `None` if it had none.
    pub(crate) contentful: Option<(Outcome, Timestamp)>,
    /// What the last good capture left; `None` where there is none.
    pub(crate) capture: Option<LastCapture>,
    /// Where it leads, by a redirect or by what it calls canonical; `None` if it stands for itself.
    pub(crate) leads_to: Option<CrawlUrl>,
}

/// How a URL last ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LastEnd {
    /// Its outcome.
    pub(crate) outcome: Outcome,
    /// When it was requested or decided on.
    pub(crate) at: Timestamp,
    /// The iteration.
    pub(crate) iteration: Iteration,
}

impl KnownUrl {
    pub(crate) fn read(item: &Item) -> Result<Self, StoreError> {
        let Candidate { path_and_query, claimed, last_outcome, sighting, last: capture } = Candidate::read(item)?;
        let fields = fields(item)?;
        let last_end = |outcome| -> Result<LastEnd, StoreError> {
            Ok(LastEnd { outcome, at: fields.instant("last_at")?, iteration: iteration_of(fields.text("version")?)? })
        };
        let contentful = fields.maybe("contentful_outcome", outcome)?;
        Ok(Self {
            path_and_query,
            queued_in: claimed.queued_in,
            first_seen: fields.instant("first_seen")?,
            sighting,
            due_at: claimed.due_at,
            last: last_outcome.map(last_end).transpose()?,
            contentful: contentful.zip(fields.maybe("contentful_at", Fields::instant)?),
            capture,
            leads_to: fields.maybe(LEADS_TO, Fields::parsed)?,
        })
    }
}

/// Returns the iteration with which the version of a candidate's ending begins.
fn iteration_of(version: &str) -> Result<Iteration, StoreError> {
    let number = version.split('#').next().and_then(|digits| digits.parse().ok());
    let iteration = number.and_then(Iteration::new);
    iteration.ok_or_else(|| StoreError::Damaged(format!("`{version}` is not a version of a candidate's ending")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_says_in_which_iteration_a_url_ended() {
        let version = "0000000007#00000000000000000002#00000000000000000005";
        assert_eq!(iteration_of(version).unwrap(), Iteration::new(7).unwrap());
        for version in ["", "#1#2", "0000000000#1#2", "x#1#2"] {
            assert!(iteration_of(version).is_err(), "{version}");
        }
    }
}
