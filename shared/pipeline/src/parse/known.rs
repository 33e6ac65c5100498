//! URLs that are known to be claimed in this iteration, and by whom, so that the frontier is not asked about them again.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dragline_domain::frontier::Claimer;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::url::CrawlUrl;
use siphasher::sip128::{Hasher128, SipHasher13};

/// A memory of a fixed size. It keeps 112 bits of each URL's hash and 16 of its claimer's, in the one place that the URL can be in; a later URL
/// overwrites it.
///
/// A claim keeps its owner within an iteration, so forgetting one costs a query and nothing else. The claimer is kept because its own claims must
/// not be left out: it may have died before it queued them. Two claimers with one hash cost a query as well. The hashes are keyed with secret
/// random bits: no page can construct two URLs with one hash to hide one of them.
pub struct KnownUrls {
    secret: [u64; 2],
    places: Mutex<Vec<u128>>,
}

/// The hash of a URL in an iteration; the bits of [`CLAIMER`] are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct UrlHash(u128);

/// The bits for the claimer's hash.
const CLAIMER: u128 = 0xffff;

impl KnownUrls {
    /// The default number of URLs that are remembered: 4 MiB of them.
    const PLACES: usize = 1 << 18;

    /// Returns an empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self::with_secret(Self::PLACES, [0, 1].map(|_| RandomState::new().hash_one(())))
    }

    /// Returns an empty memory for this many URLs, at least one, with these secret bits: the same bits forget the same URLs.
    #[must_use]
    pub fn with_secret(places: usize, secret: [u64; 2]) -> Self {
        Self { secret, places: Mutex::new(vec![0; places.max(1)]) }
    }

    /// Begins to look at the URLs that one claimer may claim in an iteration of a crawl. Everybody else waits until that is dropped.
    pub(super) fn of(&self, crawl: &CrawlId, iteration: Iteration, claimer: &Claimer) -> KnownTo<'_> {
        let mut hasher = self.hasher();
        (crawl, iteration).hash(&mut hasher);
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        KnownTo { places, hasher, claimer: self.mark(claimer) }
    }

    fn hasher(&self) -> SipHasher13 {
        SipHasher13::new_with_keys(self.secret[0], self.secret[1])
    }

    fn mark(&self, claimer: &Claimer) -> u128 {
        let mut hasher = self.hasher();
        claimer.hash(&mut hasher);
        hasher.finish128().as_u128() & CLAIMER
    }

    fn place(places: &[u128], url: UrlHash) -> usize {
        usize::try_from((url.0 >> CLAIMER.count_ones()) % places.len() as u128).unwrap_or(0)
    }

    /// Remembers claimed URLs, and by whom.
    pub(super) fn remember<'c>(&self, claims: impl Iterator<Item = (UrlHash, &'c Claimer)>) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        for (url, claimer) in claims {
            let place = Self::place(&places, url);
            places[place] = url.0 | self.mark(claimer);
        }
    }
}

/// The memory, as it is of use to one claimer.
pub(super) struct KnownTo<'k> {
    places: MutexGuard<'k, Vec<u128>>,
    /// Has taken in the crawl and its iteration.
    hasher: SipHasher13,
    claimer: u128,
}

impl KnownTo<'_> {
    pub(super) fn hash(&self, url: &CrawlUrl) -> UrlHash {
        let mut hasher = self.hasher;
        hasher.write(url.as_str().as_bytes());
        UrlHash(hasher.finish128().as_u128() & !CLAIMER)
    }

    /// Whether anyone but this claimer is known to have claimed the URL.
    pub(super) fn is_taken(&self, url: UrlHash) -> bool {
        let entry = self.places[KnownUrls::place(&self.places, url)];
        entry & !CLAIMER == url.0 && entry & CLAIMER != self.claimer
    }
}

impl Default for KnownUrls {
    fn default() -> Self {
        Self::new()
    }
}
