//! Defects in what the log says.

use dragline_domain::capture::SegmentLog;
use dragline_domain::change::{ChangeKind, VisitChange};
use dragline_domain::outcome::OutcomeClass;

use super::Mutation;

/// The log as a defect leaves it.
pub(crate) fn mutated_log(mutation: Option<Mutation>, mut log: SegmentLog) -> SegmentLog {
    for entry in &mut log.entries {
        let is_gone = entry.visit.outcome.class() == OutcomeClass::Missing;
        match mutation {
            Some(Mutation::GoneReportedAgain) if is_gone && entry.visit.known.document.is_some() => {
                entry.change = Some(VisitChange { kind: ChangeKind::Gone, parts: Vec::new() });
            }
            Some(Mutation::ChangeNotReported) => {
                entry.change.take_if(|change| change.kind == ChangeKind::Changed);
            }
            _ => {}
        }
    }
    log
}
