//! Snippets: the part of a page's text around the matches.

use std::collections::HashSet;
use std::ops::Range;

use crate::characters::{Character, Characters};
use crate::compile::is_lone;
use crate::words::WordMaker;

/// The length of a snippet, in bytes.
const SNIPPET_BYTES: usize = 240;

/// The length of the text before the first match, in bytes.
const BEFORE_BYTES: usize = 60;

/// A text in pieces, with matches marked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marked(pub Vec<Piece>);

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// Whether it is a match.
    pub is_match: bool,
}

/// The words to mark in texts of one language.
pub(crate) struct Marks {
    words: WordMaker,
    terms: HashSet<String>,
    /// Characters that are marked wherever they occur.
    lone: HashSet<String>,
}

/// A match in a text.
struct Match {
    at: Range<usize>,
    term: String,
}

impl Marks {
    pub(crate) fn new(mut words: WordMaker, texts: &[String]) -> Self {
        let asked: Vec<String> =
            texts.iter().flat_map(|text| words.query_words(text)).flat_map(|word| word.forms).collect();
        let (lone, terms) = asked.into_iter().partition(|word| is_lone(word));
        Self { words, terms, lone }
    }

    fn find(&mut self, text: &str) -> Vec<Match> {
        let Self { words, terms, lone } = self;
        let mut found = Vec::new();
        words.each(text, |token| {
            let is_same = found
                .last()
                .is_some_and(|last: &Match| last.at.start == token.offset_from && last.at.end == token.offset_to);
            if is_same {
                // Another form of the previous word.
            } else if terms.contains(&token.text) {
                found.push(Match { at: token.offset_from..token.offset_to, term: token.text.clone() });
            } else if !lone.is_empty()
                && let Some(Character { c, at }) = Characters::new(&text[token.offset_from..token.offset_to]).next()
                && lone.contains(c.encode_utf8(&mut [0; 4]) as &str)
            {
                let at = token.offset_from + at.start..token.offset_from + at.end;
                found.push(Match { at, term: c.to_string() });
            }
        });
        found
    }

    /// Marks the matches in a text.
    pub(crate) fn mark(&mut self, text: &str) -> Marked {
        let found = self.find(text);
        Marked::new(text, 0..text.len(), &found)
    }

    /// Returns the part of a text with the most matches, marked; `None` if it has none.
    pub(crate) fn snippet(&mut self, text: &str) -> Option<Marked> {
        let found = self.find(text);
        let best = best(&found)?;
        let begin = word_after(text, found[best].at.start.saturating_sub(BEFORE_BYTES), found[best].at.start);
        Some(Marked::new(text, begin..end(text, begin), &found))
    }
}

