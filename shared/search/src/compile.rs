//! What a query looks up in the index.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use serde::Serialize;
use tantivy::query::{
    Bm25StatisticsProvider, BooleanQuery, BoostQuery, ConstScoreQuery, DisjunctionMaxQuery, EmptyQuery, FuzzyTermQuery,
    Occur, PhraseQuery, Query, RangeQuery, RegexQuery, TermQuery, TermSetQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Score, Searcher, Term};

use crate::entry::days;
use crate::error::IndexError;
use crate::fields::{Fields, Part};
use crate::query::{Condition, Form, Node, Words as Wanted};
use crate::words::{Words, is_unspaced};

/// How much a word counts for each further part of a page that has it, beside the part in which it counts most.
const TIE_BREAKER: Score = 0.3;

/// The most words that the beginning of a word stands for: those that most pages have.
const EXPANSIONS_MAX: usize = 100;

/// The fewest letters of a word that is corrected.
const CORRECTED_LETTERS_MIN: usize = 4;

/// Whether a word that no page has is replaced by one that differs in one letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Typos {
    /// It is.
    #[default]
    Correct,
    /// It is not.
    Keep,
}

/// A word that was replaced, as no page has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Correction {
    /// The word as it was written.
    pub word: String,
    /// The word that was searched for.
    pub by: String,
}

/// What an index holds at a time, and the languages in which words are looked up in it.
pub(crate) struct Lookup {
    pub(crate) searcher: Searcher,
    pub(crate) fields: Fields,
    languages: BTreeMap<String, Words>,
    /// Of each part: how many pages there are for each that has it.
    pages_for_each: Vec<(Field, f64)>,
}

/// A query, ready to run.
pub(crate) struct Compiled {
    pub(crate) query: Box<dyn Query>,
    pub(crate) notes: Notes,
}

/// What else there is to say of a query.
#[derive(Default)]
pub(crate) struct Notes {
    /// Texts that the pages found have, to be marked in them.
    pub(crate) marked: Vec<String>,
    pub(crate) corrections: Vec<Correction>,
    /// Words that are looked up in pages of some languages alone, or nowhere, as they are stop words in the others, or no words.
    pub(crate) stop_words: Vec<String>,
}

/// What looks up words.
struct Found {
    /// Pages that have them; `None` if they are stop words in every language.
    pages: Option<Box<dyn Query>>,
    /// Pages in languages in which they are stop words, which are left out where there is more to search for; `None` if there is no such language.
    pages_without: Option<Box<dyn Query>>,
}

