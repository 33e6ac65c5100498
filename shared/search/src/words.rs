//! The words of a text, as they are looked up: in the language of the page, without endings and stop words.

use std::collections::HashMap;

use tantivy::tokenizer::{
    AsciiFoldingFilter, BoxTokenStream, Language, LowerCaser, RemoveLongFilter, Stemmer, StopWordFilter, TextAnalyzer,
    Token, TokenStream, Tokenizer,
};
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};

/// Words of this many bytes or more are not looked up: they are data, not words.
const WORD_BYTES_MAX: usize = 100;

/// The language of pages that declare none and whose text does not tell: as BCP 47 names it.
pub(crate) const UNDETERMINED: &str = "und";

/// Returns the language that stands for all that a tag may add, such as `en` for `en-GB`; `None` if it is no tag of a language.
pub(crate) fn primary_language(tag: &str) -> Option<String> {
    let primary = tag.trim().split(['-', '_']).next()?.to_ascii_lowercase();
    let is_tag = matches!(primary.len(), 2 | 3) && primary.bytes().all(|byte| byte.is_ascii_lowercase());
    (is_tag && primary != UNDETERMINED).then_some(match primary.as_str() {
        // Norwegian is written in two ways, which have tags of their own.
        "nb" | "nn" | "nob" | "nno" | "nor" => "no".to_owned(),
        code => two_letters(code).unwrap_or(code).to_owned(),
    })
}

/// Returns the code of ISO 639-1 for one of ISO 639-3, as the detection of languages names them; `None` if there is none, or it is not known here.
fn two_letters(code: &str) -> Option<&'static str> {
    const CODES: &[(&str, &str)] = &[
        ("ara", "ar"),
        ("ben", "bn"),
        ("bul", "bg"),
        ("cat", "ca"),
        ("ces", "cs"),
        ("cmn", "zh"),
        ("zho", "zh"),
        ("dan", "da"),
        ("deu", "de"),
        ("ell", "el"),
        ("eng", "en"),
        ("est", "et"),
        ("fin", "fi"),
        ("fra", "fr"),
        ("heb", "he"),
        ("hin", "hi"),
        ("hrv", "hr"),
        ("hun", "hu"),
        ("ind", "id"),
        ("ita", "it"),
        ("jpn", "ja"),
        ("kor", "ko"),
        ("lav", "lv"),
        ("lit", "lt"),
        ("nld", "nl"),
        ("pes", "fa"),
        ("pol", "pl"),
        ("por", "pt"),
        ("ron", "ro"),
        ("rus", "ru"),
        ("slk", "sk"),
        ("slv", "sl"),
        ("spa", "es"),
        ("srp", "sr"),
        ("swe", "sv"),
        ("tam", "ta"),
        ("tha", "th"),
        ("tur", "tr"),
        ("ukr", "uk"),
        ("urd", "ur"),
        ("vie", "vi"),
    ];
    CODES.iter().find(|(long, _)| *long == code).map(|(_, short)| *short)
}

/// How words of a language are looked up; `None` if nothing is known of its endings.
fn known(language: &str) -> Option<Language> {
    Some(match language {
        "ar" => Language::Arabic,
        "da" => Language::Danish,
        "de" => Language::German,
        "el" => Language::Greek,
        "en" => Language::English,
        "es" => Language::Spanish,
        "fi" => Language::Finnish,
        "fr" => Language::French,
        "hu" => Language::Hungarian,
        "it" => Language::Italian,
        "nl" => Language::Dutch,
        "no" => Language::Norwegian,
        "pt" => Language::Portuguese,
        "ro" => Language::Romanian,
        "ru" => Language::Russian,
        "sv" => Language::Swedish,
        "ta" => Language::Tamil,
        "tr" => Language::Turkish,
        _ => return None,
    })
}

/// Makes the words of texts in one language.
#[derive(Clone)]
pub(crate) struct Words(TextAnalyzer);

