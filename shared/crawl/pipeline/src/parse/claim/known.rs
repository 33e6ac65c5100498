//! A memory of URLs claimed in this iteration and their claimers, which saves asking the frontier
//! again.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dragline_domain::frontier::{Claimer, SeedDistance};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::url::CrawlUrl;
use siphasher::sip128::{Hash128, Hasher128, SipHasher13};

/// How many URLs share a line: those that fit a cache line, so that a search costs one wait for
/// memory.
const LINE: usize = 8;

/// The bits of an entry for its claimer's hash.
const CLAIMER: u64 = 0xff;

/// The bits for the claim's distance from the seeds, in the order of [`FoundAt`].
const FOUND_AT: u64 = 0xff00;

/// The other bits hold the rest of the URL's hash, besides the bits that select its line.
const URL: u64 = !(CLAIMER | FOUND_AT);

/// A memory of a fixed size. It keeps 48 bits of each URL's hash, 8 of its claimer's, and 8 for the
/// claim's distance from the seeds, in the only line that the URL can be in. The latest come first
/// in their line, and the last is forgotten.
///
/// A shorter way that others found since is not kept: a claimer that is nearer asks the frontier
/// every time, and so always gets the answer that it got before.
///
/// A claim keeps its owner within an iteration, so forgetting one costs a query and nothing else.
/// The claimer is kept because its own claims must not be left out: it may have died before it
/// queued them. Two claimers with one hash cost a query as well. Two URLs with one hash would cost
/// the later of them its visit: among a million URLs the odds of one such pair are one in thirty
/// million. The hashes are keyed with secret random bits, so no page can construct two URLs with
/// one hash to hide one of them.
pub struct KnownUrls {
    secret: [u64; 2],
    lines: Mutex<Vec<[u64; LINE]>>,
}

/// The hash of a URL in an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct UrlHash {
    /// Selects the line.
    line: u64,
    /// The URL's part of an entry; the bits of [`CLAIMER`] and [`FOUND_AT`] are zero.
    tag: u64,
}

impl KnownUrls {
    /// The default capacity in URLs: 8 MiB.
    const URLS: usize = 1 << 20;

    /// Returns an empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self::with_secret(Self::URLS, [0, 1].map(|_| RandomState::new().hash_one(())))
    }

    /// Returns an empty memory for this many URLs, at least one line, with these secret bits: the
    /// same bits forget the same URLs.
    #[must_use]
    pub fn with_secret(urls: usize, secret: [u64; 2]) -> Self {
        Self { secret, lines: Mutex::new(vec![[0; LINE]; (urls / LINE).max(1)]) }
    }

    /// Opens the memory for the URLs that one claimer may claim in an iteration of a crawl. Others
    /// wait until the returned value is dropped.
    pub(crate) fn view(&self, crawl: &CrawlId, iteration: Iteration, claimer: &Claimer) -> ClaimerView<'_> {
        let mut hasher = self.hasher();
        (crawl, iteration).hash(&mut hasher);
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        ClaimerView { lines, hasher, claimer: self.mark(claimer) }
    }

    fn hasher(&self) -> SipHasher13 {
        SipHasher13::new_with_keys(self.secret[0], self.secret[1])
    }

    fn mark(&self, claimer: &Claimer) -> u64 {
        let mut hasher = self.hasher();
        claimer.hash(&mut hasher);
        hasher.finish() & CLAIMER
    }

    fn line(lines: &[[u64; LINE]], url: UrlHash) -> usize {
        usize::try_from(url.line % lines.len() as u64).unwrap_or(0)
    }

    /// Remembers claimed URLs, with their claimers and the claims' distances from the seeds.
    pub(crate) fn remember<'c>(&self, claims: impl Iterator<Item = (UrlHash, &'c Claimer, SeedDistance)>) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        for (url, claimer, found_at) in claims {
            let place = Self::line(&lines, url);
            let line = &mut lines[place];
            let known = line.iter().position(|entry| entry & URL == url.tag);
            line[..=known.unwrap_or(LINE - 1)].rotate_right(1);
            line[0] = url.tag | far(found_at) | self.mark(claimer);
        }
    }
}

/// Encodes a distance for an entry, within [`FOUND_AT`]. A smaller distance never has a larger
/// code.
fn far(found_at: SeedDistance) -> u64 {
    if found_at.is_check() {
        return FOUND_AT;
    }
    let SeedDistance { depth, requisite_steps } = found_at;
    let (depth, steps) = (u64::from(depth).min(DEPTH_MAX), u64::from(requisite_steps).min(MANY_STEPS));
    (depth << 2 | steps) << 8
}

/// This depth, or a deeper one.
const DEPTH_MAX: u64 = 63;

/// This many requisites in a row, or more.
const MANY_STEPS: u64 = 3;

/// Whether a URL found here is known to be no nearer than the remembered distance.
fn is_no_nearer(found_at: SeedDistance, remembered: u64) -> bool {
    let place = far(found_at);
    // Of two checks, neither is nearer.
    let is_exact = found_at.is_check()
        || (u64::from(found_at.depth) < DEPTH_MAX && u64::from(found_at.requisite_steps) < MANY_STEPS);
    place > remembered || (place == remembered && is_exact)
}

