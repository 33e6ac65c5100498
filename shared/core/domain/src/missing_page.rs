//! An origin's response for an address that does not exist, to recognise the same response
//! elsewhere.
//!
//! Many servers answer for a missing page with status 200, or with a redirect to their home page
//! ("soft 404"). Once an iteration, the crawl step requests an address that cannot exist from each
//! origin, and stores the result with the origin's lease. Each visit carries the [`MissingSign`]
//! that was known at the time, so the parser's result depends on no other stored data.

use serde::{Deserialize, Serialize};

use crate::ids::Iteration;
use crate::outcome::Outcome;
use crate::simhash::Simhash;
use crate::simhash::TextPrint;
use crate::stored_form::digest;
use crate::url::CrawlUrl;

/// The limit on a stored title, in characters: the whole row is written with every commit.
pub const TITLE_CHARS_MAX: usize = 200;

/// The most bits in which the fingerprints of the same page differ. If a page of forty words
/// repeats the requested address in three of them, about ten bits differ; different texts differ in
/// about 32, seldom in fewer than 20.
const BITS_MAX: u32 = 12;

/// The fewest words of a meaningful fingerprint: shorter texts must be equal.
const WORDS_MIN: u32 = 20;

/// An origin's response for an address that cannot exist.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MissingPage {
    /// The iteration of the request. The next one repeats it.
    pub iteration: Iteration,
    /// The status of the last response; `None` if there was none, or nothing was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The URL of that response, if redirects led there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<CrawlUrl>,
    /// The title of the response, in up to [`TITLE_CHARS_MAX`] characters; `None` if it was not a
    /// page, or has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The conclusion from it.
    pub answer: MissingAnswer,
}

/// The conclusion from a response for an address that cannot exist.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingAnswer {
    /// None is needed: the server marks missing pages by status (404, 410).
    Honest,
    /// Responses with this sign stand for missing pages.
    Sign(MissingSign),
    /// None, for this reason: every page may look like the response, or there was none.
    Unclear(String),
}

/// The sign of a server's responses for missing pages. It is stored with each visit that it may
/// concern, so it is small.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingSign {
    /// A page like this one, with a good status.
    Page(PagePrint),
    /// A redirect to a page with a good status, by the digest of its URL.
    Redirect(u64),
}

/// The print of a page, for comparison with others.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PagePrint {
    /// The digest of its title in lower case, without the requested address.
    #[serde(rename = "t")]
    pub title: u64,
    /// The number of words of its text, without header, menus and footer.
    #[serde(rename = "w")]
    pub words: u32,
    /// The fingerprint of that text.
    #[serde(rename = "s", with = "simhash_number")]
    pub simhash: Simhash,
}

mod simhash_number {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::simhash::Simhash;

    pub(super) fn serialize<S: Serializer>(simhash: &Simhash, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(simhash.0)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Simhash, D::Error> {
        u64::deserialize(deserializer).map(Simhash)
    }
}

impl PagePrint {
    /// Creates the print of a page with this title and text.
    #[must_use]
    pub fn new(title: &str, text: &str) -> Self {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let TextPrint { words, simhash } = TextPrint::new(text);
        Self { title: digest(title.as_bytes()), words, simhash }
    }

    /// Whether two pages are the same but for the parts that change with each request: their titles
    /// are equal, and their texts nearly so.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let (fewer, more) = (self.words.min(other.words), self.words.max(other.words));
        let is_text_alike = if fewer < WORDS_MIN {
            fewer == more && self.simhash == other.simhash
        } else {
            more - fewer <= fewer / 10 && self.simhash.distance(other.simhash) <= BITS_MAX
        };
        self.title == other.title && is_text_alike
    }
}

/// A rule that recognises the response for a missing page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MissingRule {
    /// The same page as for an address that cannot exist.
    SamePage,
    /// The same redirect target as for an address that cannot exist.
    SameTarget,
}

