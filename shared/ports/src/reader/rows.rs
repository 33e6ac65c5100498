//! The rows that a reader gives, with their fields as they are exported. Field names are part of the interface, and the same on both engines.

use dragline_domain::document::Document;
use dragline_domain::frontier::LeftoverReason;
use dragline_domain::ids::Iteration;
use dragline_domain::url::Origin;
use dragline_formats::robots::{RobotsRecord, Unreadable};
use serde::Serialize;

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl $name {
            /// The names of its fields, in their order.
            pub fn fields() -> impl Iterator<Item = &'static str> {
                [$(stringify!($field)),*].into_iter().map(|name| name.trim_start_matches("r#"))
            }
        }
    )*};
}

rows! {
    /// A URL that ended with an answer, and what it holds if it is a page.
    PageRow {
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
        /// Without parameters; absent if the server named none.
        content_type: Option<String>,
        /// The body's size as received.
        body_bytes: Option<u64>,
        /// When it was asked for, ISO 8601 in UTC.
        at: String,
        /// `<title>`. This and what follows is absent for what is no page, or did not change.
        title: Option<String>,
        /// `<meta name=description>`.
        description: Option<String>,
        /// The language that it declares.
        language: Option<String>,
        /// The encoding that it was read in.
        charset: Option<String>,
        /// The URL that it calls canonical.
        canonical: Option<String>,
        /// The visible text.
        text: Option<String>,
        /// The WARC object with the response, below the data directory.
        object: String,
        /// Where its record starts there.
        offset: u64,
        /// How many bytes the record takes.
        length: u64,
    }

    /// One link of a page.
    LinkRow {
        /// The crawl.
        crawl: String,
        /// The iteration.
        iteration: u32,
        /// The page.
        from_url: String,
        /// The target.
        to_url: String,
        /// How it is made.
        kind: String,
        /// What was done with it.
        disposition: String,
        /// The rule that forbids it; absent for other dispositions.
        detail: Option<String>,
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
        /// The page that led to it first; absent for a seed.
        via: Option<String>,
        /// How it came to be visited: `queued`, `recrawl`, `retry`.
        crawl_type: String,
        /// The outcome's number.
        outcome: i16,
        /// Its name.
        outcome_name: String,
        /// Whether the outcome stands for the iteration; else it was tried again.
        r#final: bool,
        /// How often it was asked for in the iteration, this time included.
        tries: u8,
        /// When it was asked for or decided on, ISO 8601 in UTC.
        at: String,
        /// The status code; absent without a response.
        status: Option<u16>,
        /// From the request's start to its end; absent if nothing was sent.
        duration_ms: Option<u64>,
        /// From the request's start to the response header; absent without one.
        first_byte_ms: Option<u64>,
        /// The address that answered; absent if no connection was made.
        remote: Option<String>,
        /// The rule that decided, or the error that was met; absent where the outcome says it all.
        detail: Option<String>,
        /// Without parameters; absent without a response, or if the server named none.
        content_type: Option<String>,
        /// The body's size as received; absent without a response.
        body_bytes: Option<u64>,
        /// Why the body is not whole; absent when it is.
        truncated: Option<String>,
        /// Where it sends its visitors; absent if it does not.
        redirects_to: Option<String>,
        /// The WARC object with the response, below the data directory; absent without one.
        object: Option<String>,
        /// Where its record starts there.
        offset: Option<u64>,
        /// How many bytes the record takes.
        length: Option<u64>,
        /// The user agent.
        agent: String,
    }

    /// A URL that is known, and what the next iteration needs to know of it.
    CandidateRow {
        /// The crawl.
        crawl: String,
        /// The URL.
        url: String,
        /// The iteration that it was last queued in.
        queued_in: u32,
        /// When it was found first, ISO 8601 in UTC.
        first_seen: String,
        /// Links from a seed.
        depth: u32,
        /// The page that led to it; absent for a seed.
        via: Option<String>,
        /// When it is due again; absent: in every iteration.
        due_at: Option<String>,
        /// The interval that led to the last good capture; absent where there is none.
        interval_ms: Option<u64>,
        /// The number of its last outcome; absent if it has none yet.
        last_outcome: Option<i16>,
        /// The outcome's name.
        last_outcome_name: Option<String>,
        /// When that was.
        last_at: Option<String>,
        /// In which iteration that was.
        last_iteration: Option<u32>,
        /// The number of the last outcome that says something lasting.
        last_contentful_outcome: Option<i16>,
        /// When that was.
        last_contentful_at: Option<String>,
        /// `ETag` of the last good capture.
        etag: Option<String>,
        /// `Last-Modified` of the last good capture.
        last_modified: Option<String>,
        /// SHA-1 of its body, content coding undone, in hexadecimal.
        decoded_sha1: Option<String>,
    }
}

/// What the parser made of one URL's end, and in which iteration that was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentRow {
    /// The iteration.
    pub iteration: Iteration,
    /// The document, as it was put: whether it is a copy of another is not decided in it.
    pub document: Document,
}

/// URLs of an origin that were queued in an iteration and have no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftoverRow {
    /// The iteration.
    pub iteration: Iteration,
    /// The origin.
    pub origin: Origin,
    /// Why it ended.
    pub reason: LeftoverReason,
    /// How many URLs.
    pub urls: u64,
    /// The error that its robots.txt was met with last; absent if it was answered.
    pub robots_error: Option<String>,
}

impl LeftoverRow {
    /// The error of a robots.txt, as it is kept; `None` if it was answered.
    #[must_use]
    pub fn robots_error_of(kept: &RobotsRecord) -> Option<String> {
        match kept {
            RobotsRecord::Readable { .. } | RobotsRecord::Missing(_) => None,
            RobotsRecord::Unreadable(Unreadable::Status(status)) => Some(format!("status {status}")),
            RobotsRecord::Unreadable(Unreadable::Failed { detail }) => Some(detail.clone()),
        }
    }
}
