//! From a reference to an absolute URL.

use url::Url;

/// Why a reference is no link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoLink {
    /// Neither http nor https.
    OtherScheme,
    /// It does not parse.
    Invalid,
    /// Longer than the limit.
    TooLong,
}

/// Resolves the references of one page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolver<'a> {
    /// What they are relative to.
    pub(super) base: &'a Url,
    /// The longest URL.
    pub(super) url_bytes_max: usize,
}

impl Resolver<'_> {
    /// The URL of a reference, without its fragment.
    pub(super) fn resolve(self, reference: &str) -> Result<Url, NoLink> {
        if reference.len() > self.url_bytes_max {
            return Err(NoLink::TooLong);
        }
        let mut url = self.base.join(reference).map_err(|_| NoLink::Invalid)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(NoLink::OtherScheme);
        }
        if url.as_str().len() > self.url_bytes_max {
            return Err(NoLink::TooLong);
        }
        url.set_fragment(None);
        Ok(url)
    }
}

/// A reference as a URL parser reads it, less its fragment: the first `#` begins it wherever it stands.
pub(super) fn without_fragment(reference: &str) -> &str {
    let reference = reference.trim_matches(|c: char| c <= ' ');
    reference.find('#').map_or(reference, |at| &reference[..at])
}

/// Whether a reference visibly has a scheme other than http and https.
///
/// One that hides it (`java<newline>script:`) is seen for what it is when it is resolved.
pub(super) fn has_other_scheme(reference: &str) -> bool {
    let end = reference.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')));
    let Some((scheme, rest)) = end.and_then(|end| reference.split_at_checked(end)) else { return false };
    rest.starts_with(':')
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && !scheme.eq_ignore_ascii_case("http")
        && !scheme.eq_ignore_ascii_case("https")
}
