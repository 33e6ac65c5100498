//! Explores each configuration completely without a violation.

use dragline_protocol_model::{Config, explore};

fn holds(config: Config) {
    let report = explore(config);
    println!("{} states", report.states);
    if let Some(finding) = report.finding {
        panic!("{finding}");
    }
}

#[test]
fn two_origins_are_crawled_and_closed() {
    holds(Config::SMALLEST);
}

#[test]
fn pages_that_link_in_circles_end_once_each() {
    holds(Config::CROSS_LINKED);
}

#[test]
fn a_chunk_that_is_begun_is_finished_before_one_that_comes_earlier_in_order() {
    holds(Config::OVERTAKING);
}

#[test]
fn without_faults_nothing_has_to_be_sent_again() {
    holds(Config::UNAIDED);
}

#[test]
fn two_segments_that_lead_to_one_page_wake_its_origin_unaided() {
    holds(Config::UNAIDED_MEETING);
}

#[test]
fn pages_that_link_in_circles_end_unaided() {
    holds(Config::UNAIDED_CIRCLES);
}

#[test]
fn a_worker_that_dies_at_any_step_costs_nothing() {
    holds(Config::CRASH);
}

#[test]
fn a_worker_may_die_while_others_act_on_what_they_read_before() {
    holds(Config::CRASH_APART);
}

#[test]
fn a_page_that_two_segments_lead_to_survives_a_crash() {
    holds(Config::CRASH_MEETING);
}

#[test]
fn two_crashes_cost_nothing() {
    holds(Config::CRASHES);
}

#[test]
fn a_parse_in_parts_is_taken_up_where_another_stopped() {
    holds(Config::CRASH_IN_PARTS);
}

#[test]
fn a_crash_and_a_lost_message_are_made_up_for() {
    holds(Config::CRASH_AND_LOSS);
}

#[test]
fn a_crash_and_a_duplicate_cost_nothing() {
    holds(Config::CRASH_AND_DUPLICATE);
}

#[test]
fn lost_messages_are_sent_again() {
    holds(Config::LOSSES);
}

#[test]
fn a_message_that_comes_twice_changes_nothing() {
    holds(Config::DUPLICATE);
}

#[test]
fn late_duplicates_change_nothing() {
    holds(Config::LATE_DUPLICATES);
}

#[test]
fn a_holder_whose_lease_ran_out_is_fenced() {
    holds(Config::EXPIRY);
}

#[test]
fn a_holder_whose_lease_ran_out_cannot_let_go_of_it() {
    holds(Config::EXPIRY_APART);
}

#[test]
fn a_lease_runs_out_and_whoever_took_it_over_dies() {
    holds(Config::EXPIRY_AND_CRASH);
}

#[test]
fn a_commit_whose_answer_was_lost_is_not_done_twice() {
    holds(Config::LOST_ANSWER);
}

#[test]
fn a_segments_links_are_fixed_once_however_its_parsers_die() {
    holds(Config::SKIP);
}

#[test]
fn a_stopped_crawl_ends_with_what_is_left_counted() {
    holds(Config::STOP);
}

#[test]
fn a_stopped_crawl_ends_though_a_worker_dies() {
    holds(Config::STOP_AND_CRASH);
}

#[test]
fn a_stopped_crawl_ends_though_a_lease_runs_out() {
    holds(Config::STOP_AND_EXPIRY);
}

#[test]
fn a_paused_crawl_gives_no_leases_and_goes_on() {
    holds(Config::PAUSE);
}

#[test]
fn a_budget_is_never_exceeded_though_leases_run_out() {
    holds(Config::BUDGET);
}

#[test]
fn a_budget_is_shared_by_the_origins() {
    holds(Config::BUDGET_SHARED);
}

#[test]
fn what_a_dead_holder_had_set_aside_comes_back() {
    holds(Config::BUDGET_AND_STOP);
}

#[test]
fn a_page_that_is_put_off_ends_once() {
    holds(Config::RETRY);
}

#[test]
fn a_page_that_is_put_off_survives_a_crash() {
    holds(Config::RETRY_AND_CRASH);
}

#[test]
fn a_page_that_is_put_off_counts_as_left_over() {
    holds(Config::RETRY_AND_STOP);
}

#[test]
fn an_origin_that_is_given_up_ends_with_what_is_left_counted() {
    holds(Config::PATIENCE);
}

#[test]
fn an_origin_that_is_given_up_ends_though_a_worker_dies() {
    holds(Config::PATIENCE_AND_CRASH);
}

#[test]
fn with_a_depth_limit_the_same_pages_are_reached_in_every_order() {
    holds(Config::BARRIER);
}

#[test]
fn with_a_depth_limit_the_same_pages_are_reached_though_one_is_put_off() {
    holds(Config::BARRIER_AND_RETRY);
}

#[test]
fn with_a_depth_limit_the_same_pages_are_reached_though_a_worker_dies() {
    holds(Config::BARRIER_AND_CRASH);
}

#[test]
fn a_second_trigger_is_refused_while_an_iteration_runs() {
    holds(Config::TWO_COMMANDS);
}

#[test]
fn a_command_that_two_schedulers_have_begins_one_iteration() {
    holds(Config::COMMAND_TWICE);
}

#[test]
fn known_pages_are_crawled_again_once_each_though_a_worker_dies() {
    holds(Config::RECRAWL);
}

#[test]
fn known_pages_are_crawled_again_though_nothing_leads_there_any_more() {
    holds(Config::RECRAWL_LINKS_GONE);
}

#[test]
fn known_pages_are_crawled_again_though_a_lease_runs_out() {
    holds(Config::RECRAWL_AND_EXPIRY);
}

#[test]
fn what_is_left_under_way_of_one_iteration_does_not_disturb_the_next() {
    holds(Config::REPEATED);
}

#[test]
fn a_holder_of_one_iteration_that_wakes_in_the_next_is_fenced() {
    holds(Config::REPEATED_LATE);
}

#[test]
fn origins_of_one_host_take_turns_unaided() {
    holds(Config::HOST_UNAIDED);
}

#[test]
fn origins_of_one_host_take_turns_though_a_lease_runs_out() {
    holds(Config::HOST_AND_EXPIRY);
}

#[test]
fn origins_of_one_host_take_turns_though_a_worker_dies() {
    holds(Config::HOST_AND_CRASH);
}

#[test]
fn a_host_that_a_dead_worker_had_is_free_for_the_next_iteration() {
    holds(Config::HOST_REPEATED);
}

#[test]
fn hosts_of_one_domain_take_turns_unaided() {
    holds(Config::DOMAIN_UNAIDED);
}

#[test]
fn hosts_of_one_domain_take_turns_though_a_lease_runs_out() {
    holds(Config::DOMAIN_AND_EXPIRY);
}

#[test]
fn a_place_that_a_dead_worker_had_is_free_for_the_next_iteration() {
    holds(Config::DOMAIN_REPEATED);
}
