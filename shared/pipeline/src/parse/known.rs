//! URLs that are known to be claimed in this iteration, and by whom, so that the frontier is not asked about them again.

use std::collections::hash_map::{DefaultHasher, RandomState};
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use dragline_domain::frontier::{Claimer, OriginKey};
use dragline_domain::ids::Iteration;

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

    fn keyed(&self, half: u8, value: &impl Hash) -> u128 {
        let mut hasher = DefaultHasher::new();
        (self.secret, half).hash(&mut hasher);
        value.hash(&mut hasher);
        u128::from(hasher.finish())
    }

    pub(super) fn hash(&self, origin: &OriginKey, iteration: Iteration, path_and_query: &str) -> UrlHash {
        let url = (origin, iteration, path_and_query);
        UrlHash((self.keyed(0, &url) << 64 | self.keyed(1, &url)) & !CLAIMER)
    }

    fn entry(&self, url: UrlHash, claimer: &Claimer) -> u128 {
        url.0 | self.keyed(0, claimer) & CLAIMER
    }

    fn place(places: &[u128], url: UrlHash) -> usize {
        usize::try_from((url.0 >> CLAIMER.count_ones()) % places.len() as u128).unwrap_or(0)
    }

    /// Whether anyone but this claimer is known to have claimed the URL.
    pub(super) fn is_taken(&self, url: UrlHash, claimer: &Claimer) -> bool {
        let own = self.entry(url, claimer);
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = places[Self::place(&places, url)];
        entry & !CLAIMER == url.0 && entry != own
    }

    /// Remembers claimed URLs, and by whom.
    pub(super) fn remember<'c>(&self, claims: impl Iterator<Item = (UrlHash, &'c Claimer)>) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        for (url, claimer) in claims {
            let place = Self::place(&places, url);
            places[place] = self.entry(url, claimer);
        }
    }
}

impl Default for KnownUrls {
    fn default() -> Self {
        Self::new()
    }
}
