//! A map from many URLs or links to values that needs little memory.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

/// Identifies a URL or a link: half of its SHA-256, still collision-resistant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Digest([u8; 16]);

impl Digest {
    /// The lowest digest.
    pub(super) const MIN: Self = Self([0; 16]);

    /// Returns the digest of these words, which must not contain spaces.
    pub(super) fn compute<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let mut sha256 = Sha256::new();
        for word in words {
            sha256.update(word);
            sha256.update(" ");
        }
        let mut digest = [0; 16];
        digest.copy_from_slice(&sha256.finalize()[..16]);
        Self(digest)
    }
}

/// Values by digest, up to a number: those with the lowest digests from a start. The others have to
/// be collected in another pass, from [`Self::rest`].
#[derive(Debug)]
pub(super) struct Compact<V> {
    from: Digest,
    /// The first digest that did not fit; `None` if all did.
    until: Option<Digest>,
    values: BTreeMap<Digest, V>,
    max: usize,
}

impl<V> Compact<V> {
    /// Returns an empty collection of at most `max` values.
    pub(super) const fn new(from: Digest, max: usize) -> Self {
        Self { from, until: None, values: BTreeMap::new(), max }
    }

    /// Changes the value of a digest that is within reach. `change` gets the old value and returns
    /// the new one; `None` for no value.
    pub(super) fn change(&mut self, digest: Digest, change: impl FnOnce(Option<V>) -> Option<V>) {
        if digest < self.from || self.until.is_some_and(|until| digest >= until) {
            return;
        }
        let value = self.values.remove(&digest);
        if let Some(value) = change(value) {
            self.values.insert(digest, value);
        }
        if self.values.len() > self.max
            && let Some((last, _)) = self.values.pop_last()
        {
            self.until = Some(last);
        }
    }

    pub(super) fn get(&self, digest: Digest) -> Option<&V> {
        self.values.get(&digest)
    }

    pub(super) fn remove(&mut self, digest: Digest) {
        self.values.remove(&digest);
    }

    /// Keeps only matching values.
    pub(super) fn retain(&mut self, is_kept: impl Fn(&V) -> bool) {
        self.values.retain(|_, value| is_kept(value));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns whether any value matches.
    pub(super) fn any(&self, is_wanted: impl Fn(&V) -> bool) -> bool {
        self.values.values().any(is_wanted)
    }

    /// Returns the start of the next pass; `None` if everything fitted.
    pub(super) const fn next_start(&self) -> Option<Digest> {
        self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_values_are_complete_in_one_of_the_rounds() {
        let words: Vec<String> = (0..100).map(|n| format!("https://a.example/{n}")).collect();
        for max in [1, 7, 99, 100, 1_000] {
            let (mut from, mut rounds, mut found) = (Some(Digest::MIN), 0, 0);
            while let Some(begin) = from {
                let mut counts = Compact::new(begin, max);
                for _ in 0..3 {
                    for word in &words {
                        counts.change(Digest::compute([word.as_str()]), |count| Some(count.unwrap_or(0) + 1));
                        assert!(counts.values.len() <= max, "{max}");
                    }
                }
                assert!(counts.values.values().all(|count| *count == 3), "none is counted in part: {max}");
                (rounds, found, from) = (rounds + 1, found + counts.values.len(), counts.next_start());
            }
            assert_eq!((found, rounds), (100, 100_usize.div_ceil(max)), "{max}");
        }
    }

    #[test]
    fn words_are_told_apart() {
        assert_ne!(Digest::compute(["a", "b"]), Digest::compute(["ab"]));
        assert_eq!(Digest::compute(["a", "b"]), Digest::compute(["a", "b"]));
    }
}
