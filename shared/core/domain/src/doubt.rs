//! Decides whether to believe a page's canonical link: faulty templates declare the home page
//! canonical on every page.
//!
//! `shared/stores/local/src/db/views.sql` does the same for a data directory.

use serde::{Deserialize, Serialize};

use crate::simhash::TextPrint;

/// The most bits in which the fingerprints of nearly equal texts differ.
const SAME_BITS_MAX: u32 = 3;

/// The most bits in which the fingerprints of similar texts differ. Half of the pairs of different
/// pages in a manual differ in 27 to 32 bits, and most in more than this; pages that repeat each
/// other differ in fewer. A page without two fifths of its text differs from the whole in up to 20
/// bits, seldom in more; so does one with its parts in another order, unless these are very short.
const ALIKE_BITS_MAX: u32 = 20;

/// The fewest words of a meaningful fingerprint.
const WORDS_MIN: u32 = 20;

/// The number of different texts above which a URL is taken to be declared canonical by mistake.
const NAMERS_MAX: u32 = 16;

/// The number of different texts among the pages that declare a URL canonical, without the texts:
/// each text has one of 64 places, and the bit of its place is set. So a text counts once, the
/// order does not matter, and 20 texts fill about 17 places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Namers(pub u64);

impl Namers {
    /// Adds the text of a page.
    #[must_use]
    pub const fn with(self, text: TextPrint) -> Self {
        // Similar texts have similar fingerprints, but should not share a place because of that.
        let hash = (text.simhash.0 ^ text.simhash.0 >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(self.0 | 1 << (hash >> 58))
    }

    /// Returns the occupied places, 0 to 63.
    pub fn places(self) -> impl Iterator<Item = u8> {
        (0..64).filter(move |place| self.0 >> place & 1 == 1)
    }
}

/// The reason why a page's canonical link is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// The text there differs from its own.
    Unlike,
    /// Many pages with other texts declare that URL canonical, too.
    NamedByMany,
}

/// The words between the URL and the reason.
const IS_DOUBTED: &str = " is not believed: ";

impl Doubt {
    /// All reasons.
    pub const ALL: [Self; 2] = [Self::Unlike, Self::NamedByMany];

    /// Returns the reason to doubt the canonical link of a page with this text; `namers` are the
    /// pages with the same link, and `there` is the text of the linked page. `None` if it is
    /// believed, or one of the texts is unknown.
    #[must_use]
    pub fn from_texts(text: Option<TextPrint>, namers: Namers, there: Option<TextPrint>) -> Option<Self> {
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

    /// Returns its name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unlike => "unlike",
            Self::NamedByMany => "named_by_many",
        }
    }

    /// Returns the reason in words, about one page.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Unlike => "the text there is unlike its own",
            Self::NamedByMany => "many pages with other texts name it",
        }
    }

    /// Returns the log's detail for a page that declares this URL canonical.
    #[must_use]
    pub fn detail(self, canonical: &str) -> String {
        format!("its canonical URL {canonical}{IS_DOUBTED}{}", self.words())
    }

    /// Parses the result of [`detail`](Self::detail) into the reason and the URL; `None` if it is
    /// something else.
    #[must_use]
    pub fn from_detail(detail: &str) -> Option<(Self, &str)> {
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

    /// Creates a text about a subject.
    fn text(of: &str, words: usize) -> String {
        (0..words).map(|n| format!("{of}{n} ")).collect()
    }

    /// Creates the namers of a URL that many pages with different texts declare canonical.
    fn many() -> Namers {
        (0..30).fold(Namers::default(), |namers, n| namers.with(TextPrint::new(&text(&format!("p{n}-"), 30))))
    }

    #[test]
    fn a_canonical_link_is_believed_if_the_texts_are_similar() {
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
            assert_eq!(Doubt::from_texts(own, namers, there), expected, "{why}");
        }
    }

    #[test]
    fn each_text_counts_once() {
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
    fn a_detail_has_the_doubted_url_and_the_reason() {
        for doubt in Doubt::ALL {
            let detail = doubt.detail("https://a.example/ is not believed: x");
            assert_eq!(Doubt::from_detail(&doubt.detail("https://a.example/")), Some((doubt, "https://a.example/")));
            assert_eq!(Doubt::from_detail(&detail), None, "a URL has no spaces");
        }
        assert_eq!(Doubt::from_detail("its canonical URL is https://a.example/"), None, "it is believed");
    }
}
