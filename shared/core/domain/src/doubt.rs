//! Whether a page is believed that calls another URL canonical: templates that are at fault call the home page canonical on every page.
//!
//! `shared/stores/local/src/db/views.sql` does the same for a data directory.

use serde::{Deserialize, Serialize};

use crate::simhash::TextPrint;

/// Texts whose fingerprints differ in up to this many bits are nearly the same.
const SAME_BITS_MAX: u32 = 3;

/// Texts whose fingerprints differ in more bits are unlike. Half of the pairs of different pages in a
/// manual differ in 27 to 32 bits, and most in more than this; pages that repeat each other differ in
/// less. A page without two fifths of its text differs from the whole in up to 20 bits, seldom in more;
/// so does one with its parts in another order, unless these are very short.
const ALIKE_BITS_MAX: u32 = 20;

/// A fingerprint of fewer words says little.
const WORDS_MIN: u32 = 20;

/// A URL that is named by pages with so many texts is named by mistake.
const NAMERS_MAX: u32 = 16;

/// How many different texts the pages have that call one URL canonical, without the texts: each text has one of 64 places, and the bit of its place is set. So the same text
/// counts once, in whichever order texts are added, and 20 texts fill about 17 places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Namers(pub u64);

impl Namers {
    /// Adds the text of a page.
    #[must_use]
    pub const fn with(self, text: TextPrint) -> Self {
        // Similar texts have similar fingerprints, and are not to share a place for that.
        let hash = (text.simhash.0 ^ text.simhash.0 >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(self.0 | 1 << (hash >> 58))
    }

    /// Returns the places that are taken, 0 to 63.
    pub fn places(self) -> impl Iterator<Item = u8> {
        (0..64).filter(move |place| self.0 >> place & 1 == 1)
    }
}

/// Why a page is not believed that calls another URL canonical.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// The text there is unlike its own.
    Unlike,
    /// Many pages with other texts call that URL canonical, too.
    NamedByMany,
}

/// What stands between the URL and the reason.
const IS_DOUBTED: &str = " is not believed: ";

