//! Normalises the characters of a text for the index, and keeps their places in the original.

use std::collections::VecDeque;
use std::ops::Range;

use unicode_normalization::char::{canonical_combining_class, decompose_compatible, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};

/// A normalised character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Character {
    pub(crate) c: char,
    /// Its byte range in the original text. One character may come from several, and several from
    /// one.
    pub(crate) at: Range<usize>,
}

/// An iterator over the normalised characters of a text. Characters of words are in normalisation
/// form KC (UAX #15), so that full-width letters or combining accents make no difference; others
/// are unchanged. Invisible characters within words are dropped.
#[derive(Clone)]
pub(crate) struct Characters<'a> {
    text: &'a str,
    at: usize,
    /// Pending characters of the current unit.
    rest: VecDeque<char>,
    place: Range<usize>,
}

impl<'a> Characters<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { text, at: 0, rest: VecDeque::new(), place: 0..0 }
    }

    /// Reads a character with all that may be composed with it.
    fn read_unit(&mut self, first: char, from: usize) -> char {
        let mut end = from + first.len_utf8();
        let mut others = String::new();
        self.at = end;
        for c in self.text[end..].chars() {
            if !is_ignorable(c) {
                if begins_unit(c) {
                    break;
                }
                others.push(c);
                end = self.at + c.len_utf8();
            }
            self.at += c.len_utf8();
        }
        self.place = from..end;
        if others.is_empty() && is_nfkc_quick(std::iter::once(first)) == IsNormalized::Yes {
            return first;
        }
        self.rest.extend(std::iter::once(first).chain(others.chars()).nfkc());
        self.rest.pop_front().unwrap_or(first)
    }
}

impl Iterator for Characters<'_> {
    type Item = Character;

    fn next(&mut self) -> Option<Character> {
        if let Some(c) = self.rest.pop_front() {
            return Some(Character { c, at: self.place.clone() });
        }
        loop {
            let rest = &self.text[self.at..];
            let c = rest.chars().next()?;
            let from = self.at;
            self.at += c.len_utf8();
            let is_ascii = c.is_ascii() && rest.as_bytes().get(1).is_none_or(u8::is_ascii);
            let is_alone = is_ascii || is_plain(c) && self.text[self.at..].chars().next().is_none_or(is_plain);
            if is_alone || !is_of_word(c) && !is_ignorable(c) {
                return Some(Character { c, at: from..self.at });
            }
            if !is_ignorable(c) {
                let c = self.read_unit(c, from);
                return Some(Character { c, at: self.place.clone() });
            }
        }
    }
}

/// Returns whether a character is common, normalised, and cannot be composed with a previous one. A
/// shortcut that avoids the tables.
const fn is_plain(c: char) -> bool {
    matches!(c,
        '\0'..='\u{7f}' | '\u{c0}'..='\u{131}' | '\u{400}'..='\u{482}' | '\u{48a}'..='\u{52f}'
        | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Returns whether a character cannot be composed with a previous one.
fn begins_unit(c: char) -> bool {
    if is_plain(c) || !is_of_word(c) {
        return true;
    }
    let is_starter = |c| canonical_combining_class(c) == 0 && is_nfkc_quick(std::iter::once(c)) == IsNormalized::Yes;
    is_starter(c) || {
        // For example, half-width Japanese marks become combining ones.
        let mut first = None;
        decompose_compatible(c, |part| {
            first.get_or_insert(part);
        });
        first.is_some_and(|first| first != c && is_starter(first))
    }
}

/// Returns whether a character belongs to words: letters, digits, their marks, and the symbols of
/// East Asian fonts that squeeze a word into one character (`㌔`).
pub(crate) fn is_of_word(c: char) -> bool {
    // Apostrophes are punctuation, even those that Unicode counts as letters.
    c.is_alphanumeric() && !matches!(c, '\u{2bb}' | '\u{2bc}')
        || is_combining_mark(c)
        || matches!(c, '\u{3200}'..='\u{33ff}')
}

/// Returns whether a character is invisible: soft hyphens, joiners and the like
/// (`Default_Ignorable_Code_Point` in Unicode's `DerivedCoreProperties.txt`).
pub(crate) const fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns whether a script is written without spaces between words, or, like Hangul, with spaces
/// only before some words.
pub(crate) const fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}'     // Thai, Lao
        | '\u{1000}'..='\u{109f}'   // Myanmar
        | '\u{1100}'..='\u{11ff}'   // Hangul letters
        | '\u{1780}'..='\u{17ff}'   // Khmer
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{318f}'   // Hiragana, Katakana, Bopomofo, Hangul letters
        | '\u{31a0}'..='\u{31bf}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'   // Han
        | '\u{a960}'..='\u{a97f}'
        | '\u{a9e0}'..='\u{a9ff}'   // more of Myanmar
        | '\u{aa60}'..='\u{aa7f}'
        | '\u{ac00}'..='\u{d7ff}'   // Hangul
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ffdc}'   // half-width forms
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_is_normalised_and_its_places_are_kept() {
        for (text, expected, reason) in [
            ("aé", "a0-1 é1-3", "nothing to do"),
            ("ae\u{301}b", "a0-1 é1-4 b4-5", "an accent of its own belongs to its letter"),
            ("ﾃﾞｰ", "デ0-6 ー6-9", "half-width letters with a mark of their own"),
            ("\u{1112}\u{1161}\u{11ab}글", "한0-9 글9-12", "Korean in letters"),
            ("\u{1112}\u{1161}\u{1100}\u{1173}", "하0-6 그6-12", "of which the next syllable begins with one"),
            ("ﬁ", "f0-3 i0-3", "one that is two"),
            ("㌔g", "キ0-3 ロ0-3 g3-4", "a word in one character"),
            ("co\u{ad}op", "c0-1 o1-2 o4-5 p5-6", "a place to break a word at"),
            ("a\u{200b}\u{301}", "á0-6", "also before a mark"),
            ("a™ …", "a0-1 ™1-4  4-5 …5-8", "what is not of words is as it is"),
            (" \u{301}", " 0-1 \u{301}1-3", "a space has no accent"),
            ("", "", "nothing"),
        ] {
            let shown: Vec<String> =
                Characters::new(text).map(|Character { c, at }| format!("{c}{}-{}", at.start, at.end)).collect();
            assert_eq!(shown.join(" "), expected, "{reason}");
        }
    }

    #[test]
    fn plain_characters_agree_with_the_tables() {
        let mut count = 0;
        for c in ('\0'..=char::MAX).filter(|c| is_plain(*c)) {
            count += 1;
            assert_eq!(canonical_combining_class(c), 0, "{c:?} is no mark");
            assert_eq!(is_nfkc_quick(std::iter::once(c)), IsNormalized::Yes, "{c:?} is normalised");
            assert!(!is_ignorable(c), "{c:?} can be seen");
        }
        assert!(count > 30_000);
    }

    proptest! {
        #[test]
        fn pieces_normalise_as_the_whole_does(text in "[a-zé\u{301}\u{323}ｶﾞﾊﾟ\u{3099}가\u{1100}\u{1161}\u{11a8}ऩ\u{93c}]{0,12}") {
            let read: Vec<Character> = Characters::new(&text).collect();
            let together: String = read.iter().map(|character| character.c).collect();
            prop_assert_eq!(together, text.nfkc().collect::<String>());
            for pair in read.windows(2) {
                prop_assert!(pair[0].at.start <= pair[1].at.start && pair[0].at.end <= pair[1].at.end);
            }
            prop_assert!(read.iter().all(|character| text.get(character.at.clone()).is_some()));
        }
    }
}
