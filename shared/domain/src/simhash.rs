//! A fingerprint of a text, of which similar texts differ in few bits.

use std::fmt;
use std::hash::Hasher;

use siphasher::sip::SipHasher13;

/// How many words in a row make a feature.
const SHINGLE_WORDS: usize = 3;

/// The fingerprint by Charikar's method (2002): 64 bits, each of them what most hashes of the text's runs of three words, in lower case, have there.
///
/// Texts of a few words have few features, so their fingerprints say little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Simhash(pub u64);

impl Simhash {
    /// Computes that of a text; 0 if it has no words.
    ///
    /// ```
    /// use dragline_domain::simhash::Simhash;
    ///
    /// let words: String = (0..200).map(|n| format!("word{n} ")).collect();
    /// let near = Simhash::of(&format!("{words} one more"));
    /// assert!(Simhash::of(&words).distance(near) < 6);
    /// ```
    #[must_use]
    pub fn of(text: &str) -> Self {
        let lower = text.to_lowercase();
        let words: Vec<&str> = lower.split_whitespace().collect();
        let mut counts = [0_i32; 64];
        for run in words.windows(SHINGLE_WORDS.min(words.len().max(1))) {
            let mut hasher = SipHasher13::new();
            for word in run {
                hasher.write(word.as_bytes());
                hasher.write_u8(0xff);
            }
            let hash = hasher.finish();
            for (bit, count) in counts.iter_mut().enumerate() {
                *count = count.saturating_add(if hash >> bit & 1 == 1 { 1 } else { -1 });
            }
        }
        Self(counts.iter().enumerate().filter(|(_, count)| **count > 0).fold(0, |hash, (bit, _)| hash | 1 << bit))
    }

    /// Returns in how many bits the two differ.
    #[must_use]
    pub const fn distance(self, other: Self) -> u32 {
        (self.0 ^ other.0).count_ones()
    }
}

impl fmt::Display for Simhash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
