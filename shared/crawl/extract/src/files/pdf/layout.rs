//! Assembles lines from the positioned glyphs of a page.
//!
//! Glyphs come in drawing order. Those on one baseline form a line, in the order of their
//! positions; a gap wider than between the letters of a word is a space. A glyph off the line
//! begins a new one.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::matrix::Point;
use crate::files::Text;

/// The narrowest gap that is a space, in font sizes: letters of a word are moved apart by less, and
/// words of a tightly set line by more.
const SPACE_MIN: f32 = 0.14;

/// The widest gap between evenly spaced-out letters.
const SPACED_OUT_MAX: f32 = 0.5;

/// How many gaps make a line count as spaced out, and by how much they may differ from their
/// median.
const SPACED_OUT_GAPS_MIN: usize = 4;
const SPACED_OUT_DIFFERENCE_MAX: f32 = 0.25;

/// The ratio of gaps between words to those between spaced-out letters.
const SPACED_OUT_WORDS: f32 = 1.5;

/// How far a glyph may be off its line's base, in sizes of the smaller glyph and, if it follows
/// closely, of the larger one: subscripts and superscripts.
const BASE_MAX: f32 = 0.3;
const SCRIPT_MAX: f32 = 0.65;
const CLOSE: std::ops::Range<f32> = -0.4..0.4;

/// By how much two directions may differ, as the sine of the angle.
const TURN_MAX: f32 = 0.1;

/// How close a letter is to its earlier copy, in font sizes, if it was drawn twice to look bold.
const TWICE_MAX: f32 = 0.1;

/// The longest line, in glyphs.
const LINE_GLYPHS_MAX: usize = 1 << 12;

/// The most glyphs in an average word of a spaced-out line.
const SPACED_OUT_WORD_GLYPHS_MAX: usize = 24;

/// A glyph on a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedGlyph<'t> {
    /// Its text.
    pub(super) text: &'t str,
    /// Its start.
    pub(super) at: Point,
    /// The advance of the pen.
    pub(super) way: Point,
    /// The writing direction of its font, even if this glyph has no advance.
    pub(super) forward: Point,
    /// The height of its font.
    pub(super) size: f32,
    /// The same in the writing direction: less for condensed letters.
    pub(super) em: f32,
}

/// The current line.
#[derive(Debug, Default)]
pub(super) struct Layout {
    line: Option<Line>,
}

#[derive(Debug)]
struct Line {
    /// Its reading direction by the glyphs' matrix.
    direction: Point,
    /// A point on its baseline.
    base: Point,
    size: f32,
    /// The pen's position, relative to that point.
    pen: f32,
    text: String,
    pieces: Vec<Piece>,
}

/// A glyph of a line: its start and end, and the end of its text in that of the line.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: f32,
    end: f32,
    em: f32,
    text_start: usize,
    text_end: usize,
}

impl Layout {
    /// Adds a glyph. Completed lines go into the text.
    pub(super) fn add(&mut self, glyph: &PlacedGlyph<'_>, text: &mut Text) {
        let Some(direction) = glyph.forward.direction() else { return };
        if !(glyph.size > 0.0
            && glyph.size.is_finite()
            && glyph.em > 0.0
            && glyph.em.is_finite()
            && glyph.at.x.is_finite()
            && glyph.at.y.is_finite())
        {
            return;
        }
        if !self.line.as_ref().is_some_and(|line| line.continues(glyph, direction)) {
            self.end_line(text);
        }
        let line = self.line.get_or_insert_with(|| Line {
            direction,
            base: glyph.at,
            size: glyph.size,
            pen: 0.0,
            text: String::new(),
            pieces: Vec::new(),
        });
        line.add(glyph);
    }

    /// Ends the line.
    pub(super) fn end_line(&mut self, text: &mut Text) {
        if let Some(line) = self.line.take() {
            line.write(text);
            text.separate("\n");
        }
    }
}

impl Line {
    fn continues(&self, glyph: &PlacedGlyph<'_>, direction: Point) -> bool {
        let way = self.base.to(glyph.at);
        let (along, across) = (self.direction.dot(way), self.direction.cross(way).abs());
        let (smaller, larger) = (self.size.min(glyph.size), self.size.max(glyph.size));
        let is_close = CLOSE.contains(&((along - self.pen) / larger));
        self.pieces.len() < LINE_GLYPHS_MAX
            && self.direction.dot(direction) > 0.0
            && self.direction.cross(direction).abs() < TURN_MAX
            && (across < smaller * BASE_MAX || (is_close && across < larger * SCRIPT_MAX))
    }

