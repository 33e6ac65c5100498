//! The data of a candidate that one iteration stores for the next.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{ReadAs, RulesDigest, StateChange};
use crate::doubt::Namers;
use crate::ids::{Iteration, Turn};
use crate::outcome::Outcome;
use crate::recrawl::Absence;
use crate::simhash::TextPrint;
use crate::url::CrawlUrl;

/// How a URL was first found.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sighting {
    /// The number of links from a seed; 0 for a seed, for a sitemap, and for the URLs in it.
    pub depth: u32,
    /// The page that led to it first; `None` for a seed.
    pub via: Option<CrawlUrl>,
    /// The number of requisites in a row between a page and it: 1 for a page's picture or style
    /// sheet, 2 for a picture of that style sheet; 0 if it is not a requisite.
    #[serde(default, skip_serializing_if = "crate::stored_form::is_zero")]
    pub requisite_steps: u8,
    /// How its body is parsed.
    #[serde(default, skip_serializing_if = "ReadAs::is_typed")]
    pub read_as: ReadAs,
}

impl Sighting {
    /// The sighting of a seed.
    pub const SEED: Self = Self { depth: 0, via: None, requisite_steps: 0, read_as: ReadAs::Typed };
}

/// The data of a URL's last good capture for a conditional request and for comparison.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LastCapture {
    /// The `ETag` field as sent; `None` if there was none.
    pub etag: Option<String>,
    /// The `Last-Modified` field as sent; `None` if there was none.
    pub last_modified: Option<String>,
    /// SHA-1 of the body as received, for references from `revisit` records.
    pub payload_sha1: [u8; 20],
    /// SHA-1 of the body without its content coding, to recognise an unchanged body.
    pub decoded_sha1: [u8; 20],
    /// When it was fetched.
    pub fetched_at: Timestamp,
    /// Its outcome, which an unchanged body keeps.
    pub outcome: Outcome,
    /// The header fields by which its body was parsed; `None` if an earlier version of this program
    /// stored it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_by: Option<FieldsDigest>,
}

/// A digest of the header fields that decide how a body is parsed: the same body under other fields
/// may be another document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FieldsDigest(pub u32);

impl FieldsDigest {
    /// The digest of no fields: the next response is parsed again in any case.
    pub const NONE: Self = Self(0);
}

impl LastCapture {
    /// The limit on a stored `ETag`, in bytes: no sensible server sends a longer one.
    pub const ETAG_BYTES_MAX: usize = 256;
    /// The limit on a stored `Last-Modified`, in bytes: a longer one cannot be a date.
    pub const LAST_MODIFIED_BYTES_MAX: usize = 64;
}

/// The change of a URL's candidate by a segment's entry.
///
/// Ordered by (iteration, turn, n): an update older than the stored one is ignored.
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
    /// The result of the visit; `None` if the URL was not visited, and only its document was
    /// remade.
    pub ended: Option<VisitResult>,
    /// The change in the URL's current state.
    pub state: StateChange,
    /// The target of its redirect or canonical link.
    pub leads_to: VisitTarget,
    /// The text of the page that is shown from now on; `None` if it shows no page, or the same as
    /// before.
    pub text: Option<TextPrint>,
}

/// The texts of a segment's pages that declare one URL canonical, to be added to the stored ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamersUpdate {
    /// The URL's key within its origin.
    pub path_and_query: String,
    /// The texts.
    pub by: Namers,
}

/// The result of a URL's visit in an iteration, and the data for the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisitResult {
    /// The outcome.
    pub outcome: Outcome,
    /// When the URL was requested, or its outcome decided.
    pub at: Timestamp,
    /// The data for the next visit; `None` keeps the stored ones.
    pub capture: Option<LastCapture>,
    /// When it is due again; `None`: in every iteration.
    pub due_at: Option<Timestamp>,
    /// The interval until then; `None`: every iteration, or it starts anew.
    pub interval: Option<Duration>,
    /// Since when every visit has failed or found it gone; `None` if this one found it.
    pub away: Option<Absence>,
    /// The rules that forbid it; `None` if none does.
    pub blocked_by: Option<RulesDigest>,
}

/// The target of a URL's redirect or canonical link, as far as one visit shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum VisitTarget {
    /// The visit does not show it: the stored one stays.
    #[default]
    AsBefore,
    /// None: the URL stands for itself.
    Nowhere,
    /// Another URL.
    Url(CrawlUrl),
}
