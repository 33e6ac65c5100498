//! What every adapter of a port must do: public functions named after a behaviour, each over a
//! fresh store.
//!
//! An adapter's tests run a whole suite with one macro, given an async function that makes the
//! store: [`frontier_suite!`](crate::frontier_suite), [`log_suite!`](crate::log_suite),
//! [`archive_suite!`](crate::archive_suite), [`documents_suite!`](crate::documents_suite),
//! [`queue_suite!`](crate::queue_suite), [`reader_suite!`](crate::reader_suite),
//! [`retention_suite!`](crate::retention_suite), [`remaking_suite!`](crate::remaking_suite),
//! [`session_suite!`](crate::session_suite), [`time_suite!`](crate::time_suite).
//!
//! The tests provide what a suite needs beyond its port, such as a [`Receiver`](queue::Receiver),
//! which receives messages and lets time pass. Logs are read through the `Reader`; a read that may
//! lag, such as one of an index, is repeated until it is right, for up to 20 seconds. The suite of
//! a reader also takes the frontier and the documents of its store: it puts a crawl of two
//! iterations with a bit of everything (`reader/story.rs`), which the reader must give back.
//!
//! The suites themselves are tested by [`mutants`](crate::mutants), for which each macro also takes
//! the name of another one before the future: [`rejection!`](crate::rejection) or
//! [`names!`](crate::names).

#![expect(clippy::unwrap_used, reason = "these functions are tests, though the compiler cannot know")]

pub mod archive;
pub mod documents;
pub mod frontier;
mod lag;
pub mod log;
pub mod queue;
pub mod reader;
mod samples;
pub mod session;
pub mod time;
mod world;

/// Makes a `#[tokio::test]` of each named behaviour, given a future that makes its arguments and a
/// guard to drop after the test.
#[doc(hidden)]
#[macro_export]
macro_rules! behaviours {
    ($suite:ident, $make:expr; $($behaviour:ident)*) => {$(
        #[tokio::test]
        async fn $behaviour() {
            let (subject, _guard) = $make.await;
            $crate::conformance::$suite::$behaviour(&subject).await;
        }
    )*};
}
