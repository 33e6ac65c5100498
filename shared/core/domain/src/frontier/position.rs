//! A holder's progress in its origin's work, and the lease's changes by a committed segment.

use jiff::Timestamp;

use super::{ChunkKey, ChunkPosition, Inbox, Lease, LeaseState, RecrawlCursor, Retry};

/// The limit on chunks that wait to be gone on with.
const PARKED_MAX: usize = 4;

/// A holder's progress in todo and candidates: ahead of its lease by the uncommitted work.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// The chunk being consumed; `None` between chunks.
    pub chunk: Option<ChunkPosition>,
    /// The chunks that were left before their end ([`Lease::parked`]).
    pub parked: Vec<ChunkPosition>,
    /// The depth of the last todo that was taken.
    pub depth: u32,
    /// The progress of visiting the candidates of earlier iterations.
    pub cursor: RecrawlCursor,
    /// How many todo URLs are consumed.
    pub taken: u64,
}

impl Position {
    /// Returns the position of a lease.
    #[must_use]
    pub fn from_lease(lease: &Lease) -> Self {
        let Lease { chunk, parked, depth, cursor, taken, .. } = lease;
        let (chunk, parked, cursor) = (chunk.clone(), parked.clone(), cursor.clone());
        Self { chunk, parked, depth: *depth, cursor, taken: *taken }
    }

    /// Moves a lease to this position.
    pub fn write_to(self, lease: &mut Lease) {
        let Self { chunk, parked, depth, cursor, taken } = self;
        (lease.chunk, lease.parked, lease.depth, lease.cursor, lease.taken) = (chunk, parked, depth, cursor, taken);
    }

    /// Returns how many entries of the current chunk are taken; 0 between chunks.
    #[must_use]
    pub fn offset(&self) -> u32 {
        self.chunk.as_ref().map_or(0, |position| position.offset)
    }

    /// Takes the next entry of this chunk, which has `entries`. Returns the chunk's key if that was
    /// its last one: the commit that includes the entry deletes the chunk.
    #[must_use]
    pub fn take_from(&mut self, chunk: &ChunkKey, entries: usize) -> Option<ChunkKey> {
        let offset = self.offset() + 1;
        let is_last = offset as usize >= entries;
        self.depth = chunk.depth();
        self.taken += 1;
        self.chunk = (!is_last).then(|| ChunkPosition { key: chunk.clone(), offset });
        is_last.then(|| chunk.clone())
    }

    /// Leaves the current chunk before its end. Returns whether that was possible: no more than a
    /// few wait like this.
    pub fn park(&mut self) -> bool {
        let has_room = self.parked.len() < PARKED_MAX;
        if has_room {
            self.parked.extend(self.chunk.take());
        }
        has_room
    }

    /// Goes on with a chunk that was left before its end, if none is current.
    pub fn resume(&mut self) {
        if self.chunk.is_none() {
            self.chunk = self.parked.pop();
        }
    }

    /// Whether todo of this depth has to wait, if the definition limits the depth: it is deeper
    /// than the last todo taken, some of which is in flight, unparsed or to be tried again. That
    /// could still lead to URLs that come first.
    #[must_use]
    pub fn is_barred(&self, depth: u32, lease: &Lease, inbox: &Inbox, in_flight: usize) -> bool {
        let has_shallower_retry = || lease.retries.iter().any(|retry| retry.depth < depth);
        depth > self.depth && (in_flight > 0 || lease.segments > inbox.parsed || has_shallower_retry())
    }

    /// Whether candidates of earlier iterations have to wait: a pass over them begins, and some
    /// work of this iteration is in flight, unparsed or to be tried again. That could still lead to
    /// them by a shorter path than the known one, or to URLs that go before those of a later pass.
    #[must_use]
    pub fn is_recrawl_barred(&self, lease: &Lease, inbox: &Inbox, in_flight: usize) -> bool {
        let is_under_way = in_flight > 0 || lease.segments > inbox.parsed || !lease.retries.is_empty();
        let is_at_beginning = match &self.cursor {
            RecrawlCursor::Start => true,
            RecrawlCursor::In(place) => place.after.is_empty(),
            RecrawlCursor::After(_) | RecrawlCursor::End => false,
        };
        is_at_beginning && is_under_way
    }
}

/// The changes of an origin's lease by visits that are committed together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SegmentWork {
    /// The lease's position after the last of them; `None` if none moved it.
    pub after: Option<Position>,
    /// The paths of the retries among them, which are removed from the lease.
    pub retried: Vec<String>,
    /// Retries that it adds to the lease.
    pub retries: Vec<Retry>,
    /// Pages that were requested.
    pub pages: u64,
    /// Requests that were sent again, to a server that had not processed them.
    pub resends: u64,
    /// Requests for an address that cannot exist: they are not visits, and do not count against the
    /// page budget.
    pub asides: u64,
    /// Bytes of bodies as received.
    pub body_bytes: u64,
    /// Bodies of which only the beginning was kept, as they exceeded a limit.
    pub bodies_cut: u64,
}

