//! The lease: one JSON text, and copies of the values that conditions compare.

use std::time::Duration;

use dragline_domain::frontier::{Counts, Lease, LeaseState, OriginKey};
use dragline_domain::ids::LeaseToken;
use dragline_domain::time::after;
use jiff::Timestamp;

use super::{Owed, due_attributes, fields, index_writes, keys, row};
use crate::dynamo::{Expression, Fields, Item, Role, Write, instant, json, number, text};
use crate::errors::StoreError;
use crate::tables::ITERATION;

const RECORD: &str = "record";
const STATE: &str = "state";
const LEASED: &str = "leased";

/// The facts about a held lease that the next commit needs, as it does not read the lease.
#[derive(Clone, Debug)]
pub(crate) struct HeldLease {
    due: Option<Timestamp>,
    segments: u64,
    pub(crate) counts: Counts,
}

impl HeldLease {
    pub(crate) fn new(lease: &Lease, grace: Duration) -> Self {
        Self { due: lease.due(grace), segments: lease.segments, counts: Counts::from_lease(lease) }
    }
}

/// Returns the stored name.
const fn state_name(state: &LeaseState) -> &'static str {
    match state {
        LeaseState::Ready => "ready",
        LeaseState::Leased(_) => LEASED,
        LeaseState::Idle => "idle",
        LeaseState::Closed => "closed",
    }
}

/// Returns the time from which a held lease can be taken over: its end plus the origin's delay, as
/// conditions cannot add.
fn free_from(lease: &Lease) -> Option<Timestamp> {
    lease.holder().map(|holder| after(holder.until, lease.pace.delay()))
}

pub(crate) fn item(origin: &OriginKey, lease: &Lease, grace: Duration) -> Result<Item, StoreError> {
    let mut attributes = vec![
        (ITERATION, number(lease.iteration.number())),
        ("turn", number(lease.turn.0)),
        (STATE, text(state_name(&lease.state))),
        ("taken", number(lease.taken)),
        ("segments", number(lease.segments)),
        (RECORD, json(lease)?),
    ];
    if let (Some(holder), Some(free_from)) = (lease.holder(), free_from(lease)) {
        attributes.extend([("token", text(holder.token.as_str())), ("free_from", instant(free_from))]);
    }
    attributes.extend(due_attributes(Owed::Turn, origin, lease.due(grace)));
    Ok(row(&keys::lease(origin), attributes))
}

pub(crate) fn read(item: &Item) -> Result<Lease, StoreError> {
    fields(item)?.json(RECORD)
}

/// Whether an item, perhaps read in part, is an idle lease.
pub(crate) fn is_idle(item: &Item) -> bool {
    Fields(item).text(STATE).is_ok_and(|state| state == state_name(&LeaseState::Idle))
}

/// Replaces a lease if it is as it was read.
pub(crate) fn replace(
    origin: &OriginKey,
    before: Option<&Lease>,
    after: &Lease,
    grace: Duration,
) -> Result<Write, StoreError> {
    let index = index_writes(before.and_then(|before| before.due(grace)), after.due(grace));
    let put = Write::put(Role::Lease, &keys::lease(origin), item(origin, after, grace)?).indexed(index);
    Ok(match before {
        None => put.if_absent(),
        Some(before) => put.when(unchanged(before)),
    })
}

/// Puts a lease on release, if this token still holds it.
pub(crate) fn replace_held(
    origin: &OriginKey,
    token: &LeaseToken,
    held: &Lease,
    after: &Lease,
    grace: Duration,
) -> Result<Write, StoreError> {
    let index = index_writes(held.due(grace), after.due(grace));
    let put = Write::put(Role::Lease, &keys::lease(origin), item(origin, after, grace)?).indexed(index);
    Ok(put.when(held_condition(token)))
}

/// Puts the holder's copy after a segment, if the stored lease has the expected number of segments:
/// so additional counts are added once.
pub(crate) fn renew(
    origin: &OriginKey,
    token: &LeaseToken,
    before: &HeldLease,
    (held, grace): (&Lease, Duration),
) -> Result<Write, StoreError> {
    let put = Write::put(Role::Lease, &keys::lease(origin), item(origin, held, grace)?);
    let as_seen = Expression::new("#segments = :was_segments").with(":was_segments", number(before.segments));
    Ok(put.indexed(index_writes(before.due, held.due(grace))).when(held_condition(token)).when(as_seen))
}

/// Returns the condition that this token holds the lease. The fence is the token, not the clock.
fn held_condition(token: &LeaseToken) -> Expression {
    let held = Expression::new("#state = :leased AND #token = :mine");
    held.with(":leased", text(LEASED)).with(":mine", text(token.as_str()))
}

/// Writes nothing, but checks that the lease is as it was read in this item.
pub(crate) fn still(origin: &OriginKey, item: &Item, before: &Lease) -> Write {
    Write::check(Role::Lease, &keys::lease(origin), item, unchanged(before))
}

/// Returns the condition that the lease is unchanged. Only its state changes from turn to turn,
/// except that a holder commits segments and renews it.
fn unchanged(lease: &Lease) -> Expression {
    let same = Expression::new(
        "#turn = :was_turn AND #state = :was_state AND #taken = :was_taken AND #segments = :was_segments",
    )
    .with(":was_turn", number(lease.turn.0))
    .with(":was_state", text(state_name(&lease.state)))
    .with(":was_taken", number(lease.taken))
    .with(":was_segments", number(lease.segments));
    match (lease.holder(), free_from(lease)) {
        (Some(holder), Some(free_from)) => same.and(
            Expression::new("#token = :was_token AND #free_from = :was_free_from")
                .with(":was_token", text(holder.token.as_str()))
                .with(":was_free_from", instant(free_from)),
        ),
        _ => same,
    }
}
