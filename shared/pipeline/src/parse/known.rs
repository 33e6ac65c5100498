//! URLs that are known to be claimed in this iteration, so that nobody asks the frontier about them again.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError};

use dragline_domain::frontier::OriginKey;
use dragline_domain::ids::Iteration;

/// A memory of a fixed size: 128-bit hashes, each in the one place that it can be in, where a later one overwrites it.
///
/// A URL that is known stays known within an iteration, so forgetting one costs a question and nothing else. The hashes are keyed with
/// secret random bits: no page can make up two URLs of one hash to hide one of them.
pub struct KnownUrls {
    keys: [RandomState; 2],
    places: Mutex<Vec<u128>>,
}

/// The hash of a URL in an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct UrlHash(u128);

impl KnownUrls {
    /// How many URLs are remembered at most, unless told otherwise: 4 MiB of them.
    const PLACES: usize = 1 << 18;

    /// An empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self::with_places(Self::PLACES)
    }

    /// An empty memory for so many URLs, at least one.
    #[must_use]
    pub fn with_places(places: usize) -> Self {
        Self { keys: [RandomState::new(), RandomState::new()], places: Mutex::new(vec![0; places.max(1)]) }
    }

    pub(super) fn hash(&self, origin: &OriginKey, iteration: Iteration, path_and_query: &str) -> UrlHash {
        let [high, low] = &self.keys;
        let url = (origin, iteration, path_and_query);
        UrlHash(u128::from(high.hash_one(url)) << 64 | u128::from(low.hash_one(url)))
    }

    fn place(places: &[u128], hash: UrlHash) -> usize {
        usize::try_from(hash.0 % places.len() as u128).unwrap_or(0)
    }

    /// Whether this URL was remembered and not overwritten since.
    pub(super) fn contains(&self, hash: UrlHash) -> bool {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places[Self::place(&places, hash)] == hash.0
    }

    /// Remembers URLs whose claims are settled: somebody else's, or ours and committed.
    pub(super) fn remember(&self, hashes: &[UrlHash]) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        for &hash in hashes {
            let place = Self::place(&places, hash);
            places[place] = hash.0;
        }
    }
}

impl Default for KnownUrls {
    fn default() -> Self {
        Self::new()
    }
}
