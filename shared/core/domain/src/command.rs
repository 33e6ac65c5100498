//! What a person or a program may ask a deployed crawler to do.

use crate::definition::Definition;
use crate::frontier::{Demand, Selection, StatusChange};
use crate::ids::{CrawlId, TriggerId};
use crate::retention::{PrunePlace, Retention};
use crate::url::CrawlUrl;

/// A command, checked as far as possible without looking anything up.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Crawl this URL, in the crawl named after its host and port, which is created if there is none. No parameters are stripped yet: the crawl's own
    /// rules do that.
    Url(CrawlUrl),
    /// Store this definition and begin an iteration of it.
    Define(Box<Definition>),
    /// Begin an iteration.
    Start {
        /// Of this crawl.
        crawl: CrawlId,
        /// What triggers it; `None` if the message itself does.
        trigger: Option<TriggerId>,
    },
    /// Visit these URLs on demand, and what they lead to as far as it is asked for. They join a running iteration, or begin one of nothing else.
    Demand {
        /// The crawl. One that does not exist is created of the first URL.
        crawl: CrawlId,
        /// The URLs, at least one. No parameters are stripped yet.
        urls: Vec<CrawlUrl>,
        /// What is asked of them.
        demand: Demand,
    },
    /// Make the documents of the crawl's current state again from the bodies that are stored.
    Reparse {
        /// The crawl.
        crawl: CrawlId,
        /// Whose documents.
        selection: Selection,
    },
    /// Store this definition and switch its crawl on.
    PutCrawl(Box<Definition>),
    /// Pause, resume or stop the crawl's running iteration.
    Change {
        /// The crawl.
        crawl: CrawlId,
        /// Which of the three.
        change: StatusChange,
    },
    /// Delete of a crawl what dropped iterations left and nothing refers to.
    Prune {
        /// The crawl.
        crawl: CrawlId,
        /// Which iterations are kept.
        retention: Retention,
        /// Where an earlier run stopped, as its time was over; `None` to begin.
        from: Option<PrunePlace>,
    },
    /// Switch a crawl off and stop its running iteration. What was crawled stays.
    Remove(CrawlId),
}

impl Command {
    /// The name of the crawl that it is about.
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
