//! Objects that a holder stored and never committed.

use dragline_domain::frontier::{Lease, ObjectKey, OriginKey, SegmentId};
use dragline_domain::ids::LeaseToken;

use crate::World;
use dragline_ports::archive::Archive;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Origins, Parses};

/// The most orphans that a turn deletes: no turn writes more objects between two commits, even over
/// the few holders that it can have.
const ORPHANS_MAX: usize = 1_000;

/// Deletes the objects that earlier holders of a turn stored and did not commit. `token` has taken
/// the lease over from them.
///
/// It lists the objects first and then checks that it still holds the lease: so none of them
/// belongs to a later holder that is about to commit it.
pub(super) async fn remove(
    world: &impl World,
    origin: &OriginKey,
    lease: &Lease,
    token: &LeaseToken,
) -> PortResult<()> {
    let prefix = ObjectKey::turn_prefix(origin, lease.iteration, lease.turn);
    let listed = world.archive().list(&prefix, None, ORPHANS_MAX).await?;
    let rows = world.frontier().load_origin(origin).await?;
    if !rows.is_some_and(|rows| rows.lease.is_held_by(token)) {
        return Ok(());
    }
    for key in listed {
        let n = key.as_str()[prefix.len()..].split('-').next().and_then(|n| n.parse().ok());
        let Some(n) = n else { continue };
        let id = SegmentId { origin: origin.clone(), turn: lease.turn, n };
        let committed = world.frontier().load_segment(&id).await?;
        if committed.is_none_or(|row| row.object != key) {
            world.archive().delete(&key).await?;
        }
    }
    Ok(())
}
