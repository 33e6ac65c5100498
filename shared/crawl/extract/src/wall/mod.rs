//! Answers that are no page although they look like one: challenges to prove that a person asks, forms to log in, questions for consent.
//!
//! [`RULES`] is the one table of what is recognised. A rule looks at the answer's status and header fields ([`of_fields`]) or at its text
//! ([`of_page`]). Each is narrow: it names what only that wall has, and what is more than a wall's few words is none. Content that is taken for
//! a wall is lost, while a wall that is taken for content is only a page too many.

mod form;
mod outline;
mod prose;
mod redirect;
#[cfg(test)]
mod rule_tests;
mod rules;
#[cfg(test)]
mod tests;
mod tokens;

use dragline_domain::outcome::Outcome;
use dragline_domain::url::CrawlUrl;
use dragline_formats::content_coding::{ContentCodings, decode_all};
use dragline_formats::http_fields::{Headers, content_type};
use memchr::memmem;

use crate::fields::MediaType;

pub use self::outline::Outline;
pub use self::prose::Prose;
pub use self::rules::{RULES, Rule};

/// The version of the rules. It rises whenever the same answer may be another wall, or none: it is a part of the version of the extractor of pages,
/// so that a document says whether it was made by these rules.
pub const RULES_VERSION: u16 = 2;

/// The most bytes of a page that is looked at: its rest is taken for content.
pub const PAGE_BYTES_MAX: usize = 1 << 20;

/// The most bytes of a page that may be a challenge.
pub const CHALLENGE_BYTES_MAX: usize = 64 << 10;

/// The most bytes of a page that may be a challenge although its status is good, as far as the crawl step looks. The parse step looks at all.
const SHORT_BYTES_MAX: usize = 16 << 10;

/// What stands in a page's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WallKind {
    /// A challenge to prove that a person is asking.
    Challenge,
    /// A form to log in.
    Login,
    /// A question for consent to cookies, or for an age.
    Consent,
}

impl WallKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Challenge, Self::Login, Self::Consent];

    /// The outcome of a URL whose answer is one.
    #[must_use]
    pub const fn outcome(self) -> Outcome {
        match self {
            Self::Challenge => Outcome::BlockedByChallenge,
            Self::Login => Outcome::BlockedByLogin,
            Self::Consent => Outcome::BlockedByConsent,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Challenge => "a challenge meant for people",
            Self::Login => "a form to log in",
            Self::Consent => "a question for consent",
        }
    }
}

/// A wall that was recognised.
#[derive(Clone, Copy, Debug)]
pub struct Wall {
    /// The rule that recognised it.
    pub rule: &'static Rule,
}

impl Wall {
    /// What stands in the page's place.
    #[must_use]
    pub const fn kind(&self) -> WallKind {
        self.rule.kind
    }

    /// Says what it is, and by which rule, for the log.
    #[must_use]
    pub fn detail(&self) -> String {
        let Rule { kind, name, .. } = self.rule;
        format!("{} instead of the page, by the rule `{name}`", kind.words())
    }

    /// Says the same of a file that is no page.
    #[must_use]
    pub fn detail_of_file(&self) -> String {
        let Rule { kind, name, .. } = self.rule;
        format!("{}, by the rule `{name}`", kind.words())
    }
}

/// Two walls are the same if the same rule recognised them.
impl PartialEq for Wall {
    fn eq(&self, other: &Self) -> bool {
        self.rule.name == other.rule.name
    }
}

impl Eq for Wall {}

/// The status and the header fields of an answer.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The URL that was asked for.
    pub url: &'a CrawlUrl,
    /// The status code.
    pub status: u16,
    /// The header fields.
    pub headers: &'a Headers,
}

/// Returns the wall that an answer is by its status and header fields alone; `None` if these do not tell.
#[must_use]
pub fn of_fields(head: &Head<'_>) -> Option<Wall> {
    let target = redirect::target(head);
    let rule = RULES.iter().find(|rule| rule.looks_at.is_in_fields(head, target.as_ref()));
    rule.map(|rule| Wall { rule })
}