impl Words {
    /// Words of a language without endings and stop words. Where nothing is known of it, they are as written, in lower case and without accents.
    pub(crate) fn of_language(language: &str) -> Self {
        let Some(known) = known(language) else { return Self::as_written() };
        let words = TextAnalyzer::builder(Runs(Unspaced::InPairs))
            .filter(RemoveLongFilter::limit(WORD_BYTES_MAX))
            .filter(LowerCaser);
        let stemmed = match StopWordFilter::new(known) {
            Some(stop_words) => words.filter(stop_words).filter(Stemmer::new(known)).dynamic(),
            None => words.filter(Stemmer::new(known)).dynamic(),
        };
        // Stemmers read accents, so these are removed last.
        Self(stemmed.filter(AsciiFoldingFilter).build())
    }

    /// Words as written, in lower case and without accents.
    pub(crate) fn as_written() -> Self {
        let words = TextAnalyzer::builder(Runs(Unspaced::InPairs)).filter(RemoveLongFilter::limit(WORD_BYTES_MAX));
        Self(words.filter(LowerCaser).filter(AsciiFoldingFilter).build())
    }

    /// Calls back with each word. A word's place counts those that were left out, too.
    pub(crate) fn each(&mut self, text: &str, mut visit: impl FnMut(&Token)) {
        self.0.token_stream(text).process(&mut |token| visit(token));
    }

    /// Returns the words with their places.
    pub(crate) fn places(&mut self, text: &str) -> Vec<(usize, String)> {
        let mut places = Vec::new();
        self.each(text, |token| places.push((token.position, token.text.clone())));
        places
    }
}

/// What ends a text and begins another one in a part that has several.
const SEPARATOR: char = '\u{1}';

/// How many places are left free between two texts, so that a phrase does not reach from one into the next: more than phrases are long.
const GAP: usize = 100;

/// Returns texts as [`InLanguages`] reads them: the language first.
pub(crate) fn in_language(language: &str, texts: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut all = format!("{language}{SEPARATOR}");
    for (number, text) in texts.into_iter().enumerate() {
        if number > 0 {
            all.push(SEPARATOR);
        }
        all.push_str(text.as_ref());
    }
    all
}

/// Makes the words of texts that say in which language they are.
#[derive(Clone, Default)]
pub(crate) struct InLanguages(HashMap<String, Words>);

impl InLanguages {
    /// The name by which fields of the index ask for it.
    pub(crate) const NAME: &str = "in_languages";
}

impl Tokenizer for InLanguages {
    type TokenStream<'a> = BoxTokenStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> BoxTokenStream<'a> {
        let (language, text) = text.split_once(SEPARATOR).unwrap_or((UNDETERMINED, text));
        let words = self.0.entry(language.to_owned()).or_insert_with(|| Words::of_language(language));
        words.0.token_stream(text)
    }
}

/// The name by which fields of the index ask for words as written that have spaces between them.
pub(crate) const AS_WRITTEN: &str = "as_written";

/// Makes words as written, without those of scripts that have no spaces.
pub(crate) fn as_written() -> TextAnalyzer {
    let words = TextAnalyzer::builder(Runs(Unspaced::LeftOut)).filter(RemoveLongFilter::limit(WORD_BYTES_MAX));
    words.filter(LowerCaser).filter(AsciiFoldingFilter).build()
}

/// Splits a text into runs of letters and digits, and runs of a script that is written without spaces into pairs.
///
/// In `漢字文`, the words are `漢字`, `字文` and `文`: whatever is looked for is a phrase of pairs, and a single character is the beginning of one.
#[derive(Clone, Copy)]
struct Runs(Unspaced);

/// What becomes of runs without spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unspaced {
    InPairs,
    LeftOut,
}

impl Tokenizer for Runs {
    type TokenStream<'a> = RunStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> RunStream<'a> {
        RunStream { text, at: 0, unspaced: self.0, token: Token::default() }
    }
}

struct RunStream<'a> {
    text: &'a str,
    at: usize,
    unspaced: Unspaced,
    token: Token,
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// Whether a character belongs to a script that is written without spaces between words, or, as Hangul, with spaces that few words begin after.
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
        | '\u{ac00}'..='\u{d7ff}'   // Hangul
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ffdc}'   // half-width forms
        | '\u{20000}'..='\u{3ffff}')
}

