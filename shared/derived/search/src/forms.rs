//! The forms of a word in the index: without its ending, and without accents.

use std::collections::HashMap;
use std::sync::Arc;

use tantivy::tokenizer::{AsciiFoldingFilter, Language, RawTokenizer, Stemmer, StopWordFilter, TextAnalyzer};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::canonical_combining_class;

use crate::characters::is_unspaced;

/// The number of words in each of two generations of the cache. Most words of a text are among the
/// most frequent of its language, which stay cached.
const KEPT_MAX: usize = 2_048;

/// The forms of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Forms {
    /// Without its ending, which is found with accents, and then without accents.
    first: String,
    /// Without accents, and then without what is an ending in that: the same however the word is
    /// typed. `None` if the index only has the first form.
    plain: Option<String>,
    pub(crate) is_stop_word: bool,
}

impl Forms {
    /// Returns the forms that a query looks up: one or two.
    pub(crate) fn query_forms(&self) -> impl Iterator<Item = &str> {
        let plain = self.plain.iter().filter(|plain| **plain != self.first);
        std::iter::once(&self.first).chain(plain).map(String::as_str)
    }

    /// Returns the forms in the index: none, one or two. Stop words are left out, but may not be
    /// stop words any more without their accents.
    pub(crate) fn index_forms(&self) -> impl Iterator<Item = &str> {
        let first = Some(&self.first).filter(|_| !self.is_stop_word);
        first.into_iter().chain(&self.plain).map(String::as_str)
    }
}

/// A maker of the forms of words in a language.
#[derive(Clone)]
pub(crate) struct FormMaker {
    /// Removes stop words.
    stop_words: Option<TextAnalyzer>,
    stemmer: Option<TextAnalyzer>,
    /// Replaces Latin letters by ASCII.
    ascii: TextAnalyzer,
    i: LettersI,
    of_late: HashMap<String, Arc<Forms>>,
    before: HashMap<String, Arc<Forms>>,
}

/// The lower case of the capital letters I and İ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LettersI {
    /// Both become i.
    AllDotted,
    /// They become ı and i, as in Turkish and Azerbaijani (Unicode's SpecialCasing.txt).
    AsWritten,
}

impl FormMaker {
    /// Returns the forms for a language with known stop words and endings, or for any other.
    pub(crate) fn new(known: Option<Language>, i: LettersI) -> Self {
        let analyzer = || TextAnalyzer::builder(RawTokenizer::default());
        Self {
            stop_words: known.and_then(StopWordFilter::new).map(|filter| analyzer().filter(filter).build()),
            stemmer: known.map(|known| analyzer().filter(Stemmer::new(known)).build()),
            ascii: analyzer().filter(AsciiFoldingFilter).build(),
            i,
            of_late: HashMap::new(),
            before: HashMap::new(),
        }
    }

    /// Returns the forms of a word, which must be in normalisation form KC.
    pub(crate) fn get(&mut self, word: &str) -> Arc<Forms> {
        if let Some(forms) = self.of_late.get(word) {
            return Arc::clone(forms);
        }
        if self.of_late.len() >= KEPT_MAX {
            self.before = std::mem::take(&mut self.of_late);
        }
        let (word, forms) = match self.before.remove_entry(word) {
            Some(kept) => kept,
            None => (word.to_owned(), Arc::new(self.make(word))),
        };
        self.of_late.insert(word, Arc::clone(&forms));
        forms
    }

    fn make(&mut self, word: &str) -> Forms {
        let only = |first| Forms { first, plain: None, is_stop_word: false };
        if word.starts_with(is_unspaced) {
            return only(word.to_owned());
        }
        let lower = self.lower(word);
        let folded = self.fold_accents(&lower);
        let is_stop_word = self.stop_words.as_mut().is_some_and(|stop_words| analyse(stop_words, &lower).is_none());
        let Some(stemmer) = &mut self.stemmer else { return only(folded) };
        let stem = analyse(stemmer, &lower).unwrap_or_default();
        let plain = analyse(stemmer, &folded).unwrap_or_default();
        let (first, plain) = (self.fold_accents(&stem), self.fold_accents(&plain));
        let has_plain = if is_stop_word { lower != folded } else { first != plain };
        Forms { first, plain: has_plain.then_some(plain), is_stop_word }
    }

    /// Converts a word to lower case, without marks that do not belong to its letters, such as
    /// Russian stress marks.
    fn lower(&self, word: &str) -> String {
        if word.is_ascii() && self.i == LettersI::AllDotted {
            return word.to_ascii_lowercase();
        }
        let lower = match self.i {
            LettersI::AllDotted => word.to_lowercase(),
            LettersI::AsWritten => word.replace('İ', "i").replace('I', "ı").to_lowercase(),
        };
        lower.nfc().filter(|c| !is_accent(*c)).collect()
    }

    /// Removes all accents.
    fn fold_accents(&mut self, word: &str) -> String {
        if word.is_ascii() {
            return word.to_owned();
        }
        let bare: String =
            word.nfd().filter(|c| !is_accent(*c)).nfc().map(|c| if c == 'ς' { 'σ' } else { c }).collect();
        analyse(&mut self.ascii, &bare).unwrap_or_default()
    }
}

/// Runs an analyser on a word; `None` if it removes the word.
fn analyse(analyzer: &mut TextAnalyzer, word: &str) -> Option<String> {
    let mut stream = analyzer.token_stream(word);
    stream.advance().then(|| std::mem::take(&mut stream.token_mut().text))
}

/// Returns whether a character only marks how a letter is read: accents, the points of Hebrew and
/// Arabic, the dots below Indic letters; but not vowels. Its combining class decides (UAX #44,
/// table 15): overlays 1, nuktas 7, points 10 to 36, marks above and below 200 to 240.
fn is_accent(c: char) -> bool {
    // The bar that stretches Arabic words has no meaning.
    matches!(canonical_combining_class(c), 1 | 7 | 10..=36 | 200..=240) || c == '\u{640}'
}
