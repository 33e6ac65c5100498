//! Shorter ways to a URL that are found after it was claimed.
//!
//! Within one origin a barrier makes the order breadth first. Origins do not wait for each other,
//! so a URL may first be found by a long way. Where depth decides what is crawled, the finder of a
//! shorter way queues the URL again. There is still only one visit: the first entry makes it, and
//! the entry of the shortest way decides on the links of its document again, from its own depth.

use super::{DocumentStanding, Sighting, UrlHistory};

/// The distance of a URL from the seeds, as far as it decides which links are followed. Nearer ones
/// come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SeedDistance {
    /// See [`Sighting::depth`].
    pub depth: u32,
    /// See [`Sighting::requisite_steps`].
    pub requisite_steps: u8,
}

impl SeedDistance {
    /// The distance of a seed: the smallest one.
    pub const SEED: Self = Self { depth: 0, requisite_steps: 0 };

    /// A distance of a visit that reads its URL: no other is larger, and those of checks all are.
    pub const FARTHEST_READ: Self = Self { depth: CHECK_DEPTH - 1, requisite_steps: u8::MAX };

    /// Whether it is that of a URL that is only checked.
    #[must_use]
    pub const fn is_check(self) -> bool {
        self.depth >= CHECK_DEPTH
    }
}

/// The depth of a URL that is only checked, before redirects, which add one each. It is deeper than
/// any page, so an origin's checks wait for its pages, and a page that is checked because some link
/// to it does not count is visited if another does.
pub const CHECK_DEPTH: u32 = 1_000_000;

impl Sighting {
    /// Returns its distance from the seeds.
    #[must_use]
    pub const fn seed_distance(&self) -> SeedDistance {
        SeedDistance { depth: self.depth, requisite_steps: self.requisite_steps }
    }
}

/// How a claim treats a URL that others queued in this iteration by a longer way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShorterWays {
    /// Shorter ways are ignored: depth does not decide what is crawled, or the claimer wants the
    /// URL alone.
    Ignored,
    /// The shorter way is recorded, and the claimer queues the URL once more.
    PassedOn,
    /// The same for a URL that others only check; any other is as near as any.
    OverChecks,
}

impl ShorterWays {
    /// Returns the way to a URL at this distance, to be recorded if it is shorter than the known
    /// ones; `None` if it never is.
    #[must_use]
    pub fn way(self, found_at: SeedDistance) -> Option<SeedDistance> {
        match self {
            Self::Ignored => None,
            Self::PassedOn => Some(found_at),
            Self::OverChecks => (!found_at.is_check()).then_some(SeedDistance::FARTHEST_READ),
        }
    }

    /// Returns the distance to be remembered of a URL that is claimed at this one (`None`: others
    /// have come nearer since): whoever is no nearer need not ask. `None` if all have to.
    #[must_use]
    pub fn remembered(self, found_at: Option<SeedDistance>) -> Option<SeedDistance> {
        match self {
            Self::Ignored => Some(SeedDistance::SEED),
            Self::PassedOn => found_at,
            Self::OverChecks => found_at.map(|at| if at.is_check() { at } else { SeedDistance::SEED }),
        }
    }
}

/// The limit on the shorter ways to a URL that an iteration follows: each is in the URL's row.
/// Further ones are ignored.
pub const SHORTER_WAYS_MAX: usize = 32;

/// The data about a URL to which a shorter way was found since it was claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShorterWayState {
    /// The distance by the shortest way.
    pub found_at: SeedDistance,
    /// The current data about it, after a visit in this iteration.
    pub known: UrlHistory,
    /// Whether it has an outcome in this iteration, as far as segments are parsed.
    pub has_ended: bool,
}

/// The work for an entry of such a URL, once no possible visit of it is in flight, unparsed or to
/// be tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NearerWork {
    /// Visit it: no other entry came before.
    Visit,
    /// Decide on the links of this document again, from the entry's depth.
    Decide(UrlHistory),
    /// Nothing: it was visited, and has no document that is shown, or the entry of the shortest way
    /// does the rest.
    Nothing,
}