/// The memory from the point of view of one claimer.
pub(crate) struct ClaimerView<'k> {
    lines: MutexGuard<'k, Vec<[u64; LINE]>>,
    /// Has hashed the crawl and its iteration.
    hasher: SipHasher13,
    claimer: u64,
}

impl ClaimerView<'_> {
    pub(crate) fn hash(&self, url: &CrawlUrl) -> UrlHash {
        let mut hasher = self.hasher;
        hasher.write(url.as_str().as_bytes());
        let Hash128 { h1, h2 } = hasher.finish128();
        // An empty place never matches.
        UrlHash { line: h1, tag: (h2 & URL).max(FOUND_AT + CLAIMER + 1) }
    }

    /// Whether anyone but this claimer is known to have claimed the URL, at no greater distance
    /// from the seeds.
    pub(crate) fn is_taken(&self, url: UrlHash, found_at: SeedDistance) -> bool {
        let line = &self.lines[KnownUrls::line(&self.lines, url)];
        let known = line.iter().find(|entry| **entry & URL == url.tag);
        known.is_some_and(|entry| entry & CLAIMER != self.claimer && is_no_nearer(found_at, entry & FOUND_AT))
    }
}

impl Default for KnownUrls {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::frontier::CHECK_DEPTH;

    use super::*;

    #[test]
    fn the_latest_are_known_to_all_but_their_claimer() {
        let known = KnownUrls::with_secret(LINE, [1, 2]);
        let (crawl, iteration): (CrawlId, _) = ("docs".parse().unwrap(), Iteration::FIRST);
        let (own, other) = (Claimer::from_stored("own".to_owned()), Claimer::from_stored("other".to_owned()));
        let at = |depth, requisite_steps| SeedDistance { depth, requisite_steps };
        let url = |n: usize| CrawlUrl::try_from(format!("https://a.example/{n}")).unwrap();
        let is_taken = |n, iteration, claimer: &Claimer| {
            let known = known.view(&crawl, iteration, claimer);
            known.is_taken(known.hash(&url(n)), at(1, 0))
        };
        for n in [0, 1, 2, 3, 4, 5, 6, 7, 0, 8] {
            let hash = known.view(&crawl, iteration, &own).hash(&url(n));
            known.remember([(hash, &own, at(1, 0))].into_iter());
        }
        for (n, expected, why) in [
            (0, true, "it came again after the others"),
            (1, false, "it was the last of its line, and forgotten"),
            (2, true, "the last now"),
            (8, true, "the latest"),
            (9, false, "it never came"),
        ] {
            assert_eq!(is_taken(n, iteration, &other), expected, "{n}: {why}");
            assert!(!is_taken(n, iteration, &own), "{n}: one's own is never left out");
            assert!(!is_taken(n, iteration.next(), &other), "{n}: each iteration claims anew");
        }
    }

    #[test]
    fn whoever_may_be_nearer_than_the_claimer_asks() {
        let known = KnownUrls::with_secret(LINE, [1, 2]);
        let (crawl, iteration): (CrawlId, _) = ("docs".parse().unwrap(), Iteration::FIRST);
        let [claimer, other] = ["a", "b"].map(|name| Claimer::from_stored(name.to_owned()));
        let at = |depth, requisite_steps| SeedDistance { depth, requisite_steps };
        for (n, (claimed, found, expected, why)) in (0..).zip([
            (at(2, 0), at(2, 0), true, "as far"),
            (at(2, 0), at(1, 9), false, "less deep"),
            (at(2, 0), at(3, 0), true, "deeper"),
            (at(2, 1), at(2, 0), false, "a page, not its requisite"),
            (at(2, 1), at(2, 1), true, "a requisite like it"),
            (at(2, 2), at(2, 3), true, "more steps"),
            (at(2, 4), at(2, 3), false, "so many steps are not told apart"),
            (at(100, 0), at(90, 0), false, "nor are such depths"),
            (at(62, 0), at(u32::MAX, 0), true, "though they are deeper than all others"),
            (at(0, 0), at(0, 0), true, "a seed"),
            (at(CHECK_DEPTH, 0), at(CHECK_DEPTH + 1, 0), true, "both are only checked"),
            (at(CHECK_DEPTH, 0), at(4, 0), false, "a visit, not a check"),
            (at(CHECK_DEPTH, 0), at(90, 9), false, "a visit from far away"),
            (at(90, 9), at(CHECK_DEPTH, 0), true, "a check after a visit from far away"),
        ]) {
            let url = CrawlUrl::try_from(format!("https://a.example/{n}")).unwrap();
            let hash = known.view(&crawl, iteration, &other).hash(&url);
            known.remember([(hash, &claimer, claimed)].into_iter());
            let known = known.view(&crawl, iteration, &other);
            assert_eq!(known.is_taken(hash, found), expected, "{why}");
        }
    }
}
