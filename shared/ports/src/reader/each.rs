//! Walking a stream.

use std::future::Future;
use std::ops::ControlFlow;

use super::{Batch, Cursor, Rest};
use crate::error::PortResult;

/// Calls back with each row of a stream until told to stop. `read` returns the batch after a cursor.
///
/// # Errors
/// Returns the errors of `read`.
pub async fn each_row<T, F: Future<Output = PortResult<Batch<T>>>>(
    read: impl Fn(Option<Cursor>) -> F,
    mut visit: impl FnMut(T) -> ControlFlow<()>,
) -> PortResult<()> {
    let mut after = None;
    loop {
        let Batch { rows, cursor, rest } = read(after).await?;
        for row in rows {
            if visit(row).is_break() {
                return Ok(());
            }
        }
        match rest {
            Rest::More => after = cursor,
            Rest::Nothing => return Ok(()),
        }
    }
}