impl Lease {
    /// Returns the holder's copy once a segment is committed, renewed until `until`.
    #[must_use]
    pub fn after_segment(&self, work: &SegmentWork, until: Timestamp) -> Self {
        let mut lease = self.clone();
        if let Some(position) = work.after.clone() {
            position.write_to(&mut lease);
        }
        lease.retries.retain(|retry| !work.retried.contains(&retry.entry.path_and_query));
        lease.retries.extend(work.retries.iter().cloned());
        lease.segments += 1;
        lease.attempts = 0;
        lease.counters.requests += work.pages + work.resends + work.asides;
        lease.counters.pages += work.pages;
        lease.counters.retries += work.retries.len() as u64;
        lease.counters.body_bytes += work.body_bytes;
        lease.counters.bodies_cut += work.bodies_cut;
        if let LeaseState::Leased(holder) = &mut lease.state {
            holder.until = until;
            holder.reserved = holder.reserved.spend(work.pages, work.body_bytes);
        }
        lease
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::frontier::{Holder, LaterCandidates, Pass, PassPlace, Reserve, TodoEntry, TodoPlace, TodoSource};
    use crate::ids::{Iteration, LeaseToken};
    use crate::politeness::Pace;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn held_lease() -> Lease {
        let lease = Lease::opened(None, Iteration::FIRST, Pace::new(Duration::from_secs(1)), at(0));
        let reserved = Reserve { pages: Some(9), bytes: None };
        let holder = Holder { token: LeaseToken::from_bits(1), until: at(100), reserved };
        Lease { state: LeaseState::Leased(holder), attempts: 2, ..lease }
    }

    fn chunk(depth: u32) -> ChunkKey {
        ChunkKey {
            iteration: Iteration::FIRST,
            place: TodoPlace::by_depth(depth),
            source: TodoSource::from_stored("s".into()),
            part: 0,
        }
    }

    fn retry(path: &str, depth: u32) -> Retry {
        let entry = TodoEntry::new(path);
        Retry { entry, depth, tries: 1, not_before: at(1) }
    }

    #[test]
    fn a_chunk_is_consumed_entry_by_entry_and_named_with_its_last() {
        let mut position = Position::from_lease(&held_lease());
        for (offset, exhausted) in [(1, None), (2, None), (0, Some(chunk(3)))] {
            assert_eq!(position.take_from(&chunk(3), 3), exhausted, "before offset {offset}");
            assert_eq!((position.offset(), position.depth), (offset, 3));
        }
        assert_eq!((position.taken, position.chunk), (3, None), "the next one is chosen anew");
    }

    #[test]
    fn deeper_urls_wait_for_shallower_ones() {
        let lease = |segments, retries| Lease { segments, retries, depth: 1, ..held_lease() };
        let inbox = Inbox { parsed: 2, ..Inbox::new(Iteration::FIRST) };
        for (lease, depth, in_flight, expected, why) in [
            (lease(2, vec![]), 2, 0, false, "everything less deep is parsed"),
            (lease(3, vec![]), 2, 0, true, "a segment is unparsed"),
            (lease(2, vec![]), 2, 1, true, "a visit is under way"),
            (lease(2, vec![retry("/a", 1)]), 2, 0, true, "a URL less deep is to be tried again"),
            (lease(2, vec![retry("/a", 2)]), 2, 0, false, "one that is as deep is no reason"),
            (lease(3, vec![]), 1, 1, false, "as deep as what was taken last"),
        ] {
            assert_eq!(Position::from_lease(&lease).is_barred(depth, &lease, &inbox, in_flight), expected, "{why}");
        }
    }

    #[test]
    fn a_recrawl_begins_when_no_other_work_is_under_way() {
        let lease = |segments, retries| Lease { segments, retries, cursor: RecrawlCursor::Start, ..held_lease() };
        let begun = Lease { cursor: RecrawlCursor::After("/a".to_owned()), ..lease(3, vec![]) };
        let in_pass = |after: &str| {
            let place = PassPlace {
                after: after.to_owned(),
                ..PassPlace::beginning(Pass::Visited, LaterCandidates::default())
            };
            Lease { cursor: RecrawlCursor::In(place), ..lease(3, vec![]) }
        };
        let inbox = Inbox { parsed: 2, ..Inbox::new(Iteration::FIRST) };
        for (lease, in_flight, expected, why) in [
            (lease(2, vec![]), 0, false, "everything is parsed"),
            (lease(3, vec![]), 0, true, "a segment is unparsed"),
            (lease(2, vec![]), 1, true, "a visit is under way"),
            (lease(2, vec![retry("/a", 0)]), 0, true, "a URL is to be tried again"),
            (begun, 1, false, "it has begun"),
            (in_pass(""), 0, true, "a later pass begins, and a segment is unparsed"),
            (in_pass("/a"), 0, false, "a later pass has begun"),
        ] {
            assert_eq!(Position::from_lease(&lease).is_recrawl_barred(&lease, &inbox, in_flight), expected, "{why}");
        }
    }

    #[test]
    fn a_committed_segment_moves_and_renews_the_lease() {
        let before = Lease { retries: vec![retry("/a", 0), retry("/b", 0)], ..held_lease() };
        let mut after = Position::from_lease(&before);
        assert_eq!(after.take_from(&chunk(1), 2), None);
        let work = SegmentWork {
            after: Some(after),
            retried: vec!["/a".into()],
            retries: vec![retry("/c", 1)],
            pages: 2,
            resends: 1,
            asides: 1,
            body_bytes: 30,
            bodies_cut: 1,
        };
        let lease = before.after_segment(&work, at(200));
        assert_eq!((lease.taken, lease.segments, lease.attempts, lease.depth), (1, 1, 0, 1));
        assert_eq!(lease.chunk, Some(ChunkPosition { key: chunk(1), offset: 1 }));
        assert_eq!(lease.retries, [retry("/b", 0), retry("/c", 1)], "one was tried again, one is new");
        let holder = lease.holder().unwrap();
        assert_eq!((holder.until, holder.reserved.pages), (at(200), Some(7)), "renewed, and spent of its reserve");
        assert_eq!(
            (lease.counters.requests, lease.counters.pages),
            (4, 2),
            "one request was sent again, one was for no page"
        );
        assert_eq!((lease.counters.pages, lease.counters.retries, lease.counters.body_bytes), (2, 1, 30));
        assert_eq!(lease.counters.bodies_cut, 1);
        assert_eq!(lease.turn, before.turn, "the same turn");
    }
}
