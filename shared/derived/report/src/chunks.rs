//! Chunks of pages for semantic search and language models: of limited length, and cut along the
//! page's headings.
//!
//! The Markdown of a main part is read block by block. Code and tables are never cut, so a chunk
//! with one of them may be longer.

use dragline_domain::words::count_words;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// The length of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkLength {
    /// The maximum number of words.
    pub words_max: usize,
    /// The number of words repeated from the previous chunk, if both are under the same heading.
    pub overlap_words: usize,
}

impl Default for ChunkLength {
    fn default() -> Self {
        Self { words_max: 300, overlap_words: 30 }
    }
}

/// A chunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chunk {
    /// Its number on the page, from 1.
    pub number: usize,
    /// Its headings, the outermost first.
    pub headings: Vec<String>,
    /// Its offset in the page's Markdown, in bytes, without the overlap.
    pub begins_at: usize,
    /// The number of its words.
    pub words: usize,
    /// SHA-256 of its text, in hexadecimal.
    pub digest: String,
    /// Its text, as Markdown.
    pub text: String,
}

/// Cuts a page's Markdown into chunks. The same text gives the same chunks.
#[must_use]
pub fn chunks(markdown: &str, length: ChunkLength) -> Vec<Chunk> {
    let mut cutter = Cutter { length, headings: Vec::new(), open: OpenChunk::default(), chunks: Vec::new() };
    for block in blocks(markdown) {
        match block.kind {
            Kind::Heading(level) => {
                cutter.end();
                cutter.open.overlap.clear();
                cutter.headings.retain(|(outer, _)| *outer < level);
                cutter.headings.push((level, block.text.trim_start_matches('#').trim().to_owned()));
            }
            Kind::Whole => cutter.add(block.begins_at, block.text),
            Kind::Text if count_words(block.text) <= length.words_max => cutter.add(block.begins_at, block.text),
            Kind::Text => pieces(block.text, length.words_max)
                .into_iter()
                .for_each(|(at, piece)| cutter.add(block.begins_at + at, piece)),
        }
    }
    cutter.end();
    cutter.chunks
}

/// The unfinished chunk.
#[derive(Default)]
struct OpenChunk {
    /// The end of the previous chunk.
    overlap: String,
    begins_at: usize,
    text: String,
}

struct Cutter {
    length: ChunkLength,
    headings: Vec<(usize, String)>,
    open: OpenChunk,
    chunks: Vec<Chunk>,
}

impl Cutter {
    fn add(&mut self, at: usize, text: &str) {
        let words = count_words(&self.open.overlap) + count_words(&self.open.text) + count_words(text);
        if !self.open.text.is_empty() && words > self.length.words_max {
            self.end();
        }
        if self.open.text.is_empty() {
            self.open.begins_at = at;
            // New text takes precedence over the overlap.
            let room = self.length.words_max.saturating_sub(count_words(text));
            if count_words(&self.open.overlap) > room {
                self.open.overlap.clear();
            }
        } else {
            self.open.text.push_str("\n\n");
        }
        self.open.text.push_str(text);
    }

    fn end(&mut self) {
        let OpenChunk { overlap, begins_at, text } = std::mem::take(&mut self.open);
        if text.is_empty() {
            self.open.overlap = overlap;
            return;
        }
        let whole = if overlap.is_empty() { text.clone() } else { format!("{overlap}\n\n{text}") };
        self.open.overlap = overlap_text(&text, self.length.overlap_words).to_owned();
        self.chunks.push(Chunk {
            number: self.chunks.len() + 1,
            headings: self.headings.iter().map(|(_, heading)| heading.clone()).collect(),
            begins_at,
            words: count_words(&whole),
            digest: Sha256::digest(&whole).iter().map(|byte| format!("{byte:02x}")).collect(),
            text: whole,
        });
    }
}

