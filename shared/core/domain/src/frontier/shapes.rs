//! Shapes of an origin's URLs whose pages lead on to more of their kind and show nothing new:
//! calendars, filters, sessions in paths, lists that never end.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::page_sample::PageSample;
use crate::url::{ShapeKey, ShapeKeys};

/// The limit on shapes that are remembered at an origin.
const RECORDS_MAX: usize = 64;

/// The limit on shapes that are remembered with what their pages showed, although they are in
/// order.
const IN_ORDER_MAX: usize = 2;

/// The limit on hashes that are kept of what pages of a shape showed, the latest ones.
const SEEN_MAX: usize = 320;

/// The same while the shape is in order.
const SEEN_IN_ORDER_MAX: usize = 160;

/// How many pages that show nothing new make a shape dull, and how many fruitless ones that lead to
/// it a part of theirs.
const DULL_MIN: u16 = 4;

/// How many fruitless pages a page with something new outweighs.
const NEWS_WEIGHT: u16 = 2;

/// How many fruitless pages a group of shapes may have for one of a single shape.
const GROUP_FACTOR: u16 = 2;

/// After how many fruitless pages of a shape the rest waits, or a third of the limit if that is
/// less.
const WAITS_AFTER: u16 = 24;

/// How many more pages of a shape that was left are tried in the next iteration: it may have
/// changed.
const TRIED_AGAIN: u16 = 4;

/// A page that was read, as far as it matters for the shapes of its origin.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PageObservation {
    /// Its shape.
    pub keys: ShapeKeys,
    /// What it shows.
    pub sample: PageSample,
    /// The shapes of the URLs of its origin that it was the first to name.
    pub leads_to: BTreeSet<ShapeKeys>,
}

/// What is to be done with a URL that was never visited, by its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeStanding {
    /// Nothing speaks against it.
    InOrder,
    /// It waits behind all others.
    Waits,
    /// It is left.
    Left {
        /// How many pages of its shape or group were read for nothing.
        pages: u16,
    },
}

/// Whether a record is of a single shape or of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Width {
    Single,
    Group,
}

impl Width {
    /// Returns how many pages of a shape or group there may be, if this many of a shape may.
    const fn pages(self, of_shape: u16) -> u16 {
        match self {
            Self::Single => of_shape,
            Self::Group => of_shape.saturating_mul(GROUP_FACTOR),
        }
    }
}

/// What is remembered of a shape or a group of shapes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct ShapeRecord {
    key: ShapeKey,
    width: Width,
    /// Pages in a row that led on to more of it and showed nothing new, less those that did.
    #[serde(default, skip_serializing_if = "crate::stored_form::is_zero")]
    fruitless: u16,
    /// Fruitless pages of other shapes that led to it.
    #[serde(default, skip_serializing_if = "crate::stored_form::is_zero")]
    fed: u16,
    /// Pages in a row that showed nothing new, whether or not they led on, less those that did.
    #[serde(default, skip_serializing_if = "crate::stored_form::is_zero")]
    dull: u16,
    /// What its pages showed, the latest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "packed")]
    seen: Vec<u32>,
}

impl ShapeRecord {
    /// Learns what a page shows. Returns whether that is news.
    fn learn(&mut self, sample: &PageSample) -> bool {
        let is_news = sample.shows_news(|hash| self.seen.contains(&hash));
        self.seen.retain(|hash| !sample.hashes().any(|other| other == *hash));
        self.seen.extend(sample.hashes());
        self.dull = if is_news { self.dull.saturating_sub(NEWS_WEIGHT) } else { self.dull.saturating_add(1) };
        is_news
    }

    /// Returns how many of its pages were read for nothing. What fruitless pages of other shapes
    /// lead to is no better than they if it is all alike: the forms behind each day of a calendar.
    const fn pages_for_nothing(&self) -> u16 {
        if self.fed >= DULL_MIN && self.dull > self.fruitless { self.dull } else { self.fruitless }
    }

    const fn is_in_order(&self) -> bool {
        self.fruitless == 0 && self.dull == 0
    }

    /// Forgets what was seen longest ago.
    fn forget(&mut self) {
        let kept = if self.is_in_order() { SEEN_IN_ORDER_MAX } else { SEEN_MAX };
        self.seen.drain(..self.seen.len().saturating_sub(kept));
    }
}

/// The shapes of an origin's URLs that are watched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WatchedShapes {
    /// The one observed last comes last.
    records: Vec<ShapeRecord>,
}

impl WatchedShapes {
    /// How many URLs an origin must have had before its shapes are watched: a small site is no
    /// trap.
    pub const URLS_MIN: u64 = 100;

    /// Whether none is watched.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns what is to be done with a URL of this shape, if this many fruitless pages of one
    /// shape are the limit.
    #[must_use]
    pub fn standing(&self, keys: &ShapeKeys, fruitless_max: u16) -> ShapeStanding {
        let records = keys.all().filter_map(|key| self.record(key));
        let waits_after = WAITS_AFTER.min(fruitless_max / 3);
        records.fold(ShapeStanding::InOrder, |standing, record| {
            let pages = record.pages_for_nothing();
            match standing {
                ShapeStanding::Left { .. } => standing,
                _ if pages >= record.width.pages(fruitless_max) => ShapeStanding::Left { pages },
                _ if pages >= record.width.pages(waits_after) => ShapeStanding::Waits,
                _ => standing,
            }
        })
    }

