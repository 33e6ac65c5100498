//! Replaces words of a query by words of the index: expands prefixes, and corrects typing errors.

use std::collections::{BTreeMap, HashMap, HashSet};

use tantivy::collector::DocSetCollector;
use tantivy::query::FuzzyTermQuery;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet as _, TERMINATED, TantivyError, Term};

use crate::characters::{is_ignorable, is_unspaced};
use crate::compile::{Correction, Lookup};
use crate::error::IndexError;
use crate::fields::Part;
use crate::query::{Form, Node};
use crate::runs::Run;
use crate::words::WordMaker;

/// The maximum number of words for one prefix: those on the most pages.
const EXPANSIONS_MAX: usize = 100;

/// The maximum number of words for all prefixes of a query together, as each is looked up in every
/// part and every language.
const EXPANSIONS_OF_QUERY_MAX: usize = 400;

/// The maximum number of words with the same prefix whose pages are counted.
const COMPARED_MAX: usize = 1_000;

/// The minimum length of a word to correct, in letters.
const CORRECTED_LETTERS_MIN: usize = 4;

/// A word as written, and its number of pages.
type CountedWord = (String, u64);

/// Returns the maximum number of words for each prefix of a query.
pub(crate) fn expansions_of_each(query: &Node) -> usize {
    fn prefix_count(node: &Node) -> usize {
        match node {
            Node::All(nodes) | Node::Any(nodes) => nodes.iter().map(prefix_count).sum(),
            Node::Not(node) => prefix_count(node),
            Node::Words(words) => usize::from(words.form == Form::Prefix),
            Node::Condition(_) => 0,
        }
    }
    EXPANSIONS_MAX.min(EXPANSIONS_OF_QUERY_MAX / prefix_count(query).max(1))
}

impl Lookup {
    /// Returns the expansions of a text that ends with a prefix: the text with each of the words on
    /// the most pages. If other words precede it, only pages with these count.
    pub(crate) fn expansions(
        &self,
        part: Option<Part>,
        text: &str,
        count_max: usize,
    ) -> Result<Vec<String>, IndexError> {
        let mut runs: Vec<(Run, String)> = Vec::new();
        WordMaker::as_written().each_run(text, |run, forms| runs.push((run.clone(), forms.query_forms().collect())));
        let Some((last, beginning)) = runs.pop() else { return Ok(vec![text.to_owned()]) };
        // In a script without spaces it is looked up unchanged, as is a word that is followed by
        // something else.
        if last.is_unspaced() || !text[last.at.end..].chars().all(is_ignorable) {
            return Ok(vec![text.to_owned()]);
        }
        let before = &text[..last.at.start];
        let mut found = self.words_with_prefix(&beginning)?;
        if !runs.is_empty()
            && found.len() > count_max
            && let Some(query) = self.text(part, before)?.pages
        {
            most_frequent(&mut found, COMPARED_MAX);
            let pages = self.searcher.search(&query, &DocSetCollector)?;
            for (word, count) in &mut found {
                *count = self.pages_with(word, &pages)?;
            }
        }
        most_frequent(&mut found, count_max);
        Ok(found.into_iter().map(|(word, _)| format!("{before}{word}")).collect())
    }

    fn words_with_prefix(&self, beginning: &str) -> Result<Vec<CountedWord>, IndexError> {
        let mut found: HashMap<String, u64> = HashMap::new();
        for segment in self.searcher.segment_readers() {
            let index = segment.inverted_index(self.fields.written)?;
            let mut terms = index.terms().range().ge(beginning).into_stream()?;
            while terms.advance() && terms.key().starts_with(beginning.as_bytes()) {
                if let Ok(word) = std::str::from_utf8(terms.key()) {
                    *found.entry(word.to_owned()).or_default() += u64::from(terms.value().doc_freq);
                }
            }
        }
        Ok(found.into_iter().collect())
    }

