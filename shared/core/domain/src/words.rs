//! Splits a text into words, for counting and for comparing texts: in scripts without spaces
//! between words, by characters.

/// A script without spaces between words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    /// Han and kana. A character counts as a word, like in word processors.
    Eastern,
    /// Thai, Lao, Burmese and Khmer. Words have about four characters.
    Southern,
}

impl Script {
    /// Returns the script of a character; `None` for scripts with spaces between words, and for
    /// punctuation.
    const fn from_char(c: char) -> Option<Self> {
        match c {
            '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => Some(Self::Southern),
            '\u{3005}'..='\u{3007}'
            | '\u{3041}'..='\u{309f}'
            | '\u{30a1}'..='\u{30fa}'
            | '\u{30fc}'..='\u{312f}'
            | '\u{31a0}'..='\u{31bf}'
            | '\u{31f0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff66}'..='\u{ff9f}'
            | '\u{20000}'..='\u{3ffff}' => Some(Self::Eastern),
            _ => None,
        }
    }

    /// Returns how many characters are as significant as a word.
    const fn characters_of_word(self) -> usize {
        match self {
            Self::Eastern => 2,
            Self::Southern => 4,
        }
    }
}

/// A piece of a text without spaces in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece<'t> {
    text: &'t str,
    /// `None` if it is a word as it is.
    script: Option<Script>,
}

/// Returns the pieces of a text between spaces, further split where the script changes.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    text.split_whitespace().flat_map(|token| {
        let mut rest = token;
        std::iter::from_fn(move || {
            let script = Script::from_char(rest.chars().next()?);
            // Most tokens are ASCII, which is one script, and quick to see.
            let is_one = rest.is_ascii();
            let end = if is_one { None } else { rest.find(|c| Script::from_char(c) != script) };
            let length = end.unwrap_or(rest.len());
            let (piece, after) = rest.split_at(length);
            let is_whole = piece.len() == token.len();
            rest = after;
            Some((Piece { text: piece, script }, is_whole))
        })
        // Punctuation between characters is not a word.
        .filter(|(piece, is_whole)| *is_whole || piece.script.is_some() || piece.text.contains(char::is_alphanumeric))
        .map(|(piece, _)| piece)
    })
}

/// Counts the words of a text: text between spaces; in Han and kana each character; in Thai, Lao,
/// Burmese and Khmer every four characters of a run, and the rest.
///
/// ```
/// use dragline_domain::words::count_words;
///
/// assert_eq!(count_words("It's 9 o'clock"), 3);
/// assert_eq!(count_words("用Rust写的搜索引擎。"), 1 + 1 + 6);
/// ```
#[must_use]
pub fn count_words(text: &str) -> usize {
    let count = |piece: Piece<'_>| match piece.script {
        None => 1,
        Some(Script::Eastern) => piece.text.chars().count(),
        Some(Script::Southern) => piece.text.chars().count().div_ceil(Script::Southern.characters_of_word()),
    };
    pieces(text).map(count).sum()
}

/// Returns the units by which texts are compared: words, and in scripts without spaces overlapping
/// runs of a word's length from each character. So a change in a text only affects the units near
/// it.
pub(crate) fn compared_words(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).flat_map(|Piece { text, script }| {
        let length = script.map(Script::characters_of_word);
        let begins = length.map_or(1, |_| usize::MAX);
        text.char_indices().take(begins).map(move |(from, _)| {
            let word = &text[from..];
            let end = length.and_then(|length| word.char_indices().nth(length)).map_or(word.len(), |(end, _)| end);
            &word[..end]
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simhash::Simhash;

    #[test]
    fn words_are_counted_where_no_spaces_tell_them() {
        for (text, expected, reason) in [
            ("one two  three", 3, "spaces"),
            ("It's – a state-of-the-art thing.", 5, "what has spaces around it, as ever"),
            ("", 0, "nothing"),
            ("搜索引擎", 4, "characters"),
            ("搜索引擎，很快。", 6, "without punctuation"),
            ("用Rust写", 3, "with a word of another script"),
            ("データベース、がっこう", 10, "kana"),
            ("ภาษาไทย", 2, "four characters and what is left"),
            ("ភាសាខ្មែរ ພາສາລາວ မြန်မာ", 3 + 2 + 2, "others"),
            ("대한민국 서울", 2, "Korean has spaces"),
            ("。", 1, "as a dash between spaces"),
        ] {
            assert_eq!(count_words(text), expected, "{text}: {reason}");
        }
    }

    #[test]
    fn words_that_are_compared_overlap_where_they_have_no_spaces() {
        for (text, expected) in [
            ("One two-three", "One|two-three"),
            ("東京都 x", "東京|京都|都|x"),
            ("ภาษาไทย", "ภาษา|าษาไ|ษาไท|าไทย|ไทย|ทย|ย"),
            ("a、東", "a、|東"),
        ] {
            assert_eq!(compared_words(text).collect::<Vec<_>>().join("|"), expected);
        }
    }

    /// Creates a text of a thousand random characters, from an alphabet that begins at `first`.
    fn random(first: u32, letters: u32, mut state: u32) -> String {
        let next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from_u32(first + (state >> 16) % letters)
        };
        std::iter::repeat_with(next).take(1_000).flatten().collect()
    }

    #[test]
    fn texts_without_spaces_are_near_each_other_if_they_differ_in_little() {
        for (first, letters, script) in
            [(0x4e00, 2_000, "Han"), (0x3042, 70, "kana"), (0xe01, 40, "Thai"), (0x1780, 40, "Khmer")]
        {
            let text = random(first, letters, 1);
            let changed = format!("{}{}", random(first, letters, 3).chars().take(4).collect::<String>(), text);
            let (near, far) = (
                Simhash::compute(&text).distance(Simhash::compute(&changed)),
                Simhash::compute(&text).distance(Simhash::compute(&random(first, letters, 2))),
            );
            assert!(near <= 3, "{script}: {near} bits");
            assert!(far > 15, "{script}: {far} bits");
        }
    }
}
