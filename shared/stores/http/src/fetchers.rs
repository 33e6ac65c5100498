//! HTTP clients: one for each user agent and number of connections per host, as each definition may
//! have its own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use dragline_domain::definition::Draft;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::fetcher::Fetchers;

use crate::{HttpConfig, HttpConfigError, HttpFetcher};

/// The most clients kept.
const KEPT_MAX: usize = 16;

/// The clients of a process, which keep their connections from turn to turn.
pub struct HttpFetchers {
    config: HttpConfig,
    kept: Mutex<HashMap<Kind, Arc<HttpFetcher>>>,
}

/// The properties that distinguish clients.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kind {
    user_agent: String,
    idle_connections_per_host_max: usize,
}

impl HttpFetchers {
    /// Returns clients with these settings, except for those in definitions.
    #[must_use]
    pub fn new(config: HttpConfig) -> Self {
        Self { config, kept: Mutex::default() }
    }

    fn client(&self, definition: &Draft) -> Result<Arc<HttpFetcher>, HttpConfigError> {
        let concurrency = usize::from(definition.politeness.concurrency);
        let kind = Kind {
            user_agent: definition.user_agent.as_str().to_owned(),
            idle_connections_per_host_max: self.config.idle_connections_per_host_max.max(concurrency),
        };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fetcher) = kept.get(&kind) {
            return Ok(Arc::clone(fetcher));
        }
        let Kind { user_agent, idle_connections_per_host_max } = kind.clone();
        let config = HttpConfig { user_agent, idle_connections_per_host_max, ..self.config.clone() };
        let fetcher = Arc::new(HttpFetcher::new(&config)?);
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(kind, Arc::clone(&fetcher));
        Ok(fetcher)
    }
}

impl Fetchers for HttpFetchers {
    type Fetcher = HttpFetcher;

    fn fetcher_for(&self, definition: &Draft) -> PortResult<Arc<HttpFetcher>> {
        let failed = |error| PortError::new(PortErrorKind::Other, "set up client", &definition.name, error);
        self.client(definition).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::url::{CrawlUrl, UrlRules};

    use super::*;

    #[test]
    fn equal_identities_share_a_client_and_few_clients_are_kept() {
        let fetchers = HttpFetchers::new(HttpConfig::new("not sent"));
        let of = |user_agent: &str, concurrency| {
            let mut draft =
                Draft::for_seeds(vec![CrawlUrl::parse("https://a.example/", &UrlRules::default()).unwrap()]);
            draft.user_agent = user_agent.parse().unwrap();
            draft.politeness.concurrency = concurrency;
            fetchers.fetcher_for(&draft).unwrap()
        };
        let first = of("A/1", 1);
        assert!(Arc::ptr_eq(&first, &of("A/1", 1)), "its connections are kept");
        assert!(Arc::ptr_eq(&first, &of("A/1", 2)), "two connections per host are kept in any case");
        assert!(!Arc::ptr_eq(&first, &of("A/1", 8)), "more connections, another client");
        assert!(!Arc::ptr_eq(&first, &of("B/1", 1)), "another name, another client");
        for number in 0..KEPT_MAX {
            of(&format!("C/{number}"), 1);
        }
        assert!(fetchers.kept.lock().unwrap().len() <= KEPT_MAX);
    }
}
