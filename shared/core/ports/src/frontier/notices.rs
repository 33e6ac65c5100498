//! Notices that people have not been told yet.

use std::fmt;
use std::future::Future;

use dragline_domain::frontier::IterationRow;
use dragline_domain::ids::CrawlId;
use dragline_formats::warc::Sha1Digest;
use jiff::Timestamp;

use crate::error::PortResult;
use crate::notifier::Notice;

/// Notices that people have not been told yet.
pub trait OwedNotices: Send + Sync {
    /// Keeps a notice until people were told. If its place is taken, the notice there stays.
    fn owe_notice(&self, owed: &OwedNotice) -> impl Future<Output = PortResult<NoticeKept>> + Send;

    /// Returns the notices of all crawls that are due by then, the longest due first, at most `limit`. Only a hint, and it may lag.
    fn owed_notices(&self, due_by: Timestamp, limit: usize)
    -> impl Future<Output = PortResult<Vec<OwedNotice>>> + Send;

    /// Puts off the next try of an owed notice until `due`. Does nothing if it is no longer owed.
    fn postpone_notice(&self, owed: &OwedNotice, due: Timestamp) -> impl Future<Output = PortResult<()>> + Send;

    /// Forgets a notice once people were told. Idempotent.
    fn forget_notice(&self, owed: &OwedNotice) -> impl Future<Output = PortResult<()>> + Send;

    /// Marks that people are told of something that would come up again and again: whoever marks it first tells them. The mark stays. If the first one
    /// dies before telling, nobody does.
    fn mark_told(
        &self,
        crawl: &CrawlId,
        fact: &Fact,
        now: Timestamp,
    ) -> impl Future<Output = PortResult<NoticeState>> + Send;
}

/// Something that people are told once, by a key that says no more than that: two facts have the same key only if they are the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fact(String);

impl Fact {
    /// Returns the fact that this text describes.
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

/// Whether people were told of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeState {
    /// They were not: whoever asked tells them now.
    Now,
    /// They were, or somebody else is telling them.
    Before,
}

/// How many notices of one kind a crawl may owe, ends of iterations aside: they must not pile up while nobody can be told.
const PLACES: u8 = 64;

/// Where an owed notice is kept, within its crawl.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NoticeKey(String);

impl NoticeKey {
    /// Returns the key of a notice. The end of each iteration has a place of its own. Other notices share a limited number of places, where the
    /// first one stays.
    #[must_use]
    pub fn from_notice(notice: &Notice) -> Self {
        let kind = notice.kind();
        if let Notice::IterationClosed(closed) = notice {
            return Self(format!("{kind}#{:010}", closed.row.number.number()));
        }
        let digest = Sha1Digest::compute(format!("{notice:?}").as_bytes());
        let place = digest.as_bytes().first().map_or(0, |byte| byte % PLACES);
        Self(format!("{kind}#{place:02}"))
    }

    /// Wraps a key that was stored.
    #[must_use]
    pub const fn stored(key: String) -> Self {
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

/// A notice that is kept until people were told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwedNotice {
    /// Where it is kept.
    pub key: NoticeKey,
    /// The notice.
    pub notice: Notice,
    /// When it came to be owed.
    pub since: Timestamp,
    /// When to try it next.
    pub due: Timestamp,
}

impl OwedNotice {
    /// Returns a notice that has been owed since then, to be tried at `due`.
    #[must_use]
    pub fn new(notice: Notice, since: Timestamp, due: Timestamp) -> Self {
        Self { key: NoticeKey::from_notice(&notice), notice, since, due }
    }

    /// Returns the notice that an iteration closed: owed and due from that moment.
    #[must_use]
    pub fn of_closed(row: &IterationRow, closed_at: Timestamp) -> Self {
        Self::new(Notice::IterationClosed(row.clone().into()), closed_at, closed_at)
    }

    /// Returns the crawl that owes it.
    #[must_use]
    pub const fn crawl(&self) -> &CrawlId {
        self.notice.crawl()
    }
}

/// The result of keeping a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKept {
    /// It is kept, now or by an earlier try.
    Kept,
    /// Another notice has its place: there are too many, and this one is not kept.
    Crowded,
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use dragline_domain::frontier::{LeftoverReason, OriginKey, Reserve};
    use dragline_domain::ids::{Iteration, TriggerId};

    use super::*;

    fn ended(n: u64) -> Notice {
        let origin = OriginKey { crawl: "docs".parse().unwrap(), origin: "https://a.example".parse().unwrap() };
        Notice::OriginEnded { origin, reason: LeftoverReason::Stopped, count: n }
    }

    #[test]
    fn however_much_is_owed_it_takes_few_places() {
        let keys: HashSet<NoticeKey> = (0..10_000).map(|n| NoticeKey::from_notice(&ended(n))).collect();
        assert_eq!(keys.len(), usize::from(PLACES), "every place, and no more");
        assert_eq!(NoticeKey::from_notice(&ended(7)), NoticeKey::from_notice(&ended(7)), "one notice has one place");
    }

    #[test]
    fn each_iteration_has_its_own_place() {
        let (at, crawl) = (Timestamp::UNIX_EPOCH, "docs".parse::<CrawlId>().unwrap());
        let closed = |number| {
            let trigger = TriggerId("t".into());
            let row = IterationRow::begin(crawl.clone(), number, trigger, Reserve::default(), at, None, at);
            OwedNotice::of_closed(&row, at).key
        };
        assert_eq!(closed(Iteration::FIRST).as_str(), "iteration_closed#0000000001");
        assert_ne!(closed(Iteration::FIRST), closed(Iteration::FIRST.next()));
    }
}
