//! The state of the crawl that rows are of. While it is the same, nothing has to be written.

use dragline_domain::frontier::IterationRow;
use dragline_domain::ids::Iteration;
use dragline_ports::frontier::Progress;
use dragline_ports::reader::Reader;

use crate::error::SinkError;

/// An iteration, and the state of its log.
#[derive(Clone, Debug)]
pub(crate) struct IterationState {
    pub(crate) row: IterationRow,
    pub(crate) progress: Progress,
    /// Changes with its log.
    pub(crate) log: String,
}

/// The state of a crawl.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Changes with the site as it is now.
    pub(crate) site: String,
    /// The iterations, the first one first.
    pub(crate) iterations: Vec<IterationState>,
}

impl Source {
    /// Reads the state of a crawl.
    ///
    /// # Errors
    /// Nothing was crawled yet, or the crawl cannot be read.
    pub(crate) async fn read(reader: &impl Reader) -> Result<Self, SinkError> {
        // Read first: if URLs are forgotten from now on, they are not read, or the rows that have
        // them count as out of date.
        let forgotten = reader.times_forgotten().await?;
        let latest = reader.latest_iteration().await?.ok_or(SinkError::NotBegun)?;
        let mut iterations = Vec::new();
        for number in 1..latest.number.number() {
            let Some(number) = Iteration::new(number) else { continue };
            if let Some(row) = reader.load_iteration(number).await? {
                iterations.push(IterationState::read(reader, row, forgotten).await?);
            }
        }
        let latest = IterationState::read(reader, latest, forgotten).await?;
        let site = format!("{} {}", latest.row.number, latest.log);
        iterations.push(latest);
        Ok(Self { site, iterations })
    }
}

impl IterationState {
    async fn read(reader: &impl Reader, row: IterationRow, forgotten: u64) -> Result<Self, SinkError> {
        let progress = reader.progress(row.number).await?;
        let closed = row.closed_at.map_or_else(|| "open".to_owned(), |at| format!("closed {at}"));
        let pruned = row.pruned_at.map_or_else(String::new, |at| format!(", pruned {at}"));
        let Progress { parsed, segments, .. } = progress;
        let log = format!(
            "begun {}, {closed}{pruned}, {parsed} of {segments} segments, {forgotten} times forgotten",
            row.started_at
        );
        Ok(Self { row, progress, log })
    }
}
