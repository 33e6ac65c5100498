//! Defects of the origins of an iteration and of the seeds that open them.

use std::sync::atomic::Ordering;

use dragline_domain::frontier::{Inbox, OriginKey, OriginRows, PART_CHUNKS_MAX, RecrawlCursor, Seeding, TodoSource};
use dragline_domain::ids::{CrawlId, TriggerId};
use dragline_domain::url::Origin;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Frontier, Origins, SeedOrigin, Seeded};
use jiff::Timestamp;

use super::super::FrontierMutation as M;
use super::MutantFrontier;

impl<F: Frontier> Origins for MutantFrontier<F> {
    async fn seed_origin(&self, seed: &SeedOrigin) -> PortResult<Seeded> {
        let mut seed = seed.clone();
        if self.is(M::SeedsAddedAgain) {
            seed.seeding = Seeding::new(&TriggerId(self.fresh().to_string()), 0);
            for chunk in &mut seed.chunks {
                chunk.key.source = TodoSource::seeds(&seed.seeding);
            }
        }
        if self.is(M::SeedingsListed) {
            self.fresh();
        }
        if self.is(M::SeedsCut) {
            seed.chunks.truncate(PART_CHUNKS_MAX);
        }
        self.inner.seed_origin(&seed).await
    }

    async fn list_origins(&self, crawl: &CrawlId, after: Option<&Origin>, limit: usize) -> PortResult<Vec<Origin>> {
        let mut origins = self.inner.list_origins(crawl, after, limit).await?;
        if self.is(M::ListDropsLast) && origins.len() == limit {
            origins.pop();
        }
        Ok(origins)
    }

    async fn load_origin(&self, origin: &OriginKey) -> PortResult<Option<OriginRows>> {
        let mut rows = self.inner.load_origin(origin).await?;
        if let Some(OriginRows { lease, inbox }) = &mut rows {
            match self.mutation {
                Some(M::DueNeverCleared) => inbox.due = inbox.due.or(Some(Timestamp::UNIX_EPOCH)),
                Some(M::CandidatesPassedOver) => lease.cursor = RecrawlCursor::End,
                Some(M::SeedingsListed) => {
                    let listed = 0..self.calls.load(Ordering::Relaxed);
                    inbox.seeded = listed.map(|number| Seeding::stored(number.to_string())).collect();
                }
                Some(M::RetriesCut) => lease.retries.truncate(8),
                _ => {}
            }
        }
        Ok(rows)
    }

    async fn load_inbox(&self, origin: &OriginKey) -> PortResult<Option<Inbox>> {
        let inbox = self.inner.load_inbox(origin).await?;
        Ok(if self.is(M::InboxReadAsOpened) { inbox.map(|inbox| Inbox::new(inbox.iteration)) } else { inbox })
    }
}
