//! The rows that are exported, with their fields as stored. Field names are part of the interface.

use rusqlite::Row;
use serde::Serialize;

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty = $column:literal,)* })*) => {$(
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

            pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
                Ok(Self { $($field: row.get($column)?,)* })
            }
        }
    )*};
}

rows! {
    /// A URL that ended with an answer, and what it holds if it is a page.
    PageRow {
        /// The crawl.
        crawl: String = "crawl",
        /// The iteration.
        iteration: u32 = "iteration",
        /// The URL.
        url: String = "url",
        /// The outcome's number.
        outcome: i16 = "outcome",
        /// Its name.
        outcome_name: String = "outcome_name",
        /// Links from a seed.
        depth: u32 = "depth",
        /// The status code.
        status: Option<u16> = "status",
        /// Without parameters; absent if the server named none.
        content_type: Option<String> = "content_type",
        /// The body's size as received.
        body_bytes: Option<u64> = "body_bytes",
        /// When it was asked for, ISO 8601 in UTC.
        at: String = "at",
        /// `<title>`. This and what follows is absent for what is no page, or did not change.
        title: Option<String> = "title",
        /// `<meta name=description>`.
        description: Option<String> = "description",
        /// The language that it declares.
        language: Option<String> = "language",
        /// The encoding that it was read in.
        charset: Option<String> = "charset",
        /// The URL that it calls canonical.
        canonical: Option<String> = "canonical",
        /// The visible text.
        text: Option<String> = "text",
        /// The WARC object with the response, below the data directory.
        object: String = "object",
        /// Where its record starts there.
        offset: u64 = "offset",
        /// How many bytes the record takes.
        length: u64 = "length",
    }

    /// One link of a page.
    LinkRow {
        /// The crawl.
        crawl: String = "crawl",
        /// The iteration.
        iteration: u32 = "iteration",
        /// The page.
        from_url: String = "from_url",
        /// The target.
        to_url: String = "to_url",
        /// How it is made.
        kind: String = "kind",
        /// What was done with it.
        fate: String = "fate",
        /// The rule that forbids it; absent for other fates.
        detail: Option<String> = "detail",
    }

    /// One visit of a URL, or the decision not to visit it.
    LogRow {
        /// The crawl.
        crawl: String = "crawl",
        /// The iteration.
        iteration: u32 = "iteration",
        /// The URL.
        url: String = "url",
        /// Links from a seed.
        depth: u32 = "depth",
        /// The page that led to it first; absent for a seed.
        via: Option<String> = "via",
        /// How it came to be visited: `queued`, `recrawl`, `retry`.
        crawl_type: String = "crawl_type",
        /// The outcome's number.
        outcome: i16 = "outcome",
        /// Its name.
        outcome_name: String = "outcome_name",
        /// Whether the outcome stands for the iteration; else it was tried again.
        r#final: bool = "is_final",
        /// How often it was asked for in the iteration, this time included.
        tries: u8 = "tries",
        /// When it was asked for or decided on, ISO 8601 in UTC.
        at: String = "at",
        /// The status code; absent without a response.
        status: Option<u16> = "status",
        /// From the request's start to its end; absent if nothing was sent.
        duration_ms: Option<u64> = "duration_ms",
        /// From the request's start to the response header; absent without one.
        first_byte_ms: Option<u64> = "first_byte_ms",
        /// The address that answered; absent if no connection was made.
        remote: Option<String> = "remote",
        /// The rule that decided, or the error that was met; absent where the outcome says it all.
        detail: Option<String> = "detail",
        /// Without parameters; absent without a response, or if the server named none.
        content_type: Option<String> = "content_type",
        /// The body's size as received; absent without a response.
        body_bytes: Option<u64> = "body_bytes",
        /// Why the body is not whole; absent when it is.
        truncated: Option<String> = "truncated",
        /// Where it sends its visitors; absent if it does not.
        redirects_to: Option<String> = "redirects_to",
        /// The WARC object with the response, below the data directory; absent without one.
        object: Option<String> = "object",
        /// Where its record starts there.
        offset: Option<u64> = "offset",
        /// How many bytes the record takes.
        length: Option<u64> = "length",
        /// The user agent.
        agent: String = "agent",
    }

    /// A URL that is known, and what the next iteration needs to know of it.
    CandidateRow {
        /// The crawl.
        crawl: String = "crawl",
        /// The URL.
        url: String = "url",
        /// The iteration that it was last queued in.
        queued_in: u32 = "queued_in",
        /// When it was found first, ISO 8601 in UTC.
        first_seen: String = "first_seen",
        /// Links from a seed.
        depth: u32 = "depth",
        /// The page that led to it; absent for a seed.
        via: Option<String> = "via",
        /// When it is due again; absent: in every iteration.
        due_at: Option<String> = "due_at",
        /// The interval that led to the last good capture; absent where there is none.
        interval_ms: Option<u64> = "interval_ms",
        /// The number of its last outcome; absent if it has none yet.
        last_outcome: Option<i16> = "last_outcome",
        /// The outcome's name.
        last_outcome_name: Option<String> = "last_outcome_name",
        /// When that was.
        last_at: Option<String> = "last_at",
        /// In which iteration that was.
        last_iteration: Option<u32> = "last_iteration",
        /// The number of the last outcome that says something lasting.
        last_contentful_outcome: Option<i16> = "last_contentful_outcome",
        /// When that was.
        last_contentful_at: Option<String> = "last_contentful_at",
        /// `ETag` of the last good capture.
        etag: Option<String> = "etag",
        /// `Last-Modified` of the last good capture.
        last_modified: Option<String> = "last_modified",
        /// SHA-1 of its body, content coding undone, in hexadecimal.
        decoded_sha1: Option<String> = "decoded_sha1",
    }
}