    fn add(&mut self, glyph: &PlacedGlyph<'_>) {
        let start = self.direction.dot(self.base.to(glyph.at));
        let end = start + self.direction.dot(glyph.way);
        if glyph.size > self.size {
            // The largest glyphs are on the baseline; smaller ones may be subscripts or
            // superscripts.
            let across = self.direction.cross(self.base.to(glyph.at));
            self.base.x -= self.direction.y * across;
            self.base.y += self.direction.x * across;
            self.size = glyph.size;
        }
        let text_start = self.text.len();
        push_clean(&mut self.text, glyph.text);
        self.pen = end;
        let (start, end) = (start.min(end), start.max(end));
        self.pieces.push(Piece { start, end, em: glyph.em, text_start, text_end: self.text.len() });
    }

    fn text(&self, piece: &Piece) -> &str {
        self.text.get(piece.text_start..piece.text_end).unwrap_or_default()
    }

    fn write(mut self, text: &mut Text) {
        if !self.pieces.is_sorted_by(|one, next| one.start <= next.start) {
            self.pieces.sort_by(|one, other| one.start.total_cmp(&other.start));
        }
        let mut pieces = self.joined();
        if pieces.iter().any(|(piece, _)| is_right_to_left(piece)) {
            reorder(&mut pieces);
        }
        if pieces.first().is_some_and(|(first, _)| first.starts_with(char::is_lowercase)) {
            text.join_hyphenated();
        }
        for (piece, is_apart) in pieces {
            if is_apart || piece.starts_with(' ') {
                text.separate(" ");
            }
            text.push(piece.trim_matches(' '));
            if piece.len() > 1 && piece.ends_with(' ') {
                text.separate(" ");
            }
        }
    }

    /// Returns the glyphs' texts, and whether there is a space before each.
    fn joined(&self) -> Vec<(String, bool)> {
        let space = self.space_min();
        let mut joined: Vec<(String, bool)> = Vec::with_capacity(self.pieces.len());
        let mut last: Option<Piece> = None;
        for piece in &self.pieces {
            let written = self.text(piece);
            let em = last.map_or(piece.em, |last| last.em.max(piece.em));
            if let (Some(last), Some((before, _))) = (last, joined.last_mut()) {
                if before == written && (piece.start - last.start).abs() < TWICE_MAX * em && written != " " {
                    continue;
                }
                if let Some(composed) = composed(before, &last, written, piece) {
                    *before = composed;
                    continue;
                }
            }
            let is_apart = last.is_some_and(|last| piece.start - last.end > space * em);
            joined.push((written.to_owned(), is_apart));
            // A narrow glyph may be inside a wide one.
            last = Some(Piece { end: last.map_or(piece.end, |last| last.end.max(piece.end)), ..*piece });
        }
        joined
    }

    /// Returns the narrowest gap of this line that is a space.
    fn space_min(&self) -> f32 {
        let gaps = self.pieces.windows(2).filter(|pair| pair.iter().all(|piece| self.text(piece).trim() != ""));
        let mut gaps: Vec<f32> = gaps.map(|pair| (pair[1].start - pair[0].end) / pair[0].em.max(pair[1].em)).collect();
        gaps.sort_by(f32::total_cmp);
        let Some(median) = gaps.get(gaps.len() / 2).copied() else { return SPACE_MIN };
        let difference_max = median * SPACED_OUT_DIFFERENCE_MAX;
        let alike = gaps.iter().filter(|gap| (**gap - median).abs() < difference_max).count();
        if alike < SPACED_OUT_GAPS_MIN || alike * 4 < gaps.len() * 3 || !(SPACE_MIN..SPACED_OUT_MAX).contains(&median) {
            return SPACE_MIN;
        }
        let space = median * SPACED_OUT_WORDS;
        let words = gaps.iter().filter(|gap| **gap > space).count() + 1;
        // A line without words is not text, but a table of glyphs.
        if gaps.len() / words > SPACED_OUT_WORD_GLYPHS_MAX { SPACE_MIN } else { space }
    }
}

