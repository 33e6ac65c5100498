//! The state or result of an iteration: `crawl` ends with it, and `status` shows it.

mod read;
#[cfg(test)]
mod tests;
mod text;
mod why;

use std::io;

use dragline_domain::definition::{HostPattern, Nofollow, Noindex};
use dragline_domain::frontier::{IterationStatus, Task};
use dragline_report::{Figures, IterationHead};
use serde::Serialize;

use crate::crawl_handle::Certificates;
use crate::location::CrawlLocation;
use crate::terminal::write_json;

pub(crate) use read::{read, read_latest};
pub(crate) use text::{changed_page_lines, numbered_task, text};
pub(crate) use why::WhyNothing;

/// The state or result of an iteration. The field names are those of `--json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Summary {
    /// The iteration, and whether it is over.
    #[serde(flatten)]
    pub(crate) standing: IterationHead,
    #[serde(flatten)]
    pub(crate) place: CrawlLocation,
    /// Whether a later iteration has begun.
    #[serde(skip)]
    pub(crate) age: Age,
    /// Whether certificates were checked.
    pub(crate) certificates: Certificates,
    /// The hosts whose robots.txt is not obeyed, by their owner's word.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) ignored_robots: Vec<HostPattern>,
    /// Whether links that are marked `nofollow` are followed, by their owner's word.
    #[serde(skip_serializing_if = "Nofollow::is_obeyed")]
    pub(crate) nofollow: Nofollow,
    /// Whether pages are kept that ask for noindex, by their owner's word.
    #[serde(skip_serializing_if = "Noindex::is_obeyed")]
    pub(crate) noindex: Noindex,
    /// Its results in numbers.
    #[serde(flatten)]
    pub(crate) figures: Figures,
}

/// Whether an iteration is the crawl's latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Age {
    /// It is.
    Latest,
    /// A later one began.
    Earlier,
}

impl Summary {
    /// Returns why nothing was fetched; `None` if something was, or the iteration is not over.
    pub(crate) fn why_nothing(&self) -> Option<WhyNothing<'_>> {
        let is_over = self.standing.status == IterationStatus::Closed;
        let is_expected = match self.standing.task {
            Task::Crawl => false,
            Task::Demand => self.has_asked_for_nothing(),
            Task::Import | Task::Reparse(_) => true,
        };
        (is_over && !is_expected && !self.figures.has_content()).then_some(WhyNothing(&self.figures.causes))
    }

    /// Returns whether the iteration achieved anything: content was fetched or is known to be
    /// unchanged, or documents were rebuilt.
    pub(crate) fn has_result(&self) -> bool {
        match self.standing.task {
            Task::Crawl | Task::Import => self.figures.has_content(),
            Task::Demand => self.figures.has_content() || self.has_asked_for_nothing(),
            Task::Reparse(_) => !self.has_remade_nothing(),
        }
    }

    /// Returns whether documents were to be made again, and none was.
    pub(crate) fn has_remade_nothing(&self) -> bool {
        matches!(self.standing.task, Task::Reparse(_)) && self.figures.remade == 0
    }

    /// Returns whether no URL had its turn, as none was due.
    fn has_asked_for_nothing(&self) -> bool {
        self.figures.outcomes.is_empty() && self.figures.leftovers.is_empty()
    }

    /// Prints the summary as one JSON object on one line of standard output.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn print_json(&self) -> io::Result<()> {
        write_json(io::stdout().lock(), self)
    }
}
