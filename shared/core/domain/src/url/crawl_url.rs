//! A normalised absolute URL.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU16;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use url::{Position, Url};

use super::error::{HOST_BYTES_MAX, refuse_at_sight, unparsable};
use super::origin::{OriginParts, site_name};
use super::{Origin, Scheme, UrlError, UrlRules, percent};

/// An absolute http or https URL, normalised: equal texts are the same page.
///
/// Parsed as in browsers (the WHATWG URL standard); then the fragment, an empty query, the host's
/// trailing dot and the parameters in [`UrlRules`] are stripped, and percent-encoded octets get one
/// spelling. The order of parameters and the case of the path matter, and are kept. The text is
/// ASCII without spaces or control characters, and normalising it again changes nothing.
///
/// A page has some fifty links, and each is copied into claims, rows and tables: hence one shared
/// text and two short offsets, 24 bytes that are cheap to clone. Stored as its text; reading it
/// back strips no parameters.
///
/// ```
/// use dragline_domain::url::{CrawlUrl, UrlRules};
/// let url = CrawlUrl::parse("HTTPS://Example.org:443/a/../%7Eb?id=7&utm_source=mail#top", &UrlRules::default())?;
/// assert_eq!(url.as_str(), "https://example.org/~b?id=7");
/// assert_eq!(url.path_and_query(), "/~b?id=7");
/// # Ok::<(), dragline_domain::url::UrlError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct CrawlUrl {
    text: Arc<str>,
    path_start: u16,
    /// The position after the `?`. `None` without a query.
    query_start: Option<NonZeroU16>,
}

/// Whether a URL lost parameters when it was normalised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spelling {
    /// It did not.
    #[default]
    Whole,
    /// Parameters in [`UrlRules`] were stripped.
    Stripped,
}

impl Spelling {
    /// Whether nothing was stripped.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        matches!(self, Self::Whole)
    }
}

impl CrawlUrl {
    /// The limit on a normalised URL, in bytes. Longer ones are nearly always traps.
    pub const LEN_MAX: usize = 2048;

    /// Parses and normalises a URL.
    ///
    /// # Errors
    /// [`UrlError`] with the reason why the text cannot be crawled.
    pub fn parse(text: &str, rules: &UrlRules) -> Result<Self, UrlError> {
        refuse_at_sight(text)?;
        let url = Url::parse(text).map_err(|error| unparsable(text, error))?;
        Self::from_url(&url, rules)
    }

    /// Parses and normalises a reference found on the page at this URL.
    ///
    /// Parses this URL each time: for the many links of one page, join them to one [`Url`] and use
    /// [`CrawlUrl::from_url`].
    ///
    /// # Errors
    /// [`UrlError`] with the reason why its target cannot be crawled.
    pub fn join(&self, reference: &str, rules: &UrlRules) -> Result<Self, UrlError> {
        self.join_spelled(reference, rules).map(|(url, _)| url)
    }

    /// Does the same as [`CrawlUrl::join`], and also returns whether parameters were stripped.
    ///
    /// # Errors
    /// Those of [`CrawlUrl::join`].
    pub fn join_spelled(&self, reference: &str, rules: &UrlRules) -> Result<(Self, Spelling), UrlError> {
        Self::spelled(&self.join_unchanged(reference)?, rules)
    }

    /// Normalises a parsed URL, such as a link joined to its base.
    ///
    /// # Errors
    /// [`UrlError`] with the reason why it cannot be crawled.
    pub fn from_url(url: &Url, rules: &UrlRules) -> Result<Self, UrlError> {
        Self::spelled(url, rules).map(|(url, _)| url)
    }

