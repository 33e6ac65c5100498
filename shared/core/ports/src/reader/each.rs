//! Walks through a stream.

use std::future::Future;
use std::ops::ControlFlow;

use super::{Batch, Cursor, Rest};
use crate::error::PortResult;

/// How a walk through a stream ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalkEnd<B> {
    /// There are no more rows.
    Through,
    /// Time ran out; continue after this cursor.
    Rested(Cursor),
    /// The callback broke off.
    Broken(B),
}

/// Calls back with each row of a stream until told to stop. `read` returns the batch after a
/// cursor.
///
/// # Errors
/// Returns the errors of `read`.
pub async fn each_row<T, F: Future<Output = PortResult<Batch<T>>>>(
    read: impl Fn(Option<Cursor>) -> F,
    visit: impl FnMut(T) -> ControlFlow<()>,
) -> PortResult<()> {
    each_row_until(read, None, visit, || ControlFlow::Continue(())).await.map(drop)
}

/// Like [`each_row`], but from a place on, and until `rest` breaks: it is called between two
/// batches.
///
/// # Errors
/// Returns the errors of `read`.
pub async fn each_row_until<T, B, F: Future<Output = PortResult<Batch<T>>>>(
    read: impl Fn(Option<Cursor>) -> F,
    mut after: Option<Cursor>,
    mut visit: impl FnMut(T) -> ControlFlow<B>,
    rest: impl Fn() -> ControlFlow<()>,
) -> PortResult<WalkEnd<B>> {
    loop {
        let batch = read(after).await?;
        for row in batch.rows {
            if let ControlFlow::Break(why) = visit(row) {
                return Ok(WalkEnd::Broken(why));
            }
        }
        match (batch.rest, batch.cursor) {
            (Rest::Nothing, _) => return Ok(WalkEnd::Through),
            (Rest::More, Some(cursor)) if rest().is_break() => return Ok(WalkEnd::Rested(cursor)),
            (Rest::More, cursor) => after = cursor,
        }
    }
}
