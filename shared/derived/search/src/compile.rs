//! Compiles queries for the index.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Bound;

use serde::Serialize;
use tantivy::query::{
    AllQuery, Bm25StatisticsProvider, BooleanQuery, BoostQuery, ConstScoreQuery, DisjunctionMaxQuery, EmptyQuery,
    Occur, PhraseQuery, Query, RangeQuery, RegexPhraseQuery, RegexQuery, TermQuery, TermSetQuery,
    wildcard_query_to_regex_str,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Score, Searcher, Term};

use crate::characters::is_unspaced;
use crate::entry::{days, words_of_url};
use crate::error::IndexError;
use crate::expand::expansions_of_each;
use crate::fields::{Fields, Part};
use crate::query::{Condition, Form, Node, WordRun};
use crate::words::{QueryWord, WordMaker, lookup_language};

/// The weight of a word in further parts of a page, beside the part in which it scores highest.
const TIE_BREAKER: Score = 0.3;

/// The maximum number of variants of a phrase, given the forms of its words.
const PHRASES_MAX: usize = 8;

/// Whether to correct a word that no page has, by one letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Typos {
    /// Correct it.
    #[default]
    Correct,
    /// Keep it.
    Keep,
}

/// A correction of a word that no page has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Correction {
    /// The word as typed.
    pub word: String,
    /// The word that was searched for instead.
    pub by: String,
}

/// A snapshot of an index, with the languages of its words.
pub(crate) struct Lookup {
    pub(crate) searcher: Searcher,
    pub(crate) fields: Fields,
    /// The word makers of the index, by language ([`looked_up_as`]).
    pub(crate) languages: BTreeMap<String, WordMaker>,
    /// The inverse share of pages that have each part.
    pages_for_each: Vec<(Field, f64)>,
}

/// A query, ready to run.
pub(crate) struct Compiled {
    pub(crate) query: Box<dyn Query>,
    pub(crate) notes: Notes,
}

/// Notes on a compiled query.
#[derive(Default)]
pub(crate) struct Notes {
    /// Texts to highlight in the results.
    pub(crate) marked: Vec<String>,
    pub(crate) corrections: Vec<Correction>,
    /// Words that are not looked up in pages of some languages or in any, as they are stop words
    /// there, or not words.
    pub(crate) stop_words: Vec<String>,
}

/// How the words of a query are looked up.
#[derive(Clone, Copy)]
struct LookupOptions {
    typos: Typos,
    /// The maximum number of words that a prefix expands to.
    expansions_max: usize,
}

/// The queries for a run of words.
pub(crate) struct WordQuery {
    /// Pages with the words; `None` if there is nothing to look up, as they are stop words in every
    /// language, or not words.
    pub(crate) pages: Option<Box<dyn Query>>,
    /// Pages in languages in which the words are stop words. They are dropped if the query has
    /// other words; `None` if there is no such language.
    pages_without: Option<Box<dyn Query>>,
}

impl Lookup {
    /// Reads the data shared by all searches.
    pub(crate) fn new(searcher: Searcher, fields: Fields) -> Result<Self, IndexError> {
        let mut languages = BTreeMap::new();
        each_term(&searcher, fields.language, |language, _| {
            let language = lookup_language(language);
            languages.entry(language.to_owned()).or_insert_with(|| WordMaker::for_language(language));
        })?;
        let mut pages_for_each = Vec::new();
        for field in Part::ALL.map(|part| fields.get(part)) {
            let (mut all, mut with) = (0_u32, 0_u32);
            for segment in searcher.segment_readers() {
                let norms = segment.get_fieldnorms_reader(field)?;
                all += segment.max_doc();
                for id in 0..segment.max_doc() {
                    with += u32::from(norms.fieldnorm_id(id) > 0);
                }
            }
            pages_for_each.push((field, f64::from(all) / f64::from(with.max(1))));
        }
        Ok(Self { searcher, fields, languages, pages_for_each })
    }

