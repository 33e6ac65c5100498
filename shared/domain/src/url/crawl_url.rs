//! A normalised absolute URL.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Origin;

/// What is taken out of a URL beyond the normalisation that always happens.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlRules {}

/// Why a text is no URL that can be crawled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// It does not parse.
    #[error("not a URL: {0}")]
    Invalid(url::ParseError),
    /// Neither http nor https.
    #[error("only http and https are crawled")]
    Scheme,
}

/// An absolute http or https URL, normalised: equal texts are the same page.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CrawlUrl {
    text: String,
    path_start: usize,
}

impl CrawlUrl {
    /// Parses and normalises.
    ///
    /// # Errors
    /// [`UrlError`] says why the text cannot be crawled.
    pub fn parse(text: &str, rules: &UrlRules) -> Result<Self, UrlError> {
        Self::from_url(&url::Url::parse(text).map_err(UrlError::Invalid)?, rules)
    }

    /// Normalises a URL that was parsed, such as a link joined to its base.
    ///
    /// # Errors
    /// [`UrlError`] says why it cannot be crawled.
    pub fn from_url(url: &url::Url, _rules: &UrlRules) -> Result<Self, UrlError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::Scheme);
        }
        let mut url = url.clone();
        url.set_fragment(None);
        let path_start = url[..url::Position::BeforePath].len();
        Ok(Self { text: url.into(), path_start })
    }

    /// The whole URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Path and query, starting with `/`: its key within its origin.
    #[must_use]
    pub fn path_and_query(&self) -> &str {
        &self.text[self.path_start..]
    }

    /// The origin it belongs to.
    #[must_use]
    pub fn origin(&self) -> Origin {
        Origin::of_normalised(&self.text, self.path_start)
    }
}

impl TryFrom<String> for CrawlUrl {
    type Error = UrlError;

    fn try_from(text: String) -> Result<Self, UrlError> {
        Self::parse(&text, &UrlRules::default())
    }
}

impl From<CrawlUrl> for String {
    fn from(url: CrawlUrl) -> Self {
        url.text
    }
}

impl fmt::Display for CrawlUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