impl MissingRule {
    /// All rules.
    pub const ALL: [Self; 2] = [Self::SamePage, Self::SameTarget];

    /// Returns its name in details and in `dragline explain`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SamePage => "missing_page",
            Self::SameTarget => "missing_redirect",
        }
    }

    /// Returns its subject, for people.
    #[must_use]
    pub const fn subject(self) -> &'static str {
        match self {
            Self::SamePage => {
                "status 200 with the title and nearly the text of the answer for an address that cannot exist, which was asked for in the same iteration; never the home page"
            }
            Self::SameTarget => {
                "a redirect to where an address that cannot exist was redirected to, unless that is the same address in another spelling; never from the home page"
            }
        }
    }

    /// Returns where such responses are described.
    #[must_use]
    pub const fn source(self) -> &'static str {
        "https://developers.google.com/search/docs/crawling-indexing/http-network-errors#soft-404-errors"
    }

    /// The outcome of a URL to which it applies.
    pub const OUTCOME: Outcome = Outcome::SoftNotFound;

    /// Returns the log's detail, with the finding and the rule.
    #[must_use]
    pub fn detail(self) -> String {
        let what = match self {
            Self::SamePage => "the same page as for an address that cannot exist",
            Self::SameTarget => "a redirect to where an address that cannot exist leads, too",
        };
        format!("{what}, by the rule `{}`", self.name())
    }
}

impl MissingSign {
    /// Creates the sign of a redirect to this target.
    #[must_use]
    pub fn redirect(target: &CrawlUrl) -> Self {
        Self::Redirect(digest(target.as_str().as_bytes()))
    }

    /// Returns the rule by which a redirect from a URL stands for a missing page; `None` if it is
    /// an ordinary one.
    #[must_use]
    pub fn match_redirect(&self, url: &CrawlUrl, target: &CrawlUrl) -> Option<MissingRule> {
        let Self::Redirect(of_missing) = self else { return None };
        let is_same = digest(target.as_str().as_bytes()) == *of_missing && !is_home(url) && !is_respelled(url, target);
        is_same.then_some(MissingRule::SameTarget)
    }

    /// Returns the rule by which a page with status 200 stands for a missing one; `None` if it is
    /// an ordinary one.
    #[must_use]
    pub fn match_page(&self, url: &CrawlUrl, page: impl FnOnce() -> Option<PagePrint>) -> Option<MissingRule> {
        let Self::Page(of_missing) = self else { return None };
        let is_same = !is_home(url) && page().is_some_and(|page| page.is_like(of_missing));
        is_same.then_some(MissingRule::SamePage)
    }
}

/// Whether a URL is the home page of its origin, with any parameters.
#[must_use]
pub fn is_home(url: &CrawlUrl) -> bool {
    url.path() == "/"
}

/// Whether a redirect only leads to another spelling of an address: with or without a slash or the
/// name of an index, in other letter case, or on another host or scheme.
fn is_respelled(url: &CrawlUrl, target: &CrawlUrl) -> bool {
    plain(url.path()).eq_ignore_ascii_case(plain(target.path()))
}

