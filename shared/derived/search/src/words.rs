//! The words of a text in their index forms: by the language of the page, without endings and stop
//! words.

use std::collections::{HashMap, VecDeque};

use tantivy::tokenizer::{Language, Token, TokenStream, Tokenizer};

use crate::forms::{FormMaker, Forms, LettersI};
use crate::runs::{Run, Runs, SEPARATOR, Unspaced};

/// The language of pages that declare none and whose text does not tell (BCP 47).
pub(crate) const UNDETERMINED: &str = "und";

/// Returns the primary language of a tag, such as `en` for `en-GB`; `None` if it is not a language
/// tag.
pub(crate) fn primary_language(tag: &str) -> Option<String> {
    let primary = tag.trim().split(['-', '_']).next()?.to_ascii_lowercase();
    let is_tag = matches!(primary.len(), 2 | 3) && primary.bytes().all(|byte| byte.is_ascii_lowercase());
    (is_tag && primary != UNDETERMINED).then_some(match primary.as_str() {
        // Norwegian has two written forms with tags of their own.
        "nb" | "nn" | "nob" | "nno" | "nor" => "no".to_owned(),
        code => dragline_domain::language::iso_639_1(code).unwrap_or(code).to_owned(),
    })
}

/// Returns the stemming language; `None` if there is no stemmer for it.
fn stemming_language(language: &str) -> Option<Language> {
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

/// Returns whether a language has the letter ı.
fn has_dotless_i(language: &str) -> bool {
    matches!(language, "tr" | "az")
}

/// Returns the language whose rules apply to words in this language: the same, or [`UNDETERMINED`]
/// if there are no rules for it. Pages may declare any language, but there are few of these.
pub(crate) fn lookup_language(language: &str) -> &str {
    if stemming_language(language).is_some() || has_dotless_i(language) { language } else { UNDETERMINED }
}

/// A tokeniser of texts in one language.
#[derive(Clone)]
pub(crate) struct WordMaker {
    forms: FormMaker,
    unspaced: Unspaced,
}

/// A word of a query.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct QueryWord {
    /// Its position.
    pub(crate) place: usize,
    /// Its possible forms in the index: at least one.
    pub(crate) forms: Vec<String>,
    pub(crate) is_stop_word: bool,
}

impl WordMaker {
    /// Returns the words of a language without endings and stop words; for a language without
    /// rules, as written, in lower case and without accents.
    pub(crate) fn for_language(language: &str) -> Self {
        let i = if has_dotless_i(language) { LettersI::AsWritten } else { LettersI::AllDotted };
        Self { forms: FormMaker::new(stemming_language(language), i), unspaced: Unspaced::InPairs }
    }

    /// Returns words as written, in lower case and without accents.
    pub(crate) fn as_written() -> Self {
        Self::for_language(UNDETERMINED)
    }

    /// The same without scripts that have no spaces.
    pub(crate) fn with_spaces() -> Self {
        Self { unspaced: Unspaced::LeftOut, ..Self::as_written() }
    }

    fn stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        WordStream {
            runs: Runs::new(text, self.unspaced),
            run: Run::default(),
            forms: &mut self.forms,
            more: VecDeque::new(),
            token: Token::default(),
        }
    }

    /// Calls back with each indexed word of a text. Forms of one word have the same position;
    /// positions also count omitted words.
    pub(crate) fn each(&mut self, text: &str, mut visit: impl FnMut(&Token)) {
        self.stream(text).process(&mut |token| visit(token));
    }

    /// Returns the words of a text as a query looks them up.
    pub(crate) fn query_words(&mut self, text: &str) -> Vec<QueryWord> {
        let mut asked = Vec::new();
        self.each_run(text, |run, forms| {
            let is_stop_word = forms.is_stop_word;
            asked.push(QueryWord {
                place: run.place,
                forms: forms.query_forms().map(str::to_owned).collect(),
                is_stop_word,
            });
        });
        asked
    }

    /// Calls back with each word of a query, with its run and its forms.
    pub(crate) fn each_run(&mut self, text: &str, mut visit: impl FnMut(&Run, &Forms)) {
        let mut runs =
            Runs::new(text, if self.unspaced == Unspaced::InPairs { Unspaced::InWholePairs } else { self.unspaced });
        let mut run = Run::default();
        while runs.read(&mut run) {
            visit(&run, &self.forms.get(&run.text));
        }
    }
}

impl Tokenizer for WordMaker {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.stream(text)
    }
}

/// A stream of the forms of a text's words, as indexed.
pub(crate) struct WordStream<'a> {
    runs: Runs<'a>,
    run: Run,
    forms: &'a mut FormMaker,
    /// Further forms of the last word.
    more: VecDeque<String>,
    token: Token,
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        if let Some(form) = self.more.pop_front() {
            self.token.text = form;
            return true;
        }
        while self.runs.read(&mut self.run) {
            self.token.text.clear();
            if self.run.is_unspaced() {
                // Pairs are many, and need no processing.
                self.token.text.push_str(&self.run.text);
            } else {
                let forms = self.forms.get(&self.run.text);
                let mut indexed = forms.index_forms();
                let Some(first) = indexed.next() else { continue };
                self.token.text.push_str(first);
                self.more.extend(indexed.map(str::to_owned));
            }
            self.token.position = self.run.place;
            (self.token.offset_from, self.token.offset_to) = (self.run.at.start, self.run.at.end);
            return true;
        }
        false
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

/// Prefixes texts with their language, as [`InLanguages`] reads them.
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

/// A tokeniser of texts that begin with their language.
#[derive(Clone, Default)]
pub(crate) struct InLanguages(HashMap<String, WordMaker>);

impl InLanguages {
    /// The name of this tokeniser in fields of the index.
    pub(crate) const NAME: &str = "in_languages";
}

impl Tokenizer for InLanguages {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        let (language, text) = text.split_once(SEPARATOR).unwrap_or((UNDETERMINED, text));
        let language = lookup_language(language);
        let words = self.0.entry(language.to_owned()).or_insert_with(|| WordMaker::for_language(language));
        words.stream(text)
    }
}

/// The name of the tokeniser [`WordMaker::with_spaces`] in fields of the index.
pub(crate) const AS_WRITTEN: &str = "as_written";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::WORD_BYTES_MAX;

    fn words(language: &str, text: &str) -> String {
        let mut words = Vec::new();
        WordMaker::for_language(language).each(text, |token| words.push(format!("{}:{}", token.position, token.text)));
        words.join(" ")
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
    fn texts_name_their_language_and_are_separated() {
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
