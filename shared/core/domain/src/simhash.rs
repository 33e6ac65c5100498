//! A fingerprint of a text: those of similar texts differ in few bits.

use std::fmt;
use std::ops::Range;

use crate::words::compared_words;

/// The fingerprint by Charikar's method (2002): 64 bits, each the majority of that bit in the
/// hashes of all runs of three words, in lower case. In scripts without spaces between words, each
/// character begins a word, of two characters in Han and kana, and of four in Thai and its
/// neighbours.
///
/// Texts of a few words have few features, so their fingerprints are not meaningful.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Simhash(pub u64);

impl Simhash {
    /// Computes the fingerprint of a text; 0 if it has no words.
    ///
    /// ```
    /// use dragline_domain::simhash::Simhash;
    ///
    /// let words: String = (0..200).map(|n| format!("word{n} ")).collect();
    /// let near = Simhash::compute(&format!("{words} one more"));
    /// assert!(Simhash::compute(&words).distance(near) < 6);
    /// ```
    #[must_use]
    pub fn compute(text: &str) -> Self {
        TextPrint::new(text).simhash
    }

    /// Returns the number of bits in which the two differ.
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

/// The print of a page's text, for comparison with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextPrint {
    /// The number of words compared.
    pub words: u32,
    /// Its fingerprint.
    pub simhash: Simhash,
}

impl TextPrint {
    /// Computes the print of a text, ignoring letter case and spaces.
    ///
    /// Every page has one, so it is computed in one pass over eight bytes at a time, without first
    /// copying ASCII words or converting them to lower case.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let (mut runs, mut word) = (Runs::default(), Word::default());
        let (mut start, mut at) = (0, 0);
        while at < bytes.len() {
            let mut eight = eight_at(bytes, at);
            let mut ends = spaces(eight);
            if ends == 0 {
                word.add(eight);
                at += 8;
            }
            while ends != 0 {
                // The first space is the highest bit of its byte.
                let bits = ends.trailing_zeros() & !7;
                if bits > 0 {
                    word.add(eight & ((1 << bits) - 1));
                }
                at += bits as usize / 8;
                if word.hash != 0 {
                    runs.add_token(word, text, start..at);
                    word = Word::default();
                }
                at += 1;
                start = at;
                (eight, ends) = (eight >> bits >> 8, ends >> bits >> 8);
            }
        }
        if word.hash != 0 {
            runs.add_token(word, text, start..at);
        }
        runs.end()
    }
}

/// The current word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Word {
    /// The hash; 0 without bytes.
    hash: u64,
    /// The bitwise OR of all bytes: their highest bits are set if any byte is not ASCII.
    bits: u64,
}

impl Word {
    /// Adds up to eight bytes, padded with zeros. The case of ASCII letters, and of the signs
    /// beside them, does not matter.
    fn add(&mut self, eight: u64) {
        self.bits |= eight;
        self.hash = mix(self.hash ^ (eight | (!eight & HIGHEST) >> 2));
    }

    const fn is_ascii(self) -> bool {
        self.bits & HIGHEST == 0
    }

    /// Reads a word from the first byte to the last.
    fn read(text: &str) -> Self {
        let mut word = Self::default();
        let eight = |bytes: &[u8]| bytes.iter().rev().fold(0, |eight, byte| eight << 8 | u64::from(*byte));
        text.as_bytes().chunks(8).for_each(|bytes| word.add(eight(bytes)));
        word
    }
}

/// The print of the text so far.
#[derive(Default)]
struct Runs {
    /// The hashes of the last two words; 0 if there were none.
    before: [u64; 2],
    votes: Votes,
}

impl Runs {
    /// Adds a token between spaces, and its word.
    fn add_token(&mut self, word: Word, text: &str, place: Range<usize>) {
        if word.is_ascii() {
            self.add_word(word.hash);
        } else {
            self.add_words(text.get(place).unwrap_or_default());
        }
    }

    /// Adds the words of text that is not ASCII.
    #[cold]
    fn add_words(&mut self, token: &str) {
        compared_words(&token.to_lowercase()).for_each(|word| self.add_word(Word::read(word).hash));
    }

    /// Adds a word. The hashes in a run are rotated by position, so that their order matters.
    fn add_word(&mut self, word: u64) {
        let [first, second] = self.before;
        self.votes.add(first.rotate_left(42) ^ second.rotate_left(21) ^ word);
        self.before = [second, word];
    }

    /// Returns the print. Each word ends a run; the runs of a text's first two words are shorter.
    fn end(self) -> TextPrint {
        TextPrint { words: self.votes.hashes, simhash: self.votes.simhash() }
    }
}

const EACH: u64 = 0x0101_0101_0101_0101;
const HIGHEST: u64 = EACH * 0x80;

/// Returns the eight bytes at a position, padded with spaces after the end.
fn eight_at(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    if let Some(eight) = rest.first_chunk::<8>() {
        return u64::from_le_bytes(*eight);
    }
    rest.iter().rev().fold(EACH * b' ' as u64, |eight, byte| eight << 8 | u64::from(*byte))
}

