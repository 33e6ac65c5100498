//! What sitemaps say of when pages changed last (`lastmod`), and whether to believe it.
//!
//! Many sites write the time of the sitemap itself there, or of the last release. So a page is
//! visited for it only where the other pages of the sitemap show that it tells the truth.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::shown::plural;
use crate::time::after;

/// How far a day may be from the same day in UTC.
const ZONE: Duration = Duration::from_hours(12);

const DAY: Duration = Duration::from_hours(24);

/// When a page changed last, by its sitemap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastMod {
    from: Timestamp,
    /// Exclusive.
    until: Timestamp,
}

impl LastMod {
    /// The second in which this instant is, or the whole day if that begins with it: sitemaps that
    /// know no more often write midnight. The time zone of a day is unknown.
    #[must_use]
    pub fn new(at: Timestamp) -> Self {
        if at.as_second().rem_euclid(86_400) == 0 {
            let before = at.checked_sub(ZONE).unwrap_or(Timestamp::MIN);
            Self { from: before, until: after(at, DAY + ZONE) }
        } else {
            Self { from: at, until: after(at, Duration::from_secs(1)) }
        }
    }

    /// Compares it with what was seen of the page.
    #[must_use]
    pub fn compare(self, page: &PageTimes) -> Agreement {
        if self.from <= page.first_seen {
            Agreement::Silent
        } else if page.changed_at.is_some_and(|changed| changed >= self.from) {
            Agreement::Right
        } else if page.checked_at >= self.until {
            Agreement::Wrong
        } else {
            Agreement::News
        }
    }
}

/// What was seen of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageTimes {
    /// When a link to it was first found.
    pub first_seen: Timestamp,
    /// When a visit found it changed; `None` if none did since the first.
    pub changed_at: Option<Timestamp>,
    /// When a visit last found it, changed or not.
    pub checked_at: Timestamp,
}

/// How the time of a page's last change by its sitemap fits what was seen of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// The page has been known for longer: that proves nothing.
    Silent,
    /// A visit since then found the page changed.
    Right,
    /// Visits since then found the page as it was.
    Wrong,
    /// Nobody has looked since.
    News,
}

/// How often a sitemap was right when it was visited. [`fmt::Display`] says so in a few words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truth {
    /// The number of entries for which it was right.
    pub right: u64,
    /// The number of entries for which it was wrong.
    pub wrong: u64,
    /// The number of entries that changed since their last visit, by what it says.
    pub changed: u64,
}

impl Truth {
    /// The fewest entries that prove anything.
    const RIGHT_MIN: u64 = 3;

    /// For how many entries it must be right for each one for which it is wrong.
    const RIGHT_FOR_WRONG: u64 = 4;

    /// Counts how it fits what was seen of one entry.
    pub const fn count(&mut self, agreement: Agreement) {
        match agreement {
            Agreement::Right => self.right += 1,
            Agreement::Wrong => self.wrong += 1,
            Agreement::News => self.changed += 1,
            Agreement::Silent => {}
        }
    }

    /// Whether it has no entry that proves anything, either way.
    #[must_use]
    pub const fn is_unknown(self) -> bool {
        self.right + self.wrong == 0
    }

    /// Whether URLs are visited because of what it says.
    #[must_use]
    pub const fn is_proved(self) -> bool {
        self.right >= Self::RIGHT_MIN && self.right >= self.wrong.saturating_mul(Self::RIGHT_FOR_WRONG)
    }
}

impl fmt::Display for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { right, wrong, changed } = self;
        write!(f, "lastmod was right {right} of {}: ", plural(right + wrong, "time"))?;
        if self.is_proved() {
            write!(f, "{changed} changed since the last visit")
        } else {
            f.write_str("it is not believed")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_sitemap_is_compared_with_what_visits_saw() {
        let page = |changed: Option<&str>, checked: &str| PageTimes {
            first_seen: at("2026-03-01T09:00:00Z"),
            changed_at: changed.map(at),
            checked_at: at(checked),
        };
        let [on_10th, at_noon, midnight] = ["2026-03-10T10:00:00Z", "2026-03-10T12:00:00Z", "2026-03-10T00:00:00Z"];
        let old = page(None, on_10th);
        let seen = page(Some(on_10th), on_10th);
        use Agreement::{News, Right, Silent, Wrong};
        for (lastmod, page, expected, why) in [
            ("2026-02-01T08:00:00Z", old, Silent, "before the page was known"),
            ("2026-03-09T08:00:00Z", old, Wrong, "a later visit saw no change"),
            ("2026-03-09T08:00:00Z", seen, Right, "the next visit saw the change"),
            (at_noon, seen, News, "two hours after the visit"),
            (at_noon, page(Some(on_10th), at_noon), News, "in the second of the visit"),
            (at_noon, page(Some(on_10th), "2026-03-10T12:00:01Z"), Wrong, "a second later"),
            (midnight, old, News, "some time that day"),
            (midnight, seen, Right, "that day"),
            (midnight, page(None, "2026-03-11T11:00:00Z"), News, "the day may end later elsewhere"),
            (midnight, page(None, "2026-03-11T12:00:00Z"), Wrong, "it is over everywhere"),
            (midnight, page(Some("2026-03-09T13:00:00Z"), on_10th), Right, "the day may have begun earlier"),
        ] {
            assert_eq!(LastMod::new(at(lastmod)).compare(&page), expected, "{lastmod}: {why}");
        }
    }

    #[test]
    fn a_sitemap_has_to_prove_itself() {
        for (right, wrong, expected, why) in [
            (0, 0, false, "nothing is known"),
            (2, 0, false, "too little"),
            (3, 0, true, "enough"),
            (3, 1, false, "one of four is wrong"),
            (4, 1, true, "one of five is"),
            (400, 101, false, "more than a fifth"),
        ] {
            assert_eq!(Truth { right, wrong, changed: 0 }.is_proved(), expected, "{why}");
        }
    }
}
