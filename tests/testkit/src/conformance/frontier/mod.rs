//! The frontier: all its operations and races.

mod claims;
mod counts;
mod crawls;
mod crowds;
mod cursors;
mod domains;
mod endings;
mod hosts;
mod lists;
mod notices;
mod parses;
mod schedules;
mod sizes;
mod turns;

pub use claims::*;
pub use counts::*;
pub use crawls::*;
pub use crowds::*;
pub use cursors::*;
pub use domains::*;
pub use endings::*;
pub use hosts::*;
pub use lists::*;
pub use notices::*;
pub use parses::*;
pub use schedules::*;
pub use sizes::*;
pub use turns::*;

/// Runs every behaviour of a frontier on `(frontier, guard)`, which the future given makes; the
/// guard is dropped after the test.
#[macro_export]
macro_rules! frontier_suite {
    ($make:expr) => {
        $crate::frontier_suite! { behaviours, $make }
    };
    ($what:ident, $make:expr) => {
        $crate::$what! { frontier, $make;
            a_definition_is_read_back
            a_definition_that_somebody_else_changed_is_not_put
            origins_that_joined_stay
            a_crawl_of_many_sites_comes_back
            a_schedule_comes_due_until_it_is_passed_on
            a_schedule_that_was_moved_is_left_alone
            a_crawl_that_is_switched_off_is_not_due
            a_crawl_runs_until_its_iteration_closes
            what_was_handled_is_known
            a_trigger_is_handled_once
            an_iteration_waits_for_the_last_one_to_close
            a_token_is_returned_once
            closing_at_zero_is_final
            a_change_of_status_that_does_not_fit_changes_nothing
            a_cursor_moves_from_where_it_was_seen
            cursors_of_several_walks_are_told_apart
            whoever_reserves_lets_the_search_for_holders_begin_anew
            seeds_are_added_once
            robots_are_overwritten
            a_claim_is_own_once
            a_shorter_way_is_passed_on
            what_came_nearer_is_told
            what_was_seen_of_pages_is_told
            a_claim_waits_until_it_is_due
            an_update_never_goes_back
            an_update_without_a_capture_keeps_the_last_one
            the_recrawl_cursor_skips_what_is_queued
            the_recrawl_cursor_goes_through_in_pages
            the_recrawl_cursor_goes_through_long_urls
            the_recrawl_cursor_leaves_what_is_not_due
            what_the_rules_forbid_waits_until_they_change
            an_update_says_what_is_shown
            a_pass_selects_its_own
            a_lease_is_given_once
            a_lease_that_ran_out_is_taken_over_after_a_delay
            a_late_commit_by_an_old_holder_is_fenced
            a_commit_that_is_tried_again_is_success
            todo_comes_breadth_first_until_it_is_exhausted
            budget_is_never_exceeded
            only_an_open_iteration_gives_leases
            a_wake_is_not_missed_when_todo_comes_during_release
            an_old_holder_cannot_let_go
            a_host_is_visited_by_one_at_a_time
            who_is_known_to_live_is_not_replaced
            a_host_is_held_for_a_whole_turn
            a_dead_holders_host_goes_with_its_lease
            who_waits_for_a_host_takes_turns
            a_back_off_goes_with_the_host
            a_host_is_taken_without_a_lease
            of_many_who_want_a_host_one_has_it
            few_hosts_of_a_domain_are_visited_at_once
            a_dead_holders_place_goes_with_its_lease
            who_waits_for_a_place_takes_turns
            a_place_is_taken_without_a_lease
            of_many_who_want_a_place_as_many_have_one_as_there_are
            a_release_that_is_tried_again_is_success
            a_parse_commits_each_part_once
            two_parsers_of_one_segment
            shapes_of_urls_are_watched_by_many_parsers
            parses_that_died_are_counted
            a_parse_that_is_given_back_did_not_die
            what_cannot_be_read_is_left_over
            a_parse_opens_what_it_finds
            a_parse_that_nobody_waits_for_is_over
            a_paused_iteration_is_parsed
            an_idle_origin_is_woken_by_todo
            an_idle_origin_with_nothing_left_is_closed
            a_settlement_from_old_rows_changes_nothing
            an_origin_that_is_given_up_leaves_its_count
            an_origin_is_not_given_up_while_segments_are_unparsed
            a_living_holder_is_not_given_up
            a_dead_holders_budget_goes_back
            a_holder_lets_go_of_what_is_left
            what_waits_at_an_origin_that_is_given_up_still_ends
            an_origin_opens_again_for_the_next_iteration
            origins_are_listed_in_pages
            overdue_work_is_found
            leases_do_not_hide_the_rest
            ready_origins_do_not_hide_lost_parses
            postponed_work_waits
            the_end_of_an_iteration_is_owed_until_it_is_told
            a_notice_is_kept_until_it_is_told
            notices_do_not_pile_up
            a_fact_is_told_once_by_crawl
            a_postponed_notice_waits
            progress_is_the_sum_of_the_origins
            every_commit_is_counted_once
            counts_stay_with_their_iteration
            what_is_counted_of_many_parsers_adds_up
            of_many_triggers_one_begins
            of_many_tickets_one_takes_the_lease
            of_many_claimers_one_owns_a_url
            todo_of_many_parsers_adds_up
            a_thousand_long_urls_are_told_apart
            a_large_robots_txt_comes_back
            a_lease_keeps_all_its_retries
            seeds_that_fit_no_transaction_are_refused
            seedings_do_not_make_the_inbox_grow
            a_commit_that_fits_no_transaction_is_refused
            a_part_opens_as_many_origins_as_fit
        }
    };
}
