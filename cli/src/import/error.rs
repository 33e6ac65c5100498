//! Why archives were not imported.

use dragline_domain::ids::{CrawlId, Iteration};
use dragline_import::ImportError;

use super::said::remedy;
use crate::location::Directory;

/// Why archives were not imported.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImportCommandError {
    /// They cannot be read.
    #[error("{0}")]
    Archives(#[from] ImportError),
    /// They have no answers to import.
    #[error("there is no answer to import in the archives{}", because(found.as_deref(), faults))]
    NoAnswers {
        /// What they have instead; `None` if nothing.
        found: Option<String>,
        /// Faults of the files.
        faults: Vec<String>,
    },
    /// An import was interrupted. Its remaining URLs must not be requested.
    #[error("iteration {iteration} of the crawl `{crawl}` is an import that is not finished")]
    Unfinished {
        crawl: CrawlId,
        iteration: Iteration,
        /// Where the crawl is.
        directory: Directory,
    },
    /// An import of other archives was interrupted.
    #[error("iteration {iteration} of the crawl `{crawl}` is an import of other archives, and is not finished")]
    OfOthers {
        crawl: CrawlId,
        iteration: Iteration,
        /// Where the crawl is.
        directory: Directory,
    },
}

impl ImportCommandError {
    /// Returns hints on how to fix it.
    pub(crate) fn hints(&self) -> Vec<String> {
        match self {
            Self::Archives(error) => error.hint().map(str::to_owned).into_iter().collect(),
            Self::NoAnswers { faults, .. } => remedy(faults).map(str::to_owned).into_iter().collect(),
            Self::Unfinished { directory, .. } | Self::OfOthers { directory, .. } => vec![
                "finish it: give the same archives to `dragline import` again".to_owned(),
                format!("or end it as it stands: `{} --abandon`", directory.command_to_resume()),
            ],
        }
    }
}

fn because(found: Option<&str>, faults: &[String]) -> String {
    let found = found.map(|found| format!("records {found}"));
    let parts: Vec<String> = found.into_iter().chain(faults.iter().cloned()).collect();
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join("; ")) }
}
