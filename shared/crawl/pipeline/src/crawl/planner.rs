//! What a turn requests next: due retries, todo, then candidates due for recrawl.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use dragline_domain::capture::CrawlType;
use dragline_domain::frontier::{
    ChunkKey, Claim, Claimable, Claimer, DueQuery, DueWork, Inbox, Lease, NearerWork, OriginKey, PassPlace, Position,
    RecrawlCursor, Retry, SeedDistance, ShorterWayState, ShorterWays, Task, TodoChunk, TodoEntry, UrlHistory,
};
use dragline_domain::policy::Decision;
use jiff::Timestamp;

use crate::World;
use crate::context::CrawlContext;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Candidates, ClaimRequest, DueCandidate, DuePage, Iterations, Turns};

/// The number of candidates for recrawl that are read at a time.
const CURSOR_PAGE: usize = 50;

/// How many chunks that begin with a page are passed over in the search for what is none.
const PASSED_MAX: usize = 16;

/// One URL to visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Work {
    /// The URL within the origin, and what is known about it.
    pub entry: TodoEntry,
    /// Its depth.
    pub depth: u32,
    /// How it came to be visited.
    pub crawl_type: CrawlType,
    /// The number of earlier tries in this iteration, without the request that a follow-up follows.
    pub tries: u8,
    /// The lease's position once this is done.
    pub after: Position,
    /// The chunk whose last URL this is.
    pub exhausts: Option<ChunkKey>,
}

impl Work {
    /// Returns the number of earlier requests for it in this iteration.
    pub(super) fn requests_before(&self) -> u8 {
        self.tries.saturating_add(u8::from(self.entry.follow_up.is_some()))
    }
}

/// Why there is nothing to visit just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NothingToVisit {
    /// Nothing is left, as far as the rows show.
    Empty,
    /// The rest is deeper than unparsed segments that may lead to it, is due for recrawl, or may be
    /// under way already.
    AtBarrier,
}

/// URLs with a shorter way, by path. The value is `None` until it is settled which entry visits the
/// URL.
#[derive(Debug, Default)]
struct ShorterWayPaths(BTreeMap<String, Option<ShorterWayState>>);

impl ShorterWayPaths {
    /// Whether none of them can be under way: nothing of the origin is in flight or unparsed, and
    /// none is to be retried.
    fn are_settled(&self, lease: &Lease, inbox: &Inbox, in_flight: usize) -> bool {
        let is_retried = |retry: &Retry| self.0.contains_key(&retry.entry.path_and_query);
        in_flight == 0 && lease.segments <= inbox.parsed && !lease.retries.iter().any(is_retried)
    }
}

/// Hands out a turn's work in order, ahead of the commits.
#[derive(Debug)]
pub(super) struct Planner {
    origin: OriginKey,
    iteration: dragline_domain::ids::Iteration,
    context: Arc<CrawlContext>,
    task: Arc<Task>,
    position: Position,
    chunk: Option<TodoChunk>,
    /// The chunk's URLs with a shorter way: another entry may have visited them, or may be under
    /// way.
    nearer: ShorterWayPaths,
    /// Chunks handed out completely, whose deletion is not committed yet.
    finished: Vec<ChunkKey>,
    /// Candidates for recrawl that were read and claimed, but not handed out.
    due: VecDeque<DueCandidate>,
    /// The pass in which they are due.
    due_in: Option<PassPlace>,
    /// The walk's position once these are handed out.
    due_end: RecrawlCursor,
    /// Retries handed out whose segment is not committed yet: the lease's copy still lists them.
    retried: BTreeSet<String>,
}

impl Planner {
    pub(super) fn new(origin: OriginKey, lease: &Lease, context: Arc<CrawlContext>, task: Arc<Task>) -> Self {
        let mut position = Position::from_lease(lease);
        if task.recrawl_order(&context.definition.budget).is_none() {
            position.cursor = RecrawlCursor::End;
        }
        Self {
            origin,
            iteration: lease.iteration,
            context,
            task,
            position,
            chunk: None,
            nearer: ShorterWayPaths::default(),
            finished: Vec::new(),
            due: VecDeque::new(),
            due_in: None,
            due_end: RecrawlCursor::End,
            retried: BTreeSet::new(),
        }
    }

