//! Checks that several tests make.

use std::collections::{BTreeMap, BTreeSet};

use dragline_end_to_end::crawl_log::{Entry, endings};
use dragline_end_to_end::dragline::Ended;
use dragline_end_to_end::walk::Expected;

/// The crawl ended by itself and every URL with it.
pub(crate) fn assert_done(ended: &Ended) {
    assert_eq!(ended.code, Some(0), "the crawl failed:\n{}", ended.stderr);
}

/// The log has exactly the URLs that it should have, each ended once and in a way that fits.
pub(crate) fn assert_complete(log: &[Entry], iteration: u64, expected: &BTreeMap<String, Expected>) {
    let endings = endings(log, iteration);
    let visited: BTreeSet<&str> = endings.keys().copied().collect();
    let wanted: BTreeSet<&str> = expected.keys().map(String::as_str).collect();
    let missed: Vec<_> = wanted.difference(&visited).collect();
    let extra: Vec<_> = visited.difference(&wanted).collect();
    assert!(missed.is_empty() && extra.is_empty(), "never visited: {missed:#?}\nvisited for no reason: {extra:#?}");
    for (url, &stands_there) in expected {
        let outcome = endings[url.as_str()].outcome;
        assert!(fits(stands_there, outcome), "{url} ended with {outcome}, but there is a {stands_there:?}");
    }
}

/// Whether a first visit may end so.
fn fits(stands_there: Expected, outcome: i16) -> bool {
    match stands_there {
        // Ingested; or set aside for its canonical page, or as a duplicate.
        Expected::Page => matches!(outcome, 20 | 180 | 181),
        // Also stored without being understood.
        Expected::File => matches!(outcome, 20 | 29 | 181),
        Expected::Redirect => outcome == 31,
        Expected::Missing => outcome == 44,
    }
}
