//! Objects that a holder stored and never committed.

use dragline_domain::frontier::{Lease, ObjectKey, OriginKey, SegmentId};

use crate::World;
use dragline_ports::archive::Archive;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::Parses;

/// The most orphans of a turn: no turn writes more objects between two commits, even with the few holders that it can have.
const ORPHANS_MAX: usize = 1_000;

/// Deletes the objects of a turn that was taken over, except those that are committed.
pub(super) async fn remove(world: &impl World, origin: &OriginKey, lease: &Lease) -> PortResult<()> {
    let prefix = ObjectKey::turn_prefix(origin, lease.iteration, lease.turn);
    for key in world.archive().list(&prefix, None, ORPHANS_MAX).await? {
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
