//! Each configuration is explored whole, and nothing is found broken.
#![expect(clippy::print_stdout, reason = "a run says how many states it visited")]

use dragline_protocol_model::{Config, explore};

fn holds(config: Config) {
    let report = explore(config);
    println!("{} states", report.states);
    if let Some(finding) = report.finding {
        panic!("{finding}");
    }
}

#[test]
fn smallest() {
    holds(Config::SMALLEST);
}

#[test]
fn cross_linked() {
    holds(Config::CROSS_LINKED);
}

#[test]
fn unaided() {
    holds(Config::UNAIDED);
}

#[test]
fn unaided_meeting() {
    holds(Config::UNAIDED_MEETING);
}

#[test]
fn crash() {
    holds(Config::CRASH);
}

#[test]
fn crash_apart() {
    holds(Config::CRASH_APART);
}

#[test]
fn two_crashes() {
    holds(Config::TWO_CRASHES);
}

#[test]
fn crash_meeting() {
    holds(Config::CRASH_MEETING);
}

#[test]
fn crash_parts() {
    holds(Config::CRASH_PARTS);
}

#[test]
fn duplicate() {
    holds(Config::DUPLICATE);
}

#[test]
fn duplicate_apart() {
    holds(Config::DUPLICATE_APART);
}

#[test]
fn duplicates_late() {
    holds(Config::DUPLICATES_LATE);
}

#[test]
fn losses() {
    holds(Config::LOSSES);
}

#[test]
fn expiry() {
    holds(Config::EXPIRY);
}

#[test]
fn lost_answer() {
    holds(Config::LOST_ANSWER);
}

#[test]
fn expiry_apart() {
    holds(Config::EXPIRY_APART);
}

#[test]
fn expiry_crash() {
    holds(Config::EXPIRY_CRASH);
}

#[test]
fn stop() {
    holds(Config::STOP);
}

#[test]
fn stop_crash() {
    holds(Config::STOP_CRASH);
}

#[test]
fn stop_expiry() {
    holds(Config::STOP_EXPIRY);
}

#[test]
fn pause() {
    holds(Config::PAUSE);
}

#[test]
fn budget() {
    holds(Config::BUDGET);
}

#[test]
fn budget_two() {
    holds(Config::BUDGET_TWO);
}

#[test]
fn retries() {
    holds(Config::RETRIES);
}

#[test]
fn retries_crash() {
    holds(Config::RETRIES_CRASH);
}

#[test]
fn patience() {
    holds(Config::PATIENCE);
}

#[test]
fn patience_crash() {
    holds(Config::PATIENCE_CRASH);
}

#[test]
fn barrier() {
    holds(Config::BARRIER);
}

#[test]
fn barrier_crash() {
    holds(Config::BARRIER_CRASH);
}

#[test]
fn barrier_fan() {
    holds(Config::BARRIER_FAN);
}

#[test]
fn two_commands() {
    holds(Config::TWO_COMMANDS);
}

#[test]
fn two_schedulers() {
    holds(Config::TWO_SCHEDULERS);
}

#[test]
fn recrawl() {
    holds(Config::RECRAWL);
}

#[test]
fn recrawl_circle() {
    holds(Config::RECRAWL_CIRCLE);
}

#[test]
fn repeated() {
    holds(Config::REPEATED);
}

#[test]
fn repeated_expiry() {
    holds(Config::REPEATED_EXPIRY);
}

#[test]
fn skips() {
    holds(Config::SKIPS);
}

#[test]
fn crash_duplicate() {
    holds(Config::CRASH_DUPLICATE);
}

#[test]
fn crash_loss() {
    holds(Config::CRASH_LOSS);
}

#[test]
fn cross_linked_crash() {
    holds(Config::CROSS_LINKED_CRASH);
}
