//! A text in runs of letters and digits, and those of a script that is written without spaces in pairs.

use std::iter::Peekable;
use std::ops::Range;

use crate::characters::{Character, Characters, is_of_word, is_unspaced};

/// Words of more bytes are not looked up: they are data, not words.
pub(crate) const WORD_BYTES_MAX: usize = 99;

/// What ends a text and begins another one in a part that has several.
pub(crate) const SEPARATOR: char = '\u{1}';

/// How many places are left free between two texts, so that a phrase does not reach from one into the next: more than phrases are long.
const GAP: usize = 100;

/// What becomes of runs without spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unspaced {
    /// Each pair is a word, and the last character another one: in `漢字文`, these are `漢字`, `字文` and `文`. Whatever is looked for is a phrase of
    /// pairs, and a single character is the beginning of one.
    InPairs,
    /// The same without the last character, after which a page may go on, unless it is the only one.
    InWholePairs,
    /// They are not looked up.
    LeftOut,
}

/// A run, or a pair, in normalisation form KC.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) text: String,
    /// Which of the runs it is; texts are further apart.
    pub(crate) place: usize,
    /// Its bytes in the text as it is.
    pub(crate) at: Range<usize>,
}

impl Run {
    /// Whether it is of a script without spaces.
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

    /// Reads what is left of a run with spaces around it; `false` if it is no word.
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

    /// Reads the second character of a pair; `false` if it is not looked up.
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

    /// Reads the next run that is looked up into this one; `false` if there is none.
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
