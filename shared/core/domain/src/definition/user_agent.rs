//! The crawler's name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::stored_form::stored_as_text;

/// The `User-Agent` of every request: visible ASCII and spaces, beginning with a product token.
///
/// The [product token](product_token) ends at the first space or slash, and selects the robots.txt
/// group.
///
/// ```
/// use dragline_domain::definition::UserAgent;
/// let agent: UserAgent = "ShelfBot/2.1 (+https://example.org/bot)".parse().unwrap();
/// assert_eq!(agent.product_token(), "ShelfBot");
/// assert!("*".parse::<UserAgent>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UserAgent(String);

/// The reason why a text is not a valid user agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UserAgentError {
    /// Empty, or longer than [`UserAgent::LEN_MAX`].
    #[error("a user agent must have 1 to {max} characters", max = UserAgent::LEN_MAX)]
    Length,
    /// It has characters that a request header cannot contain.
    #[error("a user agent may have only ASCII letters, digits, punctuation and single spaces between them")]
    Character,
    /// It does not begin with a name that a robots.txt can use.
    #[error("a user agent must begin with a name of letters, digits, `_` and `-`")]
    ProductToken,
}

impl UserAgent {
    /// The limit in bytes.
    pub const LEN_MAX: usize = 256;
    /// The default: our name, and the address of our documentation.
    pub const DEFAULT: &str = concat!("Dragline/", env!("CARGO_PKG_VERSION"), " (+", env!("CARGO_PKG_REPOSITORY"), ")");

    /// Returns the whole header value.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name that selects the robots.txt group.
    #[must_use]
    pub fn product_token(&self) -> &str {
        product_token(&self.0)
    }
}

/// Returns the name at the start of a user agent or of a line in robots.txt: letters, digits, `_`
/// and `-`. Empty if there is none.
///
/// RFC 9309 (section 2.2.1) and Google's parser allow no digits. Crawlers use them all the same,
/// and a site that writes `bot2` means that crawler: without the digit, it would be another
/// crawler's name.
///
/// ```
/// use dragline_domain::definition::product_token;
/// assert_eq!(product_token("Shelf-Bot2/2.1 (+https://example.org/bot)"), "Shelf-Bot2");
/// ```
#[must_use]
pub fn product_token(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))).unwrap_or(text.len());
    &text[..end]
}

impl Default for UserAgent {
    fn default() -> Self {
        Self(Self::DEFAULT.to_owned())
    }
}

impl FromStr for UserAgent {
    type Err = UserAgentError;

    fn from_str(text: &str) -> Result<Self, UserAgentError> {
        if text.is_empty() || text.len() > Self::LEN_MAX {
            return Err(UserAgentError::Length);
        }
        let clean = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
        if !clean || text.contains("  ") || text.ends_with(' ') {
            return Err(UserAgentError::Character);
        }
        let token = product_token(text);
        let is_whole = text[token.len()..].is_empty() || text[token.len()..].starts_with([' ', '/']);
        if token.is_empty() || !is_whole {
            return Err(UserAgentError::ProductToken);
        }
        Ok(Self(text.to_owned()))
    }
}

stored_as_text!(UserAgent);

impl fmt::Display for UserAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_header_value_with_a_name_is_a_user_agent() {
        use UserAgentError::{Character, Length, ProductToken};
        let long = "a".repeat(257);
        let table = [
            ("ShelfBot", Ok("ShelfBot"), "a bare name"),
            ("shelf-bot_7/1.0", Ok("shelf-bot_7"), "digits are common"),
            ("Shelf (mail@example.org)", Ok("Shelf"), "ends at the first space"),
            ("", Err(Length), "empty"),
            (long.as_str(), Err(Length), "too long"),
            ("Shelf\r\nCookie: a", Err(Character), "would add a header field"),
            ("Shélf", Err(Character), "not ASCII"),
            ("Shelf  Bot", Err(Character), "two spaces"),
            ("Shelf ", Err(Character), "servers trim it, logs do not"),
            (" Shelf", Err(ProductToken), "begins with a space"),
            ("*", Err(ProductToken), "stands for everybody in robots.txt"),
            ("(Shelf)", Err(ProductToken), "a comment, no name"),
            ("/1.0", Err(ProductToken), "a version, no name"),
            ("Shelf.Bot/1.0", Err(ProductToken), "a name that robots.txt would cut off"),
            ("7Bot", Ok("7Bot"), "digits anywhere"),
        ];
        for (text, expected, why) in table {
            let agent = text.parse::<UserAgent>();
            assert_eq!(agent.as_ref().map(UserAgent::product_token).map_err(|e| *e), expected, "{text:.40}: {why}");
        }
    }

    #[test]
    fn the_default_is_valid() {
        let agent: UserAgent = UserAgent::DEFAULT.parse().unwrap();
        assert_eq!(agent, UserAgent::default());
        assert_eq!(agent.product_token(), "Dragline");
        assert!(agent.as_str().contains("+https://"), "it must say where to find us: {agent}");
    }
}