    /// Compiles a query.
    pub(crate) fn compile(&self, node: &Node, typos: Typos) -> Result<Compiled, IndexError> {
        let (manner, mut notes) = (LookupOptions { typos, expansions_max: expansions_of_each(node) }, Notes::default());
        let query = self.node(node, manner, Sense::WordRun, &mut notes)?;
        Ok(Compiled { query, notes })
    }

    fn node(
        &self,
        node: &Node,
        manner: LookupOptions,
        sense: Sense,
        notes: &mut Notes,
    ) -> Result<Box<dyn Query>, IndexError> {
        Ok(match node {
            Node::All(nodes) => self.all(nodes, manner, sense, notes)?,
            Node::Any(nodes) => {
                let any = nodes.iter().map(|node| Ok((Occur::Should, self.node(node, manner, sense, notes)?)));
                boxed(BooleanQuery::new(any.collect::<Result<_, IndexError>>()?))
            }
            Node::Not(_) => self.all(std::slice::from_ref(node), manner, sense, notes)?,
            Node::Words(wanted) => {
                let found = self.wanted(wanted, manner, sense, notes)?;
                if found.pages_without.is_some() && sense == Sense::WordRun {
                    notes.stop_words.push(wanted.text.clone());
                }
                found.pages.unwrap_or_else(|| boxed(EmptyQuery))
            }
            Node::Condition(condition) => boxed(ConstScoreQuery::new(self.condition(condition)?, 0.0)),
        })
    }

    /// Looks up pages that match all nodes. Stop words are ignored unless there is nothing else.
    fn all(
        &self,
        nodes: &[Node],
        manner: LookupOptions,
        sense: Sense,
        notes: &mut Notes,
    ) -> Result<Box<dyn Query>, IndexError> {
        let (mut clauses, mut stop_words) = (Vec::new(), Vec::new());
        for node in nodes {
            match node {
                Node::Not(node) => clauses.push((Occur::MustNot, self.node(node, manner, sense.opposite(), notes)?)),
                Node::Words(wanted) => match self.wanted(wanted, manner, sense, notes)? {
                    WordQuery { pages: Some(pages), pages_without: None } => clauses.push((Occur::Must, pages)),
                    found => stop_words.push((&wanted.text, found)),
                },
                node => clauses.push((Occur::Must, self.node(node, manner, sense, notes)?)),
            }
        }
        let has_others = clauses.iter().any(|(occur, _)| *occur == Occur::Must);
        if !has_others && stop_words.is_empty() {
            clauses.push((Occur::Must, everything()));
        }
        for (word, WordQuery { pages, pages_without }) in stop_words {
            let mut any: Vec<Box<dyn Query>> = pages.into_iter().collect();
            if has_others {
                any.extend(pages_without);
            } else if sense == Sense::WordRun {
                notes.stop_words.push(word.clone());
            }
            clauses.push((Occur::Must, boxed(DisjunctionMaxQuery::new(any))));
        }
        Ok(boxed(BooleanQuery::new(clauses)))
    }

    fn wanted(
        &self,
        wanted: &WordRun,
        manner: LookupOptions,
        sense: Sense,
        notes: &mut Notes,
    ) -> Result<WordQuery, IndexError> {
        let texts = match wanted.form {
            Form::Phrase => vec![wanted.text.clone()],
            // Excluded words are taken literally.
            Form::Word => match (manner.typos, sense) {
                (Typos::Correct, Sense::WordRun) => vec![self.correct(&wanted.text, &mut notes.corrections)?],
                (Typos::Keep, _) | (_, Sense::Unwanted) => vec![wanted.text.clone()],
            },
            Form::Prefix => self.expansions(wanted.part, &wanted.text, manner.expansions_max)?,
        };
        let mut found = match texts.as_slice() {
            [text] => self.text(wanted.part, text)?,
            texts => {
                let mut any = Vec::new();
                for text in texts {
                    any.extend(self.text(wanted.part, text)?.pages);
                }
                WordQuery { pages: Some(boxed(DisjunctionMaxQuery::new(any))), pages_without: None }
            }
        };
        if wanted.form == Form::Prefix {
            // A typed prefix is never a stop word.
            found.pages_without = None;
            found.pages = found.pages.or_else(|| Some(boxed(EmptyQuery)));
        }
        if sense == Sense::WordRun {
            notes.marked.extend(texts);
        }
        Ok(found)
    }

