//! Sample rows for tests, and a reader that returns them.

use dragline_domain::capture::CrawlType;
use dragline_domain::frontier::{Cursors, IterationRow, IterationStatus, Reserve, Task};
use dragline_domain::ids::{Iteration, TriggerId};
use dragline_domain::outcome::Outcome;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::Progress;
use dragline_ports::reader::{
    Batch, CandidateRow, Cursor, DocumentRow, Filter, LeftoverRow, LinkRow, LogRow, PageRow, Reader, Rest, SeenPageRow,
    StoredSegment,
};
use jiff::Timestamp;

/// Returns the log row of a final visit.
pub(crate) fn visit(url: &str, outcome: Outcome) -> LogRow {
    LogRow {
        crawl: "docs".to_owned(),
        iteration: 1,
        url: url.to_owned(),
        depth: 0,
        via: None,
        crawl_type: CrawlType::Queued,
        outcome,
        r#final: true,
        tries: 1,
        resends: None,
        at: Timestamp::UNIX_EPOCH,
        status: None,
        duration_ms: None,
        first_byte_ms: None,
        remote: None,
        detail: None,
        content_type: None,
        body_bytes: None,
        truncated: None,
        redirects_to: None,
        record: None,
        agent: String::new(),
        change: None,
        page_requests: None,
    }
}

/// Returns the row of a first iteration.
pub(crate) fn iteration(status: IterationStatus) -> IterationRow {
    IterationRow {
        task: Task::Crawl,
        crawl: "docs".parse().unwrap(),
        number: Iteration::FIRST,
        version: None,
        status,
        open: 0,
        origins: 0,
        joined_before: None,
        budget: Reserve { pages: None, bytes: None },
        token_out: false,
        due: None,
        trigger: TriggerId("t".to_owned()),
        started_at: Timestamp::UNIX_EPOCH,
        ends_at: None,
        closed_at: (status == IterationStatus::Closed).then_some(Timestamp::UNIX_EPOCH),
        pruned_at: None,
        cursors: Cursors::default(),
    }
}

/// A reader that returns these rows one by one, and no others.
#[derive(Default)]
pub(crate) struct ScriptedReader {
    pub(crate) latest: Option<IterationRow>,
    pub(crate) progress: Progress,
    pub(crate) unvisited: u64,
    pub(crate) log: Vec<LogRow>,
    pub(crate) leftovers: Vec<LeftoverRow>,
    pub(crate) documents: Vec<DocumentRow>,
}

fn next<T: Clone>(rows: &[T], after: Option<&Cursor>) -> PortResult<Batch<T>> {
    let place = after.map_or(0, |cursor| cursor.as_str().parse().expect("a cursor of this reader"));
    let rest = if place + 1 < rows.len() { Rest::More } else { Rest::Nothing };
    let cursor = Some(Cursor::new((place + 1).to_string()));
    Ok(Batch { rows: rows.get(place).cloned().into_iter().collect(), cursor, rest })
}

impl Reader for ScriptedReader {
    async fn latest_iteration(&self) -> PortResult<Option<IterationRow>> {
        Ok(self.latest.clone())
    }

    async fn load_iteration(&self, _: Iteration) -> PortResult<Option<IterationRow>> {
        Ok(None)
    }

    async fn progress(&self, _: Iteration) -> PortResult<Progress> {
        Ok(self.progress.clone())
    }

    async fn times_forgotten(&self) -> PortResult<u64> {
        Ok(0)
    }

    async fn unvisited(&self) -> PortResult<u64> {
        Ok(self.unvisited)
    }

    async fn pages(&self, _: &Filter, after: Option<&Cursor>, _: usize) -> PortResult<Batch<PageRow>> {
        next(&[], after)
    }

    async fn links(&self, _: &Filter, after: Option<&Cursor>, _: usize) -> PortResult<Batch<LinkRow>> {
        next(&[], after)
    }

    async fn seen_pages(&self, _: &Filter, after: Option<&Cursor>, _: usize) -> PortResult<Batch<SeenPageRow>> {
        next(&[], after)
    }

    async fn seen_links(&self, _: &Filter, after: Option<&Cursor>, _: usize) -> PortResult<Batch<LinkRow>> {
        next(&[], after)
    }

    async fn log(&self, filter: &Filter, after: Option<&Cursor>, _: usize) -> PortResult<Batch<LogRow>> {
        let is_wanted = |row: &&LogRow| filter.iteration.is_none_or(|wanted| row.iteration == wanted.number());
        next(&self.log.iter().filter(is_wanted).cloned().collect::<Vec<_>>(), after)
    }

    async fn candidates(&self, _: &Filter, after: Option<&Cursor>, _: usize) -> PortResult<Batch<CandidateRow>> {
        next(&[], after)
    }

    async fn documents(&self, filter: &Filter, after: Option<&Cursor>, _: usize) -> PortResult<Batch<DocumentRow>> {
        let is_wanted = |row: &&DocumentRow| {
            filter.iteration.is_none_or(|wanted| row.iteration == wanted)
                && filter.url.as_ref().is_none_or(|wanted| row.document.url == *wanted)
        };
        next(&self.documents.iter().filter(is_wanted).cloned().collect::<Vec<_>>(), after)
    }

    async fn shown_documents(&self, _: &Filter, after: Option<&Cursor>, _: usize) -> PortResult<Batch<DocumentRow>> {
        next(&[], after)
    }

    async fn leftovers(&self, _: &Filter, after: Option<&Cursor>, _: usize) -> PortResult<Batch<LeftoverRow>> {
        next(&self.leftovers, after)
    }

    async fn segments(&self, _: &Filter, after: Option<&Cursor>, _: usize) -> PortResult<Batch<StoredSegment>> {
        next(&[], after)
    }
}
