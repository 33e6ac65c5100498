//! Checks a file's cross-references before lopdf relies on them.
//!
//! lopdf reads an object for each entry of the cross-references, so many entries for one place
//! would have it read that often. If that is possible, objects are searched for instead.

use std::collections::HashMap;

use lopdf::{Dictionary, Object, Stream};

use super::content::is_space;

/// The most entries for one place. Sound files have one each.
const ENTRIES_OF_PLACE_MAX: u8 = 4;

/// The greatest distance, in bytes, from the type of a cross-reference stream's dictionary to its
/// start or end.
const DICTIONARY_BYTES_MAX: usize = 4 << 10;

/// How an object's place is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    /// By the cross-references.
    References,
    /// By a search for objects.
    Search,
}

impl Lookup {
    /// Chooses the way that does not read objects repeatedly. Inflates at most this much of all
    /// cross-reference streams together.
    pub(super) fn choose(bytes: &[u8], streams: usize, inflated_bytes_max: usize) -> Self {
        let mut places = Places::default();
        places.add_tables(bytes);
        let mut left_bytes = inflated_bytes_max;
        let mut read = 0;
        for at in memchr::memmem::find_iter(bytes, b"/XRef").filter(|at| !is_longer_name(bytes, at + b"/XRef".len())) {
            read += 1;
            let Some(inflated) = places.add_stream(bytes, at, left_bytes) else { return Self::Search };
            left_bytes -= inflated;
        }
        // The remaining streams have their type written in an odd way.
        if read == streams && places.are_distinct { Self::References } else { Self::Search }
    }
}

fn is_longer_name(bytes: &[u8], end: usize) -> bool {
    bytes.get(end).is_some_and(u8::is_ascii_alphanumeric)
}

/// The number of entries for each place.
#[derive(Debug)]
struct Places {
    entries: HashMap<u64, u8>,
    are_distinct: bool,
}

impl Default for Places {
    fn default() -> Self {
        Self { entries: HashMap::new(), are_distinct: true }
    }
}

impl Places {
    fn add(&mut self, place: u64) {
        if self.are_distinct {
            let entries = self.entries.entry(place).or_insert(0);
            *entries += 1;
            self.are_distinct = *entries <= ENTRIES_OF_PLACE_MAX;
        }
    }

    /// Adds the entries of tables: a place, a generation, and `n` (ISO 32000-1, section 7.5.4).
    fn add_tables(&mut self, bytes: &[u8]) {
        for at in memchr::memmem::find_iter(bytes, b" n") {
            let before = bytes.get(..at).unwrap_or_default();
            let generation = before.iter().rev().take(5).take_while(|byte| byte.is_ascii_digit()).count();
            let before = before.get(..at - generation).unwrap_or_default();
            let spaces = before.iter().rev().take(5).take_while(|byte| is_space(**byte)).count();
            let before = before.get(..before.len() - spaces).unwrap_or_default();
            let digits = before.iter().rev().take(20).take_while(|byte| byte.is_ascii_digit()).count();
            if generation > 0 && spaces > 0 && digits > 0 {
                self.add(number(before.get(before.len() - digits..).unwrap_or_default()));
            }
        }
    }

    /// Adds the entries of the stream whose type is at this position (section 7.5.8). Returns the
    /// number of inflated bytes; `None` if it cannot be read.
    fn add_stream(&mut self, bytes: &[u8], at: usize, bytes_max: usize) -> Option<usize> {
        let before = bytes.get(at.saturating_sub(DICTIONARY_BYTES_MAX)..at)?;
        let start = at - before.len() + memchr::memmem::rfind(before, b"obj")?;
        let after = bytes.get(at..bytes.len().min(at + DICTIONARY_BYTES_MAX))?;
        let end = at + memchr::memmem::find(after, b"stream")?;
        let dictionary = bytes.get(start..end)?;
        let data = bytes.get(end + b"stream".len()..)?;
        let data = data.strip_prefix(b"\r").unwrap_or(data);
        let data = data.strip_prefix(b"\n").unwrap_or(data);
        let data = data.get(..memchr::memmem::find(data, b"endstream").unwrap_or(data.len()))?;
        let widths = array(dictionary, b"/W")?;
        let [kind, place, index] = *widths.as_slice() else { return None };
        let mut entries = Dictionary::new();
        if memchr::memmem::find(dictionary, b"/Filter").is_some() {
            memchr::memmem::find(dictionary, b"/FlateDecode")?;
            let mut parameters = Dictionary::new();
            for key in ["Predictor", "Columns", "Colors", "BitsPerComponent"] {
                if let Some(value) = entry(dictionary, key.as_bytes()) {
                    parameters.set(key, value);
                }
            }
            entries.set("Filter", Object::Name(b"FlateDecode".to_vec()));
            entries.set("DecodeParms", parameters);
        }
        let inflated = Stream::new(entries, data.to_vec()).get_plain_content_with_limit(bytes_max).ok()?;
        let row = kind.checked_add(place)?.checked_add(index)?;
        for row in inflated.chunks_exact(row.clamp(1, 64)) {
            let (kind_bytes, rest) = row.split_at_checked(kind)?;
            if kind == 0 || kind_bytes.last() == Some(&1) {
                self.add(rest.get(..place)?.iter().fold(0, |place, byte| place << 8 | u64::from(*byte)));
            }
        }
        Some(inflated.len())
    }
}

/// Returns the text after a key.
fn after<'b>(dictionary: &'b [u8], key: &[u8]) -> Option<&'b [u8]> {
    let mut ends = memchr::memmem::find_iter(dictionary, key).map(|at| at + key.len());
    let rest = dictionary.get(ends.find(|end| !is_longer_name(dictionary, *end))?..)?;
    Some(rest.trim_ascii_start())
}

fn entry(dictionary: &[u8], key: &[u8]) -> Option<i64> {
    let value = after(dictionary, &[b"/", key].concat())?;
    let digits = value.iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
    i64::try_from(number(value.get(..digits)?)).ok()
}

fn array(dictionary: &[u8], key: &[u8]) -> Option<Vec<usize>> {
    let values = after(dictionary, key)?.strip_prefix(b"[")?;
    let values = values.get(..memchr::memchr(b']', values)?)?;
    let words = values.split(|byte| is_space(*byte)).filter(|word| !word.is_empty());
    words.map(|word| word.iter().all(u8::is_ascii_digit).then(|| usize::try_from(number(word)).ok())?).collect()
}

/// Reads digits; of a number that is too long, the end counts.
fn number(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |number: u64, digit| number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')))
}