    /// Counts those of some pages that have a word as written.
    fn pages_with(&self, word: &str, pages: &HashSet<DocAddress>) -> Result<u64, IndexError> {
        let term = Term::from_field_text(self.fields.written, word);
        let mut count = 0;
        for (segment, reader) in (0..).zip(self.searcher.segment_readers()) {
            let index = reader.inverted_index(self.fields.written)?;
            let postings = index.read_postings(&term, IndexRecordOption::Basic).map_err(TantivyError::from)?;
            let Some(mut postings) = postings else { continue };
            while postings.doc() != TERMINATED {
                count += u64::from(pages.contains(&DocAddress::new(segment, postings.doc())));
                postings.advance();
            }
        }
        Ok(count)
    }

    /// Returns a text with those words corrected that no page has, if the index has a word that
    /// differs in one letter.
    pub(crate) fn correct(&self, text: &str, corrections: &mut Vec<Correction>) -> Result<String, IndexError> {
        let mut written = Vec::new();
        WordMaker::as_written()
            .each_run(text, |run, forms| written.push((run.at.clone(), forms.query_forms().collect::<String>())));
        let mut corrected = text.to_owned();
        for (place, word) in written.into_iter().rev() {
            let letters = word.chars().filter(|c| c.is_alphabetic() && !is_unspaced(*c)).count();
            if letters < CORRECTED_LETTERS_MIN || letters != word.chars().count() {
                continue;
            }
            if self.is_indexed(&word, &text[place.clone()])? {
                continue;
            }
            if let Some(by) = self.nearest(&word)? {
                corrections.insert(0, Correction { word: text[place.clone()].to_owned(), by: by.clone() });
                corrected.replace_range(place, &by);
            }
        }
        Ok(corrected)
    }

    /// Returns whether any page has a word, in any form.
    fn is_indexed(&self, written: &str, word: &str) -> Result<bool, IndexError> {
        if self.searcher.doc_freq(&Term::from_field_text(self.fields.written, written))? > 0 {
            return Ok(true);
        }
        for words in self.languages.values() {
            for form in words.clone().query_words(word).into_iter().flat_map(|word| word.forms) {
                for part in Part::ALL {
                    if self.searcher.doc_freq(&Term::from_field_text(self.fields.get(part), &form))? > 0 {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// Returns the most frequent word that differs in one letter, or by two swapped ones; `None` if
    /// there is none.
    fn nearest(&self, word: &str) -> Result<Option<String>, IndexError> {
        let fuzzy = FuzzyTermQuery::new(Term::from_field_text(self.fields.written, word), 1, true);
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        for segment in self.searcher.segment_readers() {
            let index = segment.inverted_index(self.fields.written)?;
            let mut terms = index.terms().search(fuzzy.automaton()?).into_stream()?;
            while let Some((term, info)) = terms.next() {
                if let Ok(term) = std::str::from_utf8(term) {
                    *found.entry(term.to_owned()).or_default() += u64::from(info.doc_freq);
                }
            }
        }
        let best = found.into_iter().max_by(|(a, pages_a), (b, pages_b)| pages_a.cmp(pages_b).then_with(|| b.cmp(a)));
        Ok(best.map(|(word, _)| word))
    }
}

/// Keeps the words on the most pages, the most frequent first.
fn most_frequent(words: &mut Vec<CountedWord>, count_max: usize) {
    words.sort_by(|(a, pages_a), (b, pages_b)| pages_b.cmp(pages_a).then_with(|| a.cmp(b)));
    words.truncate(count_max);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::parse;

    #[test]
    fn prefixes_share_a_maximum_of_expansions() {
        for (query, expected, why) in [
            ("word", 100, "none"),
            ("be* -an*", 100, "few"),
            ("aa* OR ab* OR (ac* ad* -ae*) OR af* OR ag* OR ah*", 50, "eight, wherever they are"),
        ] {
            assert_eq!(expansions_of_each(&parse(query).unwrap()), expected, "{query}: {why}");
        }
        let many = "aa* ".repeat(64);
        assert!(64 * expansions_of_each(&parse(&many).unwrap()) <= EXPANSIONS_OF_QUERY_MAX);
    }
}
