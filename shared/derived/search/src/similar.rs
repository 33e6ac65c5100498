//! Finds similar pages.

use std::collections::{BTreeMap, HashMap};

use tantivy::query::{BooleanQuery, BoostQuery, ConstScoreQuery, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, Score, Term};

use crate::error::{IndexError, SearchError};
use crate::fields::Part;
use crate::index::Index;
use crate::search::{Hit, best};
use crate::snippet::Marks;

/// The number of words that characterise a page.
const WORDS_MAX: usize = 25;

/// The minimum number of pages with a word. A word on a single page does not lead to others.
const PAGES_MIN: u64 = 2;

/// The weight of a word in the title, relative to one in the text.
const TITLE_TIMES: f64 = 4.0;

/// Similar pages, and the words that led to them.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Similar {
    /// The most characteristic words of the page, in their index form.
    pub by: Vec<String>,
    /// The pages, the most similar first.
    pub results: Vec<Hit>,
}

impl Index {
    /// Finds up to `count` pages that share a page's characteristic words: those that are frequent
    /// on it and rare elsewhere. `None` if the page is not in the index.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn similar(&self, url: &str, count: u32) -> Result<Option<Similar>, SearchError> {
        self.alike(url, count).map_err(|error| self.index_error(error))
    }

    fn alike(&self, url: &str, count: u32) -> Result<Option<Similar>, IndexError> {
        let lookup = self.lookup()?;
        let searcher = &lookup.searcher;
        let Some(page) = self.entry_by_url(searcher, url)? else { return Ok(None) };
        let mut words = lookup.word_maker(&page.language);
        let mut counts: HashMap<String, f64> = HashMap::new();
        for (part, times) in [(Part::Title, TITLE_TIMES), (Part::Heading, 1.0), (Part::Text, 1.0)] {
            for text in page.texts(part) {
                // The last form of a word is the same for all spellings.
                let mut forms: BTreeMap<usize, String> = BTreeMap::new();
                words.each(&text, |token| drop(forms.insert(token.position, token.text.clone())));
                forms.into_values().for_each(|form| *counts.entry(form).or_default() += times);
            }
        }
        let text = self.fields.get(Part::Text);
        let mut weighed = Vec::new();
        for (word, count) in counts {
            let pages = searcher.doc_freq(&Term::from_field_text(text, &word))?;
            let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
            if pages >= PAGES_MIN && !is_number {
                weighed.push((weight(count, pages, searcher.num_docs()), word));
            }
        }
        weighed.sort_by(|(a, word_a), (b, word_b)| b.total_cmp(a).then_with(|| word_a.cmp(word_b)));
        weighed.truncate(WORDS_MAX);
        let by: Vec<String> = weighed.iter().map(|(_, word)| word.clone()).collect();
        if by.is_empty() || count == 0 {
            return Ok(Some(Similar { by, results: Vec::new() }));
        }

        let boxed = |query| -> Box<dyn Query> { query };
        let mut any = Vec::new();
        for (weight, word) in weighed {
            for part in [Part::Title, Part::Text] {
                let term = Term::from_field_text(self.fields.get(part), &word);
                let query = boxed(Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)));
                #[expect(clippy::cast_possible_truncation, reason = "a weight, of which the first digits matter")]
                let weight = weight as Score;
                any.push((Occur::Should, boxed(Box::new(BoostQuery::new(query, weight)))));
            }
        }
        let itself = Box::new(TermQuery::new(Term::from_field_text(self.fields.url, url), IndexRecordOption::Basic));
        // A word only means the same in pages of the same language.
        let language = Term::from_field_text(self.fields.language, &page.language);
        let in_language = boxed(Box::new(TermQuery::new(language, IndexRecordOption::Basic)));
        let query = BooleanQuery::new(vec![
            (Occur::Must, boxed(Box::new(BooleanQuery::new(any)))),
            (Occur::Must, boxed(Box::new(ConstScoreQuery::new(in_language, 0.0)))),
            (Occur::MustNot, boxed(itself)),
        ]);
        let (top, _, _) = best(&lookup, &query, 0, count)?;
        let mut marks = Marks::new(words, &[]);
        let (scores, addresses): (Vec<Score>, Vec<DocAddress>) = top.into_iter().unzip();
        let entries = scores.into_iter().zip(self.entries(searcher, &addresses)?);
        let results = entries.map(|(score, entry)| Hit::new(entry, score, &mut marks)).collect();
        Ok(Some(Similar { by, results }))
    }
}

/// Returns the weight of a word on a page: it grows more slowly with each occurrence, and is lower
/// the more pages have the word.
#[expect(clippy::cast_precision_loss, reason = "a weight, of which the first digits matter")]
fn weight(count: f64, pages: u64, all: u64) -> f64 {
    (1.0 + count.ln()) * ((all as f64 + 1.0) / pages as f64).ln().max(0.0)
}