/// Returns a path without the name of an index and trailing slashes.
fn plain(path: &str) -> &str {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().unwrap_or_default();
    let is_index = ["index", "default", "home"].iter().any(|index| stem.eq_ignore_ascii_case(index));
    (if is_index { folder } else { path }).trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::UrlRules;

    fn url(text: &str) -> CrawlUrl {
        CrawlUrl::parse(text, &UrlRules::default()).unwrap()
    }

    fn words(range: std::ops::Range<u32>) -> String {
        range.map(|n| format!("word{n} ")).collect()
    }

    #[test]
    fn pages_are_compared_by_title_and_text() {
        let long = words(0..120);
        let missing = PagePrint::new("Not found", &long);
        for (title, text, expected, why) in [
            (" not \n FOUND", long.clone(), true, "letter case and spaces do not count"),
            ("Not found", format!("{long} 12:41:07"), true, "a clock"),
            ("Not found", long.replace("word60 ", "the page chair-oak-17 "), true, "what was asked for"),
            ("Not found", words(200..320), false, "another text"),
            ("A chair", long.clone(), false, "a page of its own title"),
            ("", long.clone(), false, "no title"),
            ("Not found", format!("{long}{}", words(200..240)), false, "a third more"),
        ] {
            assert_eq!(PagePrint::new(title, &text).is_like(&missing), expected, "{title} {text}: {why}");
        }
        let short = PagePrint::new("Shop", "Sorry, this page is not there any more.");
        for (text, expected, why) in [
            ("Sorry, this page is not there any more.", true, "equal"),
            ("Sorry, this page is not there any longer.", false, "of few words, each counts"),
        ] {
            assert_eq!(PagePrint::new("Shop", text).is_like(&short), expected, "{text}: {why}");
        }
    }

    #[test]
    fn a_redirect_to_the_target_of_missing_pages_is_missing() {
        let home = "https://a.example/";
        for (of_missing, from, to, expected, why) in [
            (home, "/shop/chair", home, true, "everything that is missing leads home"),
            (home, "/shop/chair", "https://a.example/shop/table", false, "it moved"),
            (home, "/index.html", home, false, "the same page, by another name"),
            (home, "/HOME", home, false, "the same"),
            (home, "/?page=2", home, false, "the home page itself"),
            ("https://a.example/en/", "/", "https://a.example/en/", false, "the home page leads to a language"),
            ("https://a.example/en/", "/en", "https://a.example/en/", false, "a slash"),
            ("https://a.example/en/", "/EN/", "https://a.example/en/", false, "letter case"),
            ("https://a.example/en/", "/shop", "https://a.example/en/", true, "what is missing leads there"),
        ] {
            let sign = MissingSign::redirect(&url(of_missing));
            let from = url(&format!("https://a.example{from}"));
            let rule = sign.match_redirect(&from, &url(to));
            assert_eq!(rule.is_some(), expected, "{from} to {to}, missing ones to {of_missing}: {why}");
            assert_eq!(sign.match_page(&from, || panic!("not looked at")), None, "a page that is there is there");
        }
        let page = MissingSign::Page(PagePrint::new("", ""));
        assert_eq!(
            page.match_redirect(&url("https://a.example/x"), &url(home)),
            None,
            "what is missing is not redirected"
        );
    }

    #[test]
    fn the_home_page_is_never_missing() {
        let print = || PagePrint::new("Example", &words(0..60));
        let sign = MissingSign::Page(print());
        for (path, expected, why) in [
            ("/about", Some(MissingRule::SamePage), "the home page in the place of another"),
            ("/", None, "the home page"),
            ("/?utm=1", None, "the same, with parameters"),
        ] {
            let rule = sign.match_page(&url(&format!("https://a.example{path}")), || Some(print()));
            assert_eq!(rule, expected, "{path}: {why}");
        }
        assert_eq!(sign.match_page(&url("https://a.example/about"), || None), None, "no page");
    }

    #[test]
    fn stored_signs_are_read_back() {
        for answer in [
            MissingAnswer::Honest,
            MissingAnswer::Sign(MissingSign::Page(PagePrint {
                simhash: Simhash(u64::MAX),
                ..PagePrint::new("T", "x")
            })),
            MissingAnswer::Sign(MissingSign::redirect(&url("https://a.example/"))),
            MissingAnswer::Unclear("a page that scripts make".to_owned()),
        ] {
            let (url, title) = (Some(url("https://a.example/")), Some("T".to_owned()));
            let kept = MissingPage { iteration: Iteration::FIRST, status: Some(200), url, title, answer };
            let stored = serde_json::to_string(&kept).unwrap();
            assert_eq!(serde_json::from_str::<MissingPage>(&stored).unwrap(), kept, "{stored}");
        }
    }
}
