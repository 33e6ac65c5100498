//! Shows an observer what the steps do.

use dragline_ports::clock::Clock as _;
use dragline_ports::error::PortResult;
use dragline_ports::observer::{Batch, Event};

use crate::World;

/// Does a batch of a step's work, and shows the observer its beginning and end.
///
/// # Errors
/// Returns those of the work.
pub async fn watch_batch<T>(
    world: &impl World,
    batch: Batch<'_>,
    work: impl Future<Output = PortResult<T>>,
) -> PortResult<T> {
    let began = world.clock().now();
    world.observer().observe(&Event::Began { batch, at: began });
    let done = work.await;
    let at = world.clock().now();
    world.observer().observe(&Event::Ended { batch, began, at, error: done.as_ref().err() });
    done
}