/// Adds a glyph's text: ligatures as their letters, white space as a space, without non-characters.
fn push_clean(text: &mut String, added: &str) {
    for c in added.chars() {
        match c {
            '\u{FB00}'..='\u{FB06}' => text.extend(c.nfkd()),
            '\t' | '\n' | '\r' | '\u{A0}' | '\u{2028}' | '\u{2029}' => text.push(' '),
            c if c.is_control() => {}
            c => text.push(c),
        }
    }
}

/// Returns a letter combined with the accent drawn over it; `None` if there is none.
fn composed(before: &str, before_piece: &Piece, written: &str, piece: &Piece) -> Option<String> {
    let overlap = before_piece.end.min(piece.end) - before_piece.start.max(piece.start);
    let narrower = (before_piece.end - before_piece.start).min(piece.end - piece.start);
    if overlap <= narrower * 0.5 {
        return None;
    }
    let (letter, mark) = match (mark(before), mark(written)) {
        (Some(mark), None) => (written, mark),
        (None, Some(mark)) => (before, mark),
        _ => return None,
    };
    let letter = letter.replace('ı', "i").replace('ȷ', "j");
    let mut letters = letter.chars();
    let (Some(only), None) = (letters.next(), letters.next()) else { return None };
    only.is_alphabetic().then(|| [only, mark].iter().copied().nfc().collect())
}

/// Returns the combining mark for a standalone accent.
fn mark(text: &str) -> Option<char> {
    let mut characters = text.chars();
    let (Some(only), None) = (characters.next(), characters.next()) else { return None };
    Some(match only {
        '`' | '\u{2CB}' => '\u{300}',
        '\u{B4}' | '\u{2CA}' => '\u{301}',
        '^' | '\u{2C6}' => '\u{302}',
        '~' | '\u{2DC}' => '\u{303}',
        '\u{AF}' | '\u{2C9}' => '\u{304}',
        '\u{2D8}' => '\u{306}',
        '\u{2D9}' => '\u{307}',
        '\u{A8}' => '\u{308}',
        '\u{2DA}' => '\u{30A}',
        '\u{2DD}' => '\u{30B}',
        '\u{2C7}' => '\u{30C}',
        '\u{B8}' => '\u{327}',
        '\u{2DB}' => '\u{328}',
        only if is_combining_mark(only) => only,
        _ => return None,
    })
}

/// Whether a text is in a right-to-left script.
fn is_right_to_left(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}'))
}

/// Puts pieces in visual order, from left to right, into reading order: a simple inverse of
/// Unicode's bidirectional algorithm.
fn reorder(pieces: &mut [(String, bool)]) {
    let is_left_to_right =
        |(text, _): &(String, bool)| !is_right_to_left(text) && text.chars().any(char::is_alphanumeric);
    let (rights, lefts) = pieces.iter().fold((0, 0), |(rights, lefts), piece| {
        let is_letter = piece.0.chars().any(char::is_alphabetic);
        (rights + usize::from(is_right_to_left(&piece.0)), lefts + usize::from(is_letter && is_left_to_right(piece)))
    });
    if rights >= lefts {
        reverse(pieces);
        let is_turned = is_left_to_right;
        reverse_runs(pieces, is_turned);
    } else {
        reverse_runs(pieces, |(text, _)| is_right_to_left(text));
    }
}

/// Reverses each run of pieces of the kind, including neutral pieces between them.
fn reverse_runs(pieces: &mut [(String, bool)], is_of_kind: impl Fn(&(String, bool)) -> bool) {
    let has_letters = |(text, _): &(String, bool)| text.chars().any(char::is_alphanumeric);
    let mut at = 0;
    while let Some(start) = pieces.iter().skip(at).position(&is_of_kind).map(|start| at + start) {
        let (mut end, mut next) = (start, start);
        while let Some(piece) = pieces.get(next).filter(|piece| is_of_kind(piece) || !has_letters(piece)) {
            if is_of_kind(piece) {
                end = next;
            }
            next += 1;
        }
        if let Some(run) = pieces.get_mut(start..=end) {
            let is_apart = run.first().is_some_and(|piece| piece.1);
            reverse(run);
            if let Some(first) = run.first_mut() {
                first.1 = is_apart;
            }
        }
        at = end + 1;
    }
}

/// Reverses pieces and the spaces between them.
fn reverse(pieces: &mut [(String, bool)]) {
    pieces.reverse();
    let mut is_apart = false;
    for piece in pieces {
        is_apart = std::mem::replace(&mut piece.1, is_apart);
    }
}
