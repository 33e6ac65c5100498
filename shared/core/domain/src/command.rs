//! The commands of people and programs to a deployed crawler.

use crate::definition::Definition;
use crate::frontier::{Demand, Selection, StatusChange};
use crate::ids::{CrawlId, TriggerId};
use crate::retention::{PrunePlace, Retention};
use crate::url::CrawlUrl;

/// A command, checked as far as possible without reading stored state.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Crawl this URL, in the crawl named after its host and port, which is created if it does not
    /// exist. Parameters are not stripped yet; that is up to the crawl's own rules.
    Url(CrawlUrl),
    /// Store this definition and begin an iteration with it.
    Define(Box<Definition>),
    /// Begin an iteration.
    Start {
        /// The crawl.
        crawl: CrawlId,
        /// The trigger; `None` if the message itself is the trigger.
        trigger: Option<TriggerId>,
    },
    /// Visit these URLs on demand, and their links as far as requested. They join a running
    /// iteration, or begin one of their own.
    Demand {
        /// The crawl. If it does not exist, it is created from the first URL.
        crawl: CrawlId,
        /// The URLs, at least one, without stripping of parameters so far.
        urls: Vec<CrawlUrl>,
        /// The demand.
        demand: Demand,
    },
    /// Remake the documents of the crawl's current state from the stored bodies.
    Reparse {
        /// The crawl.
        crawl: CrawlId,
        /// The selection of documents.
        selection: Selection,
    },
    /// Store this definition and switch its crawl on.
    PutCrawl(Box<Definition>),
    /// Pause, resume or stop the crawl's running iteration.
    Change {
        /// The crawl.
        crawl: CrawlId,
        /// The change.
        change: StatusChange,
    },
    /// Delete the unreferenced data of a crawl's dropped iterations.
    Prune {
        /// The crawl.
        crawl: CrawlId,
        /// The iterations to keep.
        retention: Retention,
        /// The place where an earlier run stopped because its time was over; `None` to begin.
        from: Option<PrunePlace>,
    },
    /// Switch a crawl off and stop its running iteration. The crawled data stays.
    Remove(CrawlId),
}

impl Command {
    /// Returns the name of the crawl that it is about.
    #[must_use]
    pub fn crawl(&self) -> CrawlId {
        match self {
            Self::Url(url) => CrawlId::for_origin(&url.origin()),
            Self::Define(definition) | Self::PutCrawl(definition) => definition.name.clone(),
            Self::Start { crawl, .. }
            | Self::Demand { crawl, .. }
            | Self::Reparse { crawl, .. }
            | Self::Change { crawl, .. }
            | Self::Prune { crawl, .. }
            | Self::Remove(crawl) => crawl.clone(),
        }
    }
}
