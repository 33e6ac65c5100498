//! The visits of one URL.

use std::ops::ControlFlow;

use dragline_domain::capture::CrawlType;
use dragline_domain::change::VisitChange;
use dragline_domain::outcome::Outcome;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_ports::error::PortResult;
use dragline_ports::reader::{Cursor, Filter, LogRow, Reader, RecordPlace, each_row};
use dragline_ports::row;
use jiff::Timestamp;

/// The number of rows per read.
const BATCH_ROWS: usize = 500;

/// A visit, or the decision not to visit.
#[derive(Clone, Debug)]
pub struct Visit {
    /// Its iteration.
    pub iteration: u32,
    /// When it was.
    pub at: Timestamp,
    /// Why the URL was visited.
    pub crawl_type: CrawlType,
    /// How it ended.
    pub outcome: Outcome,
    /// The status of the answer; `None` without one.
    pub status: Option<u16>,
    /// The size of the body; `None` without one.
    pub body_bytes: Option<u64>,
    /// More about the outcome; `None` if it says all.
    pub detail: Option<String>,
    /// How the page differs from how it was; `None` if it was not compared.
    pub change: Option<VisitChange>,
    /// Whether it was the last one in its iteration.
    pub r#final: bool,
    /// Where the answer is stored; `None` if none is.
    pub record: Option<RecordPlace>,
}

row! {
    Visit {
        iteration, at, crawl_type, outcome ["outcome", "outcome_name"], status, body_bytes, detail, change ["change", "changed_parts"],
        r#final ["final"], record ["object", "offset", "length"],
    }
}

impl From<LogRow> for Visit {
    fn from(row: LogRow) -> Self {
        let LogRow { iteration, at, crawl_type, outcome, status, body_bytes, detail, change, r#final, record, .. } =
            row;
        Self { iteration, at, crawl_type, outcome, status, body_bytes, detail, change, r#final, record }
    }
}

/// Returns the URL that a text means, which is `stripped` by the default rules: as it is written if
/// the crawl knows it so, and otherwise stripped.
///
/// # Errors
/// The crawl cannot be read.
pub async fn resolve(reader: &impl Reader, text: &str, stripped: CrawlUrl) -> PortResult<CrawlUrl> {
    let written = CrawlUrl::parse(text, &UrlRules::keep_all()).ok().filter(|written| *written != stripped);
    match written {
        Some(written) if is_known(reader, &written).await? => Ok(written),
        _ => Ok(stripped),
    }
}

/// Returns all visits of a URL over all iterations, the oldest first.
///
/// All are in memory at once: as many as iterations, times their tries.
///
/// # Errors
/// The crawl cannot be read.
pub async fn read(reader: &impl Reader, url: &CrawlUrl) -> PortResult<Vec<LogRow>> {
    let filter = &Filter { url: Some(url.clone()), ..Filter::default() };
    let mut visits = Vec::new();
    let batch = |after: Option<Cursor>| async move { reader.log(filter, after.as_ref(), BATCH_ROWS).await };
    each_row(batch, |visit| {
        visits.push(visit);
        ControlFlow::Continue(())
    })
    .await?;
    Ok(visits)
}

/// Returns whether a crawl knows a URL.
///
/// # Errors
/// The crawl cannot be read.
pub async fn is_known(reader: &impl Reader, url: &CrawlUrl) -> PortResult<bool> {
    let filter = &Filter { url: Some(url.clone()), ..Filter::default() };
    let mut is_known = false;
    let batch = |after: Option<Cursor>| async move { reader.candidates(filter, after.as_ref(), 1).await };
    each_row(batch, |_| {
        is_known = true;
        ControlFlow::Break(())
    })
    .await?;
    Ok(is_known)
}