    /// Does the same as [`CrawlUrl::from_url`], and also returns whether parameters were stripped.
    ///
    /// # Errors
    /// Those of [`CrawlUrl::from_url`].
    pub fn spelled(url: &Url, rules: &UrlRules) -> Result<(Self, Spelling), UrlError> {
        Scheme::from_name(url.scheme()).ok_or(UrlError::Scheme)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlError::Credentials);
        }
        let host = normalised_host(url.host_str().unwrap_or_default())?;
        let mut path = Cow::Borrowed(url.path());
        rewrite(&mut path, percent::normalised);
        let is_path_stripped = rewrite(&mut path, |path| rules.stripped_path(path));
        let mut query = Cow::Borrowed(url.query().unwrap_or_default());
        rewrite(&mut query, percent::normalised);
        let is_query_stripped = rewrite(&mut query, |query| rules.stripped_query(query));
        let spelling = if is_path_stripped || is_query_stripped { Spelling::Stripped } else { Spelling::Whole };

        let same_host = url.host_str() == Some(host);
        if let (true, Cow::Borrowed(_), Cow::Borrowed(query)) = (same_host, &path, &query) {
            let end = if query.is_empty() { Position::AfterPath } else { Position::AfterQuery };
            let url = Self::from_normalised(url[..end].into(), url[..Position::BeforePath].len())?;
            return Ok((url, spelling));
        }
        let mut text = String::with_capacity(url.as_str().len());
        text.push_str(&url[..Position::BeforeHost]);
        text.push_str(host);
        text.push_str(&url[Position::AfterHost..Position::BeforePath]);
        let path_start = text.len();
        text.push_str(&path);
        if !query.is_empty() {
            text.push('?');
            text.push_str(&query);
        }
        Ok((Self::from_normalised(text.into(), path_start)?, spelling))
    }

    /// Strips the parameters in the rules from a URL that was normalised without stripping, and
    /// returns whether there were any.
    ///
    /// # Errors
    /// None in practice: the rest is not longer.
    pub fn stripped(&self, rules: &UrlRules) -> Result<(Self, Spelling), UrlError> {
        let path = rules.stripped_path(self.path());
        let query = self.query().and_then(|query| rules.stripped_query(query));
        if path.is_none() && query.is_none() {
            return Ok((self.clone(), Spelling::Whole));
        }
        let mut text = self.origin_str().to_owned();
        text.push_str(path.as_deref().unwrap_or(self.path()));
        if let Some(query) = query.as_deref().or(self.query()).filter(|query| !query.is_empty()) {
            text.push('?');
            text.push_str(query);
        }
        Ok((Self::from_normalised(text.into(), self.path_start.into())?, Spelling::Stripped))
    }

    /// Creates a URL from a text that is known to be normalised.
    pub(super) fn from_normalised(text: Arc<str>, path_start: usize) -> Result<Self, UrlError> {
        if text.len() > Self::LEN_MAX {
            return Err(UrlError::TooLong);
        }
        let offset = |at: usize| u16::try_from(at).map_err(|_| UrlError::TooLong);
        let query_start = match text[path_start..].find('?') {
            Some(mark) => NonZeroU16::new(offset(path_start + mark + 1)?),
            None => None,
        };
        Ok(Self { path_start: offset(path_start)?, query_start, text })
    }

    /// Returns the whole URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns its scheme.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.parts().scheme
    }

    /// Returns its host, as [`Origin::host`]: an IPv6 address stands in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        self.parts().host
    }

    /// Returns the port to connect to; the scheme's default if none is written.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.parts().effective_port()
    }

    /// Returns the path, percent-encoded, starting with `/`.
    #[must_use]
    pub fn path(&self) -> &str {
        let end = self.query_start.map_or(self.text.len(), |start| usize::from(start.get()) - 1);
        &self.text[usize::from(self.path_start)..end]
    }

    /// Returns the query, percent-encoded, without the `?`; `None` if there is none. Never empty.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        self.query_start.map(|start| &self.text[usize::from(start.get())..])
    }

    /// Returns the query's names and values in order, decoded like those of a form (WHATWG URL,
    /// 5.1). Empty without a query.
    pub fn query_pairs(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        url::form_urlencoded::parse(self.query().unwrap_or_default().as_bytes())
    }

    /// Returns path and query, starting with `/`: its key within its origin.
    #[must_use]
    pub fn path_and_query(&self) -> &str {
        &self.text[usize::from(self.path_start)..]
    }

    /// Returns its origin.
    #[must_use]
    pub fn origin(&self) -> Origin {
        Origin::from_normalised(self.origin_str())
    }

    /// Returns the text of [`CrawlUrl::origin`], for comparing without a copy.
    #[must_use]
    pub fn origin_str(&self) -> &str {
        &self.text[..usize::from(self.path_start)]
    }

    /// Returns the result of [`Origin::site_name`], without a copy.
    #[must_use]
    pub fn site_name(&self) -> &str {
        site_name(self.origin_str())
    }

    /// Whether it is another URL's path and query under another name of the same site: by http or
    /// https, with or without `www.`.
    #[must_use]
    pub fn is_twin_of(&self, other: &Self) -> bool {
        self.origin_str() != other.origin_str()
            && self.path_and_query() == other.path_and_query()
            && self.site_name() == other.site_name()
    }

    fn parts(&self) -> OriginParts<'_> {
        OriginParts::from_normalised(self.origin_str())
    }

    /// Checks the properties of a normalised URL, for tests and fuzzing.
    ///
    /// # Errors
    /// The first property that does not hold.
    #[doc(hidden)]
    pub fn check_invariants(&self) -> Result<(), String> {
        let text = self.as_str();
        let parsed = Url::parse(text).map_err(|error| format!("{text} does not parse: {error}"))?;
        let checks = [
            (parsed.as_str() == text, "the parser would rewrite it"),
            (Self::parse(text, &UrlRules::keep_all()).as_ref() == Ok(self), "normalising again changes it"),
            (text.len() <= Self::LEN_MAX, "it is too long"),
            (text.bytes().all(|b| b.is_ascii_graphic()), "it holds something other than visible ASCII"),
            (!text.contains('#'), "it has a fragment"),
            (!self.origin_str().contains('@'), "it holds credentials"),
            (self.path() == parsed.path() && self.path().starts_with('/'), "its path starts elsewhere"),
            (self.query() == parsed.query() && self.query() != Some(""), "its query starts elsewhere or is empty"),
            (Some(self.host()) == parsed.host_str() && !self.host().ends_with('.'), "its host is not that of the text"),
            (self.scheme().as_str() == parsed.scheme(), "its scheme is not that of the text"),
            (Some(self.port()) == parsed.port_or_known_default(), "its port is not that of the text"),
            (self.origin().url_at(self.path_and_query()).as_ref() == Ok(self), "its key does not lead back to it"),
            (self.origin().as_str().parse().as_ref() == Ok(&self.origin()), "its origin does not read back"),
        ];
        match checks.into_iter().find(|(holds, _)| !holds) {
            Some((_, broken)) => Err(format!("{text}: {broken}")),
            None => Ok(()),
        }
    }
}