    /// Whether nothing can be handed out before [`Self::fill`] has looked for more.
    pub(super) fn is_empty_handed(&self, lease: &Lease, inbox: &Inbox, in_flight: usize, now: Timestamp) -> bool {
        let is_empty = match &self.chunk {
            None => self.due.is_empty(),
            Some(_) => self.waits_for_visits() && self.nearer.are_settled(lease, inbox, in_flight),
        };
        is_empty && !self.has_due_retry(lease, now)
    }

    /// Looks for more work in the store: the next chunk, or else due candidates, which are claimed
    /// unless they have to wait. Returns whether there is more. `lease`, `inbox` and `in_flight`
    /// are as for [`Self::has_next`].
    pub(super) async fn fill(
        &mut self,
        world: &impl World,
        lease: &Lease,
        inbox: &Inbox,
        in_flight: usize,
    ) -> PortResult<bool> {
        if self.chunk.is_some() || self.load_chunk(world).await? {
            self.look_for_shorter_ways(world, lease, inbox, in_flight).await?;
            return Ok(true);
        }
        if self.position.is_recrawl_barred(lease, inbox, in_flight) {
            return Ok(false);
        }
        while self.due.is_empty() && self.position.cursor != RecrawlCursor::End {
            self.read_due(world, lease, in_flight).await?;
        }
        Ok(!self.due.is_empty())
    }

    /// Looks for todo that is no page, and so may be requested although no pages are left; whether
    /// there is any. Chunks whose next URL is a page are left for later. Candidates are not looked
    /// for, as they are pages. The arguments are as for [`Self::has_next`].
    pub(super) async fn find_beside_pages(
        &mut self,
        world: &impl World,
        lease: &Lease,
        inbox: &Inbox,
        in_flight: usize,
        now: Timestamp,
    ) -> PortResult<bool> {
        if let Some(retry) = self.due_retry(lease, now) {
            return Ok(!retry.entry.counts_as_page());
        }
        let mut passed = Vec::new();
        loop {
            if self.chunk.is_none() {
                let is_loaded = match &self.position.chunk {
                    _ if !self.due.is_empty() => false,
                    Some(_) => self.load_chunk(world).await?,
                    None => self.load_chunk_but(world, &passed).await?,
                };
                if !is_loaded {
                    return Ok(false);
                }
                self.look_for_shorter_ways(world, lease, inbox, in_flight).await?;
            }
            let Some(chunk) = &self.chunk else { return Ok(false) };
            if self.head().is_some_and(|entry| !entry.counts_as_page()) {
                return Ok(true);
            }
            if self.position.chunk.is_none() {
                passed.push(chunk.key.clone());
            } else if !self.position.park() {
                return Ok(false);
            }
            // Also because what comes before it may still be added.
            self.chunk = None;
            if passed.len() >= PASSED_MAX {
                return Ok(false);
            }
        }
    }

    /// Ends the walk through the candidates because the origin is given up: they stay due. Those
    /// already read are still handed out. If there was nothing else to visit, some are read, so
    /// that the log says what happened to the origin.
    pub(super) async fn end_walk(&mut self, world: &impl World, lease: &Lease, inbox: &Inbox) -> PortResult<()> {
        let is_first = lease.segments == 0 && inbox.added == 0;
        while is_first && self.due.is_empty() && self.position.cursor != RecrawlCursor::End {
            self.read_due(world, lease, 0).await?;
        }
        self.due_end = RecrawlCursor::End;
        if self.due.is_empty() {
            self.position.cursor = RecrawlCursor::End;
        }
        Ok(())
    }