    /// Looks up a word or a phrase, in each language by its own rules.
    pub(crate) fn text(&self, part: Option<Part>, text: &str) -> Result<WordQuery, IndexError> {
        let text = if part == Some(Part::Url) { Cow::Owned(words_of_url(text)) } else { Cow::Borrowed(text) };
        let mut ways: BTreeMap<Vec<Place>, Vec<&str>> = BTreeMap::new();
        let mut without = Vec::new();
        for (language, words) in &self.languages {
            let mut asked = words.clone().query_words(&text);
            if asked.iter().all(|word| word.is_stop_word) {
                without.push(language.as_str());
            }
            // A single stop word may be another word without accents: `te` in Spanish is tea.
            if asked.len() > 1 {
                asked.retain(|word| !word.is_stop_word);
            }
            if !asked.is_empty() {
                ways.entry(places(asked)).or_default().push(language);
            }
        }
        let pages_without = (!without.is_empty()).then(|| self.in_languages(&without));
        let mut any = Vec::new();
        for (words, languages) in ways {
            let found = self.words(part, &words)?;
            // A word may be another one in another language: `news` is the plural of `new` only in
            // some.
            any.push(if languages.len() == self.languages.len() {
                found
            } else {
                boxed(BooleanQuery::new(vec![(Occur::Must, found), (Occur::Must, self.in_languages(&languages))]))
            });
        }
        let pages = if any.is_empty() { None } else { Some(any_of(any)) };
        Ok(WordQuery { pages, pages_without })
    }

    /// Looks up words at their positions, in one part or in all.
    fn words(&self, part: Option<Part>, words: &[Place]) -> Result<Box<dyn Query>, IndexError> {
        let parts = part.map_or_else(|| Part::ALL.to_vec(), |part| vec![part]);
        let mut any = Vec::new();
        for part in parts {
            let field = self.fields.get(part);
            any.push(boxed(BoostQuery::new(in_field(field, words)?, part.boost())));
        }
        Ok(boxed(DisjunctionMaxQuery::with_tie_breaker(any, TIE_BREAKER)))
    }

    fn condition(&self, condition: &Condition) -> Result<Box<dyn Query>, IndexError> {
        let term =
            |field, text: &str| boxed(TermQuery::new(Term::from_field_text(field, text), IndexRecordOption::Basic));
        let day = |day| Term::from_field_i64(self.fields.day, days(day));
        Ok(match condition {
            Condition::Site(site) => term(self.fields.domain, site),
            Condition::Language(language) => term(self.fields.language, language),
            Condition::Type(kind) => {
                let mut terms = Vec::new();
                each_term(&self.searcher, self.fields.kind, |known, _| {
                    if known.eq_ignore_ascii_case(kind) {
                        terms.push(Term::from_field_text(self.fields.kind, known));
                    }
                })?;
                boxed(TermSetQuery::new(terms))
            }
            Condition::Use(purpose) => boxed(BooleanQuery::new(vec![
                (Occur::Must, boxed(AllQuery)),
                (Occur::MustNot, term(self.fields.reserved, purpose.name())),
            ])),
            Condition::After(first) => boxed(RangeQuery::new(Bound::Included(day(*first)), Bound::Unbounded)),
            Condition::Before(first) => boxed(RangeQuery::new(Bound::Unbounded, Bound::Excluded(day(*first)))),
        })
    }
}

/// The average length of the parts of pages, among the pages that have them: many pages have no
/// headings, and many have no anchor texts.
impl Bm25StatisticsProvider for Lookup {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        let tokens = self.searcher.total_num_tokens(field)?;
        let factor = self.pages_for_each.iter().find(|(of, _)| *of == field).map_or(1.0, |(_, factor)| *factor);
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an average, of which the first digits matter"
        )]
        Ok((tokens as f64 * factor) as u64)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        self.searcher.total_num_docs()
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        self.searcher.doc_freq(term)
    }
}

/// Whether a part of a query requires words or excludes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sense {
    WordRun,
    Unwanted,
}