    /// Whether it matters what a page of this shape shows, if it was the first to name URLs of
    /// these: only then does [`Self::observe`] look at its sample.
    #[must_use]
    pub fn concerns(&self, keys: &ShapeKeys, leads_to: &BTreeSet<ShapeKeys>) -> bool {
        let leads_on = |other: &ShapeKeys| other.own == keys.own || keys.has_sibling(other);
        leads_to.iter().any(leads_on) || self.record(keys.widest()).is_some()
    }

    /// Observes pages of an origin with this many URLs.
    ///
    /// A page is fruitless if it leads on to more URLs of its own shape or group and neither shows
    /// anything new nor leads to another shape whose pages do. Pages that do not lead on are not
    /// counted until their shape waits: a list of any length ends.
    pub fn observe(&mut self, urls: u64, pages: &[PageObservation]) {
        if urls < Self::URLS_MIN {
            return;
        }
        pages.iter().for_each(|page| self.observe_page(page));
        self.forget();
    }

    fn observe_page(&mut self, page: &PageObservation) {
        let PageObservation { keys, sample, leads_to } = page;
        if !self.concerns(keys, leads_to) {
            return;
        }
        let leads_on = leads_to.iter().any(|other| other.own == keys.own);
        let leads_on_in_group = leads_to.iter().any(|other| keys.has_sibling(other));
        let widest = keys.widest();
        let is_news = self.watch_widest(keys).learn(sample);
        let elsewhere: Vec<ShapeKeys> = leads_to.iter().copied().filter(|other| other.widest() != widest).collect();
        let is_dull = |other: &ShapeKeys| self.record(other.widest()).is_some_and(|record| record.dull >= DULL_MIN);
        if is_news || !elsewhere.iter().all(is_dull) {
            for key in keys.all() {
                if let Some(record) = self.records.iter_mut().find(|record| record.key == key) {
                    record.fruitless = record.fruitless.saturating_sub(NEWS_WEIGHT);
                }
            }
        } else {
            if leads_on || leads_on_in_group {
                let fed: BTreeSet<ShapeKey> = elsewhere.iter().map(ShapeKeys::widest).collect();
                for record in self.records.iter_mut().filter(|record| fed.contains(&record.key)) {
                    record.fed = record.fed.saturating_add(1);
                }
            }
            let widths = [(Width::Single, leads_on), (Width::Group, leads_on_in_group)];
            for (key, (width, leads_on)) in keys.all().zip(widths) {
                // What waits is under suspicion: now each page counts.
                let waits = |record: &ShapeRecord| record.fruitless >= width.pages(WAITS_AFTER);
                if leads_on || self.record(key).is_some_and(waits) {
                    let record = self.watch(key, width);
                    record.fruitless = record.fruitless.saturating_add(1);
                }
            }
        }
        if !is_news {
            // Whether what it leads to is as dull remains to be seen.
            for other in &elsewhere {
                self.watch_widest(other);
            }
        }
    }

    fn record(&self, key: ShapeKey) -> Option<&ShapeRecord> {
        self.records.iter().find(|record| record.key == key)
    }

    /// Returns the record of the widest shape, now the latest one.
    fn watch_widest(&mut self, keys: &ShapeKeys) -> &mut ShapeRecord {
        match keys.group {
            Some(group) => self.watch(group, Width::Group),
            None => self.watch(keys.own, Width::Single),
        }
    }

    /// Returns the record of a shape or a group, now the latest one.
    fn watch(&mut self, key: ShapeKey, width: Width) -> &mut ShapeRecord {
        let record = match self.records.iter().position(|record| record.key == key) {
            Some(place) => self.records.remove(place),
            None => ShapeRecord { key, width, fruitless: 0, fed: 0, dull: 0, seen: Vec::new() },
        };
        self.records.push(record);
        self.records.last_mut().expect("it was pushed")
    }

    /// Forgets what is beyond the limits: of shapes in order all but the latest, then those with
    /// the fewest fruitless pages.
    fn forget(&mut self) {
        self.records.iter_mut().for_each(ShapeRecord::forget);
        let in_order = self.records.iter().filter(|record| record.is_in_order()).count();
        let mut surplus = in_order.saturating_sub(IN_ORDER_MAX);
        self.records.retain(|record| {
            let is_surplus = record.is_in_order() && surplus > 0;
            surplus -= usize::from(is_surplus);
            !is_surplus
        });
        while self.records.len() > RECORDS_MAX {
            let least = self.records.iter().enumerate().min_by_key(|(_, record)| record.fruitless);
            let Some((place, _)) = least else { return };
            self.records.remove(place);
        }
    }

    /// Returns what the next iteration begins with: shapes with many fruitless pages, of which a
    /// few more are tried.
    #[must_use]
    pub fn carried_over(&self) -> Self {
        let tried_again = self.records.iter().map(|record| {
            let fruitless = record.fruitless.saturating_sub(TRIED_AGAIN);
            ShapeRecord { fruitless, dull: record.dull.saturating_sub(TRIED_AGAIN), ..record.clone() }
        });
        Self { records: tried_again.filter(|record| record.pages_for_nothing() > 0).collect() }
    }
}

/// Numbers as text in Base64: the row is paid for by its size.
mod packed {
    use data_encoding::BASE64_NOPAD;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(numbers: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        serializer.serialize_str(&BASE64_NOPAD.encode(&bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = BASE64_NOPAD.decode(text.as_bytes()).map_err(serde::de::Error::custom)?;
        Ok(bytes.as_chunks().0.iter().map(|number| u32::from_be_bytes(*number)).collect())
    }
}

#[cfg(test)]
#[path = "shapes_tests.rs"]
mod tests;
