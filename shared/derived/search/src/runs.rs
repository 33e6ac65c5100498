//! Splits a text into runs of letters and digits, and runs of scripts without spaces into pairs.

use std::iter::Peekable;
use std::ops::Range;

use crate::characters::{Character, Characters, is_of_word, is_unspaced};

/// The maximum length of a word, in bytes. Longer ones are data, not words.
pub(crate) const WORD_BYTES_MAX: usize = 99;

/// Separates the texts of a part that has several.
pub(crate) const SEPARATOR: char = '\u{1}';

/// The distance in positions between two texts: longer than any phrase, so that none spans two
/// texts.
const GAP: usize = 100;

/// How to treat runs without spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unspaced {
    /// Each pair is a word, and so is the last character: `漢字文` becomes `漢字`, `字文` and `文`. A
    /// search looks for a phrase of pairs, and a single character is a prefix of one.
    InPairs,
    /// The same without the last character, which a page may continue, unless it is the only one.
    InWholePairs,
    /// They are skipped.
    LeftOut,
}

/// A run or a pair, in normalisation form KC.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) text: String,
    /// Its position among the runs; there are gaps between texts.
    pub(crate) place: usize,
    /// Its byte range in the original text.
    pub(crate) at: Range<usize>,
}

impl Run {
    /// Returns whether its script has no spaces.
    pub(crate) fn is_unspaced(&self) -> bool {
        self.text.starts_with(is_unspaced)
    }
}

/// Reads the runs of a text, one after another.
pub(crate) struct Runs<'a> {
    characters: Peekable<Characters<'a>>,
    unspaced: Unspaced,
    place: usize,
    /// Whether the next character is the second one of the last pair.
    goes_on: bool,
}

impl<'a> Runs<'a> {
    pub(crate) fn new(text: &'a str, unspaced: Unspaced) -> Self {
        Self { characters: Characters::new(text).peekable(), unspaced, place: 0, goes_on: false }
    }

    fn peek_if(&mut self, is_wanted: impl FnOnce(char) -> bool) -> Option<&Character> {
        self.characters.peek().filter(|next| is_of_word(next.c) && is_wanted(next.c))
    }

    /// Reads the rest of a run of a script with spaces; `false` if it is not a word.
    fn read_spaced(&mut self, run: &mut Run) -> bool {
        let mut is_word = run.text.contains(char::is_alphanumeric);
        while let Some(Character { c, at }) = self.characters.next_if(|next| is_of_word(next.c) && !is_unspaced(next.c))
        {
            is_word |= c.is_alphanumeric();
            run.at.end = at.end;
            if run.text.len() <= WORD_BYTES_MAX {
                run.text.push(c);
            }
        }
        is_word && run.text.len() <= WORD_BYTES_MAX
    }

    /// Reads the second character of a pair; `false` if it is skipped.
    fn read_pair(&mut self, run: &mut Run) -> bool {
        let was_second = std::mem::take(&mut self.goes_on);
        match self.peek_if(is_unspaced).cloned() {
            Some(Character { c, at }) => {
                run.text.push(c);
                run.at.end = at.end;
                self.goes_on = true;
                true
            }
            None => self.unspaced == Unspaced::InPairs || !was_second,
        }
    }

    /// Reads the next run into `run`; `false` at the end.
    pub(crate) fn read(&mut self, run: &mut Run) -> bool {
        while let Some(Character { c, at }) = self.characters.next() {
            if c == SEPARATOR {
                self.place += GAP;
            }
            if !is_of_word(c) || self.unspaced == Unspaced::LeftOut && is_unspaced(c) {
                continue;
            }
            run.text.clear();
            run.text.push(c);
            run.at = at;
            let is_looked_up = if is_unspaced(c) { self.read_pair(run) } else { self.read_spaced(run) };
            run.place = self.place;
            self.place += 1;
            if is_looked_up {
                return true;
            }
        }
        false
    }
}
