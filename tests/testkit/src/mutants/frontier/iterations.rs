//! Defects of iterations.

use std::sync::atomic::Ordering;

use dragline_domain::frontier::{Begun, IterationRow, OriginCursor, ParserCounters, StatusChange};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{
    BeginIteration, CursorMoved, Frontier, IterationClosed, Iterations, MoveCursor, OwedNotice, Progress,
};
use jiff::Timestamp;

use super::super::FrontierMutation as M;
use super::MutantFrontier;

impl<F: Frontier> Iterations for MutantFrontier<F> {
    async fn begin_iteration(&self, begin: &BeginIteration) -> PortResult<Begun> {
        Ok(match self.inner.begin_iteration(begin).await? {
            Begun::Busy(row) if self.is(M::BusyIsOwn) => Begun::Iteration(row),
            Begun::Iteration(row) if self.is(M::OldTriggerGetsNewest) => {
                Begun::Iteration(self.inner.latest_iteration(&begin.crawl).await?.unwrap_or(row))
            }
            begun => begun,
        })
    }

    async fn latest_iteration(&self, crawl: &CrawlId) -> PortResult<Option<IterationRow>> {
        self.inner.latest_iteration(crawl).await
    }

    async fn load_iteration(&self, crawl: &CrawlId, number: Iteration) -> PortResult<Option<IterationRow>> {
        let mut row = self.inner.load_iteration(crawl, number).await?;
        if self.is(M::OriginsNotCounted)
            && let Some(row) = &mut row
        {
            row.origins = 0;
        }
        Ok(row)
    }

    async fn return_token(&self, crawl: &CrawlId, number: Iteration) -> PortResult<()> {
        if self.is(M::TokenNotReturned) { Ok(()) } else { self.inner.return_token(crawl, number).await }
    }

    async fn move_cursor(&self, moved: &MoveCursor) -> PortResult<CursorMoved> {
        let mut moved = moved.clone();
        match self.mutation {
            Some(M::CursorStays) => return Ok(CursorMoved::Moved),
            Some(M::CursorAhead) if !moved.to.is_not_begun() => moved.to = OriginCursor::Done,
            Some(M::CursorMovedBlindly) => {
                let row = self.inner.load_iteration(&moved.crawl, moved.iteration).await?;
                moved.seen = row.map_or(moved.seen, |row| row.cursors.of(moved.walk).clone());
            }
            Some(M::RepeatedMoveRefused) => {
                let row = self.inner.load_iteration(&moved.crawl, moved.iteration).await?;
                if row.is_some_and(|row| *row.cursors.of(moved.walk) == moved.to) {
                    return Ok(CursorMoved::Elsewhere);
                }
            }
            _ => {}
        }
        self.inner.move_cursor(&moved).await
    }

    async fn change_status(
        &self,
        crawl: &CrawlId,
        number: Iteration,
        change: StatusChange,
    ) -> PortResult<Option<IterationRow>> {
        match self.inner.change_status(crawl, number, change).await? {
            None if self.is(M::StatusNotChecked) => self.inner.load_iteration(crawl, number).await,
            changed => Ok(changed),
        }
    }

    async fn close_iteration(&self, crawl: &CrawlId, number: Iteration, now: Timestamp) -> PortResult<IterationClosed> {
        let closed = self.inner.close_iteration(crawl, number, now).await?;
        if let IterationClosed::Now(row) = &closed
            && self.is(M::EndNotOwed)
        {
            self.inner.forget_notice(&OwedNotice::of_closed(row, now)).await?;
        }
        Ok(match closed {
            IterationClosed::NotYet(row) if self.is(M::ClosedWithOpenOrigins) => IterationClosed::Now(row),
            closed => closed,
        })
    }

    async fn progress(&self, crawl: &CrawlId, iteration: Iteration) -> PortResult<Progress> {
        let mut progress = self.inner.progress(crawl, iteration).await?;
        match self.mutation {
            Some(M::ParsersNotSummed) => progress.parser = ParserCounters::default(),
            Some(M::LeftoversForgotten) => progress.leftovers.clear(),
            Some(M::PastCountsForgotten)
                if self.inner.latest_iteration(crawl).await?.is_some_and(|latest| latest.number != iteration) =>
            {
                progress = Progress::default();
            }
            Some(M::RepeatedCommitCounted) => progress.segments += self.calls.load(Ordering::Relaxed),
            _ => {}
        }
        Ok(progress)
    }
}
