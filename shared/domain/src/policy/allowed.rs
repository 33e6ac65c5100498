//! Which origins a crawl may touch.

use std::collections::HashSet;

use crate::definition::{Definition, Draft, Within};
use crate::url::{CrawlUrl, Origin};

/// Which origins a crawl may touch: those of its seeds, and those that were added while it ran.
///
/// An origin is added when a seed redirects to it for good and it belongs to the same site; it counts like a seed's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedOrigins {
    within: Within,
    /// Origins, hosts or domains, as `within` says.
    names: HashSet<String>,
}

impl AllowedOrigins {
    /// The origins of a definition's seeds.
    #[must_use]
    pub fn of(definition: &Definition) -> Self {
        Self::of_draft(definition)
    }

    pub(crate) fn of_draft(draft: &Draft) -> Self {
        Self { within: draft.scope.within, names: HashSet::new() }.and(draft.seeds.iter().map(CrawlUrl::origin))
    }

    /// These origins as well.
    #[must_use]
    pub fn and(mut self, origins: impl IntoIterator<Item = Origin>) -> Self {
        let within = self.within;
        self.names.extend(origins.into_iter().map(|origin| match within {
            Within::Origin => String::from(origin),
            Within::Host => origin.host().to_owned(),
            Within::Domain => site(&origin).to_owned(),
        }));
        self
    }

    /// Whether this name is one of them. Asked of each link, and most crawls have a name or two: comparing is faster than hashing.
    fn has(&self, name: &str) -> bool {
        const FEW: usize = 4;
        if self.names.len() <= FEW { self.names.iter().any(|known| known == name) } else { self.names.contains(name) }
    }

    /// Whether this origin is one of them.
    #[must_use]
    pub fn contains_origin(&self, origin: &Origin) -> bool {
        match self.within {
            Within::Origin => self.has(origin.as_str()),
            Within::Host => self.has(origin.host()),
            Within::Domain => self.has(site(origin)),
        }
    }

    /// Whether the URL's origin is one of them.
    #[must_use]
    pub fn contains(&self, url: &CrawlUrl) -> bool {
        match self.within {
            Within::Origin => self.has(url.origin_str()),
            Within::Host => self.has(url.host()),
            // Most links are to a host that is itself a registered domain, which saves the look-up in the suffix list.
            Within::Domain => self.has(url.host()) || self.has(site(&url.origin())),
        }
    }
}

/// The registered domain, or the host if there is none.
fn site(origin: &Origin) -> &str {
    origin.registrable_domain().unwrap_or_else(|| origin.host())
}
