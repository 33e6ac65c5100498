//! Feeds the page's text to the tokenizer, without what would overflow its stack.
//!
//! html5gum 0.9 makes nested calls for the attributes of a tag, several frames for each: a tag with some thousand attributes would end the process,
//! without a panic that could be caught.

use std::cell::Cell;
use std::convert::Infallible;

use html5gum::Reader;
use memchr::memchr;

/// The most attributes of one tag that are read. Pages have some tens at most.
const ATTRIBUTES_MAX: usize = 256;

/// The most needles that are searched for in many bytes at once. Those are looked for in text and in values; more of them end a name, which is short.
const NEEDLES_OF_TEXT_MAX: usize = 5;

/// Counts the attributes of the tag being read.
#[derive(Debug, Default)]
pub(super) struct AttributeCount(Cell<usize>);

impl AttributeCount {
    /// Notes that a tag begins.
    pub(super) fn begin_tag(&self) {
        self.0.set(0);
    }

    /// Notes that an attribute begins.
    pub(super) fn begin_attribute(&self) {
        self.0.set(self.0.get() + 1);
    }

    fn is_excessive(&self) -> bool {
        self.0.get() > ATTRIBUTES_MAX
    }
}

/// Reads a page; in a tag with too many attributes, everything up to the next `>` is skipped.
///
/// Its methods are inlined into the tokenizer's states, each of which searches for other bytes: so the compiler knows which.
#[derive(Debug)]
pub(super) struct PageReader<'h, 'c> {
    rest: &'h [u8],
    attributes: &'c AttributeCount,
}

impl<'h, 'c> PageReader<'h, 'c> {
    pub(super) const fn new(html: &'h str, attributes: &'c AttributeCount) -> Self {
        Self { rest: html.as_bytes(), attributes }
    }

    /// Returns the `>` that ends the tag; `None` at the end of the page.
    #[cold]
    fn end_of_tag(&mut self) -> Option<&'static [u8]> {
        self.attributes.begin_tag();
        let end = memchr(b'>', self.rest);
        self.rest = end.map_or(&[], |end| &self.rest[end + 1..]);
        end.map(|_| b">".as_slice())
    }
}

impl Reader for PageReader<'_, '_> {
    type Error = Infallible;

    #[inline(always)]
    fn read_byte(&mut self) -> Result<Option<u8>, Infallible> {
        if self.attributes.is_excessive() {
            return Ok(self.end_of_tag().map(|end| end[0]));
        }
        let Some((first, rest)) = self.rest.split_first() else { return Ok(None) };
        self.rest = rest;
        Ok(Some(*first))
    }

    #[inline(always)]
    fn try_read_string(&mut self, text: &[u8], case_sensitive: bool) -> Result<bool, Infallible> {
        let Some((start, rest)) = self.rest.split_at_checked(text.len()) else { return Ok(false) };
        let is_there = if case_sensitive { start == text } else { start.eq_ignore_ascii_case(text) };
        if is_there {
            self.rest = rest;
        }
        Ok(is_there)
    }

    #[inline(always)]
    fn read_until<'b>(&'b mut self, needles: &[u8], _: &'b mut [u8; 4]) -> Result<Option<&'b [u8]>, Infallible> {
        if self.attributes.is_excessive() {
            return Ok(self.end_of_tag());
        }
        if self.rest.is_empty() {
            return Ok(None);
        }
        let (piece, rest) = self.rest.split_at(bytes_before(needles, self.rest).max(1));
        self.rest = rest;
        Ok(Some(piece))
    }
}

/// Returns how many bytes come before the first that is one of the needles.
#[inline(always)]
fn bytes_before(needles: &[u8], text: &[u8]) -> usize {
    const CHUNK: usize = 16;
    let mut at = 0;
    if needles.len() <= NEEDLES_OF_TEXT_MAX {
        // Between tags, most texts are short.
        if let Some(word) = text.first_chunk() {
            if let Some(found) = position_in(needles, *word) {
                return found;
            }
            at = word.len();
        }
        while let Some(chunk) = text[at..].first_chunk::<CHUNK>()
            && !has_any(needles, chunk)
        {
            at += CHUNK;
        }
        while let Some(word) = text[at..].first_chunk() {
            if let Some(found) = position_in(needles, *word) {
                return at + found;
            }
            at += word.len();
        }
    }
    let (low, high) = needles.iter().fold((0_u64, 0_u64), |(low, high), needle| match needle {
        0..64 => (low | 1 << needle, high),
        _ => (low, high | 1 << (needle % 64)),
    });
    let is_needle = |byte: &u8| match byte {
        0..64 => low >> byte & 1 != 0,
        64..128 => high >> (byte % 64) & 1 != 0,
        _ => false,
    };
    text[at..].iter().position(is_needle).map_or(text.len(), |found| at + found)
}

/// Returns the position of the first of eight bytes that is a needle (Warren, "Hacker's Delight", 6-1, "find first 0-byte").
#[inline(always)]
fn position_in(needles: &[u8], bytes: [u8; 8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    let word = u64::from_le_bytes(bytes);
    let found = needles.iter().fold(0, |found, needle| {
        // The needle's bytes are now 0. Above the lowest of them there may be marks by mistake.
        let zeros = word ^ (ONES * u64::from(*needle));
        found | (zeros.wrapping_sub(ONES) & !zeros & HIGHS)
    });
    (found != 0).then(|| found.trailing_zeros() as usize / 8)
}

/// Whether one of these bytes is a needle. Looks at all of them, so that the compiler can look at all at once.
#[inline(always)]
fn has_any<const N: usize>(needles: &[u8], bytes: &[u8; N]) -> bool {
    bytes.iter().fold(false, |any, byte| needles.iter().fold(any, |any, needle| any | (byte == needle)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NEEDLES: [&[u8]; 4] = [b"&<\0\r", b"]\r", b"\t\n\x0C />=\0\"'<\r", b" &>\0\"'<=`\r"];

    proptest! {
        #[test]
        fn the_first_needle_is_found(
            text in proptest::collection::vec(prop_oneof![20 => Just(b'a'), 1 => any::<u8>(), 1 => Just(b'<')], 0..80),
            needles in proptest::sample::select(&NEEDLES[..]),
        ) {
            let slowly = text.iter().position(|byte| needles.contains(byte)).unwrap_or(text.len());
            prop_assert_eq!(bytes_before(needles, &text), slowly);
        }
    }
}
