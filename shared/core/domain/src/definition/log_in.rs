//! How the crawl logs in with a form, and how it knows that it is logged in.

use serde::{Deserialize, Serialize};

use super::SecretReference;
use crate::url::CrawlUrl;

/// A form that is filled in before the first page of an origin is requested.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LogIn {
    /// Where the form is sent: the only URL that ever gets a POST.
    pub url: CrawlUrl,
    /// The page with the form, perhaps behind redirects; `None`: the URL itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<CrawlUrl>,
    /// The fields that a person would fill in. All others keep what the page put there.
    pub fields: Vec<FormField>,
    /// A text that only pages for members have; `None`: whatever is no form to log in is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logged_in: Option<String>,
    /// A text that only answers to strangers have; `None`: the form itself tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logged_out: Option<String>,
}

/// A field of a form, whose value is a secret.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FormField {
    /// Its name in the form.
    pub name: String,
    /// Where its value is.
    pub value: SecretReference,
}

impl LogIn {
    /// Returns the page with the form.
    #[must_use]
    pub fn page(&self) -> &CrawlUrl {
        self.page.as_ref().unwrap_or(&self.url)
    }

    /// Whether the form may be sent to a URL: the one of the definition. Where that has no query,
    /// the form may add one, as some keep their state there.
    #[must_use]
    pub fn may_be_sent_to(&self, url: &CrawlUrl) -> bool {
        *url == self.url
            || is_same_path(url, &self.url)
                && self.url.path_and_query() == self.url.path()
                && url.port() == self.url.port()
    }

    /// Whether a URL is that of the form or of its page, whatever its query says of where to return
    /// to.
    #[must_use]
    pub fn is_at(&self, url: &CrawlUrl) -> bool {
        is_same_path(url, &self.url) || is_same_path(url, self.page())
    }
}

fn is_same_path(a: &CrawlUrl, b: &CrawlUrl) -> bool {
    a.origin_str() == b.origin_str() && a.path() == b.path()
}

/// Whether the cookies that a site sets are sent back to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetCookies {
    /// They are not.
    #[default]
    Ignored,
    /// They are, by one origin in one iteration: a session.
    Kept,
}

/// What the last segment of a path, or a parameter, says where a request ends a session.
const LOG_OUT_WORDS: [&str; 10] = [
    "logout",
    "logoff",
    "signout",
    "signoff",
    "userlogout",
    "abmelden",
    "ausloggen",
    "deconnexion",
    "desconectar",
    "uitloggen",
];

/// Whether a request for a URL would end a session, as far as its words tell.
#[must_use]
pub fn logs_out(url: &CrawlUrl) -> bool {
    let segment = url.path().rsplit('/').find(|segment| !segment.is_empty()).unwrap_or_default();
    let query = url.path_and_query().get(url.path().len() + 1..).unwrap_or_default();
    let in_query = query.split(['&', ';']).flat_map(|pair| pair.splitn(2, '='));
    is_log_out_word(segment) || in_query.into_iter().any(is_log_out_word)
}

/// Whether a word is one of these, without an ending (`logout.php`), a name space
/// (`Special:UserLogout`), and what joins its parts (`log-out`).
fn is_log_out_word(word: &str) -> bool {
    let word = word.rsplit_once(':').or_else(|| word.rsplit_once("%3A")).map_or(word, |(_, word)| word);
    let stem = word.split('.').next().unwrap_or_default();
    if stem.len() > 20 {
        return false;
    }
    let letters: String = stem.chars().filter(|c| !"-_+".contains(*c)).map(|c| c.to_ascii_lowercase()).collect();
    LOG_OUT_WORDS.contains(&letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::UrlRules;

    fn url(text: &str) -> CrawlUrl {
        CrawlUrl::parse(text, &UrlRules::default()).unwrap()
    }

    #[test]
    fn links_that_log_out_are_known_by_their_words() {
        for (link, expected, why) in [
            ("https://a.example/logout", true, "the word"),
            ("https://a.example/user/Log-Out/", true, "as people write it"),
            ("https://a.example/sign_out.php", true, "with an ending"),
            ("https://a.example/wp-login.php?action=logout&_wpnonce=1", true, "a parameter's value"),
            ("https://a.example/?logout", true, "a parameter"),
            ("https://a.example/index.php?title=Special:UserLogout", true, "MediaWiki"),
            ("https://a.example/wiki/Spezial:Abmelden", true, "the same in German"),
            ("https://a.example/docs/logout-api", false, "a page about it"),
            ("https://a.example/logout/help", false, "a page below"),
            ("https://a.example/news?q=how+to+logout+of+all+devices", false, "a search"),
            ("https://a.example/login", false, "the other way"),
            ("https://a.example/", false, "nothing of the kind"),
        ] {
            assert_eq!(logs_out(&url(link)), expected, "{link}: {why}");
        }
    }

    #[test]
    fn a_form_is_sent_to_its_url_alone() {
        let log_in = |to: &str| LogIn {
            url: url(to),
            page: Some(url("https://a.example/login")),
            fields: Vec::new(),
            logged_in: None,
            logged_out: None,
        };
        for (to, target, may_be, why) in [
            ("https://a.example/session", "https://a.example/session", true, "itself"),
            ("https://a.example/session", "https://a.example/session?state=1", true, "state in the query"),
            (
                "https://a.example/session?a=1",
                "https://a.example/session?a=2",
                false,
                "which the definition has as well",
            ),
            ("https://a.example/session", "https://a.example/other", false, "another path"),
            ("https://a.example/session", "http://a.example/session", false, "without TLS"),
            ("https://a.example/session", "https://a.example:8443/session", false, "another port"),
            ("https://a.example/session", "https://evil.example/session", false, "another host"),
        ] {
            assert_eq!(log_in(to).may_be_sent_to(&url(target)), may_be, "{target}: {why}");
        }
        let log_in = log_in("https://a.example/session");
        for (target, is_at, why) in [
            ("https://a.example/login?next=/p", true, "its page, with where to return to"),
            ("https://a.example/session", true, "where it is sent"),
            ("https://a.example/login/help", false, "a page below"),
            ("https://b.example/login", false, "of another host"),
        ] {
            assert_eq!(log_in.is_at(&url(target)), is_at, "{target}: {why}");
        }
    }
}