/// Returns the last words of a text, if it ends with a paragraph; half a table or half a program
/// would be useless.
fn overlap_text(text: &str, words_max: usize) -> &str {
    let last = blocks(text).into_iter().next_back();
    let Some(Block { kind: Kind::Text, text, .. }) = last else { return "" };
    if text.starts_with(['-', '*', '>', '|']) || text.contains("```") {
        return "";
    }
    let mut begins_at = text.len();
    for (at, _) in text.char_indices().rev().filter(|(_, c)| c.is_whitespace()) {
        let tail = text.get(at..).unwrap_or_default().trim_start();
        if count_words(tail) > words_max {
            break;
        }
        begins_at = text.len() - tail.len();
    }
    text.get(begins_at..).unwrap_or_default()
}

/// A block of Markdown at the outermost level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block<'m> {
    kind: Kind,
    begins_at: usize,
    text: &'m str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Heading(usize),
    /// Code, a table, or a block that contains one.
    Whole,
    Text,
}

/// Returns the blocks of a text in this program's form: separated by empty lines, with the contents
/// of list items indented.
fn blocks(markdown: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let (mut begins_at, mut ends_at, mut fence): (Option<usize>, usize, Option<&str>) = (None, 0, None);
    let mut at = 0;
    let mut is_after_gap = false;
    for line in markdown.split_inclusive('\n') {
        let said = line.trim_end_matches('\n');
        let is_new = is_after_gap && fence.is_none() && !said.starts_with([' ', '\t']);
        if is_new && let Some(from) = begins_at.take() {
            blocks.extend(block(markdown, from, ends_at));
        }
        let bare = said.trim_start();
        match fence {
            Some(sign) if bare.starts_with(sign) && bare.trim_start_matches('`').is_empty() => fence = None,
            None if bare.starts_with("```") => {
                fence = bare.get(..bare.len() - bare.trim_start_matches('`').len());
            }
            _ => {}
        }
        if !said.trim().is_empty() {
            begins_at = begins_at.or(Some(at));
            ends_at = at + said.len();
        }
        is_after_gap = said.trim().is_empty() && fence.is_none();
        at += line.len();
    }
    if let Some(from) = begins_at {
        blocks.extend(block(markdown, from, ends_at));
    }
    blocks
}

fn block(markdown: &str, begins_at: usize, ends_at: usize) -> Option<Block<'_>> {
    let text = markdown.get(begins_at..ends_at)?;
    let level = text.len() - text.trim_start_matches('#').len();
    let is_heading = (1..=6).contains(&level) && text.get(level..).is_some_and(|rest| rest.starts_with(' '));
    let kind = if is_heading {
        Kind::Heading(level)
    } else if text.starts_with('|')
        || text.contains("```")
        || text.lines().any(|line| line.trim_start().starts_with("| ---"))
    {
        Kind::Whole
    } else {
        Kind::Text
    };
    Some(Block { kind, begins_at, text })
}

/// Cuts a long text into pieces of up to so many words: at the ends of lines or sentences,
/// otherwise between words.
fn pieces(text: &str, words_max: usize) -> Vec<(usize, &str)> {
    let (mut pieces, mut from) = (Vec::new(), 0);
    while let Some(rest) = text.get(from..).filter(|rest| !rest.trim().is_empty()) {
        let end = piece_end(rest, words_max.max(1));
        let piece = rest.get(..end).unwrap_or(rest);
        let gap = piece.len() - piece.trim_start().len();
        pieces.push((from + gap, piece.trim()));
        from += end;
    }
    pieces
}

