//! 12: no page is given up because of the store.

use dragline_ports::frontier::Progress;

use super::{Checked, Evidence, Invariant, Violation};
use crate::faults::Struck;

/// 12: captures are stuck only where parsers died or exceeded their time, or objects were lost; a
/// store out of reach is not a reason. URLs are unreadable only where their object was lost, or one
/// segment killed more than six parsers.
///
/// # Errors
/// The database cannot be read.
pub fn stuck_only_by_deaths(evidence: &Evidence<'_>, progress: &Progress, struck: &Struck) -> Checked {
    let killers = evidence.number(
        "SELECT count(*) FROM segment s JOIN origin o ON o.id = s.origin_id JOIN crawl c ON c.id = o.crawl_id
         WHERE c.name = ?1 AND s.iteration = ?2 AND s.attempts > 6",
    )?;
    let (stuck, unreadable) = (progress.parser.stuck, progress.parser.unreadable);
    let mut wrong = Vec::new();
    if stuck + unreadable > 0 && !struck.broke_a_parse() {
        wrong.push(format!("{stuck} captures are stuck, but no parser died: {:?}", struck.faults));
    }
    if unreadable > 0 && evidence.lost.is_empty() && killers == 0 {
        wrong.push(format!("{unreadable} URLs are unreadable, but no object was lost"));
    }
    Ok(wrong.into_iter().map(|what| Violation { invariant: Invariant::StuckOnlyByDeaths, what }).collect())
}