impl Sense {
    const fn opposite(self) -> Self {
        match self {
            Self::WordRun => Self::Unwanted,
            Self::Unwanted => Self::WordRun,
        }
    }
}

/// A word of a query: its position and its forms.
type Place = (usize, Vec<String>);

fn places(asked: Vec<QueryWord>) -> Vec<Place> {
    let first = asked.first().map_or(0, |word| word.place);
    asked.into_iter().map(|word| (word.place - first, word.forms)).collect()
}

/// Returns whether a word is a single character of a script without spaces, which the index has in
/// pairs.
pub(crate) fn is_lone(word: &str) -> bool {
    let mut characters = word.chars();
    characters.next().is_some_and(is_unspaced) && characters.next().is_none()
}

fn in_field(field: Field, words: &[Place]) -> Result<Box<dyn Query>, IndexError> {
    let mut clauses = Vec::new();
    let mut rest = Vec::new();
    for (place, forms) in words {
        match forms.as_slice() {
            // It is looked up as the first character of a pair.
            [character] if is_lone(character) => {
                clauses.push((Occur::Must, boxed(RegexQuery::from_pattern(&format!("{character}.?"), field)?)));
            }
            forms => rest.push((*place, forms)),
        }
    }
    match rest.as_slice() {
        [] => {}
        [(_, forms)] => {
            let terms = forms.iter().map(|form| Term::from_field_text(field, form));
            let queries = terms.map(|term| boxed(TermQuery::new(term, IndexRecordOption::WithFreqs)));
            clauses.push((Occur::Must, any_of(queries.collect())));
        }
        words => clauses.push((Occur::Must, phrase(field, words))),
    }
    Ok(if clauses.len() == 1 { clauses.remove(0).1 } else { boxed(BooleanQuery::new(clauses)) })
}

/// Looks up consecutive words, each in any of its forms.
fn phrase(field: Field, words: &[(usize, &[String])]) -> Box<dyn Query> {
    let ways: usize = words.iter().map(|(_, forms)| forms.len()).fold(1, usize::saturating_mul);
    if ways > PHRASES_MAX {
        let pattern = |forms: &[String]| {
            let forms: Vec<String> = forms.iter().map(|form| wildcard_query_to_regex_str(form)).collect();
            format!("({})", forms.join("|"))
        };
        let patterns = words.iter().map(|(place, forms)| (*place, pattern(forms)));
        return boxed(RegexPhraseQuery::new_with_offset(field, patterns.collect()));
    }
    let mut phrases: Vec<Vec<(usize, Term)>> = vec![Vec::new()];
    for (place, forms) in words {
        let longer = phrases.iter().flat_map(|phrase| {
            forms.iter().map(|form| {
                let last = (*place, Term::from_field_text(field, form));
                phrase.iter().cloned().chain([last]).collect()
            })
        });
        phrases = longer.collect();
    }
    any_of(phrases.into_iter().map(|phrase| boxed(PhraseQuery::new_with_offset(phrase))).collect())
}

/// Matches pages by any of these queries, scored by the best.
fn any_of(mut any: Vec<Box<dyn Query>>) -> Box<dyn Query> {
    match any.pop() {
        Some(only) if any.is_empty() => only,
        last => {
            any.extend(last);
            boxed(DisjunctionMaxQuery::new(any))
        }
    }
}

/// Calls back with each term of a field and its number of pages, once for each segment that has it.
pub(crate) fn each_term(searcher: &Searcher, field: Field, mut visit: impl FnMut(&str, u32)) -> Result<(), IndexError> {
    for segment in searcher.segment_readers() {
        let index = segment.inverted_index(field)?;
        let mut terms = index.terms().stream()?;
        while let Some((term, info)) = terms.next() {
            if let Ok(term) = std::str::from_utf8(term) {
                visit(term, info.doc_freq);
            }
        }
    }
    Ok(())
}

pub(crate) fn boxed(query: impl Query) -> Box<dyn Query> {
    Box::new(query)
}

pub(crate) fn everything() -> Box<dyn Query> {
    boxed(ConstScoreQuery::new(boxed(AllQuery), 0.0))
}
