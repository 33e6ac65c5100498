//! URLs that are known to be claimed in this iteration, and by whom, so that nobody asks the frontier about them again.

use std::collections::hash_map::{DefaultHasher, RandomState};
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use dragline_domain::frontier::{Claimer, OriginKey};
use dragline_domain::ids::Iteration;

/// A memory of a fixed size: of each URL 112 bits of its hash and 16 of its claimer's, in the one place that it can be in, where a later one
/// overwrites it.
///
/// A claim stays whose it is within an iteration, so forgetting one costs a question and nothing else. The claimer is kept because its
/// own claims are not to be left out: it may have died before it queued them. Two claimers of one hash cost a question as well. The
/// hashes are keyed with secret random bits: no page can make up two URLs of one hash to hide one of them.
pub struct KnownUrls {
    secret: [u64; 2],
    places: Mutex<Vec<u128>>,
}

/// The hash of a URL in an iteration; the bits of [`CLAIMER`] are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct UrlHash(u128);

/// Where the claimer's hash is kept.
const CLAIMER: u128 = 0xffff;

impl KnownUrls {
    /// How many URLs are remembered at most, unless told otherwise: 4 MiB of them.
    const PLACES: usize = 1 << 18;

    /// An empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self::with_secret(Self::PLACES, [0, 1].map(|_| RandomState::new().hash_one(())))
    }

    /// An empty memory for so many URLs, at least one, and with these secret bits: the same ones forget the same URLs.
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

    /// Whether anybody but this claimer is known to have claimed the URL.
    pub(super) fn is_taken(&self, url: UrlHash, claimer: &Claimer) -> bool {
        let own = self.entry(url, claimer);
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = places[Self::place(&places, url)];
        entry & !CLAIMER == url.0 && entry != own
    }

    /// Remembers URLs that are claimed, and by whom.
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
