//! What a candidate keeps from one iteration for the next.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{ReadAs, RulesDigest, StateChange};
use crate::doubt::Namers;
use crate::ids::{Iteration, Turn};
use crate::outcome::Outcome;
use crate::recrawl::Away;
use crate::simhash::TextPrint;
use crate::url::CrawlUrl;

/// How a URL was first found.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sighting {
    /// How many links it is from a seed; 0 for a seed, for a sitemap, and for what that lists.
    pub depth: u32,
    /// The page that led to it first; `None` for a seed.
    pub via: Option<CrawlUrl>,
    /// How many requisites in a row led from a page to it: 1 for a page's picture or style sheet, 2 for a picture of that style sheet; 0 for what
    /// is no requisite.
    #[serde(default, skip_serializing_if = "crate::stored_form::is_zero")]
    pub requisite_steps: u8,
    /// What decides how its body is read.
    #[serde(default, skip_serializing_if = "ReadAs::is_typed")]
    pub read_as: ReadAs,
}

impl Sighting {
    /// How a seed is found.
    pub const SEED: Self = Self { depth: 0, via: None, requisite_steps: 0, read_as: ReadAs::Typed };
}

/// What the last good capture of a URL left for a conditional request and for comparison.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LastCapture {
    /// The `ETag` field as it was sent; `None` if there was none.
    pub etag: Option<String>,
    /// The `Last-Modified` field as it was sent; `None` if there was none.
    pub last_modified: Option<String>,
    /// SHA-1 of the body as received, by which a `revisit` record refers to it.
    pub payload_sha1: [u8; 20],
    /// SHA-1 of the body with its content coding undone, by which an unchanged body is recognised.
    pub decoded_sha1: [u8; 20],
    /// When it was fetched.
    pub fetched_at: Timestamp,
    /// Its outcome, which an unchanged body keeps.
    pub outcome: Outcome,
    /// The fields by which its body was read; `None` if an earlier version of this program stored it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_by: Option<FieldsDigest>,
}

/// A digest of the header fields that say how a body is read: the same body under other fields may be another document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FieldsDigest(pub u32);

impl FieldsDigest {
    /// The digest of no fields: whatever is fetched next is parsed again.
    pub const NONE: Self = Self(0);
}

impl LastCapture {
    /// An `ETag` longer than this is not kept: no sensible server sends one.
    pub const ETAG_BYTES_MAX: usize = 256;
    /// A `Last-Modified` longer than this cannot be a date, and is not kept.
    pub const LAST_MODIFIED_BYTES_MAX: usize = 64;
}

/// What a segment's entry changes in the candidate of its URL.
///
/// Ordered by (iteration, turn, n): an update that is older than what is stored is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandidateUpdate {
    /// The key within the origin.
    pub path_and_query: String,
    /// The iteration.
    pub iteration: Iteration,
    /// The turn that fetched the URL.
    pub turn: Turn,
    /// The segment's number.
    pub n: u64,
    /// How the URL ended in the iteration; `None` if it was not visited, and only its document was made again.
    pub ended: Option<EndedVisit>,
    /// What changes in what is shown of it.
    pub state: StateChange,
    /// Where it leads.
    pub leads_to: LeadsTo,
    /// The text of the page that is shown from now on; `None` if it shows no page, or what it showed before.
    pub text: Option<TextPrint>,
}

/// The texts of pages of a segment that call one URL canonical, to be added to those that did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The URL's key within its origin.
    pub path_and_query: String,
    /// The texts.
    pub by: Namers,
}

/// How a URL ended in an iteration, and what the next visit needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedVisit {
    /// How it ended.
    pub outcome: Outcome,
    /// When the URL was requested, or its outcome decided.
    pub at: Timestamp,
    /// What to keep for the next visit; `None` leaves what is stored as it is.
    pub capture: Option<LastCapture>,
    /// When it is due again; `None`: in every iteration.
    pub due_at: Option<Timestamp>,
    /// The interval until then; `None`: every iteration, or it starts anew.
    pub interval: Option<Duration>,
    /// Since when every visit has failed or found it gone; `None` if this one found it.
    pub away: Option<Away>,
    /// The rules that forbid it; `None` if none does.
    pub blocked_by: Option<RulesDigest>,
}

/// Where a URL leads, by a redirect or a canonical link, as far as one visit says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LeadsTo {
    /// The visit does not say: what is stored stays.
    #[default]
    AsBefore,
    /// Nowhere: it stands for itself.
    Nowhere,
    /// To another URL.
    Url(CrawlUrl),
}