impl Doubt {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Unlike, Self::NamedByMany];

    /// Returns why a page with this text is not believed that names a URL, which others name, too, and which leads to a page with that text. `None`
    /// if it is believed, as it is if one of the texts is not known.
    #[must_use]
    pub fn about(text: Option<TextPrint>, namers: Namers, there: Option<TextPrint>) -> Option<Self> {
        let (text, there) = text.zip(there)?;
        let differ = text.simhash.distance(there.simhash);
        if differ <= SAME_BITS_MAX {
            None
        } else if text.words >= WORDS_MIN && differ > ALIKE_BITS_MAX {
            Some(Self::Unlike)
        } else {
            (namers.0.count_ones() >= NAMERS_MAX).then_some(Self::NamedByMany)
        }
    }

    /// Returns the name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unlike => "unlike",
            Self::NamedByMany => "named_by_many",
        }
    }

    /// Returns the reason in words, of one page.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Unlike => "the text there is unlike its own",
            Self::NamedByMany => "many pages with other texts name it",
        }
    }

    /// Returns what is logged of a page that names this URL.
    #[must_use]
    pub fn detail(self, canonical: &str) -> String {
        format!("its canonical URL {canonical}{IS_DOUBTED}{}", self.words())
    }

    /// Reads what [`detail`](Self::detail) wrote: the reason, and the URL. `None` if it is something else.
    #[must_use]
    pub fn of_detail(detail: &str) -> Option<(Self, &str)> {
        let (canonical, words) = detail.strip_prefix("its canonical URL ")?.split_once(IS_DOUBTED)?;
        Some((Self::ALL.into_iter().find(|doubt| doubt.words() == words)?, canonical))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(text: &str) -> Option<TextPrint> {
        Some(TextPrint::new(text))
    }

    /// Text about a subject.
    fn text(of: &str, words: usize) -> String {
        (0..words).map(|n| format!("{of}{n} ")).collect()
    }

    /// What many pages with different texts make.
    fn many() -> Namers {
        (0..30).fold(Namers::default(), |namers, n| namers.with(TextPrint::new(&text(&format!("p{n}-"), 30))))
    }

    #[test]
    fn a_page_is_believed_if_the_text_there_is_like_its_own() {
        let items = |reverse: bool| {
            let mut items: Vec<String> = (0..40).map(|n| text(&format!("i{n}-"), 8)).collect();
            if reverse {
                items.reverse();
            }
            items.concat()
        };
        let (page, menu) = (text("w", 300), text("menu", 60));
        let han = |first: u32| (first..first + 30).filter_map(char::from_u32).collect::<String>();
        let few = Namers::default();
        for (own, namers, there, expected, why) in [
            (print(&page), few, print(&page), None, "the same, as with a parameter that tracks"),
            (print(&page), many(), print(&page), None, "the same, whoever else names it"),
            (print(&page), many(), print(&format!("{page} 17:03")), None, "nearly the same"),
            (print(&page), few, print(&format!("{menu}{page}")), None, "printed, without the menu"),
            (print(&page), many(), print(&format!("{menu}{page}")), Some(Doubt::NamedByMany), "as many others may be"),
            (print(&items(true)), few, print(&items(false)), None, "sorted in another way"),
            (print(&page), few, print(&text("other", 300)), Some(Doubt::Unlike), "another page"),
            (print(&page), few, print("Welcome"), Some(Doubt::Unlike), "there is next to nothing there"),
            (print(&text("x", 20)), few, print(&page), Some(Doubt::Unlike), "enough words to tell"),
            (print(&text("x", 19)), few, print(&page), None, "too few to tell"),
            (
                print(&han(0x4e00)),
                few,
                print(&han(0x6e00)),
                Some(Doubt::Unlike),
                "its words have no spaces between them",
            ),
            (print(""), few, print(&page), None, "none at all"),
            (print("Product 7"), many(), print(&page), Some(Doubt::NamedByMany), "too few, and many do that"),
            (print(""), many(), print(""), None, "nothing is lost"),
            (None, many(), print(&page), None, "it was read by an older version"),
            (print(&page), many(), None, None, "that one was"),
        ] {
            assert_eq!(Doubt::about(own, namers, there), expected, "{why}");
        }
    }

    #[test]
    fn texts_that_name_a_url_are_counted_once_each() {
        let of = |texts: &[String]| texts.iter().fold(Namers::default(), |all, text| all.with(TextPrint::new(text)));
        let similar: Vec<String> = (0..30).map(|n| format!("{} page {n}", text("w", 40))).collect();
        let mut reversed = similar.clone();
        reversed.reverse();
        assert_eq!(of(&similar), of(&reversed), "in any order");
        assert_eq!(of(&vec![similar[0].clone(); 30]).0.count_ones(), 1, "the same text");
        assert!(of(&similar).0.count_ones() >= NAMERS_MAX, "{:064b}: similar ones are different", of(&similar).0);
        assert!(of(&similar[..15]).0.count_ones() < NAMERS_MAX, "fifteen are not many");
        assert_eq!(Namers(1 | 1 << 5 | 1 << 63).places().collect::<Vec<_>>(), [0, 5, 63]);
    }

    #[test]
    fn a_detail_says_what_is_doubted_and_why() {
        for doubt in Doubt::ALL {
            let detail = doubt.detail("https://a.example/ is not believed: x");
            assert_eq!(Doubt::of_detail(&doubt.detail("https://a.example/")), Some((doubt, "https://a.example/")));
            assert_eq!(Doubt::of_detail(&detail), None, "a URL has no spaces");
        }
        assert_eq!(Doubt::of_detail("its canonical URL is https://a.example/"), None, "it is believed");
    }
}