impl Marked {
    /// Returns the beginning of a text without marks.
    pub(crate) fn beginning(text: &str) -> Self {
        Self::new(text, 0..end(text, 0), &[])
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> String {
        self.0.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// Returns the start and end of each match, in characters.
    #[must_use]
    pub fn matches(&self) -> Vec<(usize, usize)> {
        let mut at = 0;
        let mut matches = Vec::new();
        for piece in &self.0 {
            let begin = at;
            at += piece.text.chars().count();
            if piece.is_match {
                matches.push((begin, at));
            }
        }
        matches
    }

    fn new(text: &str, shown: Range<usize>, found: &[Match]) -> Self {
        let mut marked = Self::default();
        let mut at = shown.start;
        if at > 0 {
            marked.push("… ", false);
        }
        for Match { at: place, .. } in
            found.iter().filter(|found| found.at.start >= shown.start && found.at.end <= shown.end)
        {
            marked.push(&text[at..place.start.max(at)], false);
            marked.push(&text[place.start.max(at)..place.end.max(at)], true);
            at = place.end.max(at);
        }
        marked.push(&text[at..shown.end], false);
        if shown.end < text.len() {
            marked.push(" …", false);
        }
        marked
    }

    /// Adds a piece on one line.
    fn push(&mut self, text: &str, is_match: bool) {
        let mut line = String::with_capacity(text.len());
        let mut after_space = self.0.last().is_none_or(|last| last.text.ends_with(' '));
        for c in text.chars() {
            let is_space = c.is_whitespace();
            if !is_space {
                line.push(c);
            } else if !after_space {
                line.push(' ');
            }
            after_space = is_space;
        }
        match self.0.last_mut() {
            _ if line.is_empty() => {}
            Some(last) if last.is_match == is_match => last.text.push_str(&line),
            _ => self.0.push(Piece { text: line, is_match }),
        }
    }
}

/// Returns the first match of the best snippet: the most different words, then the most words, then
/// the earliest; `None` if there is no match.
fn best(found: &[Match]) -> Option<usize> {
    let span = SNIPPET_BYTES - BEFORE_BYTES;
    let key = |first: usize| {
        let near = found[first..].iter().take_while(|found_next| found_next.at.end <= found[first].at.start + span);
        let mut terms: Vec<&str> = near.map(|found| found.term.as_str()).collect();
        let all = terms.len();
        terms.sort_unstable();
        terms.dedup();
        (terms.len(), all)
    };
    // `max_by_key` returns the last of equal ones.
    (0..found.len()).rev().max_by_key(|first| key(*first))
}

/// Returns the start of the first word after `place`, if that is before `before`.
fn word_after(text: &str, place: usize, before: usize) -> usize {
    let place = text.ceil_char_boundary(place);
    if place == 0 {
        return 0;
    }
    let space = text[place..before].find(char::is_whitespace);
    space.map_or(place, |space| before - text[place + space..before].trim_start().len())
}

/// Returns the end of a snippet, between words if possible.
fn end(text: &str, begin: usize) -> usize {
    let end = text.floor_char_boundary((begin + SNIPPET_BYTES).min(text.len()));
    if end == text.len() {
        return end;
    }
    let least = text.floor_char_boundary(begin + SNIPPET_BYTES / 2).max(begin);
    text[least..end].rfind(char::is_whitespace).map_or(end, |space| least + space)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(marked: &Marked) -> String {
        marked
            .0
            .iter()
            .map(|piece| if piece.is_match { format!("[{}]", piece.text) } else { piece.text.clone() })
            .collect()
    }

    fn marks(texts: &[&str]) -> Marks {
        Marks::new(WordMaker::for_language("en"), &texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn words_are_marked_in_all_their_forms() {
        for (wanted, text, expected, reason) in [
            (
                vec!["server"],
                "Servers: a\n\n server's life",
                "[Servers]: a [server]'s life",
                "endings; space is one space",
            ),
            (vec!["a phrase of it"], "It: a phrase", "It: a [phrase]", "stop words are not marked"),
            (vec!["東京都"], "これは東京都です", "これは[東京都]です", "pairs are marked as one"),
            (vec!["京"], "東京都", "東[京]都", "one character"),
            (vec!["デ"], "ﾃﾞｰﾀ", "[ﾃﾞ]ｰﾀ", "also one that is written as two"),
            (vec![], "nothing", "nothing", "no words"),
        ] {
            assert_eq!(shown(&marks(&wanted).mark(text)), expected, "{reason}");
        }
    }

    #[test]
    fn a_snippet_is_where_most_words_are() {
        let filler = "filler words here and there ".repeat(30);
        let text = format!("alpha {filler} beta alpha {filler} alpha");
        let snippet = marks(&["alpha", "beta"]).snippet(&text).unwrap();
        let shown = shown(&snippet);
        assert!(shown.contains("[beta] [alpha]") && shown.starts_with("… ") && shown.ends_with(" …"), "{shown}");
        assert!(snippet.text().len() < SNIPPET_BYTES + 10);
        assert_eq!(marks(&["gamma"]).snippet(&text), None);
    }

    #[test]
    fn a_text_without_spaces_is_cut_between_characters() {
        let text = "字".repeat(500);
        assert!(Marked::beginning(&text).text().starts_with('字'));
        assert!(marks(&["字字"]).snippet(&format!("{text}x{text}")).is_some());
    }
}
