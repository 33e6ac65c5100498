//! How well passages fit a question, by their words.

use std::collections::BTreeSet;

/// The most words of a question that are looked for.
const WORDS_MAX: usize = 24;

/// The letters that a word and a form of it have in common at least, and those that its ending has
/// at most: `install` and `installing`, but not `in` and `inner`.
const STEM_CHARS_MIN: usize = 4;
const ENDING_CHARS_MAX: usize = 3;

/// How much a word in a heading counts, compared with one in the text.
const HEADING_WEIGHT: f64 = 2.0;

/// How soon more of the same word stops counting (k1 of BM25), and how much the length of a text
/// counts (b).
const SATURATION: f64 = 1.2;
const LENGTH_WEIGHT: f64 = 0.75;

/// The words of a question, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question(BTreeSet<String>);

/// A text that may answer a question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) headings: &'a str,
    pub(super) text: &'a str,
}

impl Question {
    /// Returns the words of a text.
    pub(super) fn new(text: &str) -> Self {
        let mut words = BTreeSet::new();
        for word in words_in(text) {
            if words.len() < WORDS_MAX {
                words.insert(word);
            }
        }
        Self(words)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the query for pages with any of the words.
    pub(super) fn query(&self) -> String {
        self.0.iter().map(String::as_str).collect::<Vec<_>>().join(" OR ")
    }

    /// Returns how well each text fits, by BM25 among them: 0 if it has none of the words.
    pub(super) fn scores(&self, candidates: &[Candidate<'_>]) -> Vec<f64> {
        let counted: Vec<Counted> = candidates.iter().map(|candidate| self.count(candidate)).collect();
        let words: f64 = counted.iter().map(|counted| counted.words).sum();
        let average = (words / as_number(counted.len().max(1))).max(1.0);
        let rarity: Vec<f64> = (0..self.0.len())
            .map(|word| {
                let with = as_number(counted.iter().filter(|counted| counted.times[word] > 0.0).count());
                (1.0 + (as_number(counted.len()) - with + 0.5) / (with + 0.5)).ln()
            })
            .collect();
        let score = |Counted { times, words }: &Counted| {
            let damping = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * words / average);
            times.iter().zip(&rarity).map(|(times, rarity)| rarity * times / (times + damping)).sum()
        };
        counted.iter().map(score).collect()
    }

    fn count(&self, candidate: &Candidate<'_>) -> Counted {
        let mut counted = Counted { times: vec![0.0; self.0.len()], words: 0.0 };
        for (text, weight) in [(candidate.headings, HEADING_WEIGHT), (candidate.text, 1.0)] {
            for found in words_in(text) {
                counted.words += 1.0;
                for (times, word) in counted.times.iter_mut().zip(&self.0) {
                    if is_form(word, &found) {
                        *times += weight;
                    }
                }
            }
        }
        counted
    }
}

/// How often a text has each word of a question, and how many words it has.
struct Counted {
    times: Vec<f64>,
    words: f64,
}

fn words_in(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Whether two words are forms of one, by their beginnings.
fn is_form(one: &str, other: &str) -> bool {
    let (one_chars, other_chars) = (one.chars().count(), other.chars().count());
    let common = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    one == other || (common >= STEM_CHARS_MIN && one_chars.max(other_chars) - common <= ENDING_CHARS_MAX)
}

/// Returns a count as a number to reckon with.
fn as_number(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_are_recognised_by_their_beginning() {
        for (one, other, expected, why) in [
            ("install", "install", true, "the same"),
            ("install", "installing", true, "an ending"),
            ("installed", "installing", true, "two endings"),
            ("in", "inner", false, "too short to have a stem"),
            ("port", "portability", false, "too long for an ending"),
            ("über", "übers", true, "letters, not bytes"),
        ] {
            assert_eq!(is_form(one, other), expected, "{one}, {other}: {why}");
            assert_eq!(is_form(other, one), expected, "{other}, {one}: {why}");
        }
    }

    #[test]
    fn the_passage_that_answers_comes_first() {
        let candidates = [
            Candidate { headings: "About", text: "How we do what we do, and how to reach us." },
            Candidate { headings: "Install", text: "Run the program once to install it on Windows." },
            Candidate { headings: "News", text: "Nothing happened." },
            Candidate { headings: "", text: "" },
        ];
        let scores = Question::new("How do I install it on Windows?").scores(&candidates);
        assert!(scores[1] > scores[0] && scores[0] > scores[2], "{scores:?}");
        assert_eq!(scores[2..], [0.0, 0.0], "none of the words");
        assert!(Question::new("?!").is_empty());
        assert_eq!(Question::new("b a, B-c").query(), "a OR b OR c");
    }
}
