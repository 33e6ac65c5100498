//! The summary of an iteration.

mod causes;
mod figures;
mod tally;

use std::ops::ControlFlow;

use dragline_domain::frontier::{IterationRow, IterationStatus, Task};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::error::PortResult;
use dragline_ports::reader::{Cursor, Filter, LeftoverRow, LogRow, Reader, each_row};
use jiff::Timestamp;
use serde::{Serialize, Serializer};

pub use self::causes::{Cause, CauseCount, Causes};
pub use self::figures::{CanonicalsDoubted, Figures, NotCrawled, OutcomeCount, ScriptedPages, Slow};
pub use self::tally::Tally;

/// The number of rows per read.
const BATCH_ROWS: usize = 500;

/// The state or result of an iteration. The field names are those of `status --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The iteration, and whether it is over.
    #[serde(flatten)]
    pub standing: IterationHead,
    /// Its results in numbers.
    #[serde(flatten)]
    pub figures: Figures,
}

/// An iteration, and whether it is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IterationHead {
    /// The crawl's name.
    pub crawl: CrawlId,
    /// The iteration's number, counted from 1.
    pub iteration: Iteration,
    /// Whether it is open, paused, stopping or closed.
    pub status: IterationStatus,
    /// Its task: `crawl`, `demand` or `reparse`.
    #[serde(serialize_with = "task_name")]
    pub task: Task,
    /// When it began.
    pub started_at: Timestamp,
    /// When it was closed; `None` until then.
    pub closed_at: Option<Timestamp>,
}

/// Sums up an iteration from its current log, row by row.
///
/// ```
/// use dragline_ports::error::PortResult;
/// use dragline_ports::reader::Reader;
///
/// async fn pages(reader: &impl Reader) -> PortResult<Option<u64>> {
///     let Some(latest) = reader.latest_iteration().await? else { return Ok(None) };
///     let summary = dragline_report::summary(reader, latest).await?;
///     Ok(Some(summary.figures.pages))
/// }
/// ```
///
/// # Errors
/// The crawl cannot be read.
pub async fn summary(reader: &impl Reader, iteration: IterationRow) -> PortResult<Summary> {
    let mut tally = Tally::default();
    each_visit(reader, &Filter::by_iteration(iteration.number), |visit| tally.add(visit)).await?;
    summary_from_tally(reader, iteration, tally).await
}

/// Sums up an iteration from the tally of its log.
///
/// # Errors
/// The crawl cannot be read.
pub async fn summary_from_tally(reader: &impl Reader, iteration: IterationRow, tally: Tally) -> PortResult<Summary> {
    let filter = Filter::by_iteration(iteration.number);
    let progress = reader.progress(iteration.number).await?;
    let mut figures = tally.figures(&progress);
    let is_earlier = reader.latest_iteration().await?.is_some_and(|latest| latest.number != iteration.number);
    if is_earlier {
        figures = figures.for_earlier_iteration();
    } else if iteration.status == IterationStatus::Closed && figures.has_left_something() {
        // Only in this case, as a stack has to read all candidates for it.
        figures.unvisited = Some(reader.unvisited().await?);
    }
    if iteration.status == IterationStatus::Closed && iteration.task.visits() && !figures.has_content() {
        figures.causes = causes(reader, &filter).await?;
    }
    let IterationRow { crawl, number, status, task, started_at, closed_at, .. } = iteration;
    Ok(Summary { standing: IterationHead { crawl, iteration: number, status, task, started_at, closed_at }, figures })
}

fn task_name<S: Serializer>(task: &Task, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(task.name())
}

/// Reads why nothing was fetched.
async fn causes(reader: &impl Reader, filter: &Filter) -> PortResult<Vec<CauseCount>> {
    let mut causes = Causes::default();
    let add_final = |visit: LogRow| {
        if visit.r#final {
            causes.add_visit(visit);
        }
    };
    each_visit(reader, filter, add_final).await?;
    let add_left = |left: LeftoverRow| {
        causes.add_left(left);
        ControlFlow::Continue(())
    };
    each_row(
        |after: Option<Cursor>| async move { reader.leftovers(filter, after.as_ref(), BATCH_ROWS).await },
        add_left,
    )
    .await?;
    Ok(causes.into_counts())
}

async fn each_visit(reader: &impl Reader, filter: &Filter, mut visit: impl FnMut(LogRow)) -> PortResult<()> {
    let read = |after: Option<Cursor>| async move { reader.log(filter, after.as_ref(), BATCH_ROWS).await };
    each_row(read, |row| {
        visit(row);
        ControlFlow::Continue(())
    })
    .await
}

#[cfg(test)]
mod tests {
    use dragline_domain::frontier::{LeftoverReason, ParserCounters};
    use dragline_domain::outcome::Outcome;
    use dragline_ports::frontier::Progress;

    use super::*;
    use crate::samples::{ScriptedReader, iteration, visit};