impl RunStream<'_> {
    fn end_of_first(rest: &str) -> usize {
        rest.chars().next().map_or(0, char::len_utf8)
    }

    fn put(&mut self, from: usize, to: usize) {
        let word = &self.text[from..to];
        self.token.position = self.token.position.wrapping_add(1);
        (self.token.offset_from, self.token.offset_to) = (from, to);
        self.token.text.clear();
        // One word is written in one way, such as with full-width letters or with accents of their own.
        match is_nfkc_quick(word.chars()) {
            IsNormalized::Yes => self.token.text.push_str(word),
            IsNormalized::No | IsNormalized::Maybe => self.token.text.extend(word.nfkc()),
        }
    }
}

impl TokenStream for RunStream<'_> {
    fn advance(&mut self) -> bool {
        let rest = &self.text[self.at..];
        let unspaced = self.unspaced;
        let is_wanted = |c| is_of_word(c) && (unspaced == Unspaced::InPairs || !is_unspaced(c));
        let Some(skipped) = rest.find(is_wanted) else {
            self.at = self.text.len();
            return false;
        };
        let texts_begun = rest[..skipped].bytes().filter(|byte| char::from(*byte) == SEPARATOR).count();
        self.token.position = self.token.position.wrapping_add(texts_begun * GAP);
        let from = self.at + skipped;
        let rest = &self.text[from..];
        if rest.starts_with(is_unspaced) {
            let first = Self::end_of_first(rest);
            let second = &rest[first..];
            let goes_on = second.starts_with(|c| is_unspaced(c) && is_of_word(c));
            let length = if goes_on { first + Self::end_of_first(second) } else { first };
            self.at = from + first;
            self.put(from, from + length);
        } else {
            let length = rest.find(|c| !is_of_word(c) || is_unspaced(c)).unwrap_or(rest.len());
            self.at = from + length;
            self.put(from, from + length);
        }
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(language: &str, text: &str) -> String {
        let places = Words::of_language(language).places(text);
        places.iter().map(|(place, word)| format!("{place}:{word}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_are_found_in_the_language_of_the_page() {
        for (language, text, expected, reason) in [
            ("en", "Running the Servers", "0:run 2:server", "endings and stop words, whose places are kept"),
            ("de", "die laufenden Häuser", "1:laufend 2:haus", "another language has other ones"),
            ("und", "Running the Servers", "0:running 1:the 2:servers", "nothing is known"),
            ("fr", "l’été des élèves", "1:ete 3:elev", "accents are removed after the endings"),
            (
                "en",
                "snake_case asyncio.run(x2)",
                "0:snake 1:case 2:asyncio 3:run 4:x2",
                "names of programs are several words",
            ),
            ("ja", "東京都へ行く", "0:東京 1:京都 2:都へ 3:へ行 4:行く 5:く", "pairs, and the last one by itself"),
            ("en", "Rust入門2", "0:rust 1:入門 2:門 3:2", "scripts may follow each other without a space"),
            ("und", "ｆｕｌｌ e\u{301}te\u{301} ﬁne", "0:full 1:ete 2:fine", "several ways to write the same"),
            ("hi", "हिन्दी भाषा", "0:हिन्दी 1:भाषा", "marks belong to words"),
            ("und", " – … ", "", "no words"),
        ] {
            assert_eq!(words(language, text), expected, "{reason}");
        }
    }

    #[test]
    fn texts_say_in_which_language_they_are_and_are_apart() {
        let mut words = InLanguages::default();
        let mut found = Vec::new();
        let text = in_language("de", ["die Häuser", "", "im Haus"]);
        words.token_stream(&text).process(&mut |token| found.push(format!("{}:{}", token.position, token.text)));
        assert_eq!(found, ["1:haus", "203:haus"]);
    }

    #[test]
    fn a_word_that_is_data_is_left_out() {
        let text = format!("a {} b", "x".repeat(WORD_BYTES_MAX + 1));
        assert_eq!(words("und", &text), "0:a 2:b");
    }

    #[test]
    fn a_tag_names_a_language() {
        for (tag, expected) in [
            ("en-GB", Some("en")),
            ("DE_at", Some("de")),
            ("nb", Some("no")),
            ("eng", Some("en")),
            (" fr ", Some("fr")),
            ("x", None),
            ("english", None),
            ("", None),
            ("und", None),
            ("e1", None),
        ] {
            assert_eq!(primary_language(tag).as_deref(), expected, "{tag}");
        }
    }
}