/// Returns the wall that a page is by its decoded text; `None` if it is none.
#[must_use]
pub fn of_page(url: &CrawlUrl, text: &str) -> Option<Wall> {
    of_outline(url, &Outline::build(text))
}

/// Returns the challenge that an answer is by its status, header fields and body, as far as that can be told without reading it as a page. The body is
/// in its content coding, and `decoded_bytes` long without it.
///
/// A page that is no challenge mostly costs nothing: only short ones are decoded.
#[must_use]
pub fn challenge_of(head: &Head<'_>, body: &[u8], decoded_bytes: u64) -> Option<Wall> {
    let bytes_max = match head.status {
        200..=299 => SHORT_BYTES_MAX,
        // Sucuri's has 307.
        307 | 401 | 403 | 405 | 429 | 503 => CHALLENGE_BYTES_MAX,
        _ => return None,
    };
    let declared = head.headers.text("content-type").as_deref().and_then(content_type);
    if body.is_empty()
        || decoded_bytes > bytes_max as u64
        || !MediaType::from_content_type(declared.as_ref()).may_be_page()
    {
        return None;
    }
    let codings = ContentCodings::parse(head.headers.all("content-encoding")).ok()?;
    let decoded = decode_all(&codings, body, bytes_max as u64);
    challenge_of_page(&decoded.bytes)
}

/// Returns the wall that stands in the place of a file of plain text, such as robots.txt; `None` if it is the file, or none is there. The body is
/// without its content coding.
///
/// It may be reached by redirects, from the URL that was `asked` for: a form to log in at its own address stands in the place of that.
///
/// A wall is a page, whatever type it is said to have: some servers name the type by the file's name. What does not begin as a page is the file.
#[must_use]
pub fn of_file(asked: &CrawlUrl, head: &Head<'_>, body: &[u8]) -> Option<Wall> {
    let may_be_challenge = matches!(head.status, 200..=299 | 307 | 401 | 403 | 405 | 429 | 503);
    let may_be_form = matches!(head.status, 200..=299 | 401 | 403);
    let of_body = || {
        let challenge = challenge_of_page(body).filter(|_| may_be_challenge);
        challenge.or_else(|| of_page_instead(asked, head.url, &String::from_utf8_lossy(body)).filter(|_| may_be_form))
    };
    of_fields(head).or_else(|| begins_as_page(body).then(of_body).flatten())
}

/// Returns the wall that a page is that came from `url`, perhaps by redirects, when another one was `asked` for; `None` if it is none.
#[must_use]
pub fn of_page_instead(asked: &CrawlUrl, url: &CrawlUrl, text: &str) -> Option<Wall> {
    let outline = Outline::build(text);
    of_outline(url, &outline).or_else(|| of_outline(asked, &outline))
}

/// Whether a body begins with a tag, a comment or a declaration, behind a byte order mark and spaces.
fn begins_as_page(body: &[u8]) -> bool {
    body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body).trim_ascii_start().starts_with(b"<")
}

/// Returns the challenge that a page is by its decoded bytes, whose character set does not matter: markers are in ASCII. `None` if it is none, whatever
/// else it is.
#[must_use]
pub fn challenge_of_page(bytes: &[u8]) -> Option<Wall> {
    let has = |marker: &&str| memmem::find(bytes, marker.as_bytes()).is_some();
    let mut markers = RULES.iter().filter_map(|rule| rule.looks_at.markers());
    // Nearly every page ends here.
    if bytes.len() > CHALLENGE_BYTES_MAX || !markers.any(|markers| markers.iter().all(has)) {
        return None;
    }
    let text = String::from_utf8_lossy(bytes);
    let outline = Outline::build(&text);
    let rule = RULES.iter().find(|rule| rule.kind == WallKind::Challenge && rule.looks_at.is_in_page(None, &outline));
    rule.map(|rule| Wall { rule })
}

/// Returns the wall that a page is by its outline; `None` if it is none.
#[must_use]
pub fn of_outline(url: &CrawlUrl, outline: &Outline<'_>) -> Option<Wall> {
    let rule = RULES.iter().find(|rule| rule.looks_at.is_in_page(Some(url), outline));
    rule.map(|rule| Wall { rule })
}
