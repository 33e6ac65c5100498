//! The fingerprints that identify states.
//!
//! Workers of one kind are interchangeable, so their order is ignored. The value of a token is
//! ignored, too; only who bears it matters: tokens are left out of the rows, and each crawler's
//! fingerprint says what its token opens.

use std::hash::{Hash, Hasher};

use dragline_domain::frontier::{
    CandidateState, DomainRow, Holder, HostHolder, HostRow, Lease, LeaseState, OriginRows, SegmentRow,
};

use crate::crawler::{Crawler, Held, Term};
use crate::state::{Segment, SegmentKey, State};
use crate::tidying::{Doing, Tidying};

impl State {
    /// 128 bits that two states share only if they are the same, up to the names of workers and
    /// tokens.
    pub(crate) fn fingerprint(&self) -> u128 {
        fingerprint(|hasher| self.hash_parts(hasher))
    }

    fn hash_parts(&self, hasher: &mut impl Hasher) {
        let Self {
            iterations,
            begun,
            origins,
            host,
            domain,
            segments,
            seedings,
            todo,
            candidates,
            leftovers,
            messages,
            schedulers,
            crawlers,
            parsers,
            sweeper,
            faults,
            broken,
        } = self;
        (iterations, begun, seedings, todo, leftovers, messages).hash(hasher);
        (faults, broken, segments.len(), candidates.len()).hash(hasher);
        for rows in origins {
            rows.is_some().hash(hasher);
            rows.iter().for_each(|rows| hash_rows(rows, hasher));
        }
        host.is_some().hash(hasher);
        let opened = |HostHolder { token, until }: &HostHolder| {
            let opens =
                |rows: &Option<std::rc::Rc<OriginRows>>| rows.as_ref().is_some_and(|rows| rows.lease.is_held_by(token));
            (*until, origins.each_ref().map(opens))
        };
        if let Some(host) = host {
            let HostRow { holder, free_from, written_at, pace: _, waiting } = &**host;
            (holder.as_ref().map(opened), free_from, written_at, waiting).hash(hasher);
        }
        domain.is_some().hash(hasher);
        if let Some(domain) = domain {
            let DomainRow { places, holders, waiting, freed_at, written_at } = &**domain;
            holders.iter().for_each(|holder| opened(holder).hash(hasher));
            (places, holders.len(), waiting, freed_at, written_at).hash(hasher);
        }
        for (key, segment) in &**segments {
            hash_segment(*key, segment, hasher);
        }
        for (page, candidate) in &**candidates {
            let CandidateState { queued_in, claimed_by, found_at: _, nearer: _, due_at, last_visit: _, blocked_by: _ } =
                candidate;
            (page, queued_in, claimed_by, due_at).hash(hasher);
        }
        std::mem::discriminant(sweeper).hash(hasher);
        hash_tidying(sweeper.tidying(), hasher);
        sweeper.giving_up().iter().for_each(|(origin, reason, rows)| {
            (origin, reason).hash(hasher);
            hash_rows(rows, hasher);
        });
        hash_unordered(hasher, crawlers.iter().map(|crawler| fingerprint(|hasher| self.hash_crawler(crawler, hasher))));
        hash_unordered(
            hasher,
            parsers.iter().map(|parser| {
                fingerprint(|hasher| {
                    parser.claims().hash(hasher);
                    hash_tidying(parser.tidying(), hasher);
                })
            }),
        );
        hash_unordered(
            hasher,
            schedulers.iter().map(|scheduler| {
                fingerprint(|hasher| {
                    scheduler.stage().hash(hasher);
                    hash_tidying(scheduler.tidying(), hasher);
                })
            }),
        );
    }

