//! What commands print, read for a view: a limited part of it.

use dragline_domain::ids::CrawlId;
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;

use crate::backend::Backend;
use crate::printouts::Printout;
use crate::problem::Problem;

/// The limit on a text or a list, in bytes.
const BYTES_MAX: usize = 1 << 20;

/// What was read, and whether there is more of it.
pub(super) struct Part<T> {
    pub(super) content: T,
    pub(super) extent: Extent,
}

/// How much was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    All,
    Beginning,
}

/// Returns the beginning of what a command prints. What it would print after that is not waited
/// for.
///
/// # Errors
/// The command failed.
pub(super) async fn read(backend: &dyn Backend, name: &CrawlId, printout: Printout) -> Result<Part<String>, Problem> {
    let mut output = backend.print(name, printout).await?;
    let (mut bytes, mut extent) = (Vec::new(), Extent::All);
    while let Some(chunk) = output.next().await {
        let failed = |_| Problem::internal("it broke off");
        bytes.extend_from_slice(&chunk.map_err(failed)?);
        if bytes.len() > BYTES_MAX {
            bytes.truncate(BYTES_MAX);
            extent = Extent::Beginning;
            break;
        }
    }
    Ok(Part { content: String::from_utf8_lossy(&bytes).into_owned(), extent })
}

/// Returns the first rows that a command prints as lines of JSON.
///
/// # Errors
/// The command failed.
pub(super) async fn read_rows<T: DeserializeOwned>(
    backend: &dyn Backend,
    name: &CrawlId,
    printout: Printout,
    rows_max: usize,
) -> Result<Part<Vec<T>>, Problem> {
    let Part { content, mut extent } = read(backend, name, printout).await?;
    let mut rows: Vec<T> = content.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if rows.len() > rows_max {
        rows.truncate(rows_max);
        extent = Extent::Beginning;
    }
    Ok(Part { content: rows, extent })
}