/// Returns the highest bit of each of eight bytes that is an ASCII space or control character, and
/// no other bit.
const fn spaces(eight: u64) -> u64 {
    !(((eight & !HIGHEST) + EACH * (0x7f - b' ' as u64)) | eight) & HIGHEST
}

/// Returns a hash in which each bit depends on all bits of a number: both halves of its product
/// with a constant, as in wyhash. It is the same on all machines.
fn mix(number: u64) -> u64 {
    let (low, high) = (number ^ 0xa076_1d64_78bd_642f).carrying_mul(0xe703_7ed1_a0b4_28db, 0);
    low ^ high
}

/// The number of hashes with each bit set.
#[derive(Clone, Debug, Default)]
struct Votes {
    /// The counts as binary digits: the bits of the first number are the lowest digits of the 64
    /// counts, and so on.
    digits: [u64; 32],
    hashes: u32,
    /// Hashes that are not counted yet: counting eight at once takes a fraction of the steps.
    waiting: [u64; 8],
}

impl Votes {
    /// Adds a hash.
    fn add(&mut self, hash: u64) {
        let place = (self.hashes % 8) as usize;
        self.waiting[place] = hash;
        self.hashes += 1;
        if place == 7 {
            self.count();
        }
    }

    /// Counts the waiting hashes with a tree of carry-save adders: two at a time into a digit, then
    /// the carries of each two of these into the next.
    fn count(&mut self) {
        let mut carried = self.waiting;
        for (digit, carried_by) in [4, 2, 1].into_iter().enumerate() {
            for n in 0..carried_by {
                (self.digits[digit], carried[n]) = sum(self.digits[digit], carried[2 * n], carried[2 * n + 1]);
            }
        }
        let mut carry = carried[0];
        for digit in &mut self.digits[3..] {
            (*digit, carry) = (*digit ^ carry, *digit & carry);
            if carry == 0 {
                break;
            }
        }
    }

    /// Returns the fingerprint: the bits that most hashes have set.
    fn simhash(mut self) -> Simhash {
        let waiting = (self.hashes % 8) as usize;
        if waiting > 0 {
            self.waiting[waiting..].fill(0);
            self.count();
        }
        let count = |bit: u32| (0_u32..).zip(&self.digits).map(|(n, digit)| (digit >> bit & 1) << n).sum::<u64>();
        let is_set = |bit: &u32| count(*bit) * 2 > u64::from(self.hashes);
        Simhash((0..64).filter(is_set).fold(0, |hash, bit| hash | 1 << bit))
    }
}

/// Adds three digits in each of 64 places, and returns the digits of the sums and the carries.
const fn sum(a: u64, b: u64, c: u64) -> (u64, u64) {
    let half = a ^ b;
    (half ^ c, a & b | half & c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn similar_texts_have_similar_fingerprints() {
        let text = |n: usize| (0..n).map(|n| format!("word{}", n * n % 97)).collect::<Vec<_>>().join(" ");
        let distance = |a: &str, b: &str| Simhash::compute(a).distance(Simhash::compute(b));
        assert_eq!(distance(&text(300), &text(300)), 0);
        assert!(distance(&text(300), &(text(300) + " and some more")) < 8, "a few words more");
        let other = "Entirely different words make up this text, of which none is in the other.".repeat(5);
        assert!(distance(&text(300), &other) > 12, "another text");
        assert!(distance("one two three", "three two one") > 12, "another order");
        assert_eq!(
            ["", "a", "a b", "a b c d", "Größe 東京"].map(TextPrint::new).map(|print| (print.words, print.simhash.0)),
            [
                (0, 0),
                (1, 0x8e79_499d_c4ef_4cf6),
                (2, 0x0640_4104_c46a_48b2),
                (4, 0x94dc_4504_954a_44c4),
                (3, 0x09e4_8b84_6a13_edf0)
            ],
            "they are the same on every machine, and in every version: those that are stored are compared with new ones"
        );
    }

    proptest! {
        #[test]
        fn a_print_ignores_letter_case_and_spaces(words in proptest::collection::vec("[ -~äÄßςΣ東京ท]{1,12}", 0..40)) {
            let text = words.join(" ");
            let spaced = words.join("\n\u{a0}\t").to_lowercase();
            prop_assert_eq!(TextPrint::new(&text), TextPrint::new(&spaced));
        }

        #[test]
        fn each_bit_of_a_simhash_is_the_majority_of_the_hashes(hashes in proptest::collection::vec(any::<u64>(), 0..70)) {
            let mut votes = Votes::default();
            hashes.iter().for_each(|hash| votes.add(*hash));
            let most = |bit: &u32| hashes.iter().filter(|hash| **hash >> bit & 1 == 1).count() * 2 > hashes.len();
            prop_assert_eq!(votes.simhash().0, (0..64).filter(most).fold(0, |all, bit| all | 1 << bit));
        }

        #[test]
        fn different_words_have_different_hashes_regardless_of_case(a in "[a-z0-9.-]{0,20}", b in "[a-z0-9.-]{0,20}") {
            prop_assert_eq!(Word::read(&a).hash == Word::read(&b).hash, a == b);
            prop_assert_eq!(Word::read(&a).hash, Word::read(&a.to_ascii_uppercase()).hash);
        }
    }
}
