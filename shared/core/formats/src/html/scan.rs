//! Finds the next significant byte.

/// The limit on needles for a search of many bytes at once. Text and values have that few; names,
/// which are short, end at one of more.
const NEEDLES_OF_TEXT_MAX: usize = 5;

/// Returns the number of bytes before the first needle.
///
/// It is inlined where the needles are known, so that the compiler specialises the search.
#[inline(always)]
pub(super) fn bytes_before(needles: &[u8], text: &[u8]) -> usize {
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

/// Returns the position of the first of eight bytes that is a needle (Warren, "Hacker's Delight",
/// 6-1, "find first 0-byte").
#[inline(always)]
fn position_in(needles: &[u8], bytes: [u8; 8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    let word = u64::from_le_bytes(bytes);
    let found = needles.iter().fold(0, |found, needle| {
        // The needle's bytes are now 0. Above the lowest of them there may be false marks.
        let zeros = word ^ (ONES * u64::from(*needle));
        found | (zeros.wrapping_sub(ONES) & !zeros & HIGHS)
    });
    (found != 0).then(|| found.trailing_zeros() as usize / 8)
}

/// Whether one of these bytes is a needle. Compares all of them, so that the compiler can do so at
/// once.
#[inline(always)]
fn has_any<const N: usize>(needles: &[u8], bytes: &[u8; N]) -> bool {
    bytes.iter().fold(false, |any, byte| needles.iter().fold(any, |any, needle| any | (byte == needle)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NEEDLES: [&[u8]; 4] = [b"&<\0\r", b"]\0\r", b"\t\n\x0C />=\0\"'<\r", b" &>\0\"'<=`\r"];

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
