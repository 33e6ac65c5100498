//! The sites: a few pages on two origins.

use std::collections::BTreeMap;

/// The number that identifies a page.
pub(crate) type Page = usize;

/// An origin: 0 or 1.
pub(crate) type OriginNumber = usize;

/// There are two origins.
pub(crate) const ORIGINS: usize = 2;

/// A site. Pages are numbers, each on one of two origins.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// The origin of each page, 0 or 1.
    pub origin_of: &'static [usize],
    /// The pages that each links to.
    pub links: &'static [&'static [usize]],
    /// The seeds.
    pub seeds: &'static [usize],
}

impl Site {
    /// A page on each origin, the first linking to the second.
    pub const TWO_PAGES: Self = Self { origin_of: &[0, 1], links: &[&[1], &[]], seeds: &[0] };

    /// A seed on each of two origins, and nothing else.
    pub const TWO_SEEDS: Self = Self { origin_of: &[0, 1], links: &[&[], &[]], seeds: &[0, 1] };
    /// A page on each origin, linking to each other.
    pub const CIRCLE: Self = Self { origin_of: &[0, 1], links: &[&[1], &[0]], seeds: &[0] };

    /// A page that links to two pages of the other origin, one of which links to the other.
    pub const FAN: Self = Self { origin_of: &[0, 1, 1], links: &[&[1, 2], &[2], &[]], seeds: &[0] };

    /// Seeds on both origins that link to a third page, so that two segments claim it.
    pub const MEETING: Self = Self { origin_of: &[0, 1, 1], links: &[&[2], &[2], &[]], seeds: &[0, 1] };

    /// Links away from an origin and back to it.
    pub const THERE_AND_BACK: Self = Self { origin_of: &[0, 1, 0], links: &[&[1], &[2], &[]], seeds: &[0] };

    /// A page that links to both origins: its parse has two targets.
    pub const BOTH_WAYS: Self = Self { origin_of: &[0, 1, 0], links: &[&[1, 2], &[], &[]], seeds: &[0] };

    /// Four pages with cross links and circles.
    pub const CROSS_LINKED: Self =
        Self { origin_of: &[0, 1, 0, 1], links: &[&[1, 2], &[2, 0], &[3], &[0]], seeds: &[0] };

    /// One origin, where the long path to page 3 comes first and its link, page 4, is within two
    /// links only by the short path.
    pub const TWO_WAYS: Self =
        Self { origin_of: &[0, 0, 0, 0, 0], links: &[&[2], &[3], &[3], &[4], &[]], seeds: &[0, 1] };

    /// Seeds on both origins. Two pages are found on the second; one may be taken before the first
    /// origin links to the other, which sorts first.
    pub const OVERTAKING: Self =
        Self { origin_of: &[0, 1, 1, 1, 1], links: &[&[4], &[2, 3], &[], &[], &[]], seeds: &[0, 1] };

    /// The pages within this many links of a seed, with their depths.
    pub(crate) fn within(&self, depth_max: u32) -> BTreeMap<Page, u32> {
        let mut depths: BTreeMap<Page, u32> = self.seeds.iter().map(|&seed| (seed, 0)).collect();
        for depth in 0..depth_max {
            let found = depths.iter().filter(|(_, of)| **of == depth).flat_map(|(&page, _)| self.links[page]);
            let found: Vec<Page> = found.copied().collect();
            for page in found {
                depths.entry(page).or_insert(depth + 1);
            }
        }
        depths
    }
}