/// Returns the end of a piece of at most so many words; the end of the text if it has no more.
fn piece_end(text: &str, words_max: usize) -> usize {
    let (mut words, mut last_word, mut sentence) = (0, 0, None);
    let (mut word_from, mut before) = (0, ' ');
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        // Scripts without spaces have their own full stops.
        let is_stop = |c: char| matches!(c, '。' | '！' | '？');
        if !c.is_whitespace() && !is_stop(before) {
            before = c;
            continue;
        }
        let word = text.get(word_from..at).unwrap_or_default();
        words += count_words(word);
        if words > words_max {
            return match sentence {
                Some(end) => end,
                None if last_word > 0 => last_word,
                // A single word, as texts without spaces are.
                None => at,
            };
        }
        if c == '\n' || is_stop(before) || word.trim_end().ends_with(['.', '!', '?']) {
            sentence = Some(at);
        }
        (last_word, word_from, before) = (at, at, c);
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(words_max: usize, overlap_words: usize) -> ChunkLength {
        ChunkLength { words_max, overlap_words }
    }

    #[test]
    fn chunks_are_cut_along_headings() {
        let markdown = "# A\n\none two\n\n## B\n\nthree\n\nfour\n\n## C\n\n### D\n\nfive\n\n# E\n\nsix";
        let found = chunks(markdown, length(100, 10));
        let shown: Vec<_> =
            found.iter().map(|chunk| (chunk.headings.join("/"), chunk.text.as_str(), chunk.words)).collect();
        assert_eq!(
            shown,
            [
                ("A".to_owned(), "one two", 2),
                ("A/B".to_owned(), "three\n\nfour", 2),
                ("A/C/D".to_owned(), "five", 1),
                ("E".to_owned(), "six", 1)
            ]
        );
        assert!(found.iter().all(|chunk| markdown[chunk.begins_at..].starts_with(&chunk.text)));
    }

    #[test]
    fn long_texts_are_cut_with_an_overlap() {
        let sentence = |n: usize| format!("Sentence {n} has six words exactly.");
        let markdown: String = (0..10).map(|n| sentence(n) + if n % 2 == 0 { " " } else { "\n\n" }).collect();
        let found = chunks(&markdown, length(20, 6));
        assert!(found.len() > 3 && found.iter().all(|chunk| chunk.words <= 20), "{found:#?}");
        for pair in found.windows(2) {
            let repeated = pair[1].text.split("\n\n").next().unwrap();
            assert!(pair[0].text.ends_with(repeated), "{pair:#?}");
            assert!(!pair[1].digest.is_empty() && pair[0].digest != pair[1].digest);
        }
        for n in 0..10 {
            assert!(found.iter().any(|chunk| chunk.text.contains(&sentence(n))), "{n}: {found:#?}");
        }
        let chinese = chunks(&"这是一句话。".repeat(40), length(30, 0));
        assert!(chinese.len() > 5 && chinese.iter().all(|chunk| chunk.text.ends_with('。')), "{chinese:#?}");
        let endless = chunks(&"word ".repeat(100), length(30, 0));
        assert_eq!(endless.iter().map(|chunk| chunk.words).collect::<Vec<_>>(), [30, 30, 30, 10]);
    }

    #[test]
    fn tables_and_code_are_never_cut() {
        let code = format!("```rust\n{}\n```", "let a = b;\n\n// more\n".repeat(40).trim());
        let table = format!("| a | b |\n| --- | --- |\n{}", "| c d e | f |\n".repeat(40).trim());
        let item = format!("- one\n\n  ```\n{}\n  ```", "  code code\n\n".repeat(40).trim_end());
        let markdown = format!("# A\n\nbefore\n\n{code}\n\nbetween\n\n{table}\n\n{item}\n\nafter");
        let found = chunks(&markdown, length(20, 5));
        for whole in [&code, &table, &item] {
            assert!(found.iter().any(|chunk| chunk.text.contains(whole.as_str())), "{whole} in {found:#?}");
        }
        let all: String = found.iter().map(|chunk| chunk.text.as_str()).collect();
        for word in ["before", "between", "after"] {
            assert!(all.contains(word), "{word}");
        }
    }

    #[test]
    fn a_page_without_text_has_no_chunks() {
        for markdown in ["", "# Only a heading", "\n\n\n"] {
            assert!(chunks(markdown, ChunkLength::default()).is_empty(), "{markdown:?}");
        }
    }
}
