//! Why archives are not imported.

use dragline_domain::ids::{CrawlId, Iteration};
use dragline_import::ImportError;

use super::said::remedy;
use crate::location::Directory;

/// Why archives are not imported.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotImported {
    /// They cannot be read.
    #[error("{0}")]
    Archives(#[from] ImportError),
    /// There is nothing to take in them.
    #[error("there is no answer to import in the archives{}", because(found.as_deref(), faults))]
    NoAnswers {
        /// What there is instead; `None` if nothing.
        found: Option<String>,
        /// What is wrong with the files.
        faults: Vec<String>,
    },
    /// An import was interrupted. What is left of it must not be requested.
    #[error("iteration {iteration} of the crawl `{crawl}` is an import that is not finished")]
    Unfinished {
        /// The crawl.
        crawl: CrawlId,
        /// The iteration.
        iteration: Iteration,
        /// Where the crawl is.
        directory: Directory,
    },
    /// An import of other archives was interrupted.
    #[error("iteration {iteration} of the crawl `{crawl}` is an import of other archives, and is not finished")]
    OfOthers {
        /// The crawl.
        crawl: CrawlId,
        /// The iteration.
        iteration: Iteration,
        /// Where the crawl is.
        directory: Directory,
    },
}

impl NotImported {
    /// Returns what to do about it.
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