/// Replaces the text if there is anything to rewrite. Returns whether there was.
fn rewrite(text: &mut Cow<'_, str>, rewritten: impl FnOnce(&str) -> Option<String>) -> bool {
    let new = rewritten(text);
    let is_new = new.is_some();
    if let Some(new) = new {
        *text = Cow::Owned(new);
    }
    is_new
}

/// Returns the host without its trailing dot. Hosts that no resolver accepts are refused: they
/// would only overflow keys and tables.
fn normalised_host(host: &str) -> Result<&str, UrlError> {
    let host = host.strip_suffix('.').unwrap_or(host);
    if host.is_empty() {
        return Err(UrlError::NoHost);
    }
    // An empty part would also hide a number at the end, which would make the host an IPv4 address.
    if host.len() > HOST_BYTES_MAX || host.split('.').any(str::is_empty) {
        return Err(UrlError::Host);
    }
    Ok(host)
}

impl TryFrom<String> for CrawlUrl {
    type Error = UrlError;

    /// Restores a stored URL: it is checked like any other, but no parameters are stripped.
    fn try_from(text: String) -> Result<Self, UrlError> {
        Self::parse(&text, &UrlRules::keep_all())
    }
}

impl From<CrawlUrl> for String {
    fn from(url: CrawlUrl) -> Self {
        url.as_str().to_owned()
    }
}

impl Serialize for CrawlUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl fmt::Display for CrawlUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for CrawlUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CrawlUrl({})", self.text)
    }
}
