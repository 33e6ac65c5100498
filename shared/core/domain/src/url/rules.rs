//! Rules for stripping parameters from URLs.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use uuid::fmt::Hyphenated;

/// The parameters to strip from a URL, beyond the normalisation that always happens.
///
/// Session ids and tracking parameters make one page look like many. A pattern is the name of a
/// parameter, or the start of names followed by `*`; case does not matter. With a `?` after it, as
/// in `sid?`, the parameter is stripped only if its value looks like a session id: names such as
/// `sid` are also used for articles. It applies to parameters of the query (`?sid=1`) and of the
/// path's segments (`/page;jsessionid=1`). Stored and configured as a list of patterns.
///
/// ```
/// use dragline_domain::url::{CrawlUrl, UrlRules};
/// let rules = UrlRules::new(["ref", "utm_*"])?;
/// let url = CrawlUrl::parse("https://example.org/?id=7&UTM_source=mail&ref=home", &rules)?;
/// assert_eq!(url.as_str(), "https://example.org/?id=7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct UrlRules {
    patterns: Vec<Pattern>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    name: Name,
    value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Name {
    Exact(Box<str>),
    Prefix(Box<str>),
}

/// The values with which a parameter is stripped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Any,
    SessionId,
}

/// The reason why a list of patterns is not valid [`UrlRules`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlRulesError {
    /// More patterns than [`UrlRules::PATTERNS_MAX`].
    #[error("more than {max} parameter patterns", max = UrlRules::PATTERNS_MAX)]
    TooMany,
    /// A pattern longer than [`UrlRules::PATTERN_BYTES_MAX`].
    #[error("a parameter pattern of more than {max} bytes", max = UrlRules::PATTERN_BYTES_MAX)]
    TooLong,
    /// A pattern that no parameter name can match.
    #[error(
        "{0:?} is not a valid parameter pattern: write a name such as `sid`, the start of names as in `utm_*`, or `sid?` for session ids alone"
    )]
    Pattern(String),
}

impl UrlRules {
    /// The limit on the patterns of one list.
    pub const PATTERNS_MAX: usize = 256;
    /// The limit on a pattern, in bytes.
    pub const PATTERN_BYTES_MAX: usize = 128;

    /// The patterns of [`UrlRules::default`]: session ids of common servers, then parameters that
    /// advertisers, mailings and statistics put into links.
    #[rustfmt::skip]
    pub const DEFAULT_PATTERNS: &[&str] = &[
        "jsessionid", "phpsessid", "aspsessionid*", "sid?", "sessid?", "session_id?", "sessionid?", "cfid", "cftoken",
        "oscsid", "zenid",
        "utm_*", "mtm_*", "piwik_*", "pk_campaign", "pk_kwd", "_ga", "_gl",
        "gclid", "gclsrc", "gbraid", "wbraid", "dclid", "srsltid", "fbclid", "msclkid", "yclid", "ysclid", "twclid",
        "ttclid", "igsh", "igshid", "li_fat_id", "epik", "rb_clickid", "s_kwcid", "_openstat",
        "mc_cid", "mc_eid", "mkt_tok", "_hsenc", "_hsmi", "hsctatracking", "oly_anon_id", "oly_enc_id", "vero_id",
        "wickedid",
    ];

    /// Creates rules with these patterns, and no others.
    ///
    /// # Errors
    /// [`UrlRulesError`] if there are too many or one can never match.
    pub fn new<I>(patterns: I) -> Result<Self, UrlRulesError>
    where
        I: IntoIterator<Item: AsRef<str>>,
    {
        let mut checked = Vec::new();
        for pattern in patterns {
            if checked.len() == Self::PATTERNS_MAX {
                return Err(UrlRulesError::TooMany);
            }
            checked.push(Pattern::parse(pattern.as_ref())?);
        }
        Ok(Self { patterns: checked })
    }

    /// Creates rules that strip nothing.
    #[must_use]
    pub const fn keep_all() -> Self {
        Self { patterns: Vec::new() }
    }

    /// Returns the query without the parameters to strip, which may be empty; `None` if there is
    /// nothing to strip.
    pub(super) fn stripped_query(&self, query: &str) -> Option<String> {
        if query.is_empty() || !query.split('&').any(|parameter| self.takes_out(parameter)) {
            return None;
        }
        let kept: Vec<&str> = query.split('&').filter(|parameter| !self.takes_out(parameter)).collect();
        Some(kept.join("&"))
    }

    /// Returns the path without the parameters to strip from its segments; `None` if there is
    /// nothing to strip.
    pub(super) fn stripped_path(&self, path: &str) -> Option<String> {
        if self.patterns.is_empty() || !path.contains(';') {
            return None;
        }
        let mut changed = false;
        let segments: Vec<Cow<'_, str>> = path
            .split('/')
            .map(|segment| {
                let stripped = self.stripped_segment(segment);
                changed |= stripped.is_some();
                stripped.map_or(Cow::Borrowed(segment), Cow::Owned)
            })
            .collect();
        changed.then(|| segments.join("/"))
    }

