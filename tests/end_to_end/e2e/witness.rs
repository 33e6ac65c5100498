//! Checks that several tests share.

use std::collections::{BTreeMap, BTreeSet};

use dragline_end_to_end::crawl_log::{Entry, endings};
use dragline_end_to_end::dragline::Ended;
use dragline_end_to_end::walk::Expected;

/// Checks that the crawl ended by itself, with every URL.
pub(crate) fn assert_done(ended: &Ended) {
    assert_eq!(ended.code, Some(0), "the crawl failed:\n{}", ended.stderr);
}

/// Checks that the log has exactly the expected URLs, each ended once with a fitting outcome.
pub(crate) fn assert_complete(log: &[Entry], iteration: u64, expected: &BTreeMap<String, Expected>) {
    let endings = endings(log, iteration);
    let visited: BTreeSet<&str> = endings.keys().copied().collect();
    let wanted: BTreeSet<&str> = expected.keys().map(String::as_str).collect();
    let missed: Vec<_> = wanted.difference(&visited).collect();
    let extra: Vec<_> = visited.difference(&wanted).collect();
    assert!(missed.is_empty() && extra.is_empty(), "never visited: {missed:#?}\nnot expected: {extra:#?}");
    for (url, &stands_there) in expected {
        let outcome = endings[url.as_str()].outcome;
        assert!(fits(stands_there, outcome), "{url} ended with {outcome}, but is a {stands_there:?}");
    }
}

/// Whether a first visit may have this outcome.
fn fits(stands_there: Expected, outcome: i16) -> bool {
    match stands_there {
        // Ingested, or withheld as a copy or a duplicate.
        Expected::Page => matches!(outcome, 20 | 180 | 181),
        // Or stored without being extracted.
        Expected::File => matches!(outcome, 20 | 29 | 181),
        Expected::Redirect => outcome == 31,
        Expected::Missing => outcome == 44,
    }
}
