//! Reading a crawl: each stream, by filter and from any cursor.

mod again;
mod counts;
mod pages;
mod places;
mod remaking;
mod remaking_jobs;
mod retention;
mod rows;
mod story;
mod streams;
mod then;

use dragline_domain::ids::CrawlId;

pub use again::*;
pub use counts::*;
pub use pages::*;
pub use places::*;
pub use remaking::*;
pub use remaking_jobs::*;
pub use retention::*;
pub use rows::*;
pub use then::*;

/// The crawl that the suite's readers read.
#[must_use]
pub fn crawl() -> CrawlId {
    super::samples::crawl()
}

/// Runs every behaviour of a reader on `((frontier, documents, reader), guard)`, which the future
/// given makes over one store; the reader reads [`crawl`](crate::conformance::reader::crawl), and
/// the guard is dropped after the test.
#[macro_export]
macro_rules! reader_suite {
    ($make:expr) => {
        $crate::reader_suite! { behaviours, $make }
    };
    ($what:ident, $make:expr) => {
        $crate::$what! { reader, $make;
            a_crawl_that_never_began_has_nothing
            iterations_are_told_as_they_stand
            rows_come_once_however_small_the_batches
            a_stored_cursor_goes_on_behind_what_was_read
            what_stands_behind_many_origins_is_found
            rows_that_come_later_are_behind_the_end
            filters_give_what_they_say
            a_closed_iteration_stays_as_it_was
            visits_come_with_all_that_was_logged
            pages_are_the_site_as_it_is_now
            seen_pages_are_final_answers_with_what_they_hold
            an_unchanged_page_shows_what_it_did_then
            a_copy_has_no_text_of_its_own
            a_page_is_not_believed_about_another_unlike_it
            links_say_what_was_done_with_them
            candidates_say_all_that_is_known
            urls_that_were_never_visited_are_counted
            documents_come_as_they_were_put
            shown_documents_are_those_of_the_pages
            leftovers_are_told_by_origin_and_reason
            segments_are_those_that_were_committed
        }
    };
}