    /// Whether [`Self::next`] can hand something out. `lease` is the holder's copy, `inbox` as last
    /// read, `in_flight` the number of uncommitted visits.
    pub(super) fn has_next(
        &mut self,
        lease: &Lease,
        inbox: &Inbox,
        in_flight: usize,
        now: Timestamp,
    ) -> Result<(), NothingToVisit> {
        if self.has_due_retry(lease, now) {
            return Ok(());
        }
        let found = |has_next: bool| has_next.then_some(()).ok_or(NothingToVisit::Empty);
        let Some(chunk) = &self.chunk else {
            // A cursor that stays where it is has to wait.
            let is_barred = self.due.is_empty() && self.position.cursor != RecrawlCursor::End;
            return if is_barred { Err(NothingToVisit::AtBarrier) } else { found(!self.due.is_empty()) };
        };
        if self.is_barred(chunk, lease, inbox, in_flight) {
            // The chunk has not been started, and something less deep may come first once the
            // barrier is gone.
            self.chunk = None;
            return Err(NothingToVisit::AtBarrier);
        }
        let has_next = chunk.entries.len() > self.position.offset() as usize;
        if self.waits_for_visits() {
            if self.position.chunk.is_none() {
                self.chunk = None;
            }
            return Err(NothingToVisit::AtBarrier);
        }
        found(has_next)
    }

    /// Whether the chunk has to wait for less deep URLs.
    fn is_barred(&self, chunk: &TodoChunk, lease: &Lease, inbox: &Inbox, in_flight: usize) -> bool {
        self.context.definition.depth_max().is_some()
            && self.position.is_barred(chunk.key.depth(), lease, inbox, in_flight)
    }

    /// Returns the next entry of the chunk.
    fn head(&self) -> Option<&TodoEntry> {
        self.chunk.as_ref()?.entries.get(self.position.offset() as usize)
    }

    /// Whether another entry may be visiting the chunk's next URL already.
    fn waits_for_visits(&self) -> bool {
        self.head().is_some_and(|entry| matches!(self.nearer.0.get(&entry.path_and_query), Some(None)))
    }

    /// Returns the next URL to visit, if [`Self::has_next`].
    pub(super) fn next(&mut self, lease: &Lease, now: Timestamp) -> Option<Work> {
        if let Some(retry) = self.due_retry(lease, now) {
            return Some(self.take_retry(retry));
        }
        if self.chunk.is_none() { self.take_due() } else { self.take_from_chunk() }
    }

    /// Returns the lease's position once everything handed out is committed.
    pub(super) const fn position(&self) -> &Position {
        &self.position
    }

    /// Whether todo or candidates remain to be handed out, as far as the rows show.
    pub(super) fn has_todo(&self, inbox: &Inbox) -> bool {
        inbox.added > self.position.taken || self.position.cursor != RecrawlCursor::End || !self.due.is_empty()
    }

    /// Whether anything remains to be handed out.
    pub(super) fn has_more(&self, lease: &Lease, inbox: &Inbox) -> bool {
        let is_left = |path: &String| !self.retried.contains(path);
        self.has_todo(inbox) || lease.retries.iter().any(|retry| is_left(&retry.entry.path_and_query))
    }

    /// Returns the number of known waiting URLs in the current chunk and the cursor's page.
    pub(super) fn at_hand(&self) -> usize {
        let offset = self.position.offset() as usize;
        self.chunk.as_ref().map_or(0, |chunk| chunk.entries.len().saturating_sub(offset)) + self.due.len()
    }

    /// Records that a segment is committed: its chunks are deleted, and its failed retries wait for
    /// another try.
    pub(super) fn record_commit(&mut self, exhausted: &[ChunkKey], retried: &[String]) {
        self.finished.retain(|key| !exhausted.contains(key));
        self.retried.retain(|path| !retried.contains(path));
    }

    /// Whether a retry can be handed out.
    pub(super) fn has_due_retry(&self, lease: &Lease, now: Timestamp) -> bool {
        self.due_retry(lease, now).is_some()
    }