    fn stripped_segment(&self, segment: &str) -> Option<String> {
        let (name, parameters) = segment.split_once(';')?;
        if !parameters.split(';').any(|parameter| self.takes_out(parameter)) {
            return None;
        }
        let mut stripped = name.to_owned();
        for parameter in parameters.split(';').filter(|parameter| !self.takes_out(parameter)) {
            stripped.push(';');
            stripped.push_str(parameter);
        }
        // `/a/..;sid=1/b` is a path of its own, but `/a/../b` would be `/b`.
        if matches!(stripped.as_str(), "." | "..") { None } else { Some(stripped) }
    }

    fn takes_out(&self, parameter: &str) -> bool {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        self.patterns.iter().any(|pattern| pattern.matches(name, value))
    }
}

/// Whether a value looks like a session id: long, of letters and digits only, several of each, in
/// no order; or a UUID. Never a short number, a date, or words and numbers joined together.
fn looks_like_session_id(value: &str) -> bool {
    const BYTES_MIN: usize = 16;
    const OF_EACH_MIN: usize = 3;
    /// The least number of changes between letters and digits: names such as `iphone15promax256gb`
    /// have fewer, nearly all random ids more.
    const TURNS_MIN: usize = 5;
    if value.parse::<Hyphenated>().is_ok() {
        return true;
    }
    let of = |is: fn(&u8) -> bool| value.bytes().filter(is).count();
    let (digits, letters) = (of(u8::is_ascii_digit), of(u8::is_ascii_alphabetic));
    let turns = value.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
    let is_hexadecimal = value.bytes().all(|byte| byte.is_ascii_hexdigit());
    value.len() >= BYTES_MIN
        && digits >= OF_EACH_MIN
        && letters >= OF_EACH_MIN
        && digits + letters == value.len()
        && (turns >= TURNS_MIN || is_hexadecimal)
}

impl Default for UrlRules {
    /// Returns the rules with [`UrlRules::DEFAULT_PATTERNS`].
    fn default() -> Self {
        Self { patterns: Self::DEFAULT_PATTERNS.iter().map(|pattern| Pattern::split(pattern)).collect() }
    }
}

impl TryFrom<Vec<String>> for UrlRules {
    type Error = UrlRulesError;

    fn try_from(patterns: Vec<String>) -> Result<Self, UrlRulesError> {
        Self::new(patterns)
    }
}

impl From<UrlRules> for Vec<String> {
    fn from(rules: UrlRules) -> Self {
        rules.patterns.iter().map(Pattern::text).collect()
    }
}

impl Pattern {
    fn parse(text: &str) -> Result<Self, UrlRulesError> {
        if text.len() > UrlRules::PATTERN_BYTES_MAX {
            return Err(UrlRulesError::TooLong);
        }
        let name = text.strip_suffix('?').unwrap_or(text);
        let name = name.strip_suffix('*').unwrap_or(name);
        // Characters that cannot be part of a name in a normalised URL would never match.
        let is_of_name = |b: u8| b.is_ascii_graphic() && !b"&=;/?#*".contains(&b);
        if text.is_empty() || text == "?" || !name.bytes().all(is_of_name) {
            return Err(UrlRulesError::Pattern(text.to_owned()));
        }
        Ok(Self::split(text))
    }

    fn split(text: &str) -> Self {
        let (name, value) = match text.strip_suffix('?') {
            Some(name) => (name, Value::SessionId),
            None => (text, Value::Any),
        };
        let name = match name.strip_suffix('*') {
            Some(start) => Name::Prefix(start.into()),
            None => Name::Exact(name.into()),
        };
        Self { name, value }
    }

    fn matches(&self, name: &str, value: &str) -> bool {
        let is_named = match &self.name {
            Name::Exact(exact) => name.eq_ignore_ascii_case(exact),
            Name::Prefix(start) => name.get(..start.len()).is_some_and(|s| s.eq_ignore_ascii_case(start)),
        };
        is_named && (self.value == Value::Any || looks_like_session_id(value))
    }

