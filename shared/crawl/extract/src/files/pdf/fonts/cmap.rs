//! CMaps (ISO 32000-1, sections 9.7.5 and 9.10.3): they split strings into codes, and map codes to
//! text or to glyphs of a CID font.

use super::super::content::{Operand, Operations, Operator};

/// The most entries kept of one CMap.
const ENTRIES_MAX: usize = 1 << 17;

/// The longest text for a code, in UTF-16 units; the format's limit is 512 bytes.
const TEXT_UNITS_MAX: usize = 256;

/// The most overlapping ranges examined for one code.
const OVERLAPS_MAX: usize = 8;

/// A CMap embedded in a file.
#[derive(Debug, Default)]
pub(super) struct CMap {
    codespaces: Vec<Codespace>,
    texts: Vec<Range<Vec<u16>>>,
    cids: Vec<Range<u32>>,
    /// Whether it is for vertical writing.
    pub(super) is_vertical: bool,
}

/// The codes of one length, by the range of each byte.
#[derive(Debug)]
struct Codespace {
    low: Vec<u8>,
    high: Vec<u8>,
}

/// Consecutive codes: the first maps to `first`, the next ones to its successors.
#[derive(Debug)]
struct Range<T> {
    low: u32,
    high: u32,
    first: T,
}

impl CMap {
    /// Reads a CMap as far as possible.
    pub(super) fn read(bytes: Vec<u8>) -> Self {
        let mut operations = Operations::new(bytes);
        let mut cmap = Self::default();
        while let Some(operator) = operations.read_next() {
            let operands = operations.operands();
            match operator {
                Operator::CodespaceRanges => {
                    for pair in operands.chunks_exact(2) {
                        if let [Operand::Text(low), Operand::Text(high)] = pair
                            && low.len() == high.len()
                            && (1..=4).contains(&low.len())
                            && cmap.codespaces.len() < ENTRIES_MAX
                        {
                            cmap.codespaces.push(Codespace { low: low.clone(), high: high.clone() });
                        }
                    }
                }
                Operator::TextsOfCodes => {
                    for pair in operands.chunks_exact(2) {
                        if let [Operand::Text(code), Operand::Text(text)] = pair {
                            cmap.add_text(number(code), number(code), text);
                        }
                    }
                }
                Operator::TextsOfRanges => cmap.add_texts(operands),
                Operator::CidsOfCodes => {
                    for pair in operands.chunks_exact(2) {
                        if let [Operand::Text(code), Operand::Number(cid)] = pair {
                            cmap.add_cids(number(code), number(code), *cid);
                        }
                    }
                }
                Operator::CidsOfRanges => {
                    for triple in operands.chunks_exact(3) {
                        if let [Operand::Text(low), Operand::Text(high), Operand::Number(cid)] = triple {
                            cmap.add_cids(number(low), number(high), *cid);
                        }
                    }
                }
                Operator::Define => {
                    if let [.., Operand::Name(name), Operand::Number(mode)] = operands
                        && name == b"WMode"
                    {
                        cmap.is_vertical = *mode == 1.0;
                    }
                }
                _ => {}
            }
        }
        cmap.texts.sort_by_key(|range| range.low);
        cmap.cids.sort_by_key(|range| range.low);
        cmap
    }

    fn add_texts(&mut self, operands: &[Operand]) {
        for triple in operands.chunks_exact(3) {
            match triple {
                [Operand::Text(low), Operand::Text(high), Operand::Text(text)] => {
                    self.add_text(number(low), number(high), text);
                }
                [Operand::Text(low), Operand::Text(high), Operand::Array(texts)] => {
                    for (code, text) in (number(low)..=number(high)).zip(texts) {
                        if let Operand::Text(text) = text {
                            self.add_text(code, code, text);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn add_text(&mut self, low: u32, high: u32, text: &[u8]) {
        let mut units: Vec<u16> =
            text.chunks_exact(2).take(TEXT_UNITS_MAX).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
        // Some writers leave out the zero before a code below 256.
        if let [unit] = text {
            units.push(u16::from(*unit));
        }
        if !units.is_empty() && low <= high && self.texts.len() < ENTRIES_MAX {
            self.texts.push(Range { low, high, first: units });
        }
    }

    fn add_cids(&mut self, low: u32, high: u32, cid: f32) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of a float saturates")]
        let first = cid as u32;
        if low <= high && self.cids.len() < ENTRIES_MAX {
            self.cids.push(Range { low, high, first });
        }
    }

    /// Returns the text of a code; `None` if it has none.
    pub(super) fn text(&self, code: u32) -> Option<String> {
        let range = look_up(&self.texts, code)?;
        let mut units = range.first.clone();
        let last = units.last_mut()?;
        *last = u16::try_from(u32::from(*last) + (code - range.low)).ok()?;
        let text = String::from_utf16_lossy(&units);
        (!text.chars().all(|c| matches!(c, '\0' | char::REPLACEMENT_CHARACTER))).then_some(text)
    }

    /// Returns the CID of a code.
    pub(super) fn cid(&self, code: u32) -> Option<u32> {
        let range = look_up(&self.cids, code)?;
        range.first.checked_add(code - range.low)
    }

    /// Whether it maps codes to CIDs.
    pub(super) const fn has_cids(&self) -> bool {
        !self.cids.is_empty()
    }

    /// Whether it defines how to split strings.
    pub(super) const fn has_codespaces(&self) -> bool {
        !self.codespaces.is_empty()
    }

    /// Returns the length of the code at the start of a string (section 9.7.6.3): at least 1.
    pub(super) fn code_bytes(&self, text: &[u8]) -> usize {
        let is_within = |space: &&Codespace| {
            text.len() >= space.low.len()
                && space.low.iter().zip(&space.high).zip(text).all(|((low, high), byte)| (low..=high).contains(&byte))
        };
        let looked_at = || self.codespaces.iter().take(OVERLAPS_MAX * OVERLAPS_MAX);
        let within = looked_at().filter(is_within).map(|space| space.low.len()).min();
        within.or_else(|| looked_at().map(|space| space.low.len()).min()).unwrap_or(1)
    }
}

fn look_up<T>(ranges: &[Range<T>], code: u32) -> Option<&Range<T>> {
    let end = ranges.partition_point(|range| range.low <= code);
    ranges.get(..end)?.iter().rev().take(OVERLAPS_MAX).find(|range| code <= range.high)
}

/// Reads a code. Of one that is too long, the end counts.
pub(super) fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}
