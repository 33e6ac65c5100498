//! The rows that a reader returns, with their fields as exported. Field names are part of the
//! interface, and the same on both engines.

use dragline_domain::document::Document;
use dragline_domain::frontier::{LeftoverReason, ObjectKey};
use dragline_domain::ids::Iteration;
use dragline_domain::url::Origin;
use dragline_formats::robots::{RobotsRecord, Unreadable};
use dragline_formats::warc::Truncation;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A committed segment whose WARC object is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSegment {
    /// The iteration that committed it.
    pub iteration: Iteration,
    /// Its origin.
    pub origin: Origin,
    /// The WARC object, below the data directory.
    pub object: ObjectKey,
    /// The object's size in bytes.
    pub object_bytes: u64,
    /// When it was committed, after all of its visits.
    pub committed_at: Timestamp,
}

/// The type of a row's field. Any may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// A text.
    Text,
    /// A whole number of up to 64 bits.
    Integer,
    /// A boolean.
    Bool,
    /// A time, as a text in ISO 8601.
    Instant,
}

trait Typed {
    const TYPE: FieldType;
}

macro_rules! typed {
    ($($variant:ident: $($type:ty)*;)*) => {$($(
        impl Typed for $type {
            const TYPE: FieldType = FieldType::$variant;
        }
    )*)*};
}

typed! {
    Text: String;
    Integer: u8 u16 u32 u64 i16;
    Bool: bool;
}

impl<T: Typed> Typed for Option<T> {
    const TYPE: FieldType = T::TYPE;
}

macro_rules! holds {
    ($type:ty) => {
        <$type as Typed>::TYPE
    };
    ($type:ty, $holds:ident) => {
        FieldType::$holds
    };
}

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty $(as $holds:ident)?,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl $name {
            /// Returns the names of its fields, in order.
            pub fn fields() -> impl Iterator<Item = &'static str> {
                Self::typed_fields().map(|(name, _)| name)
            }

            /// Returns the names and types of its fields, in order.
            pub fn typed_fields() -> impl Iterator<Item = (&'static str, FieldType)> {
                [$((stringify!($field), holds!($type $(, $holds)?))),*]
                    .into_iter()
                    .map(|(name, holds)| (name.trim_start_matches("r#"), holds))
            }
        }
    )*};
}

