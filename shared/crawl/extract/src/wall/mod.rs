//! Walls, answers that only look like pages: challenges to prove that a human is asking, login
//! forms, consent questions.
//!
//! [`RULES`] is the single table of rules. A rule examines the answer's status and header fields
//! ([`find_by_fields`]) or its text ([`find_in_page`]). Each is narrow: it names features that only
//! that wall has, and a page with more than a wall's few words is not a wall. Content taken for a
//! wall is lost, while a wall taken for content is only a page too many.

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

/// The version of the rules. It rises whenever an answer may be classified differently, and is a
/// part of the page extractor's version, so that a document records the rules by which it was made.
pub const RULES_VERSION: u16 = 2;

/// The most bytes of a page examined; the rest is taken for content.
pub const PAGE_BYTES_MAX: usize = 1 << 20;

/// The most bytes of a page that may be a challenge.
pub const CHALLENGE_BYTES_MAX: usize = 64 << 10;

/// The most bytes of a page with a good status that the crawl step examines for a challenge. The
/// parse step examines all of it.
const SHORT_BYTES_MAX: usize = 16 << 10;

/// The kinds of walls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WallKind {
    /// A challenge to prove that a human is asking.
    Challenge,
    /// A login form.
    Login,
    /// A question for consent to cookies, or for an age.
    Consent,
}

impl WallKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Challenge, Self::Login, Self::Consent];

    /// Returns the outcome of a URL with such a wall.
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

/// A recognised wall.
#[derive(Clone, Copy, Debug)]
pub struct Wall {
    /// The rule that recognised it.
    pub rule: &'static Rule,
}

impl Wall {
    /// Returns its kind.
    #[must_use]
    pub const fn kind(&self) -> WallKind {
        self.rule.kind
    }

    /// Returns the description with the rule, for the log.
    #[must_use]
    pub fn detail(&self) -> String {
        let Rule { kind, name, .. } = self.rule;
        format!("{} instead of the page, by the rule `{name}`", kind.words())
    }

    /// Returns the description for a file that is not a page.
    #[must_use]
    pub fn detail_of_file(&self) -> String {
        let Rule { kind, name, .. } = self.rule;
        format!("{}, by the rule `{name}`", kind.words())
    }
}

/// Two walls are equal if the same rule recognised them.
impl PartialEq for Wall {
    fn eq(&self, other: &Self) -> bool {
        self.rule.name == other.rule.name
    }
}

impl Eq for Wall {}

/// The status and the header fields of an answer.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The requested URL.
    pub url: &'a CrawlUrl,
    /// The status code.
    pub status: u16,
    /// The header fields.
    pub headers: &'a Headers,
}

/// Returns the wall in an answer by its status and header fields alone; `None` if they do not show
/// one.
#[must_use]
pub fn find_by_fields(head: &Head<'_>) -> Option<Wall> {
    let target = redirect::target(head);
    let rule = RULES.iter().find(|rule| rule.looks_at.is_in_fields(head, target.as_ref()));
    rule.map(|rule| Wall { rule })
}

/// Returns the wall in a page by its decoded text; `None` if there is none.
#[must_use]
pub fn find_in_page(url: &CrawlUrl, text: &str) -> Option<Wall> {
    find_by_outline(url, &Outline::build(text))
}

/// Returns the challenge in an answer by its status, header fields and body, as far as that is
/// possible without parsing it as a page. The body is in its content coding, and `decoded_bytes`
/// long without it.
///
/// Other pages mostly cost nothing: only short ones are decoded.
#[must_use]
pub fn find_challenge(head: &Head<'_>, body: &[u8], decoded_bytes: u64) -> Option<Wall> {
    let bytes_max = match head.status {
        200..=299 => SHORT_BYTES_MAX,
        // Sucuri's challenge has 307.
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
    find_challenge_in_page(&decoded.bytes)
}

/// Returns the wall in the place of a plain text file, such as robots.txt; `None` if it is the
/// file, or there is none. The body is without its content coding.
///
/// The answer may have been reached by redirects from the URL `asked`: a login form at its own
/// address then is a wall too.
///
/// A wall is a page, whatever its declared type: some servers derive the type from the file's name.
/// A body that does not begin like a page is the file.
#[must_use]
pub fn find_in_file(asked: &CrawlUrl, head: &Head<'_>, body: &[u8]) -> Option<Wall> {
    let may_be_challenge = matches!(head.status, 200..=299 | 307 | 401 | 403 | 405 | 429 | 503);
    let may_be_form = matches!(head.status, 200..=299 | 401 | 403);
    let of_body = || {
        let challenge = find_challenge_in_page(body).filter(|_| may_be_challenge);
        challenge.or_else(|| {
            find_in_redirected_page(asked, head.url, &String::from_utf8_lossy(body)).filter(|_| may_be_form)
        })
    };
    find_by_fields(head).or_else(|| begins_as_page(body).then(of_body).flatten())
}

/// Returns the wall in a page from `url`, perhaps reached by redirects, when `asked` was requested;
/// `None` if there is none.
#[must_use]
pub fn find_in_redirected_page(asked: &CrawlUrl, url: &CrawlUrl, text: &str) -> Option<Wall> {
    let outline = Outline::build(text);
    find_by_outline(url, &outline).or_else(|| find_by_outline(asked, &outline))
}

/// Whether a body begins with a tag, a comment or a declaration, after a byte order mark and
/// spaces.
fn begins_as_page(body: &[u8]) -> bool {
    body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body).trim_ascii_start().starts_with(b"<")
}

/// Returns the challenge in a page by its decoded bytes, whose character set does not matter:
/// markers are ASCII. `None` if it is not a challenge, even if it is another wall.
#[must_use]
pub fn find_challenge_in_page(bytes: &[u8]) -> Option<Wall> {
    let has = |marker: &&str| memmem::find(bytes, marker.as_bytes()).is_some();
    let mut markers = RULES.iter().filter_map(|rule| rule.looks_at.markers());
    // Nearly every page returns here.
    if bytes.len() > CHALLENGE_BYTES_MAX || !markers.any(|markers| markers.iter().all(has)) {
        return None;
    }
    let text = String::from_utf8_lossy(bytes);
    let outline = Outline::build(&text);
    let rule = RULES.iter().find(|rule| rule.kind == WallKind::Challenge && rule.looks_at.is_in_page(None, &outline));
    rule.map(|rule| Wall { rule })
}

/// Returns the wall in a page by its outline; `None` if there is none.
#[must_use]
pub fn find_by_outline(url: &CrawlUrl, outline: &Outline<'_>) -> Option<Wall> {
    let rule = RULES.iter().find(|rule| rule.looks_at.is_in_page(Some(url), outline));
    rule.map(|rule| Wall { rule })
}
