//! Sessions: the cookies that a site set, sent back to it, and the form that begins one.

use std::sync::{Mutex, PoisonError};

use dragline_domain::definition::SecretReference;
use dragline_domain::url::CrawlUrl;
use dragline_formats::cookie_jar::CookieJar;
use dragline_formats::http_fields::Headers;

/// The cookies of one origin in one iteration. They are in memory alone, and never shown.
#[derive(Debug, Default)]
pub struct Session(Mutex<CookieJar>);

impl Session {
    /// Keeps what an answer sets.
    pub fn keep(&self, url: &CrawlUrl, headers: &Headers) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).keep(headers.all("set-cookie"), url);
    }

    /// Returns the names and values of the cookies for a URL.
    #[must_use]
    pub fn cookies_for(&self, url: &CrawlUrl) -> Vec<(String, String)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pairs_for(url)
    }
}

/// A form as it is sent: `application/x-www-form-urlencoded` (HTML, section 4.10.21.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilledForm {
    /// The page that has it: the request says so, as servers check it against forgery.
    pub page: CrawlUrl,
    /// Its names and values, in order.
    pub fields: Vec<(String, FieldValue)>,
}

/// The value of a form's field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// What the page put there.
    Page(String),
    /// What a person would fill in.
    Secret(SecretReference),
}
