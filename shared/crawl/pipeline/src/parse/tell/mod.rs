//! Limits on notices: each fact once in an iteration, and no more of one topic than people want to
//! read.

pub(crate) mod drift;
pub(crate) mod sitemaps;
pub(crate) mod stuck;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use dragline_domain::frontier::SegmentRow;
use dragline_domain::ids::{CrawlId, Iteration};

use crate::World;
use crate::context::Contexts;
use crate::tell::mark_told;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::NoticeState;

/// The most notices of one topic in an iteration: a site may have any number of reasons for one.
pub(crate) const TOLD_MAX: usize = 20;

/// The topics of notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Topic {
    /// Documents that broke the parser.
    Unread,
    /// Useless sitemaps.
    Sitemap,
    /// Changed pages.
    Drift,
}

impl Topic {
    /// Returns the stored name.
    const fn name(self) -> &'static str {
        match self {
            Self::Unread => "unread",
            Self::Sitemap => "sitemap",
            Self::Drift => "drift",
        }
    }
}

/// The topic of an iteration.
type NoticeTopic = (CrawlId, Iteration, Topic);

/// The number of sent notices of each topic, as far as this process knows. Beyond the limit of a
/// topic, the frontier need not be asked any more.
#[derive(Debug, Default)]
pub(crate) struct SentNotices(Mutex<HashMap<NoticeTopic, usize>>);

impl SentNotices {
    /// The most topics that are kept.
    const KEPT_MAX: usize = 256;

    fn places(&self, of: &NoticeTopic) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(of).copied().unwrap_or(0)
    }

    fn set(&self, of: &NoticeTopic, places: usize) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= Self::KEPT_MAX {
            known.clear();
        }
        known.insert(of.clone(), places);
    }
}

/// Whether to send a notice now: neither it nor too many others of this topic were sent in this
/// iteration.
///
/// # Errors
/// Returns the frontier's errors.
pub(crate) async fn should_notify(
    world: &impl World,
    contexts: &Contexts,
    segment: &SegmentRow,
    topic: Topic,
    what: &str,
) -> PortResult<bool> {
    let crawl = &segment.id.origin.crawl;
    let of = (crawl.clone(), segment.iteration, topic);
    let taken = contexts.told.places(&of);
    if taken == TOLD_MAX {
        return Ok(false);
    }
    let mark = async |what: &str| mark_told(world, crawl, segment.iteration, &format!("{} {what}", topic.name())).await;
    if mark(what).await? == NoticeState::Before {
        return Ok(false);
    }
    for place in taken + 1..=TOLD_MAX {
        let told = mark(&format!("{place} of {TOLD_MAX}")).await?;
        contexts.told.set(&of, place);
        if told == NoticeState::Now {
            return Ok(true);
        }
    }
    Ok(false)
}
