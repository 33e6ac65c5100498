//! The reasons why a text is not a URL that can be crawled.

use url::ParseError;

use super::{CrawlUrl, UrlRules};

/// The reason why a text is not a URL that can be crawled. It repeats nothing of the text except a
/// normalised suggestion of limited length, so it can be shown and stored, whatever the text was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// It does not parse.
    #[error("not a URL: {0}")]
    Invalid(ParseError),
    /// It has no scheme, and no base URL to take one from, as in `example.org`.
    #[error("a URL starts with `https://` or `http://`{}", hint(suggestion.as_deref()))]
    NoScheme {
        /// The URL that was probably meant; `None` if the text does not look like a host.
        suggestion: Option<Box<str>>,
    },
    /// The scheme is neither http nor https.
    #[error("only http and https are crawled")]
    Scheme,
    /// It has no host.
    #[error("the URL has no host")]
    NoHost,
    /// The host is longer than a domain name can be (RFC 1035, 2.3.4), or has an empty part between
    /// dots.
    #[error(
        "the URL's host is not a valid domain name: it is over {HOST_BYTES_MAX} characters or has nothing between two dots"
    )]
    Host,
    /// It contains a user name or a password. They are never stored, so the page behind them cannot
    /// be fetched.
    #[error("the URL holds a user name or password, which are never sent or stored: remove what comes before the `@`")]
    Credentials,
    /// It is longer than [`CrawlUrl::LEN_MAX`].
    #[error("the URL is longer than {max} bytes", max = CrawlUrl::LEN_MAX)]
    TooLong,
    /// A stored path and query is not in its stored form.
    #[error("not the path and query of a normalised URL")]
    Key,
}

/// The limit on a host, in bytes: that of a domain name without its trailing dot.
pub(super) const HOST_BYTES_MAX: usize = 253;

/// The limit on a suggestion, in bytes: one that can be read at a glance.
const SUGGESTION_BYTES_MAX: usize = 100;

/// The limit on a text, in bytes. Well over [`CrawlUrl::LEN_MAX`], since normalising may shorten
/// it.
const INPUT_BYTES_MAX: usize = 8 * CrawlUrl::LEN_MAX;

/// Refuses quickly what need not be parsed: many of a page's links are `mailto:`, `javascript:` or
/// `data:`.
pub(super) fn refuse_at_sight(text: &str) -> Result<(), UrlError> {
    if let Some((scheme, rest)) = written_scheme(text)
        && !scheme.eq_ignore_ascii_case("https")
        && !scheme.eq_ignore_ascii_case("http")
    {
        // `example.org:8080` has the form of a scheme followed by a path.
        let host_and_port =
            rest.starts_with(|c: char| c.is_ascii_digit()) && (scheme.contains('.') || scheme == "localhost");
        return Err(match host_and_port.then(|| suggestion(text)).flatten() {
            Some(url) => UrlError::NoScheme { suggestion: Some(url) },
            None => UrlError::Scheme,
        });
    }
    if text.len() > INPUT_BYTES_MAX { Err(UrlError::TooLong) } else { Ok(()) }
}

/// Returns the error for a text that does not parse without a base.
pub(super) fn unparsable(text: &str, error: ParseError) -> UrlError {
    match error {
        ParseError::RelativeUrlWithoutBase => UrlError::NoScheme { suggestion: suggestion(text) },
        ParseError::EmptyHost => UrlError::NoHost,
        error => UrlError::Invalid(error),
    }
}

/// Splits off a plainly written scheme. Texts that the parser would repair (with tabs inside, say)
/// are left to it.
fn written_scheme(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(|c: char| c <= ' ');
    let end = text.bytes().position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.')))?;
    let (scheme, rest) = (&text[..end], text[end..].strip_prefix(':')?);
    scheme.starts_with(|c: char| c.is_ascii_alphabetic()).then_some((scheme, rest))
}

/// Returns the https URL that was probably meant by a host without a scheme. Normalised, so it is
/// safe to show.
fn suggestion(text: &str) -> Option<Box<str>> {
    let text = text.trim();
    let text = text.strip_prefix("//").unwrap_or(text);
    if text.len() > SUGGESTION_BYTES_MAX || !text.starts_with(|c: char| c.is_alphanumeric() || c == '[') {
        return None;
    }
    let url = CrawlUrl::parse(&format!("https://{text}"), &UrlRules::keep_all()).ok()?;
    let like_a_host = url.host() == "localhost" || url.host().contains(['.', ':']);
    (like_a_host && url.as_str().len() <= SUGGESTION_BYTES_MAX).then(|| url.as_str().into())
}

fn hint(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |url| format!(": did you mean `{url}`?"))
}
