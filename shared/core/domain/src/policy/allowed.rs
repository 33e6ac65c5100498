//! The origins that a crawl may visit.

use std::collections::HashSet;
use std::sync::Arc;

use crate::definition::{Definition, Draft, Within};
use crate::url::{CrawlUrl, Origin};

/// The origins that a crawl may visit: those of its seeds, and those that were added while it ran.
///
/// An origin is added if a seed permanently redirects to it and it belongs to the same site; it
/// counts like a seed's. Adding one to thousands costs little, as existing copies keep sharing the
/// earlier ones.
#[derive(Clone, Debug)]
pub struct AllowedOrigins {
    within: Within,
    /// Origins, hosts or domains, depending on `within`, in sets of which each is at least twice as
    /// large as the next. Of sites both their names and these origins.
    names: Vec<Arc<HashSet<String>>>,
}

impl AllowedOrigins {
    /// Returns the origins of a definition's seeds.
    #[must_use]
    pub fn from_definition(definition: &Definition) -> Self {
        Self::from_draft(definition)
    }

    pub(crate) fn from_draft(draft: &Draft) -> Self {
        Self { within: draft.scope.within, names: Vec::new() }.and(draft.seeds.iter().map(CrawlUrl::origin))
    }

    /// Returns these origins together with others.
    #[must_use]
    pub fn and(mut self, origins: impl IntoIterator<Item = Origin>) -> Self {
        let names = |origin: Origin| match self.within {
            Within::Origin => [Some(String::from(origin)), None],
            Within::Site => [Some(origin.site_name().to_owned()), Some(String::from(origin))],
            Within::Host => [Some(origin.host().to_owned()), None],
            Within::Domain => [Some(domain(&origin).to_owned()), None],
        };
        let names = origins.into_iter().flat_map(names).flatten();
        let mut added: HashSet<String> = names.filter(|name| !self.has(name)).collect();
        if added.is_empty() {
            return self;
        }
        while let Some(smallest) = self.names.pop_if(|smallest| smallest.len() < 2 * added.len()) {
            added.extend(Arc::unwrap_or_clone(smallest));
        }
        self.names.push(Arc::new(added));
        self
    }

    /// Whether it contains this name. Called for each link, and most crawls have a name or two:
    /// comparing is faster than hashing.
    fn has(&self, name: &str) -> bool {
        const FEW: usize = 4;
        self.names.iter().any(|names| match names.len() {
            ..=FEW => names.iter().any(|known| known == name),
            _ => names.contains(name),
        })
    }

    /// Whether it contains this origin.
    #[must_use]
    pub fn contains_origin(&self, origin: &Origin) -> bool {
        match self.within {
            Within::Origin => self.has(origin.as_str()),
            Within::Site => self.has(origin.site_name()),
            Within::Host => self.has(origin.host()),
            Within::Domain => self.has(domain(origin)),
        }
    }

    /// Whether it contains this origin by itself, and not only as another name of a site.
    #[must_use]
    pub fn is_home(&self, origin: &Origin) -> bool {
        match self.within {
            Within::Site => self.has(origin.as_str()),
            Within::Origin | Within::Host | Within::Domain => self.contains_origin(origin),
        }
    }

    /// Whether it contains the URL's origin.
    #[must_use]
    pub fn contains(&self, url: &CrawlUrl) -> bool {
        match self.within {
            Within::Origin => self.has(url.origin_str()),
            Within::Site => self.has(url.site_name()),
            Within::Host => self.has(url.host()),
            // The host of most links is itself a registered domain, which saves the look-up in the
            // suffix list.
            Within::Domain => self.has(url.host()) || self.has(domain(&url.origin())),
        }
    }
}

/// Returns the registered domain, or the host if there is none.
fn domain(origin: &Origin) -> &str {
    origin.registrable_domain().unwrap_or_else(|| origin.host())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::UrlRules;

    #[test]
    fn adding_thousands_one_by_one_copies_each_only_a_few_times() {
        let seed = CrawlUrl::parse("https://seed.example/", &UrlRules::default()).unwrap();
        let mut draft = Draft::for_seeds(vec![seed]);
        draft.scope.within = Within::Origin;
        let origin = |n: usize| -> Origin { format!("https://h{n}.example").parse().unwrap() };
        let mut allowed = AllowedOrigins::from_draft(&draft);
        let (mut copied, joined) = (0, 4_000);
        for n in 0..joined {
            let before = allowed.clone();
            allowed = allowed.and([origin(n)]).and([origin(n)]);
            assert!(!before.contains_origin(&origin(n)) && allowed.contains_origin(&origin(n)), "{n}");
            let kept = |set: &Arc<HashSet<String>>| before.names.iter().any(|old| Arc::ptr_eq(old, set));
            copied += allowed.names.iter().filter(|set| !kept(set)).map(|set| set.len()).sum::<usize>();
        }
        assert!((0..joined).all(|n| allowed.contains_origin(&origin(n))), "nothing is lost");
        assert!(allowed.contains_origin(&"https://seed.example".parse().unwrap()), "the seed's neither");
        assert!(allowed.names.len() < 14 && copied < joined * 14, "{} sets, {copied} names", allowed.names.len());
    }
}