impl Lookup {
    /// Reads what is the same for all searches.
    pub(crate) fn new(searcher: Searcher, fields: Fields) -> Result<Self, IndexError> {
        let mut languages = BTreeMap::new();
        each_term(&searcher, fields.language, |language, _| {
            languages.entry(language.to_owned()).or_insert_with(|| Words::of_language(language));
        })?;
        let mut pages_for_each = Vec::new();
        for field in Part::ALL.map(|part| fields.of(part)) {
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

    /// What makes the words of pages in a language.
    pub(crate) fn words_of(&self, language: &str) -> Words {
        self.languages.get(language).cloned().unwrap_or_else(|| Words::of_language(language))
    }

    /// What makes the words of each language of the index.
    pub(crate) fn languages(&self) -> impl Iterator<Item = Words> {
        self.languages.values().cloned()
    }

    /// Compiles a query.
    pub(crate) fn compile(&self, node: &Node, typos: Typos) -> Result<Compiled, IndexError> {
        let mut notes = Notes::default();
        let query = self.node(node, typos, Sense::Wanted, &mut notes)?;
        Ok(Compiled { query, notes })
    }

    fn node(&self, node: &Node, typos: Typos, sense: Sense, notes: &mut Notes) -> Result<Box<dyn Query>, IndexError> {
        Ok(match node {
            Node::All(nodes) => self.all(nodes, typos, sense, notes)?,
            Node::Any(nodes) => {
                let any = nodes.iter().map(|node| Ok((Occur::Should, self.node(node, typos, sense, notes)?)));
                boxed(BooleanQuery::new(any.collect::<Result<_, IndexError>>()?))
            }
            Node::Not(_) => self.all(std::slice::from_ref(node), typos, sense, notes)?,
            Node::Words(wanted) => {
                let found = self.wanted(wanted, typos, sense, notes)?;
                if found.pages_without.is_some() && sense == Sense::Wanted {
                    notes.stop_words.push(wanted.text.clone());
                }
                found.pages.unwrap_or_else(|| boxed(EmptyQuery))
            }
            Node::Condition(condition) => boxed(ConstScoreQuery::new(self.condition(condition)?, 0.0)),
        })
    }

    /// Looks up pages for which all hold. Stop words are left out, unless there is nothing else.
    fn all(&self, nodes: &[Node], typos: Typos, sense: Sense, notes: &mut Notes) -> Result<Box<dyn Query>, IndexError> {
        let (mut clauses, mut stop_words) = (Vec::new(), Vec::new());
        for node in nodes {
            match node {
                Node::Not(node) => clauses.push((Occur::MustNot, self.node(node, typos, sense.opposite(), notes)?)),
                Node::Words(wanted) => match self.wanted(wanted, typos, sense, notes)? {
                    Found { pages: Some(pages), pages_without: None } => clauses.push((Occur::Must, pages)),
                    found => stop_words.push((&wanted.text, found)),
                },
                node => clauses.push((Occur::Must, self.node(node, typos, sense, notes)?)),
            }
        }
        let has_others = clauses.iter().any(|(occur, _)| *occur == Occur::Must);
        if !has_others && stop_words.is_empty() {
            clauses.push((Occur::Must, everything()));
        }
        for (word, Found { pages, pages_without }) in stop_words {
            let mut any: Vec<Box<dyn Query>> = pages.into_iter().collect();
            if has_others {
                any.extend(pages_without);
            } else if sense == Sense::Wanted {
                notes.stop_words.push(word.clone());
            }
            clauses.push((Occur::Must, boxed(DisjunctionMaxQuery::new(any))));
        }
        Ok(boxed(BooleanQuery::new(clauses)))
    }

    fn wanted(&self, wanted: &Wanted, typos: Typos, sense: Sense, notes: &mut Notes) -> Result<Found, IndexError> {
        let texts = match wanted.form {
            Form::Phrase => vec![wanted.text.clone()],
            // What pages must not have is taken by the letter.
            Form::Word => match (typos, sense) {
                (Typos::Correct, Sense::Wanted) => vec![self.corrected(&wanted.text, &mut notes.corrections)?],
                (Typos::Keep, _) | (_, Sense::Unwanted) => vec![wanted.text.clone()],
            },
            Form::Prefix => self.expansions(&wanted.text)?,
        };
        let mut found = match texts.as_slice() {
            [text] => self.text(wanted.part, text)?,
            texts => {
                let mut any = Vec::new();
                for text in texts {
                    any.extend(self.text(wanted.part, text)?.pages);
                }
                Found { pages: Some(boxed(DisjunctionMaxQuery::new(any))), pages_without: None }
            }
        };
        if wanted.form == Form::Prefix {
            // Whoever writes the beginning of a word wants that.
            found.pages_without = None;
            found.pages = found.pages.or_else(|| Some(boxed(EmptyQuery)));
        }
        if sense == Sense::Wanted {
            notes.marked.extend(texts);
        }
        Ok(found)
    }

    /// Looks up a word or a phrase: in each language as its words are looked up there.
    fn text(&self, part: Option<Part>, text: &str) -> Result<Found, IndexError> {
        let mut ways: BTreeMap<Vec<(usize, String)>, Vec<&str>> = BTreeMap::new();
        for (language, words) in &self.languages {
            ways.entry(looked_up(&mut words.clone(), text)).or_default().push(language);
        }
        let is_one_way = ways.len() == 1;
        let in_languages = |languages: &[&str]| {
            let terms = languages.iter().map(|language| Term::from_field_text(self.fields.language, language));
            boxed(ConstScoreQuery::new(boxed(TermSetQuery::new(terms)), 0.0))
        };
        let pages_without = ways.remove([].as_slice()).map(|languages| in_languages(&languages));
        let mut any = Vec::new();
        for (words, languages) in ways {
            let found = self.words(part, &words)?;
            // A word may be another one in another language: `news` is the plural of `new` only in some.
            any.push(if is_one_way {
                found
            } else {
                boxed(BooleanQuery::new(vec![(Occur::Must, found), (Occur::Must, in_languages(&languages))]))
            });
        }
        let pages = match any.len() {
            0 => None,
            1 => any.pop(),
            _ => Some(boxed(DisjunctionMaxQuery::new(any))),
        };
        Ok(Found { pages, pages_without })
    }

    /// Looks up words at their places, in a part or in all of them.
    fn words(&self, part: Option<Part>, words: &[(usize, String)]) -> Result<Box<dyn Query>, IndexError> {
        let parts = part.map_or_else(|| Part::ALL.to_vec(), |part| vec![part]);
        let mut any = Vec::new();
        for part in parts {
            let field = self.fields.of(part);
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
            Condition::After(first) => boxed(RangeQuery::new(Bound::Included(day(*first)), Bound::Unbounded)),
            Condition::Before(first) => boxed(RangeQuery::new(Bound::Unbounded, Bound::Excluded(day(*first)))),
        })
    }

    /// Returns the words that begin like this and that most pages have.
    fn expansions(&self, text: &str) -> Result<Vec<String>, IndexError> {
        let beginning = match Words::as_written().places(text).as_slice() {
            [(_, word)] if !word.contains(is_unspaced) => word.clone(),
            // In a script without spaces, and in several words, it is looked up as it is.
            _ => return Ok(vec![text.to_owned()]),
        };
        let mut found: HashMap<String, u64> = HashMap::new();
        for segment in self.searcher.segment_readers() {
            let index = segment.inverted_index(self.fields.written)?;
            let mut terms = index.terms().range().ge(&beginning).into_stream()?;
            while terms.advance() && terms.key().starts_with(beginning.as_bytes()) {
                if let Ok(word) = std::str::from_utf8(terms.key()) {
                    *found.entry(word.to_owned()).or_default() += u64::from(terms.value().doc_freq);
                }
            }
        }
        let mut found: Vec<(String, u64)> = found.into_iter().collect();
        found.sort_by(|(a, pages_a), (b, pages_b)| pages_b.cmp(pages_a).then_with(|| a.cmp(b)));
        found.truncate(EXPANSIONS_MAX);
        Ok(found.into_iter().map(|(word, _)| word).collect())
    }

    /// Returns a text with those of its words replaced that no page has, if one that differs in one letter is there.
    fn corrected(&self, text: &str, corrections: &mut Vec<Correction>) -> Result<String, IndexError> {
        let mut written = Vec::new();
        Words::as_written().each(text, |token| written.push(token.clone()));
        let mut corrected = text.to_owned();
        for token in written.iter().rev() {
            let letters = token.text.chars().filter(|c| c.is_alphabetic() && !is_unspaced(*c)).count();
            if letters < CORRECTED_LETTERS_MIN || letters != token.text.chars().count() {
                continue;
            }
            let place = token.offset_from..token.offset_to;
            if self.is_there(&token.text, &text[place.clone()])? {
                continue;
            }
            if let Some(by) = self.nearest(&token.text)? {
                corrections.insert(0, Correction { word: text[place.clone()].to_owned(), by: by.clone() });
                corrected.replace_range(place, &by);
            }
        }
        Ok(corrected)
    }

    /// Whether any page has a word, in any of its forms.
    fn is_there(&self, written: &str, word: &str) -> Result<bool, IndexError> {
        if self.searcher.doc_freq(&Term::from_field_text(self.fields.written, written))? > 0 {
            return Ok(true);
        }
        for words in self.languages.values() {
            for (_, word) in words.clone().places(word) {
                for part in Part::ALL {
                    if self.searcher.doc_freq(&Term::from_field_text(self.fields.of(part), &word))? > 0 {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// Returns the word that most pages have of those that differ in one letter, or in the order of two; `None` if there is none.
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

/// How long the parts of pages are on average, among the pages that have them: many pages have no headings, and nobody says anything of many.
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

/// Whether a part of a query says what pages have, or what they do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sense {
    Wanted,
    Unwanted,
}

impl Sense {
    const fn opposite(self) -> Self {
        match self {
            Self::Wanted => Self::Unwanted,
            Self::Unwanted => Self::Wanted,
        }
    }
}

/// Returns the words of a text as they are looked up, with their places among each other.
pub(crate) fn looked_up(words: &mut Words, text: &str) -> Vec<(usize, String)> {
    let mut tokens = Vec::new();
    let mut last_end = 0;
    words.each(text, |token| {
        // The last character of a run without spaces is indexed by itself, too, but a page may go on after it.
        let ends_pair = token.offset_to == last_end;
        last_end = token.offset_to;
        if !ends_pair {
            tokens.push((token.position, token.text.clone()));
        }
    });
    let first = tokens.first().map_or(0, |(place, _)| *place);
    tokens.iter_mut().for_each(|(place, _)| *place -= first);
    tokens
}

/// Whether a word is one character of a script without spaces, which pages have in pairs.
pub(crate) fn is_lone(word: &str) -> bool {
    let mut characters = word.chars();
    characters.next().is_some_and(is_unspaced) && characters.next().is_none()
}

fn in_field(field: Field, words: &[(usize, String)]) -> Result<Box<dyn Query>, IndexError> {
    let mut clauses = Vec::new();
    let (lone, rest): (Vec<_>, Vec<_>) = words.iter().partition(|(_, word)| is_lone(word));
    for (_, character) in lone {
        // It is looked up as the first character of a pair.
        clauses.push((Occur::Must, boxed(RegexQuery::from_pattern(&format!("{character}.?"), field)?)));
    }
    let mut terms: Vec<_> = rest.iter().map(|(place, word)| (*place, Term::from_field_text(field, word))).collect();
    match terms.len() {
        0 => {}
        1 => {
            let (_, term) = terms.remove(0);
            clauses.push((Occur::Must, boxed(TermQuery::new(term, IndexRecordOption::WithFreqs))));
        }
        _ => clauses.push((Occur::Must, boxed(PhraseQuery::new_with_offset(terms)))),
    }
    Ok(if clauses.len() == 1 { clauses.remove(0).1 } else { boxed(BooleanQuery::new(clauses)) })
}

/// Calls back with each term of a field, with how many pages have it; once for each segment of the index that has it.
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

fn boxed(query: impl Query) -> Box<dyn Query> {
    Box::new(query)
}

fn everything() -> Box<dyn Query> {
    boxed(ConstScoreQuery::new(boxed(tantivy::query::AllQuery), 0.0))
}
