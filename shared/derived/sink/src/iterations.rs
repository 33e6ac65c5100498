//! The totals of each iteration, and what becomes of iterations that are no longer stored.

use std::collections::BTreeMap;

use dragline_domain::frontier::IterationStatus;
use dragline_domain::item::Cell;
use serde_json::json;

use crate::batch::{Outcome, Staged, Written, merge};
use crate::copy::CopyText;
use crate::error::Failed;
use crate::kind::SqlKind;
use crate::place::stored_logs;
use crate::session::Session;
use crate::source::{IterationState, Source};
use crate::tables::{ITERATION_COLUMNS, ITERATION_PROGRESS, LOG};

impl Session {
    /// Writes the totals of all iterations, and removes the rows of those that are not stored.
    pub(crate) async fn write_iterations(&mut self, source: &Source) -> Result<Outcome, Failed> {
        let (schema, crawl) = (self.schema.quoted(), self.crawl.to_string());
        let mut text = CopyText::default();
        for iteration in &source.iterations {
            put(&mut text, &crawl, iteration);
        }
        let columns = ITERATION_COLUMNS.map(|(name, kind)| (name.to_owned(), kind)).to_vec();
        let stored: Vec<i64> = source.iterations.iter().map(|state| state.row.number.number().into()).collect();
        let Some(transaction) = self.begin().await? else { return Ok(Outcome::Outdated) };
        let rows = text.rows();
        let changed =
            merge(&transaction, &schema, Staged { table: ITERATION_PROGRESS.to_owned(), columns, text }).await?;
        let mut written = Written { rows, changed, removed: 0 };
        for table in [ITERATION_PROGRESS, LOG] {
            let sql = format!("DELETE FROM {schema}.{table} WHERE crawl = $1 AND NOT iteration = ANY($2)");
            written.removed += transaction.execute(&sql, &[&crawl, &stored]).await?;
        }
        for number in stored_logs(&transaction, &schema, &crawl).await? {
            if !stored.contains(&number.into()) {
                let kind = format!("log/{number}");
                for table in ["sink_progress", "sink_seen"] {
                    let sql = format!("DELETE FROM {schema}.{table} WHERE crawl = $1 AND kind = $2");
                    transaction.execute(&sql, &[&crawl, &kind]).await?;
                }
            }
        }
        transaction.commit().await?;
        Ok(Outcome::Committed(written))
    }
}

fn put(text: &mut CopyText, crawl: &str, state: &IterationState) {
    let IterationState { row, progress, .. } = state;
    let time = |at: Option<jiff::Timestamp>| at.map(|at| Cell::Text(format!("{at:.3}")));
    let number = |number: u64| Some(Cell::Number(number.into()));
    let outcomes: BTreeMap<&str, u64> =
        progress.parser.outcomes.iter().map(|(outcome, count)| (outcome.name(), *count)).collect();
    let changes: BTreeMap<&str, u64> =
        progress.parser.changes.iter().map(|(change, count)| (change.name(), *count)).collect();
    let leftovers: BTreeMap<&str, u64> =
        progress.leftovers.iter().map(|(reason, urls)| (reason.name(), *urls)).collect();
    let cells = [
        Some(Cell::Text(crawl.to_owned())),
        number(row.number.number().into()),
        Some(Cell::Text(status(row.status).to_owned())),
        time(Some(row.started_at)),
        time(row.closed_at),
        time(row.pruned_at),
        number(progress.origins),
        number(progress.origins_open),
        number(progress.added),
        number(progress.taken),
        number(progress.segments),
        number(progress.parsed),
        number(progress.crawler.requests),
        number(progress.crawler.retries),
        number(progress.crawler.body_bytes),
    ];
    let numbers = ITERATION_COLUMNS.iter().map(|(_, kind)| *kind);
    for (cell, kind) in cells.iter().zip(numbers.filter(|kind| *kind != SqlKind::Json)) {
        text.put(cell.as_ref(), kind);
    }
    for counts in [json!(outcomes), json!(changes), json!(leftovers)] {
        text.put_json(&counts.to_string());
    }
    text.end_row();
}

const fn status(status: IterationStatus) -> &'static str {
    match status {
        IterationStatus::Open => "open",
        IterationStatus::Paused => "paused",
        IterationStatus::Stopping => "stopping",
        IterationStatus::Closed => "closed",
    }
}