    fn hash_crawler(&self, crawler: &Crawler, hasher: &mut impl Hasher) {
        std::mem::discriminant(crawler).hash(hasher);
        match crawler {
            Crawler::Idle => return,
            Crawler::Working { has_committed, .. } => has_committed.hash(hasher),
            Crawler::Fetched { visit, .. } => visit.hash(hasher),
            Crawler::Committed { segment, .. } => segment.hash(hasher),
            Crawler::Releasing { seen, .. } => seen.hash(hasher),
            Crawler::Released { ticket } => ticket.hash(hasher),
        }
        let Some(Held { origin, token, lease, term }) = crawler.held() else { return };
        (origin, *term == Term::Running).hash(hasher);
        hash_lease(lease, hasher);
        let key = SegmentKey { iteration: lease.iteration, origin: *origin, turn: lease.turn, n: lease.segments };
        let earlier = self.segments.get(&key).map(|segment| segment.row.token == *token);
        (earlier, self.rows(*origin).is_some_and(|rows| rows.lease.is_held_by(token))).hash(hasher);
        self.host.as_ref().is_some_and(|host| host.is_held_by(token)).hash(hasher);
        self.domain.as_ref().is_some_and(|domain| domain.is_held_by(token)).hash(hasher);
    }
}

/// Hashes what `hash` feeds it, into 128 bits.
fn fingerprint(hash: impl FnOnce(&mut Mixer)) -> u128 {
    let mut mixer = Mixer { high: 0x9e37_79b9_7f4a_7c15, low: 0xd1b5_4a32_d192_ed03 };
    hash(&mut mixer);
    (u128::from(mixer.high) << 64) | u128::from(mixer.low)
}

/// A hasher of 128 bits: two folded multiplications for each word. Hashing is by far the most
/// frequent operation on states.
struct Mixer {
    high: u64,
    low: u64,
}

impl Mixer {
    fn mix(&mut self, word: u64) {
        let fold = |state: u64, factor: u64| {
            let product = u128::from(state ^ word) * u128::from(factor);
            #[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
            let halves = ((product >> 64) as u64, product as u64);
            halves.0 ^ halves.1
        };
        self.high = fold(self.high, 0xa076_1d64_78bd_642f).wrapping_add(self.low);
        self.low = fold(self.low, 0xe703_7ed1_a0b4_28db).rotate_left(23);
    }
}

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.high
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.mix(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.mix(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.mix(number as u64);
    }
}

fn hash_unordered(hasher: &mut impl Hasher, parts: impl Iterator<Item = u128>) {
    let mut parts: Vec<u128> = parts.collect();
    parts.sort_unstable();
    parts.hash(hasher);
}

fn hash_rows(rows: &OriginRows, hasher: &mut impl Hasher) {
    hash_lease(&rows.lease, hasher);
    rows.inbox.hash(hasher);
}

fn hash_lease(lease: &Lease, hasher: &mut impl Hasher) {
    let Lease {
        iteration,
        turn,
        state,
        not_before,
        written_at,
        attempts,
        pace,
        patience,
        worked,
        missing,
        tdm,
        rsl,
        robots,
        ending,
        given_up,
        cursor,
        chunk,
        parked,
        depth,
        barrier,
        retries,
        taken,
        segments,
        counters,
    } = lease;
    std::mem::discriminant(state).hash(hasher);
    if let LeaseState::Leased(Holder { token: _, until, reserved }) = state {
        (until, reserved).hash(hasher);
    }
    (iteration, turn, not_before, written_at, attempts, pace, patience, worked, missing, tdm, robots, ending)
        .hash(hasher);
    (rsl, given_up).hash(hasher);
    (cursor, chunk, parked, depth, barrier, retries, taken, segments, counters).hash(hasher);
}

fn hash_segment(key: SegmentKey, segment: &Segment, hasher: &mut impl Hasher) {
    let Segment { row, page, depth, finality, documents } = segment;
    let SegmentRow {
        id: _,
        iteration: _,
        token: _,
        state,
        object: _,
        object_bytes: _,
        entries: _,
        put_off: _,
        committed_at: _,
        attempts: _,
        parsing: _,
        due,
    } = row;
    (key, state, due, page, depth, documents).hash(hasher);
    std::mem::discriminant(finality).hash(hasher);
}

fn hash_tidying(tidying: Option<&Tidying>, hasher: &mut impl Hasher) {
    let Some(Tidying { iteration, origins, doing }) = tidying else { return };
    (iteration, origins, std::mem::discriminant(doing)).hash(hasher);
    match doing {
        Doing::Reading => {}
        Doing::Settling(seen) => hash_rows(seen, hasher),
        Doing::Sending(ticket) => ticket.hash(hasher),
    }
}
