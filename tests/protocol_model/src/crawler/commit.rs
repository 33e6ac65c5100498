//! How a holder commits the page that it fetched.

use dragline_domain::capture::Finality;
use dragline_domain::frontier::{LeftoverReason, Retry, SegmentWork};

use super::visit::Visit;
use super::{Crawler, Held, Term};
use crate::model::Model;
use crate::state::{State, now, run_out};
use crate::steps::Steps;
use crate::store::{Committed, SegmentCommit, entry, path};

pub(super) fn commits(model: &Model, number: usize, held: &Held, visit: &Visit, steps: &mut Steps<'_>) {
    let Visit { page, depth, tries, after, exhausts } = visit;
    let is_retry = *tries > 0;
    let work = SegmentWork {
        after: Some(after.clone()),
        retried: if is_retry { vec![path(*page)] } else { Vec::new() },
        retries: Vec::new(),
        pages: 1,
        resends: 0,
        asides: 0,
        body_bytes: 0,
        bodies_cut: 0,
    };
    let exhausts = exhausts.as_ref();
    let done =
        SegmentCommit { held, page: *page, depth: *depth, finality: Finality::Final, exhausts, work, ending: None };
    let label = || format!("crawler {number} commits page {page}");
    steps.owed(label, |next| next.crawlers[number] = commit(model, next, &done));
    steps.fault(
        || format!("{}, and the answer is lost", label()),
        |faults| &mut faults.lost_answers,
        |next| {
            model.commit_segment(next, &done);
            let term = term(next, held);
            if let Some(held) = next.crawlers[number].held_mut() {
                held.term = term;
            }
        },
    );
    let put_off = Retry { entry: entry(*page), depth: *depth, tries: tries + 1, not_before: now() };
    let work = SegmentWork { retries: vec![put_off], ..done.work.clone() };
    let retried = SegmentCommit { finality: Finality::Retried, work, ..done.clone() };
    steps.fault(
        || format!("{}, which failed and will be retried", label()),
        |faults| &mut faults.flukes,
        |next| next.crawlers[number] = commit(model, next, &retried),
    );
    let failed = SegmentCommit { ending: Some(LeftoverReason::OriginGivenUp), ..done.clone() };
    steps.fault(
        || format!("{}, which failed and exhausts the patience", label()),
        |faults| &mut faults.failures,
        |next| next.crawlers[number] = commit(model, next, &failed),
    );
}

/// The holder's view of its lease after a commit: renewed, unless this commit did not write it.
fn term(state: &State, held: &Held) -> Term {
    let holder = state.rows(held.origin).and_then(|rows| rows.lease.holder());
    let is_renewed = holder.is_some_and(|holder| holder.token == held.token && holder.until != run_out());
    if is_renewed { Term::Running } else { Term::RanOut }
}

fn commit(model: &Model, next: &mut State, commit: &SegmentCommit<'_>) -> Crawler {
    match model.commit_segment(next, commit) {
        Committed::Fenced => Crawler::Idle,
        Committed::Done(segment, lease) => {
            let held = Held { lease, term: term(next, commit.held), ..commit.held.clone() };
            Crawler::Committed { held, segment }
        }
    }
}
