//! Marks of seedings: put once, in the transaction that adds the seeds.

use std::time::Duration;

use dragline_domain::frontier::{OriginKey, Seeding, SeedingMark};
use dragline_domain::ids::Iteration;
use jiff::Timestamp;

use super::{expires, keys, row};
use crate::dynamo::{Item, Role, Write};

/// Marks a seeding that is not marked yet. The mark expires after this long: its command does not
/// come again later.
pub(crate) fn put(
    origin: &OriginKey,
    iteration: Iteration,
    seeding: &Seeding,
    now: Timestamp,
    known: Duration,
) -> Write {
    let key = keys::seeding(origin, iteration, seeding);
    Write::put(Role::Seeding, &key, row(&key, [expires(now, known)])).if_absent()
}

/// Reads a mark.
pub(crate) const fn mark(found: Option<&Item>) -> SeedingMark {
    match found {
        Some(_) => SeedingMark::There,
        None => SeedingMark::Absent,
    }
}
