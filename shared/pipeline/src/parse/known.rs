//! URLs that are known to be claimed in this iteration, and by whom, so that the frontier is not asked about them again.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dragline_domain::frontier::Claimer;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::url::CrawlUrl;
use siphasher::sip128::{Hash128, Hasher128, SipHasher13};

/// How many URLs share a line: those of a cache line, so that a search costs one wait for memory.
const LINE: usize = 8;

/// The bits of an entry for its claimer's hash. The others are of the URL's, beside those that select its line.
const CLAIMER: u64 = 0xffff;

/// A memory of a fixed size. It keeps 48 bits of each URL's hash and 16 of its claimer's, in the one line that the URL can be in; the latest come
/// first in their line, and the last is forgotten.
///
/// A claim keeps its owner within an iteration, so forgetting one costs a query and nothing else. The claimer is kept because its own claims must
/// not be left out: it may have died before it queued them. Two claimers with one hash cost a query as well. Two URLs with one hash would cost the
/// later of them its visit: among a million URLs the odds of one such pair are one in thirty million. The hashes are keyed with secret random bits: no
/// page can construct two URLs with one hash to hide one of them.
pub struct KnownUrls {
    secret: [u64; 2],
    lines: Mutex<Vec<[u64; LINE]>>,
}

/// The hash of a URL in an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct UrlHash {
    /// Selects the line.
    line: u64,
    /// Its part of an entry; the bits of [`CLAIMER`] are zero.
    tag: u64,
}

impl KnownUrls {
    /// The default number of URLs that are remembered: 8 MiB of them.
    const URLS: usize = 1 << 20;

    /// Returns an empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self::with_secret(Self::URLS, [0, 1].map(|_| RandomState::new().hash_one(())))
    }

    /// Returns an empty memory for this many URLs, at least a line of them, with these secret bits: the same bits forget the same URLs.
    #[must_use]
    pub fn with_secret(urls: usize, secret: [u64; 2]) -> Self {
        Self { secret, lines: Mutex::new(vec![[0; LINE]; (urls / LINE).max(1)]) }
    }

    /// Begins to look at the URLs that one claimer may claim in an iteration of a crawl. Everybody else waits until that is dropped.
    pub(super) fn of(&self, crawl: &CrawlId, iteration: Iteration, claimer: &Claimer) -> KnownTo<'_> {
        let mut hasher = self.hasher();
        (crawl, iteration).hash(&mut hasher);
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        KnownTo { lines, hasher, claimer: self.mark(claimer) }
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

    /// Remembers claimed URLs, and by whom.
    pub(super) fn remember<'c>(&self, claims: impl Iterator<Item = (UrlHash, &'c Claimer)>) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        for (url, claimer) in claims {
            let place = Self::line(&lines, url);
            let line = &mut lines[place];
            let known = line.iter().position(|entry| entry & !CLAIMER == url.tag);
            line[..=known.unwrap_or(LINE - 1)].rotate_right(1);
            line[0] = url.tag | self.mark(claimer);
        }
    }
}

/// The memory, as it is of use to one claimer.
pub(super) struct KnownTo<'k> {
    lines: MutexGuard<'k, Vec<[u64; LINE]>>,
    /// Has taken in the crawl and its iteration.
    hasher: SipHasher13,
    claimer: u64,
}

impl KnownTo<'_> {
    pub(super) fn hash(&self, url: &CrawlUrl) -> UrlHash {
        let mut hasher = self.hasher;
        hasher.write(url.as_str().as_bytes());
        let Hash128 { h1, h2 } = hasher.finish128();
        // Nothing is known of an empty place.
        UrlHash { line: h1, tag: (h2 & !CLAIMER).max(CLAIMER + 1) }
    }

    /// Whether anyone but this claimer is known to have claimed the URL.
    pub(super) fn is_taken(&self, url: UrlHash) -> bool {
        let line = &self.lines[KnownUrls::line(&self.lines, url)];
        let known = line.iter().find(|entry| **entry & !CLAIMER == url.tag);
        known.is_some_and(|entry| entry & CLAIMER != self.claimer)
    }
}

impl Default for KnownUrls {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_known_to_all_but_their_claimer() {
        let known = KnownUrls::with_secret(LINE, [1, 2]);
        let (crawl, iteration): (CrawlId, _) = ("docs".parse().unwrap(), Iteration::FIRST);
        let (own, other) = (Claimer::stored("own".to_owned()), Claimer::stored("other".to_owned()));
        let url = |n: usize| CrawlUrl::try_from(format!("https://a.example/{n}")).unwrap();
        let is_taken = |n, iteration, claimer: &Claimer| {
            let known = known.of(&crawl, iteration, claimer);
            known.is_taken(known.hash(&url(n)))
        };
        for n in [0, 1, 2, 3, 4, 5, 6, 7, 0, 8] {
            let hash = known.of(&crawl, iteration, &own).hash(&url(n));
            known.remember([(hash, &own)].into_iter());
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
}
