//! The digest of everything that decides whether to crawl a URL and which URL a link means.

use dragline_domain::definition::{Definition, Draft, ExternalLinks, Feeds, Requisites, Scope};
use dragline_domain::frontier::RulesDigest;
use dragline_domain::url::Origin;
use serde::Serialize;
use sha1::{Digest as _, Sha1};

/// The digest of a definition's rules and of the origins that have joined. Further origins are
/// added without hashing the others again.
///
/// It hashes the rules as JSON and is stored with documents, so it must not depend on the program's
/// version.
#[derive(Clone, Debug)]
pub(super) struct RulesHasher {
    /// Has hashed everything but the end.
    hasher: Sha1,
    joined: u64,
    end: Vec<u8>,
}

impl RulesHasher {
    /// Begins with a definition that no origin has joined.
    ///
    /// # Errors
    /// Fails if the definition cannot be written as JSON.
    pub(super) fn new(definition: &Definition) -> serde_json::Result<Self> {
        let Draft {
            seeds,
            feeds,
            requisites,
            links,
            scope,
            do_not_crawl,
            url_query_parameters,
            strip_query_parameters,
            traps,
            ..
        } = &**definition;
        let mut hasher = Sha1::new();
        // The digest is older than these keys, so their default values must not change it.
        let (begin, mut end) = match (feeds, requisites) {
            (Feeds::Ignore, Requisites::Ignore) => ("[", "]]".to_owned()),
            (Feeds::Ignore, Requisites::Fetch) => ("[[", format!("]],{}]", serde_json::to_string(requisites)?)),
            (Feeds::Follow, _) => {
                let [requisites, feeds] = [serde_json::to_string(requisites)?, serde_json::to_string(feeds)?];
                ("[[", format!("]],{requisites},{feeds}]"))
            }
        };
        if links.external == ExternalLinks::Check {
            end += &serde_json::to_string(links)?;
        }
        hasher.update(begin);
        put(&mut hasher, seeds)?;
        put(&mut hasher, &Scope { max_depth: definition.depth_max(), ..scope.clone() })?;
        put(&mut hasher, do_not_crawl)?;
        put(&mut hasher, url_query_parameters)?;
        put(&mut hasher, strip_query_parameters)?;
        put(&mut hasher, traps)?;
        hasher.update("[");
        Ok(Self { hasher, joined: 0, end: end.into_bytes() })
    }

    /// Adds an origin that joined after the others.
    pub(super) fn add(&mut self, origin: &Origin) {
        if self.joined > 0 {
            self.hasher.update(",");
        }
        // This is its JSON: no character of an origin needs escaping.
        self.hasher.update(format!("\"{origin}\""));
        self.joined += 1;
    }

    /// Returns the digest.
    pub(super) fn digest(&self) -> RulesDigest {
        let digest: [u8; 20] = self.hasher.clone().chain_update(&self.end).finalize().into();
        let [a, b, c, d, ..] = digest;
        RulesDigest(u32::from_be_bytes([a, b, c, d]).max(1))
    }
}

fn put(hasher: &mut Sha1, part: &impl Serialize) -> serde_json::Result<()> {
    hasher.update(serde_json::to_vec(part)?);
    hasher.update(",");
    Ok(())
}

#[cfg(test)]
mod tests {
    use dragline_domain::url::{CrawlUrl, UrlRules};
    use dragline_formats::warc::Sha1Digest;

    use super::*;

    #[test]
    fn the_digest_is_that_of_the_rules_as_json() {
        let (ignore, fetch) = (Requisites::Ignore, Requisites::Fetch);
        for (feeds, requisites) in
            [(Feeds::Ignore, ignore), (Feeds::Ignore, fetch), (Feeds::Follow, ignore), (Feeds::Follow, fetch)]
        {
            let seeds = ["https://a.example/", "https://b.example/\u{e4}?\u{1f600}'"];
            let seeds = seeds.map(|seed| CrawlUrl::parse(seed, &UrlRules::default()).unwrap()).to_vec();
            let definition = Definition::new(Draft { feeds, requisites, ..Draft::for_seeds(seeds) }).unwrap();
            let mut hasher = RulesHasher::new(&definition).unwrap();
            let mut joined: Vec<Origin> = Vec::new();
            for origin in ["https://c.example", "http://[::1]:8080", "https://d.example"] {
                let rules = (
                    &definition.seeds,
                    &definition.scope,
                    &definition.do_not_crawl,
                    &definition.url_query_parameters,
                    &definition.strip_query_parameters,
                    &definition.traps,
                    &joined,
                );
                let json = match (feeds, requisites) {
                    (Feeds::Ignore, Requisites::Ignore) => serde_json::to_vec(&rules),
                    (Feeds::Ignore, Requisites::Fetch) => serde_json::to_vec(&(rules, requisites)),
                    (Feeds::Follow, _) => serde_json::to_vec(&(rules, requisites, feeds)),
                };
                let [a, b, c, d, ..] = *Sha1Digest::compute(&json.unwrap()).as_bytes();
                assert_eq!(hasher.digest(), RulesDigest(u32::from_be_bytes([a, b, c, d])), "{joined:?}");
                joined.push(origin.parse().unwrap());
                hasher.add(joined.last().unwrap());
            }
        }
    }
}
