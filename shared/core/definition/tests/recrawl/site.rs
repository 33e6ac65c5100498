//! A site of a thousand pages, and the events of each in a year. Everything is drawn from a seed.

use std::ops::Range;

use dragline_domain::url::{CrawlUrl, UrlRules};

/// The days of a year. The first run is on day 0, when every page is new.
pub(crate) const DAYS: u32 = 365;
/// The pages of the site.
pub(crate) const PAGES: u32 = 1_000;

/// A page and its events.
pub(crate) struct Page {
    pub(crate) url: CrawlUrl,
    pub(crate) pace: Pace,
    /// The days on which it changes, in order, before that day's run. Its return counts as a
    /// change.
    pub(crate) changes: Vec<u32>,
    /// The days of its absence; may be empty.
    pub(crate) away: Range<u32>,
}

/// How often a page changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    Daily,
    Weekly,
    Monthly,
    Never,
}

impl Pace {
    /// Returns the pace of the page with this number: of a hundred, 5 change daily, 15 weekly, 30
    /// monthly and 50 never.
    fn nth(number: u32) -> Self {
        match number % 100 {
            0..5 => Self::Daily,
            5..20 => Self::Weekly,
            20..50 => Self::Monthly,
            _ => Self::Never,
        }
    }

    /// Returns the average odds of a change per day: on so many days of so many.
    const fn odds(self) -> (u64, u64) {
        match self {
            Self::Daily => (1, 1),
            Self::Weekly => (1, 7),
            Self::Monthly => (1, 30),
            Self::Never => (0, 1),
        }
    }

    /// Returns the sections of the site, with the percentage of pages of this pace in each.
    const fn sections(self) -> [(&'static str, u64); 3] {
        match self {
            Self::Daily => [("news", 90), ("docs", 10), ("archive", 0)],
            Self::Weekly => [("news", 50), ("docs", 50), ("archive", 0)],
            Self::Monthly => [("news", 0), ("docs", 80), ("archive", 20)],
            Self::Never => [("news", 0), ("docs", 30), ("archive", 70)],
        }
    }
}

/// Draws the site.
pub(crate) fn draw(seed: u64) -> Vec<Page> {
    let mut dice = Dice(seed);
    (0..PAGES).map(|number| page(number, &mut dice)).collect()
}

fn page(number: u32, dice: &mut Dice) -> Page {
    let pace = Pace::nth(number);
    let drawn = dice.below(100);
    let mut sum = 0;
    let sections = pace.sections();
    let (section, _) = sections
        .iter()
        .find(|(_, percent)| {
            sum += percent;
            drawn < sum
        })
        .expect("the percentages add up to 100");
    let url = CrawlUrl::parse(&format!("https://example.org/{section}/{number}"), &UrlRules::default()).unwrap();
    // Of a hundred pages, two are deleted for good, and three come back.
    let away = match dice.below(100) {
        0..2 => dice.day(1..DAYS)..DAYS,
        2..5 => {
            let first = dice.day(1..DAYS);
            first..(first + dice.day(5..60)).min(DAYS)
        }
        _ => 0..0,
    };
    let (times, days) = pace.odds();
    let changes = (1..DAYS).filter(|day| {
        let changes = dice.below(days) < times;
        (changes && !away.contains(day)) || (*day == away.end && !away.is_empty())
    });
    Page { url, pace, changes: changes.collect(), away: away.clone() }
}

/// A random number generator, splitmix64 (Steele, Lea and Flood, 2014): its numbers do not depend
/// on the version of any library.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below a small bound.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn day(&mut self, days: Range<u32>) -> u32 {
        let day = self.below(u64::from(days.end - days.start));
        days.start + u32::try_from(day).unwrap()
    }
}