    #[tokio::test]
    async fn causes_are_reported_once_they_are_final() {
        let missing = || visit("https://a.example/", Outcome::FileNotFound);
        let again = || LogRow { r#final: false, ..visit("https://a.example/slow", Outcome::RequestTimeout) };
        let lost = LeftoverRow {
            iteration: Iteration::FIRST,
            origin: "https://b.example".parse().unwrap(),
            reason: LeftoverReason::SegmentUnreadable,
            urls: 2,
            robots_error: None,
        };
        let got = || visit("https://a.example/page", Outcome::FileIngested);
        for (log, status, expected, why) in [
            (
                vec![missing(), again()],
                IterationStatus::Closed,
                &[("segment_unreadable", 2), ("not_found", 1)][..],
                "final outcomes and leftovers, the most frequent first",
            ),
            (vec![missing(), again()], IterationStatus::Open, &[], "something may come yet"),
            (vec![missing(), got()], IterationStatus::Closed, &[], "something was fetched"),
            (vec![], IterationStatus::Closed, &[("segment_unreadable", 2)], "lost segments are not in the log"),
        ] {
            let requests = log.len();
            let log = log.into_iter().map(|visit| LogRow { duration_ms: Some(1), ..visit }).collect();
            let leftovers = vec![lost.clone()];
            let counters = ParserCounters { stuck: 3, ..ParserCounters::default() };
            let progress = Progress { added: 9, taken: 4, parser: counters, ..Progress::default() };
            let reader = ScriptedReader { progress, log, leftovers, ..ScriptedReader::default() };
            let Summary { standing, figures } = summary(&reader, iteration(status)).await.unwrap();
            let causes: Vec<_> = figures.causes.iter().map(|counted| (counted.cause.name(), counted.urls)).collect();
            assert_eq!(causes, expected, "{why}");
            assert_eq!(figures.requests, requests as u64, "each visit is counted once: {why}");
            assert_eq!((figures.waiting, figures.stuck), (5, Some(3)), "as the origins' rows count");
            assert_eq!((standing.status, standing.iteration), (status, Iteration::FIRST));
        }
    }

    #[tokio::test]
    async fn unvisited_urls_are_counted_where_something_was_left() {
        let (closed, open) = (IterationStatus::Closed, IterationStatus::Open);
        let left = || Progress { leftovers: vec![(LeftoverReason::BudgetExhausted, 3)], ..Progress::default() };
        let beyond = ParserCounters { links_beyond_budget: 3, ..ParserCounters::default() };
        let limit = || vec![visit("https://a.example/", Outcome::BudgetExhausted)];
        for (progress, log, status, latest, expected, why) in [
            (left(), vec![], closed, Iteration::FIRST, Some(7), "URLs were left over"),
            (Progress { parser: beyond, ..Progress::default() }, vec![], closed, Iteration::FIRST, Some(7), "or links"),
            (Progress::default(), limit(), closed, Iteration::FIRST, Some(7), "a URL met the limit"),
            (Progress::default(), vec![], closed, Iteration::FIRST, None, "nothing was left"),
            (left(), vec![], open, Iteration::FIRST, None, "they may be visited yet"),
            (left(), vec![], closed, Iteration::FIRST.next(), None, "they may have been visited since"),
        ] {
            let latest = Some(IterationRow { number: latest, ..iteration(status) });
            let reader = ScriptedReader { latest, progress, log, unvisited: 7, ..ScriptedReader::default() };
            assert_eq!(summary(&reader, iteration(status)).await.unwrap().figures.unvisited, expected, "{why}");
        }
    }

    #[tokio::test]
    async fn counters_of_origins_are_unknown_for_earlier_iterations() {
        for (latest, expected, why) in [
            (Iteration::FIRST, Some(3), "the latest"),
            (Iteration::FIRST.next(), None, "an earlier one, of which the counts would be those of idle origins"),
        ] {
            let parser = ParserCounters {
                stuck: 3,
                links_beyond_budget: 3,
                links_nofollow: 3,
                found_stripped: 3,
                ..ParserCounters::default()
            };
            let latest = IterationRow { number: latest, ..iteration(IterationStatus::Open) };
            let leftovers = vec![(LeftoverReason::Stopped, 3), (LeftoverReason::SegmentUnreadable, 3)];
            let progress = Progress { parser, added: 3, leftovers, ..Progress::default() };
            let reader = ScriptedReader { latest: Some(latest), progress, ..ScriptedReader::default() };
            let figures = summary(&reader, iteration(IterationStatus::Closed)).await.unwrap().figures;
            let Figures { stuck, links_beyond_budget, links_nofollow, urls_stripped, waiting, leftovers, .. } = figures;
            assert_eq!(waiting, expected.unwrap_or(0), "{why}: nothing waits in what is over");
            let lost = leftovers.iter().find(|(reason, _)| *reason == LeftoverReason::SegmentUnreadable);
            assert_eq!(lost.map(|(_, urls)| *urls), expected, "{why}");
            assert!(leftovers.contains(&(LeftoverReason::Stopped, 3)), "{why}: these are kept for each iteration");
            assert_eq!([stuck, links_beyond_budget, links_nofollow, urls_stripped], [expected; 4], "{why}");
        }
    }
}
