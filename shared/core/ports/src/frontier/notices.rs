//! Notices that have not been sent yet.

use std::fmt;
use std::future::Future;

use dragline_domain::frontier::IterationRow;
use dragline_domain::ids::CrawlId;
use dragline_formats::warc::Sha1Digest;
use jiff::Timestamp;

use crate::error::PortResult;
use crate::notifier::Notice;

/// Notices that have not been sent yet.
pub trait OwedNotices: Send + Sync {
    /// Stores a notice until it is sent. If its place is occupied, the notice there stays.
    fn owe_notice(&self, owed: &OwedNotice) -> impl Future<Output = PortResult<NoticeKept>> + Send;

    /// Returns at most `limit` notices of all crawls that are due by then, longest overdue first.
    /// Only a hint, and it may lag.
    fn owed_notices(&self, due_by: Timestamp, limit: usize)
    -> impl Future<Output = PortResult<Vec<OwedNotice>>> + Send;

    /// Postpones the next try to send an owed notice until `due`. Does nothing if it is no longer
    /// owed.
    fn postpone_notice(&self, owed: &OwedNotice, due: Timestamp) -> impl Future<Output = PortResult<()>> + Send;

    /// Deletes a notice once it has been sent. Idempotent.
    fn forget_notice(&self, owed: &OwedNotice) -> impl Future<Output = PortResult<()>> + Send;

    /// Marks a recurring fact as reported: the caller that marks it first sends the notice. The
    /// mark stays. If that caller dies before sending, nobody does.
    fn mark_told(
        &self,
        crawl: &CrawlId,
        fact: &Fact,
        now: Timestamp,
    ) -> impl Future<Output = PortResult<NoticeState>> + Send;
}

/// A fact that is reported once, as a key for comparison only: two facts have the same key only if
/// they are the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fact(String);

impl Fact {
    /// Creates the fact with this description.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        Self(Sha1Digest::compute(text.as_bytes()).to_string())
    }

    /// Returns it as stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a fact has been reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeState {
    /// It has not: the caller reports it now.
    Now,
    /// It has, or somebody else is reporting it.
    Before,
}

/// The limit on notices of one kind that a crawl may owe, ends of iterations aside: they must not
/// pile up while none can be sent.
const PLACES: u8 = 64;

/// The storage place of an owed notice, within its crawl.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NoticeKey(String);

impl NoticeKey {
    /// Returns the key of a notice. The end of each iteration has its own place. Other notices
    /// share a limited number of places, where the first one stays.
    #[must_use]
    pub fn from_notice(notice: &Notice) -> Self {
        let kind = notice.kind();
        if let Notice::IterationClosed(closed) = notice {
            return Self(format!("{kind}#{:010}", closed.row.number.number()));
        }
        // The iteration that runs meanwhile goes on, and the notice stays the same.
        let digest = match notice {
            Notice::StartSkipped { trigger, .. } => Sha1Digest::compute(trigger.0.as_bytes()),
            _ => Sha1Digest::compute(format!("{notice:?}").as_bytes()),
        };
        let place = digest.as_bytes().first().map_or(0, |byte| byte % PLACES);
        Self(format!("{kind}#{place:02}"))
    }

    /// Wraps a stored key.
    #[must_use]
    pub const fn from_stored(key: String) -> Self {
        Self(key)
    }

    /// Returns it as stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NoticeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A notice that is stored until it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwedNotice {
    /// Its key.
    pub key: NoticeKey,
    /// The notice.
    pub notice: Notice,
    /// When it came to be owed.
    pub since: Timestamp,
    /// When to try it next.
    pub due: Timestamp,
}

impl OwedNotice {
    /// Creates a notice that has been owed since then and is next tried at `due`.
    #[must_use]
    pub fn new(notice: Notice, since: Timestamp, due: Timestamp) -> Self {
        Self { key: NoticeKey::from_notice(&notice), notice, since, due }
    }

    /// Creates the notice that an iteration closed, owed and due from that moment.
    #[must_use]
    pub fn iteration_closed(row: &IterationRow, closed_at: Timestamp) -> Self {
        Self::new(Notice::IterationClosed(row.clone().into()), closed_at, closed_at)
    }

    /// Returns the crawl that owes it.
    #[must_use]
    pub const fn crawl(&self) -> &CrawlId {
        self.notice.crawl()
    }
}

/// The result of storing a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKept {
    /// It is stored, now or by an earlier try.
    Kept,
    /// Another notice has its place: there are too many, and this one is dropped.
    Crowded,
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use dragline_domain::frontier::{LeftoverReason, OriginKey, Reserve};
    use dragline_domain::ids::{Iteration, TriggerId};

    use super::*;

    fn closed_notice(n: u64) -> Notice {
        let origin = OriginKey { crawl: "docs".parse().unwrap(), origin: "https://a.example".parse().unwrap() };
        Notice::OriginEnded { origin, reason: LeftoverReason::Stopped, count: n }
    }

    #[test]
    fn however_much_is_owed_it_takes_few_places() {
        let keys: HashSet<NoticeKey> = (0..10_000).map(|n| NoticeKey::from_notice(&closed_notice(n))).collect();
        assert_eq!(keys.len(), usize::from(PLACES), "every place, and no more");
        assert_eq!(
            NoticeKey::from_notice(&closed_notice(7)),
            NoticeKey::from_notice(&closed_notice(7)),
            "one notice has one place"
        );
    }

    #[test]
    fn each_iteration_has_its_own_place() {
        let (at, crawl) = (Timestamp::UNIX_EPOCH, "docs".parse::<CrawlId>().unwrap());
        let closed = |number| {
            let trigger = TriggerId("t".into());
            let row = IterationRow::begin(crawl.clone(), number, trigger, Reserve::default(), at, None, at);
            OwedNotice::iteration_closed(&row, at).key
        };
        assert_eq!(closed(Iteration::FIRST).as_str(), "iteration_closed#0000000001");
        assert_ne!(closed(Iteration::FIRST), closed(Iteration::FIRST.next()));
    }
}
