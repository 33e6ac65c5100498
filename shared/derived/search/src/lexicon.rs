//! The lexicon: the words of the index, and their positions.

use std::collections::HashSet;
use std::ops::ControlFlow;

use dragline_ports::row;
use jiff::civil::Date;
use tantivy::postings::Postings as _;
use tantivy::schema::IndexRecordOption;
use tantivy::termdict::TermMerger;
use tantivy::{DocAddress, DocSet as _, Searcher, TERMINATED, TantivyError, Term};

use crate::compile::Lookup;
use crate::error::{IndexError, SearchError};
use crate::fields::Part;
use crate::index::{Index, entry};

/// A word of the lexicon, in its index form: without its ending, in lower case, without accents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub word: String,
    /// The number of pages with it in the part.
    pub pages: u64,
    /// The number of its occurrences.
    pub occurrences: u64,
}

row! { Word { word, pages, occurrences } }

/// The positions of a word in a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordPlace {
    /// The word, in its index form.
    pub word: String,
    /// The page.
    pub url: String,
    /// Its title; `None` if it has none.
    pub title: Option<String>,
    /// The date of the page.
    pub day: Option<Date>,
    /// How many pages link to it.
    pub linked_from: u64,
    /// The number of occurrences.
    pub occurrences: u32,
    /// The positions in the part, from 0. Stop words count.
    pub positions: Vec<u32>,
}

impl Index {
    /// Calls back with each word of a part, in the order of code points, until told to stop. Only
    /// words in their index form that start with `beginning` are visited.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn words(
        &self,
        part: Part,
        beginning: &str,
        visit: impl FnMut(Word) -> ControlFlow<()>,
    ) -> Result<(), SearchError> {
        self.each_word(part, beginning, visit).map_err(|error| self.index_error(error))
    }

    fn each_word(
        &self,
        part: Part,
        beginning: &str,
        mut visit: impl FnMut(Word) -> ControlFlow<()>,
    ) -> Result<(), IndexError> {
        let searcher = self.searcher();
        let mut indexes = Vec::new();
        for segment in searcher.segment_readers() {
            indexes.push(segment.inverted_index(self.fields.get(part))?);
        }
        let mut streams = Vec::new();
        for index in &indexes {
            streams.push(index.terms().range().ge(beginning).into_stream()?);
        }
        let mut words = TermMerger::new(streams);
        while words.advance() && words.key().starts_with(beginning.as_bytes()) {
            let Ok(word) = std::str::from_utf8(words.key()) else { continue };
            let mut found = Word { word: word.to_owned(), pages: 0, occurrences: 0 };
            for (segment, info) in words.current_segment_ords_and_term_infos() {
                let mut postings = indexes[segment].read_postings_from_terminfo(&info, IndexRecordOption::WithFreqs)?;
                let reader = &searcher.segment_readers()[segment];
                while postings.doc() != TERMINATED {
                    // Removed pages stay in the files until these are rewritten.
                    if !reader.is_deleted(postings.doc()) {
                        found.pages += 1;
                        found.occurrences += u64::from(postings.term_freq());
                    }
                    postings.advance();
                }
            }
            if found.pages > 0 && visit(found).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Calls back with each page that has a word in a part, until told to stop. The word is looked
    /// up in every language of the index, so pages may have any of its forms. Returns these forms.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn places(
        &self,
        part: Part,
        word: &str,
        visit: impl FnMut(WordPlace) -> ControlFlow<()>,
    ) -> Result<Vec<Word>, SearchError> {
        self.each_place(part, word, visit).map_err(|error| self.index_error(error))
    }

    fn each_place(
        &self,
        part: Part,
        word: &str,
        mut visit: impl FnMut(WordPlace) -> ControlFlow<()>,
    ) -> Result<Vec<Word>, IndexError> {
        let lookup = self.lookup()?;
        let searcher = &lookup.searcher;
        let mut found = Vec::new();
        let mut goes_on = ControlFlow::Continue(());
        let mut visited = HashSet::new();
        for word in lookup.forms(word) {
            let mut total = Word { word: word.clone(), pages: 0, occurrences: 0 };
            self.pages_with(searcher, part, &word, |address, positions| {
                // Two forms of one word have the same position.
                let new: Vec<u32> =
                    positions.iter().copied().filter(|position| visited.insert((address, *position))).collect();
                if new.is_empty() {
                    return Ok(());
                }
                let occurrences = u32::try_from(new.len()).unwrap_or(u32::MAX);
                total.pages += 1;
                total.occurrences += u64::from(occurrences);
                if goes_on.is_continue() {
                    let entry = entry(searcher, &self.fields, address)?;
                    goes_on = visit(WordPlace {
                        word: word.clone(),
                        url: entry.url,
                        title: entry.title,
                        day: entry.day,
                        linked_from: entry.linked_from,
                        occurrences,
                        positions: new,
                    });
                }
                Ok(())
            })?;
            found.push(total);
        }
        Ok(found)
    }

    fn pages_with(
        &self,
        searcher: &Searcher,
        part: Part,
        word: &str,
        mut visit: impl FnMut(DocAddress, &[u32]) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let field = self.fields.get(part);
        let term = Term::from_field_text(field, word);
        let mut positions = Vec::new();
        for (segment, reader) in (0..).zip(searcher.segment_readers()) {
            let index = reader.inverted_index(field)?;
            let postings = index.read_postings(&term, IndexRecordOption::WithFreqsAndPositions);
            let Some(mut postings) = postings.map_err(TantivyError::from)? else { continue };
            while postings.doc() != TERMINATED {
                if !reader.is_deleted(postings.doc()) {
                    postings.positions(&mut positions);
                    visit(DocAddress::new(segment, postings.doc()), &positions)?;
                }
                postings.advance();
            }
        }
        Ok(())
    }
}

impl Lookup {
    /// Returns the forms of a word in the languages of the index; none if it is a stop word in all
    /// of them.
    fn forms(&self, word: &str) -> Vec<String> {
        let asked = self.languages().flat_map(|mut words| words.query_words(word)).filter(|word| !word.is_stop_word);
        let mut forms: Vec<String> = asked.flat_map(|word| word.forms).collect();
        forms.sort_unstable();
        forms.dedup();
        forms
    }
}