rows! {
    /// A URL as the site shows it now: its last good document.
    PageRow {
        /// The crawl.
        crawl: String,
        /// The iteration of the response that it shows.
        iteration: u32,
        /// The URL.
        url: String,
        /// The outcome's number.
        outcome: i16,
        /// Its name.
        outcome_name: String,
        /// Links from a seed.
        depth: u32,
        /// The status code.
        status: Option<u16>,
        /// Without parameters; `None` if the server named none.
        content_type: Option<String>,
        /// The body's size as received.
        body_bytes: Option<u64>,
        /// When its body was requested, ISO 8601 in UTC.
        at: String as Instant,
        /// `<title>`. This and the following fields are `None` if it is not a page.
        title: Option<String>,
        /// `<meta name=description>`.
        description: Option<String>,
        /// The declared language.
        language: Option<String>,
        /// The encoding from which it was decoded.
        charset: Option<String>,
        /// The declared canonical URL.
        canonical: Option<String>,
        /// The visible text.
        text: Option<String>,
        /// The WARC object with the response, below the data directory.
        object: String,
        /// Where its record starts in the object.
        offset: u64,
        /// The length of the record in bytes.
        length: u64,
        /// When the URL was first found.
        first_seen: String,
        /// When the page was last confirmed to have this content.
        last_checked: Option<String> as Instant,
        /// When a part of it last changed.
        last_changed: Option<String> as Instant,
        /// The number of the last visit's outcome, which may be a failure.
        last_outcome: Option<i16>,
        /// That outcome's name.
        last_outcome_name: Option<String>,
    }

    /// A URL with a response in an iteration, and its contents at that time if it is a page.
    SeenPageRow {
        /// The crawl.
        crawl: String,
        /// The iteration.
        iteration: u32,
        /// The URL.
        url: String,
        /// The outcome's number.
        outcome: i16,
        /// Its name.
        outcome_name: String,
        /// Links from a seed.
        depth: u32,
        /// The status code.
        status: Option<u16>,
        /// Without parameters; `None` if the server named none.
        content_type: Option<String>,
        /// The body's size as received.
        body_bytes: Option<u64>,
        /// When it was requested, ISO 8601 in UTC.
        at: String as Instant,
        /// `<title>`. This and the following fields, up to the text, are `None` if it is not a
        /// page.
        title: Option<String>,
        /// `<meta name=description>`.
        description: Option<String>,
        /// The declared language.
        language: Option<String>,
        /// The encoding from which it was decoded.
        charset: Option<String>,
        /// The declared canonical URL.
        canonical: Option<String>,
        /// The visible text.
        text: Option<String>,
        /// The WARC object with the response, below the data directory.
        object: String,
        /// Where its record starts in the object.
        offset: u64,
        /// The length of the record in bytes.
        length: u64,
    }

    /// One link of a page.
    LinkRow {
        /// The crawl.
        crawl: String,
        /// The iteration that saw it or, for the site as it is now, the iteration of the response
        /// with it.
        iteration: u32,
        /// The page.
        from_url: String,
        /// The target.
        to_url: String,
        /// The kind of the link.
        kind: String,
        /// Its disposition.
        disposition: String,
        /// The rule that forbids it; `None` for other dispositions.
        detail: Option<String>,
        /// The link's text; `None` if it has none, or it was not kept.
        anchor: Option<String>,
    }

    /// One visit of a URL, or the decision not to visit it.
    LogRow {
        /// The crawl.
        crawl: String,
        /// The iteration.
        iteration: u32,
        /// The URL.
        url: String,
        /// Links from a seed.
        depth: u32,
        /// The page that led to it first; `None` for a seed.
        via: Option<String>,
        /// Why it was visited: `queued`, `recrawl`, `retry`, `import`.
        crawl_type: String,
        /// The outcome's number.
        outcome: i16,
        /// Its name.
        outcome_name: String,
        /// Whether the outcome is final for the iteration; otherwise the URL was tried again.
        r#final: bool,
        /// How often it was requested in the iteration, including this time.
        tries: u8,
        /// How often the request of this try was sent before, to a server that did not process it;
        /// `None` if nothing was sent.
        resends: Option<u64>,
        /// When it was requested or decided on, ISO 8601 in UTC.
        at: String as Instant,
        /// The status code; `None` without a response.
        status: Option<u16>,
        /// From the request's start to its end; `None` if nothing was sent.
        duration_ms: Option<u64>,
        /// From the request's start to the response header; `None` without one.
        first_byte_ms: Option<u64>,
        /// The address that answered; `None` if no connection was made.
        remote: Option<String>,
        /// The rule that decided, or the error; `None` where the outcome says it all.
        detail: Option<String>,
        /// Without parameters; `None` without a response, or if the server named none.
        content_type: Option<String>,
        /// The body's size as received; `None` without a response.
        body_bytes: Option<u64>,
        /// Why the body is incomplete; `None` if it is complete.
        truncated: Option<String>,
        /// Where it redirects to; `None` if it does not.
        redirects_to: Option<String>,
        /// The WARC object with the response, below the data directory; `None` without one.
        object: Option<String>,
        /// Where its record starts in the object.
        offset: Option<u64>,
        /// The length of the record in bytes.
        length: Option<u64>,
        /// The user agent.
        agent: String,
        /// Its effect on the current state of the site: `new`, `changed`, `moved`, `gone`,
        /// `out_of_scope`, `back`, `unchanged`; `None` if it says nothing lasting.
        change: Option<String>,
        /// The parts that changed, separated by commas: `status`, `title`, `text`, `links`,
        /// `metadata`, `body`; `None` if there are none.
        changed_parts: Option<String>,
    }

    /// A known URL, and the details that the next iteration needs.
    CandidateRow {
        /// The crawl.
        crawl: String,
        /// The URL.
        url: String,
        /// The iteration in which it was last queued.
        queued_in: u32,
        /// When it was first found, ISO 8601 in UTC.
        first_seen: String,
        /// Links from a seed.
        depth: u32,
        /// The page that led to it; `None` for a seed.
        via: Option<String>,
        /// When it is due again; `None` for every iteration.
        due_at: Option<String> as Instant,
        /// The interval after the last visit that found it; `None` if there is none.
        interval_ms: Option<u64>,
        /// The number of its last outcome; `None` if it has none yet.
        last_outcome: Option<i16>,
        /// The outcome's name.
        last_outcome_name: Option<String>,
        /// The time of that outcome.
        last_at: Option<String> as Instant,
        /// The iteration of that outcome.
        last_iteration: Option<u32>,
        /// The number of the last outcome that says something lasting.
        last_contentful_outcome: Option<i16>,
        /// The time of that outcome.
        last_contentful_at: Option<String> as Instant,
        /// `ETag` of the last good capture.
        etag: Option<String>,
        /// `Last-Modified` of the last good capture.
        last_modified: Option<String>,
        /// SHA-1 of its body without content coding, in hexadecimal.
        decoded_sha1: Option<String>,
        /// Whether its last good document is `shown`, or `gone` or `withdrawn`; `None` if it has
        /// none.
        standing: Option<String>,
        /// Since when every visit has failed or found it gone; `None` if the last one did not.
        away_since: Option<String> as Instant,
    }
}

/// The parser's result for a URL's ending, and its iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentRow {
    /// The iteration that stored it.
    pub iteration: Iteration,
    /// The document as stored, before a decision on whether it duplicates another.
    pub document: Document,
}

/// URLs of an origin that were queued in an iteration and have no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftoverRow {
    /// The iteration.
    pub iteration: Iteration,
    /// The origin.
    pub origin: Origin,
    /// Why they were left over.
    pub reason: LeftoverReason,
    /// How many URLs.
    pub urls: u64,
    /// The last error of its robots.txt; `None` if it was answered.
    pub robots_error: Option<String>,
}

impl LogRow {
    /// Whether only the beginning of its body was kept, as it exceeded a limit.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.truncated.as_deref() == Some(Truncation::Length.token())
    }
}

impl LeftoverRow {
    /// Returns the error in a stored robots.txt; `None` if a response arrived.
    #[must_use]
    pub fn robots_error(kept: &RobotsRecord) -> Option<String> {
        match kept {
            RobotsRecord::Readable { .. } | RobotsRecord::Missing(_) => None,
            RobotsRecord::Unreadable(Unreadable::Status(status)) => Some(format!("status {status}")),
            RobotsRecord::Unreadable(Unreadable::Failed { detail } | Unreadable::Walled { detail }) => {
                Some(detail.clone())
            }
        }
    }
}