    fn due_retry<'l>(&self, lease: &'l Lease, now: Timestamp) -> Option<&'l Retry> {
        lease
            .retries
            .iter()
            .find(|retry| retry.free_from(now) <= now && !self.retried.contains(&retry.entry.path_and_query))
    }

    fn take_retry(&mut self, retry: &Retry) -> Work {
        self.retried.insert(retry.entry.path_and_query.clone());
        Work {
            entry: retry.entry.clone(),
            depth: retry.depth,
            crawl_type: CrawlType::Retry,
            tries: retry.tries,
            after: self.position.clone(),
            exhausts: None,
        }
    }

    /// Loads the chunk that the position names, or else the first one. Returns whether there is a
    /// chunk now.
    async fn load_chunk(&mut self, world: &impl World) -> PortResult<bool> {
        self.position.resume();
        if let Some(position) = &self.position.chunk {
            // The key decides until the chunk is exhausted: meanwhile a chunk that sorts before it
            // may have been added.
            self.chunk = world.frontier().load_chunk(&self.origin, &position.key).await?;
            if self.chunk.is_some() {
                return Ok(true);
            }
            self.position.chunk = None;
        }
        self.load_chunk_but(world, &[]).await
    }

    /// Loads the first chunk that is not under way or among these. Returns whether there is one.
    async fn load_chunk_but(&mut self, world: &impl World, passed: &[ChunkKey]) -> PortResult<bool> {
        let parked = self.position.parked.iter().map(|position| &position.key);
        let skip: Vec<ChunkKey> = self.finished.iter().chain(parked).chain(passed).cloned().collect();
        self.chunk = world.frontier().first_chunk(&self.origin, self.iteration, &skip).await?;
        Ok(self.chunk.is_some())
    }

    /// Looks for URLs in the rest of the chunk that got a shorter way since they were claimed, and
    /// for their state if that is settled.
    async fn look_for_shorter_ways(
        &mut self,
        world: &impl World,
        lease: &Lease,
        inbox: &Inbox,
        in_flight: usize,
    ) -> PortResult<()> {
        self.nearer = ShorterWayPaths::default();
        if self.context.shorter_ways(&self.task) == ShorterWays::Ignored {
            return Ok(());
        }
        let Some(chunk) = self.chunk.as_ref().filter(|chunk| !self.is_barred(chunk, lease, inbox, in_flight)) else {
            return Ok(());
        };
        let rest = chunk.entries.iter().skip(self.position.offset() as usize);
        let paths: Vec<String> = rest.map(|entry| entry.path_and_query.clone()).collect();
        let found = self.load_shorter_ways(world, &paths).await?;
        let found: BTreeMap<_, _> = paths.into_iter().zip(found).filter(|(_, nearer)| nearer.is_some()).collect();
        self.nearer = ShorterWayPaths(found);
        if !self.nearer.are_settled(lease, inbox, in_flight) {
            self.nearer.0.values_mut().for_each(|nearer| *nearer = None);
        }
        Ok(())
    }

    /// Returns the shorter ways to these URLs; none if they are ignored.
    async fn load_shorter_ways(
        &self,
        world: &impl World,
        paths: &[String],
    ) -> PortResult<Vec<Option<ShorterWayState>>> {
        if paths.is_empty() || self.context.shorter_ways(&self.task) == ShorterWays::Ignored {
            return Ok(vec![None; paths.len()]);
        }
        world.frontier().nearer(&self.origin, self.iteration, paths).await
    }

    fn take_from_chunk(&mut self) -> Option<Work> {
        let mut entry = self.head()?.clone();
        let chunk = self.chunk.as_ref()?;
        let depth = chunk.key.depth();
        let nearer = self.nearer.0.remove(&entry.path_and_query).flatten();
        let at = SeedDistance { depth, requisite_steps: entry.requisite_steps };
        let crawl_type = match nearer.map_or(NearerWork::Visit, |nearer| nearer.work(at)) {
            NearerWork::Visit => CrawlType::Queued,
            NearerWork::Decide(known) => {
                entry.known = known;
                CrawlType::Reparse
            }
            NearerWork::Nothing => {
                entry.known = UrlHistory::default();
                CrawlType::Reparse
            }
        };
        let exhausts = self.position.take_from(&chunk.key, chunk.entries.len());
        if let Some(key) = &exhausts {
            self.finished.push(key.clone());
            self.chunk = None;
        }
        Some(Work { entry, depth, crawl_type, tries: 0, after: self.position.clone(), exhausts })
    }

    /// Returns the next candidate of an earlier iteration. The cursor moves when it is committed.
    fn take_due(&mut self) -> Option<Work> {
        let DueCandidate { entry, depth, work } = self.due.pop_front()?;
        self.position.cursor = if self.due.is_empty() {
            self.due_end.clone()
        } else {
            let after = entry.path_and_query.clone();
            RecrawlCursor::from_place(self.due_in.clone().map(|place| PassPlace { after, ..place }))
        };
        let crawl_type = match work {
            DueWork::Visit => CrawlType::Recrawl,
            DueWork::Reparse => CrawlType::Reparse,
        };
        let after = self.position.clone();
        Some(Work { entry, depth, crawl_type, tries: 0, after, exhausts: None })
    }

    /// Reads a part of a pass through the candidates, and claims those to visit.
    async fn read_due(&mut self, world: &impl World, lease: &Lease, in_flight: usize) -> PortResult<()> {
        let order = self.task.recrawl_order(&self.context.definition.budget);
        let Some(place) = order.and_then(|order| self.position.cursor.place(order)) else { return Ok(()) };
        let now = world.clock().now();
        let query = DueQuery { iteration: self.iteration, pass: place.pass, rules: self.context.rules, now };
        let page = world.frontier().due_candidates(&self.origin, &query, &place.after, CURSOR_PAGE).await?;
        let DuePage { mut entries, next, ahead } = page;
        self.exclude(&mut entries);
        let place = PassPlace { ahead: place.ahead.and(ahead), ..place };
        let end = match next {
            Some(after) => Some(PassPlace { after, ..place.clone() }),
            None => {
                // The visits of this pass come first.
                let before = in_flight + entries.len();
                let left = self.pages_left(world, lease, &place).await?;
                place.next_pass(left.map(|left| left.saturating_sub(before as u64)))
            }
        };
        let end = RecrawlCursor::from_place(end);
        self.due = self.claim_due(world, entries).await?;
        if self.due.is_empty() {
            self.position.cursor = end;
        } else {
            (self.due_in, self.due_end) = (Some(place), end);
        }
        Ok(())
    }

    /// Handles entries that the rules exclude by now: a reparse drops them and leaves them to the
    /// next crawl; a crawl visits them once, so that they end as excluded.
    fn exclude(&self, entries: &mut Vec<DueCandidate>) {
        let url_of = |candidate: &DueCandidate| self.origin.origin.url_at(&candidate.entry.path_and_query);
        let decided = |candidate: &DueCandidate| {
            let url = url_of(candidate).ok()?;
            let DueCandidate { entry, depth, .. } = candidate;
            let decision = self.context.decide(&url, *depth, entry.requisite_steps, entry.read_as);
            Some((decision == Decision::Crawl, url))
        };
        if let Task::Reparse(selection) = &*self.task {
            entries.retain(|candidate| {
                decided(candidate).is_some_and(|(is_allowed, url)| is_allowed && selection.contains(&url))
            });
            return;
        }
        for candidate in entries.iter_mut().filter(|candidate| candidate.work == DueWork::Reparse) {
            if decided(candidate).is_some_and(|(is_allowed, _)| !is_allowed) {
                candidate.work = DueWork::Visit;
            }
        }
    }

    /// Claims the candidates to visit, and returns those that are left to do.
    async fn claim_due(&self, world: &impl World, entries: Vec<DueCandidate>) -> PortResult<VecDeque<DueCandidate>> {
        let visits = entries.iter().filter(|candidate| candidate.work == DueWork::Visit);
        let urls =
            visits.map(|DueCandidate { entry, depth, .. }| (entry.path_and_query.clone(), entry.sighting(*depth)));
        let request = ClaimRequest {
            origin: self.origin.clone(),
            iteration: self.iteration,
            claimer: Claimer::recrawl(),
            claimable: Claimable::All,
            shorter_ways: ShorterWays::Ignored,
            now: world.clock().now(),
            urls: urls.collect(),
        };
        let claims = if request.urls.is_empty() { Vec::new() } else { world.frontier().claim(&request).await? };
        let paths: Vec<String> = request.urls.into_iter().map(|(path, _)| path).collect();
        // Links of this iteration lead to it by a shorter way: their entry visits it.
        let nearer = self.load_shorter_ways(world, &paths).await?;
        let mut claims = claims.into_iter().zip(nearer);
        let left = entries.into_iter().filter(|candidate| match candidate.work {
            DueWork::Visit => matches!(claims.next(), Some((Claim::Own { .. }, None))),
            DueWork::Reparse => true,
        });
        Ok(left.collect())
    }

    /// Returns the number of pages that the iteration has left for this origin, where it decides
    /// which pass follows; `None` without such a limit.
    async fn pages_left(&self, world: &impl World, lease: &Lease, place: &PassPlace) -> PortResult<Option<u64>> {
        if place.ahead.due == 0 || self.context.definition.budget.pages.is_none() {
            return Ok(None);
        }
        let row = world.frontier().load_iteration(&self.origin.crawl, self.iteration).await?;
        let left = row.and_then(|row| row.budget.pages.map(|left| left / row.open.max(1)));
        let reserved = lease.holder().and_then(|holder| holder.reserved.pages).unwrap_or(0);
        let of_origin = self.context.definition.budget.pages_per_origin;
        let of_origin = of_origin.map(|limit| limit.saturating_sub(lease.counters.pages));
        Ok(left.map(|left| left + reserved).map(|left| of_origin.map_or(left, |limit| left.min(limit))))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dragline_domain::definition::{Definition, Draft};
    use dragline_domain::ids::{CrawlId, Iteration};
    use dragline_domain::politeness::Pace;
    use dragline_domain::time::after;
    use dragline_domain::url::CrawlUrl;
    use dragline_ports::frontier::CrawlRow;

    use super::*;

    fn definition() -> Definition {
        let seed = CrawlUrl::try_from("https://a.example/".to_owned()).unwrap();
        Definition::new(Draft::for_seeds(vec![seed])).unwrap()
    }

    #[test]
    fn a_url_that_fails_twice_in_a_turn_is_tried_a_third_time_in_it() {
        let origin = OriginKey {
            crawl: CrawlId::try_from("news".to_owned()).unwrap(),
            origin: "https://a.example".parse().unwrap(),
        };
        let now = Timestamp::UNIX_EPOCH;
        let entry = TodoEntry::new("/flaky");
        let retry = |tries, not_before| Retry { entry: entry.clone(), depth: 0, tries, not_before };
        let mut lease = Lease::opened(None, Iteration::FIRST, Pace::default(), now);
        lease.retries = vec![retry(1, now)];
        let context = CrawlContext::new(CrawlRow::first(definition())).unwrap();
        let mut planner = Planner::new(origin, &lease, Arc::new(context), Arc::default());
        assert_eq!(planner.next(&lease, now).unwrap().tries, 1);
        assert!(!planner.has_due_retry(&lease, now), "it is under way, although the lease still lists it");

        let later = after(now, Duration::from_secs(8));
        lease.retries = vec![retry(2, later)];
        planner.record_commit(&[], &["/flaky".to_owned()]);
        assert!(!planner.has_due_retry(&lease, now), "its second try failed just now");
        assert!(planner.has_due_retry(&lease, later), "otherwise the turn would wait for it and never request it");
        assert_eq!(planner.next(&lease, later).unwrap().tries, 2);
    }
}
