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
fn two_pages_on_two_origins() {
    holds(Config::SMALLEST);
}