impl ShorterWayState {
    /// Decides on the work for an entry that was found at this distance.
    #[must_use]
    pub fn work(&self, entry: SeedDistance) -> NearerWork {
        let is_shown = self.known.document.is_some_and(|document| document.standing == DocumentStanding::Shown);
        match self.has_ended {
            false => NearerWork::Visit,
            true if entry == self.found_at && is_shown => NearerWork::Decide(self.known.clone()),
            true => NearerWork::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontier::{LastDocument, LinkDecisions, RulesDigest, VisitPlace};
    use crate::ids::{Iteration, Turn};
    use crate::outcome::Outcome;

    #[test]
    fn only_a_visit_is_nearer_than_a_check() {
        let at = |depth| SeedDistance { depth, requisite_steps: 0 };
        let read = Some(SeedDistance::FARTHEST_READ);
        for (ways, found_at, way, remembered, why) in [
            (ShorterWays::Ignored, at(3), None, Some(SeedDistance::SEED), "no way counts"),
            (ShorterWays::PassedOn, at(3), Some(at(3)), Some(at(3)), "each counts"),
            (ShorterWays::PassedOn, at(CHECK_DEPTH), Some(at(CHECK_DEPTH)), Some(at(CHECK_DEPTH)), "a check, too"),
            (ShorterWays::OverChecks, at(3), read, Some(SeedDistance::SEED), "a visit is as near as any other"),
            (
                ShorterWays::OverChecks,
                at(CHECK_DEPTH + 1),
                None,
                Some(at(CHECK_DEPTH + 1)),
                "a check is nearer than none",
            ),
        ] {
            assert_eq!(ways.way(found_at), way, "{why}");
            assert_eq!(ways.remembered(Some(found_at)), remembered, "{why}");
        }
        assert!(SeedDistance::FARTHEST_READ < at(CHECK_DEPTH), "the deepest visit comes before a check");
        assert_eq!(ShorterWays::OverChecks.remembered(None), None, "others came nearer: all have to ask");
    }

    #[test]
    fn the_work_of_an_entry_depends_on_the_shortest_way() {
        let document = |standing| {
            let place = VisitPlace { iteration: Iteration::FIRST, turn: Turn(1), segment: 0, n: 0 };
            let links = LinkDecisions { by: RulesDigest(7), depth: 5 };
            let document = LastDocument { place, outcome: Outcome::FileIngested, standing, links };
            UrlHistory { document: Some(document), ..UrlHistory::default() }
        };
        let at = |depth, requisite_steps| SeedDistance { depth, requisite_steps };
        let nearer = |known, has_ended| ShorterWayState { found_at: at(2, 0), known, has_ended };
        let (shown, decide) =
            (document(DocumentStanding::Shown), || NearerWork::Decide(document(DocumentStanding::Shown)));
        for (nearer, entry, expected, why) in [
            (nearer(UrlHistory::default(), false), at(2, 0), NearerWork::Visit, "no entry came before it"),
            (nearer(shown.clone(), false), at(5, 0), NearerWork::Visit, "nor before a longer way's, in this iteration"),
            (nearer(shown.clone(), true), at(2, 0), decide(), "the shortest way"),
            (nearer(shown.clone(), true), at(2, 1), NearerWork::Nothing, "a requisite's is longer"),
            (nearer(shown, true), at(5, 0), NearerWork::Nothing, "a longer way"),
            (nearer(UrlHistory::default(), true), at(2, 0), NearerWork::Nothing, "its visit failed"),
            (nearer(document(DocumentStanding::Gone), true), at(2, 0), NearerWork::Nothing, "its page is gone"),
        ] {
            assert_eq!(nearer.work(entry), expected, "{why}");
        }
    }
}
