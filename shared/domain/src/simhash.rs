//! A fingerprint of a text, of which similar texts differ in few bits.

use std::fmt;
use std::hash::Hasher;

use siphasher::sip::SipHasher13;

use crate::words::compared_words;

/// How many words in a row make a feature.
const SHINGLE_WORDS: usize = 3;

/// The fingerprint by Charikar's method (2002): 64 bits, each of them what most hashes of the text's runs of three words, in lower case, have there.
/// Where there are no spaces between words, each character begins one, of two characters of Han and kana, and of four of Thai and its neighbours.
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
        let words: Vec<&str> = compared_words(&lower).collect();
        let mut votes = Votes::default();
        for run in words.windows(SHINGLE_WORDS.min(words.len().max(1))) {
            let mut hasher = SipHasher13::new();
            for word in run {
                hasher.write(word.as_bytes());
                hasher.write_u8(0xff);
            }
            votes.add(hasher.finish());
        }
        votes.simhash()
    }

    /// Returns in how many bits the two differ.
    #[must_use]
    pub const fn distance(self, other: Self) -> u32 {
        (self.0 ^ other.0).count_ones()
    }
}

/// How many hashes have each of their bits set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Votes {
    /// The counts, a digit at a time: the bits of the first number are the last digits of the 64 counts, and so on. So
    /// one hash is added in a few steps.
    digits: [u64; 32],
    hashes: u32,
}

impl Votes {
    /// Adds a hash.
    pub(crate) fn add(&mut self, hash: u64) {
        let mut carry = hash;
        for digit in &mut self.digits {
            (*digit, carry) = (*digit ^ carry, *digit & carry);
            if carry == 0 {
                break;
            }
        }
        self.hashes += 1;
    }

    /// Returns the fingerprint: the bits that more hashes have set than not.
    pub(crate) fn simhash(&self) -> Simhash {
        let count = |bit: u32| (0_u32..).zip(&self.digits).map(|(n, digit)| (digit >> bit & 1) << n).sum::<u64>();
        let is_set = |bit: &u32| count(*bit) * 2 > u64::from(self.hashes);
        Simhash((0..64).filter(is_set).fold(0, |hash, bit| hash | 1 << bit))
    }
}

impl fmt::Display for Simhash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
