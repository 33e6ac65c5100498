//! A sample of what a page shows, to tell whether another page shows anything else.

use crate::stored_form::digest;
use crate::words::compared_words;

/// A sample of a page's words, pairs of words, and pictures: their smallest hashes, so that two
/// pages with the same words have the same sample, and one with some of the words of others a
/// sample of theirs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PageSample {
    /// The hashes of words, ascending.
    words: Vec<u32>,
    /// The number of different words on the page.
    distinct: u32,
    /// The hashes of pairs of neighbouring words, ascending.
    pairs: Vec<u32>,
    /// The hashes of pictures, ascending.
    pictures: Vec<u32>,
}

impl PageSample {
    /// The limit on words in a sample.
    const WORDS_MAX: usize = 24;

    /// The limit on pairs of words in a sample.
    const PAIRS_MAX: usize = 8;

    /// The limit on pictures in a sample.
    const PICTURES_MAX: usize = 8;

    /// The limit on the words that are read of a page: what comes later seldom tells more.
    const WORDS_READ_MAX: usize = 2_000;

    /// Takes a sample of a page's texts, and of the paths of its pictures, of which the last
    /// segments count: the directories may have the id of a session.
    ///
    /// Not generic, so that it is compiled with this package, which is optimised in full.
    #[must_use]
    pub fn new(texts: &[&str], pictures: &[&str]) -> Self {
        let mut words = Vec::new();
        for text in texts {
            let lowercase = text.to_lowercase();
            let tokens = compared_words(&lowercase).map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
            let room = Self::WORDS_READ_MAX - words.len();
            words.extend(tokens.filter(|word| !word.is_empty()).take(room).map(|word| hash(word.as_bytes())));
        }
        let mut pairs: Vec<u32> = words.windows(2).map(|pair| hash_pair(pair[0], pair[1])).collect();
        let names = pictures.iter().filter_map(|path| path.rsplit('/').next());
        let mut pictures: Vec<u32> = names.filter(|name| !name.is_empty()).map(|name| hash(name.as_bytes())).collect();
        for hashes in [&mut words, &mut pairs, &mut pictures] {
            hashes.sort_unstable();
            hashes.dedup();
        }
        let distinct = u32::try_from(words.len()).unwrap_or(u32::MAX);
        words.truncate(Self::WORDS_MAX);
        pairs.truncate(Self::PAIRS_MAX);
        pictures.truncate(Self::PICTURES_MAX);
        Self { words, distinct, pairs, pictures }
    }

    /// Returns all hashes.
    pub fn hashes(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().chain(&self.pairs).chain(&self.pictures).copied()
    }

    /// Whether the page shows something new to one who remembers what `is_known` says: a picture,
    /// enough words, or mostly new pairs of known words.
    ///
    /// A page of few words needs an eighth of them, but two; one of many needs six, as even the
    /// next month of an empty calendar has some. Half of the pairs is more than comes of putting
    /// the products of a shop into another order.
    #[must_use]
    pub fn shows_news(&self, is_known: impl Fn(u32) -> bool) -> bool {
        let new = |hashes: &[u32]| hashes.iter().filter(|hash| !is_known(**hash)).count() as u64;
        let (words, pairs) = (new(&self.words), new(&self.pairs));
        let (sampled, distinct) = (self.words.len() as u64, u64::from(self.distinct));
        // New words of the whole page, as far as the sample tells.
        let estimated = (words * distinct).checked_div(sampled).unwrap_or(0);
        new(&self.pictures) > 0
            || (words >= 2 && estimated >= (distinct / 8).clamp(2, 6))
            || (self.pairs.len() == Self::PAIRS_MAX && 2 * pairs >= Self::PAIRS_MAX as u64)
    }
}

fn hash(bytes: &[u8]) -> u32 {
    u32::try_from(digest(bytes) >> 32).unwrap_or(u32::MAX)
}

/// Mixes two hashes: quicker than another digest. The multipliers are those of `SplitMix64`.
fn hash_pair(first: u32, second: u32) -> u32 {
    let both = u64::from(first) << 32 | u64::from(second);
    let mixed = (both ^ both >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    u32::try_from((mixed ^ mixed >> 31) >> 32).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn sample(text: &str) -> PageSample {
        PageSample::new(&[text], &[])
    }

    #[test]
    fn a_page_shows_news_if_enough_of_it_was_not_seen() {
        let many = |from: usize, to: usize| (from..to).map(|n| format!("word{n} ")).collect::<String>();
        let month = |name: &str, year: u32| format!("{name} {year} Mon Tue Wed Thu Fri Sat Sun {}", many(1, 31));
        for (seen, page, expected, why) in [
            (String::new(), "One text".to_owned(), true, "nothing was seen yet"),
            ("One text".to_owned(), "one, TEXT.".to_owned(), false, "the same words"),
            ("No results. Page 56, next 57".to_owned(), "No results. Page 57, next 58".to_owned(), false, "one number"),
            ("Word: fox. Meaning: animal".to_owned(), "Word: oak. Meaning: tree".to_owned(), true, "a short entry"),
            (month("May", 2026), month("June", 2027), false, "the next month"),
            (many(0, 300), many(0, 300) + "session 12345", false, "two words of many"),
            (many(0, 300), many(200, 500), true, "another text"),
            (many(0, 300), many(40, 90), false, "a part of what was seen, which has other samples"),
            (
                many(0, 300),
                (0..300).rev().map(|n| format!("word{n} ")).collect(),
                true,
                "the same words the other way round",
            ),
        ] {
            // All that was seen, not a sample of it.
            let tokens: Vec<&str> = seen.split_whitespace().collect();
            let pairs = tokens.windows(2).map(|pair| format!("{} {}", pair[0], pair[1]));
            let all = tokens.iter().map(|word| (*word).to_owned()).chain(pairs);
            let seen: HashSet<u32> = all.flat_map(|text| sample(&text).hashes().collect::<Vec<_>>()).collect();
            assert_eq!(sample(&page).shows_news(|word| seen.contains(&word)), expected, "{why}");
        }
    }

    #[test]
    fn a_new_picture_is_news_wherever_it_is() {
        let page = |path| PageSample::new(&["Photo"], &[path]);
        let seen: Vec<u32> = page("/s/1/a.jpg").hashes().collect();
        for (path, expected) in [("/s/2/a.jpg", false), ("/s/1/b.jpg", true)] {
            assert_eq!(page(path).shows_news(|hash| seen.contains(&hash)), expected, "{path}");
        }
    }

    #[test]
    fn a_sample_is_limited() {
        let text: String = (0..50_000).map(|n| format!("word{n} ")).collect();
        let names: Vec<String> = (0..50).map(|n| format!("/{n}.png")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let sample = PageSample::new(&[&text, &text], &names);
        assert_eq!(sample.hashes().count(), PageSample::WORDS_MAX + PageSample::PAIRS_MAX + PageSample::PICTURES_MAX);
    }
}
