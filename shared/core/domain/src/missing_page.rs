//! What an origin's server answers for an address that does not exist, so that the same answer elsewhere is known for what it is.
//!
//! Many servers say with status 200, or with a redirect to their home page, that there is no such page ("soft 404"). Once an iteration, the crawl
//! step asks each origin for an address that cannot exist, and keeps with the origin's lease what came of it. Each visit carries the [`MissingSign`]
//! that was known at the time, so what a parser makes of its answer depends on nothing else that is stored.

use std::hash::Hasher;

use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

use crate::ids::Iteration;
use crate::outcome::Outcome;
use crate::simhash::Simhash;
use crate::simhash::TextPrint;
use crate::url::CrawlUrl;

/// The most characters of a title that are kept for people: the whole row is written with every commit.
pub const TITLE_CHARS_MAX: usize = 200;

/// Texts whose fingerprints differ in more bits are not the same page. Of a page of forty words that repeats what was
/// asked for in three of them, some ten bits differ; different texts differ in about 32, seldom in fewer than 20.
const BITS_MAX: u32 = 12;

/// A fingerprint of fewer words says little: such texts have to be equal.
const WORDS_MIN: u32 = 20;

/// What an origin answered for an address that cannot exist.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MissingPage {
    /// The iteration that asked. It is asked again in the next one.
    pub iteration: Iteration,
    /// The status of the last answer; `None` if there was none, or nothing was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The URL that it came from, if redirects led there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<CrawlUrl>,
    /// The title of the page that it was, in up to [`TITLE_CHARS_MAX`] characters; `None` if it was none, or has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What that says of other answers.
    pub answer: MissingAnswer,
}

/// What the answer for an address that cannot exist says of other answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingAnswer {
    /// Nothing: the server says itself what is missing (404, 410).
    Honest,
    /// What is answered with this is missing.
    Sign(MissingSign),
    /// Nothing, for this reason: it may be what every page looks like, or there was no answer.
    Unclear(String),
}

/// What a server answers in the place of a page that is missing. It is stored with each visit that it may concern, so it is small.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingSign {
    /// A page like this one, with a good status.
    Page(PagePrint),
    /// A redirect that leads to a page with a good status, by the digest of its URL.
    Redirect(u64),
}

/// What is kept of a page to compare others with.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PagePrint {
    /// The digest of its title in lower case, without the address that was asked for.
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
    /// Returns that of a page by its title and text.
    #[must_use]
    pub fn new(title: &str, text: &str) -> Self {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let TextPrint { words, simhash } = TextPrint::new(text);
        Self { title: digest(&title), words, simhash }
    }

    /// Whether two pages are the same but for what changes with each request: their titles are equal, and their texts nearly so.
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

/// A rule by which the answer for a missing page is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MissingRule {
    /// The same page as for an address that cannot exist.
    SamePage,
    /// A redirect to where an address that cannot exist is redirected to.
    SameTarget,
}

impl MissingRule {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::SamePage, Self::SameTarget];

    /// Its name in details and in `dragline explain`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SamePage => "missing_page",
            Self::SameTarget => "missing_redirect",
        }
    }

    /// What it looks at, for people to read.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::SamePage => {
                "status 200 with the title and nearly the text of the answer for an address that cannot exist, which was asked for in the same iteration; never the home page"
            }
            Self::SameTarget => {
                "a redirect to where an address that cannot exist was redirected to, unless that is the same address in another spelling; never from the home page"
            }
        }
    }

    /// Where such answers are described.
    #[must_use]
    pub const fn source(self) -> &'static str {
        "https://developers.google.com/search/docs/crawling-indexing/http-network-errors#soft-404-errors"
    }

    /// The outcome of a URL that it applies to.
    pub const OUTCOME: Outcome = Outcome::SoftNotFound;

    /// Says what was recognised and by which rule, for the log.
    #[must_use]
    pub fn detail(self) -> String {
        let what = match self {
            Self::SamePage => "the same page as for an address that cannot exist",
            Self::SameTarget => "a redirect to where an address that cannot exist leads, too",
        };
        format!("{what}, by the rule `{}`", self.name())
    }
}

/// Returns a digest of a text, always the same.
fn digest(text: &str) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}

impl MissingSign {
    /// Returns that of a redirect which leads here.
    #[must_use]
    pub fn redirect(target: &CrawlUrl) -> Self {
        Self::Redirect(digest(target.as_str()))
    }

    /// Returns the rule by which a redirect from a URL stands for a missing page; `None` if it is one like others.
    #[must_use]
    pub fn of_redirect(&self, url: &CrawlUrl, target: &CrawlUrl) -> Option<MissingRule> {
        let Self::Redirect(of_missing) = self else { return None };
        let is_same = digest(target.as_str()) == *of_missing && !is_home(url) && !is_respelled(url, target);
        is_same.then_some(MissingRule::SameTarget)
    }

    /// Returns the rule by which a page with status 200 stands for a missing one; `None` if it is one like others.
    #[must_use]
    pub fn of_page(&self, url: &CrawlUrl, page: impl FnOnce() -> Option<PagePrint>) -> Option<MissingRule> {
        let Self::Page(of_missing) = self else { return None };
        let is_same = !is_home(url) && page().is_some_and(|page| page.is_like(of_missing));
        is_same.then_some(MissingRule::SamePage)
    }
}

/// Whether a URL is the home page of its origin, however it is parametrised.
#[must_use]
pub fn is_home(url: &CrawlUrl) -> bool {
    url.path() == "/"
}

/// Whether a redirect leads from one spelling of an address to another: with or without a slash or the name of an index, in other letter case, or
/// to another host or scheme.
fn is_respelled(url: &CrawlUrl, target: &CrawlUrl) -> bool {
    plain(url.path()).eq_ignore_ascii_case(plain(target.path()))
}

/// Returns a path without the name of an index and slashes at its end.
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
    fn pages_are_alike_by_title_and_text() {
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
    fn a_redirect_to_where_missing_pages_lead_is_missing() {
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
            let rule = sign.of_redirect(&from, &url(to));
            assert_eq!(rule.is_some(), expected, "{from} to {to}, missing ones to {of_missing}: {why}");
            assert_eq!(sign.of_page(&from, || panic!("not looked at")), None, "a page that is there is there");
        }
        let page = MissingSign::Page(PagePrint::new("", ""));
        assert_eq!(
            page.of_redirect(&url("https://a.example/x"), &url(home)),
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
            let rule = sign.of_page(&url(&format!("https://a.example{path}")), || Some(print()));
            assert_eq!(rule, expected, "{path}: {why}");
        }
        assert_eq!(sign.of_page(&url("https://a.example/about"), || None), None, "no page");
    }

    #[test]
    fn what_is_kept_comes_back() {
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