    fn text(&self) -> String {
        let name = match &self.name {
            Name::Exact(exact) => exact.to_string(),
            Name::Prefix(start) => format!("{start}*"),
        };
        if self.value == Value::SessionId { name + "?" } else { name }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_patterns_are_valid() {
        assert_eq!(UrlRules::new(UrlRules::DEFAULT_PATTERNS), Ok(UrlRules::default()));
    }

    #[test]
    fn patterns_that_cannot_match_are_refused() {
        let rows = [
            ("", "no parameter is without a name in the sense of a pattern"),
            ("a*b", "`*` stands at the end only"),
            ("**", "and once"),
            ("sid=1", "a name, not a parameter with its value"),
            ("a&b", "one name each"),
            ("größe", "names in URLs are percent-encoded"),
            ("a b", "so are spaces"),
            ("?", "the mark alone"),
            ("a?b", "`?` stands at the end only"),
        ];
        for (pattern, why) in rows {
            assert_eq!(UrlRules::new([pattern]), Err(UrlRulesError::Pattern(pattern.to_owned())), "{why}");
        }
        assert_eq!(UrlRules::new(["x".repeat(129)]), Err(UrlRulesError::TooLong));
        assert_eq!(UrlRules::new(vec!["x"; 257]), Err(UrlRulesError::TooMany));
        let message = UrlRules::new(["a*b"]).unwrap_err().to_string();
        assert_eq!(
            message,
            r#""a*b" is not a valid parameter pattern: write a name such as `sid`, the start of names as in `utm_*`, or `sid?` for session ids alone"#
        );
    }

    #[test]
    fn rules_are_stored_as_their_patterns() {
        let rules = UrlRules::new(["sid?", "utm_*"]).unwrap();
        let stored = serde_json::to_string(&rules).unwrap();
        assert_eq!(stored, r#"["sid?","utm_*"]"#);
        assert_eq!(serde_json::from_str::<UrlRules>(&stored).unwrap(), rules);
        assert!(serde_json::from_str::<UrlRules>(r#"["a*b"]"#).is_err(), "a stored list is checked like any other");
    }

    #[test]
    fn parameters_are_stripped_by_name() {
        let rules = UrlRules::new(["sid", "utm_*"]).unwrap();
        let rows = [
            ("a=1&b=2", None, "nothing to take out"),
            ("sid=1", Some(""), "the only one"),
            ("SID=1&a=2", Some("a=2"), "case does not matter"),
            ("a=1&sid&b=2", Some("a=1&b=2"), "a name without a value"),
            ("a=1&utm_source=x&utm_=y", Some("a=1"), "a prefix takes itself too"),
            ("a=1&utm=x&xsid=2&sid2=3", None, "other names that look like it"),
            ("b=2&sid=1&a=1", Some("b=2&a=1"), "the order of the others stays"),
            ("a=sid&b=sid=1", None, "values are not names"),
            ("&&sid=1&", Some("&&"), "empty parameters stay"),
        ];
        for (query, expected, why) in rows {
            assert_eq!(rules.stripped_query(query).as_deref(), expected, "{query}: {why}");
        }
        let all = UrlRules::new(["*"]).unwrap();
        assert_eq!(all.stripped_query("a=1&b").as_deref(), Some(""), "`*` alone takes every parameter");
        assert_eq!(all.stripped_query(""), None, "where there is none, it takes nothing");
        assert_eq!(UrlRules::keep_all().stripped_query("sid=1"), None);
        assert_eq!(UrlRules::keep_all().stripped_path("/a;sid=1"), None);
    }

    #[test]
    fn session_ids_are_distinguished_from_other_values() {
        let rules = UrlRules::new(["sid?"]).unwrap();
        for (value, is_taken_out, why) in [
            ("1", false, "the number of an article"),
            ("20261122153000", false, "a long number"),
            ("1234567890123456789012345", false, "a longer one"),
            ("how-to-build-a-crawler-2026", false, "words"),
            ("the-10-best-crawlers-in-2026-and-why", false, "words, as long as a UUID and with as many dashes"),
            ("top10-best-20-web-crawlers-2026-ranks", false, "or nearly"),
            ("iphone15promax256gb", false, "words and numbers, written together"),
            ("windows10update2024", false, "and these"),
            ("20261122T153000Z", false, "a date and a time"),
            ("2026-11-22T15:30:00+01:00", false, "with its signs"),
            ("22november2026edition", false, "in words"),
            ("00000000-0000-0000", false, "a number with dashes"),
            ("0", false, "zero"),
            ("-1", false, "a number below it"),
            ("3.14159265358979323846", false, "a number with a point"),
            ("caf%C3%A9", false, "a word that is encoded"),
            ("deadbeefdeadbeef", false, "letters alone, if of a number"),
            ("thequickbrownfox", false, "a long word"),
            ("", false, "nothing"),
            ("abc123", false, "short"),
            ("3f8a9c21d4e05b67", true, "hexadecimal"),
            ("l2ck9hoq4n7tsd1v0b3m5e6fgr", true, "PHP's"),
            ("0F3A9D1CB27E48659A1D2C3B4E5F6071", true, "another server's"),
            ("123e4567-e89b-12d3-a456-426614174000", true, "a UUID"),
            ("123E4567-E89B-12D3-A456-426614174000", true, "in capitals"),
            ("d41d8cd98f00b204e9800998ecf8427e", true, "a digest"),
            ("aaaa1111bbbb2222", true, "hexadecimal with few turns"),
            ("Zk3x9QpL2vR8mT5wYb7c", true, "letters of both cases"),
        ] {
            assert_eq!(rules.takes_out(&format!("SID={value}")), is_taken_out, "{value}: {why}");
        }
        assert!(!rules.takes_out("sid"), "without a value");
        assert!(!rules.takes_out("other=3f8a9c21d4e05b67"), "of another name");
    }
}
