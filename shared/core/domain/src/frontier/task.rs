//! What an iteration does.

use serde::{Deserialize, Serialize};

use super::RecrawlOrder;
use crate::definition::{Budget, Condition};
use crate::url::CrawlUrl;

/// What an iteration does, from its beginning to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// It visits the seeds, what they lead to, and what is known and due.
    #[default]
    Crawl,
    /// It visits the URLs that are demanded while it runs, and what these lead to; neither seeds nor what is due.
    Demand,
    /// It takes answers from archives of other programs as visits of their URLs, and follows no link. Nothing is requested.
    Import,
    /// It makes the documents of the current state again, from the bodies that are stored. Nothing is requested.
    Reparse(Selection),
}

/// Which URLs something is done with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// All of them.
    #[default]
    All,
    /// Those for which this holds.
    Where(Box<Condition>),
}

impl Selection {
    /// Returns the selection of URLs for which a condition holds; without one, of all.
    #[must_use]
    pub fn from_condition(condition: Option<Condition>) -> Self {
        condition.map_or(Self::All, |condition| Self::Where(Box::new(condition)))
    }

    /// Whether it has the URL.
    #[must_use]
    pub fn has(&self, url: &CrawlUrl) -> bool {
        match self {
            Self::All => true,
            Self::Where(condition) => condition.matches(url),
        }
    }
}

impl Task {
    /// Returns the word for it in what people read, as in "iteration 3 (reparse)".
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Crawl => "crawl",
            Self::Demand => "demand",
            Self::Import => "import",
            Self::Reparse(_) => "reparse",
        }
    }

    /// Whether it visits URLs: only then does it make claims, and change what the site is known to show.
    #[must_use]
    pub const fn visits(&self) -> bool {
        !matches!(self, Self::Reparse(_))
    }

    /// Whether it makes requests. If not, there is nobody to be polite to.
    #[must_use]
    pub const fn requests(&self) -> bool {
        matches!(self, Self::Crawl | Self::Demand)
    }

    /// Returns the order in which it goes through the candidates of earlier iterations, with this budget; `None` if it does not.
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
