//! 11: requests stay within the budget.

use super::{Checked, Evidence, Invariant, Violation};

const REQUESTS: &str = "FROM request r JOIN crawl_log l ON l.id = r.id JOIN origin o ON o.id = l.origin_id
    JOIN crawl c ON c.id = o.crawl_id WHERE c.name = ?1 AND l.iteration = ?2";

/// 11: neither the iteration nor any origin in it has more requests in the log than the
/// definition's page budget.
///
/// # Errors
/// The database cannot be read.
pub fn the_budget_is_kept(evidence: &Evidence<'_>) -> Checked {
    let budget = &evidence.definition.budget;
    let mut wrong = Vec::new();
    if let Some(pages) = budget.pages {
        let requests = evidence.number(&format!("SELECT count(*) {REQUESTS}"))?;
        if requests > pages {
            wrong.push(Violation {
                invariant: Invariant::BudgetKept,
                what: format!("{requests} requests were made, of {pages} pages"),
            });
        }
    }
    if let Some(pages) = budget.pages_per_origin {
        let sql = format!(
            "SELECT o.origin || ' was asked ' || count(*) || ' times, for {pages} pages' {REQUESTS}
             GROUP BY o.id HAVING count(*) > {pages}"
        );
        wrong.extend(evidence.violations(Invariant::BudgetKept, &sql)?);
    }
    Ok(wrong)
}
