//! The task of an iteration.

use serde::{Deserialize, Serialize};

use super::RecrawlOrder;
use crate::definition::{Budget, Condition};
use crate::url::CrawlUrl;

/// The task of an iteration, from its beginning to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// It visits the seeds, their links, and known URLs that are due.
    #[default]
    Crawl,
    /// It visits URLs on demand while it runs, and their links; neither seeds nor due URLs.
    Demand,
    /// It imports responses from archives of other programs as visits of their URLs, and follows no
    /// links. It makes no requests.
    Import,
    /// It remakes the documents of the current state from the stored bodies. It makes no requests.
    Reparse(Selection),
}

/// A selection of URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// All of them.
    #[default]
    All,
    /// Those that satisfy this condition.
    Where(Box<Condition>),
}

impl Selection {
    /// Returns the selection of URLs that satisfy a condition; without one, of all.
    #[must_use]
    pub fn from_condition(condition: Option<Condition>) -> Self {
        condition.map_or(Self::All, |condition| Self::Where(Box::new(condition)))
    }

    /// Whether it contains the URL.
    #[must_use]
    pub fn contains(&self, url: &CrawlUrl) -> bool {
        match self {
            Self::All => true,
            Self::Where(condition) => condition.matches(url),
        }
    }
}

impl Task {
    /// Returns its word in texts for people, as in "iteration 3 (reparse)".
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Crawl => "crawl",
            Self::Demand => "demand",
            Self::Import => "import",
            Self::Reparse(_) => "reparse",
        }
    }

    /// Whether it visits URLs: only then does it make claims, and change the known state of the
    /// site.
    #[must_use]
    pub const fn visits(&self) -> bool {
        !matches!(self, Self::Reparse(_))
    }

    /// Whether it makes requests. If not, politeness does not matter.
    #[must_use]
    pub const fn requests(&self) -> bool {
        matches!(self, Self::Crawl | Self::Demand)
    }

    /// Returns the order in which it visits the candidates of earlier iterations, with this budget;
    /// `None` if it does not.
    #[must_use]
    pub fn recrawl_order(&self, budget: &Budget) -> Option<RecrawlOrder> {
        match self {
            Self::Crawl if *budget == Budget::default() => Some(RecrawlOrder::ByPath),
            Self::Crawl => Some(RecrawlOrder::ByWait),
            Self::Demand | Self::Import => None,
            Self::Reparse(_) => Some(RecrawlOrder::Documents),
        }
    }
}
