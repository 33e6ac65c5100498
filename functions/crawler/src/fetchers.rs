//! HTTP clients: one for each user agent, as a definition may give its own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use dragline_domain::address::AddressPolicy;
use dragline_domain::definition::UserAgent;
use dragline_http::{HttpConfig, HttpConfigError, HttpFetcher};
use dragline_ports::fetcher::Fetcher;

/// Bodies that a client receives at the same time. A function has little memory, as it waits most of its time.
const IN_FLIGHT_BYTES_MAX: usize = 24 << 20;

/// More clients than this are not kept at once.
const KEPT_MAX: usize = 16;

/// Where a turn gets its client from.
pub(crate) trait Fetchers: Send + Sync + 'static {
    /// The client.
    type Fetcher: Fetcher + 'static;

    /// The client of a user agent.
    fn of(&self, user_agent: &UserAgent) -> Result<Arc<Self::Fetcher>, HttpConfigError>;
}

/// Clients of a warm process.
pub(crate) struct HttpFetchers {
    policy: AddressPolicy,
    kept: Mutex<HashMap<String, Arc<HttpFetcher>>>,
}

impl HttpFetchers {
    /// Clients that talk to addresses of these kinds.
    pub(crate) fn new(policy: AddressPolicy) -> Self {
        Self { policy, kept: Mutex::default() }
    }
}

impl Fetchers for HttpFetchers {
    type Fetcher = HttpFetcher;

    fn of(&self, user_agent: &UserAgent) -> Result<Arc<HttpFetcher>, HttpConfigError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fetcher) = kept.get(user_agent.as_str()) {
            return Ok(Arc::clone(fetcher));
        }
        let mut config = HttpConfig::new(user_agent.as_str());
        config.address_policy = self.policy;
        config.in_flight_bytes_max = IN_FLIGHT_BYTES_MAX;
        let fetcher = Arc::new(HttpFetcher::new(&config)?);
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(user_agent.as_str().to_owned(), Arc::clone(&fetcher));
        Ok(fetcher)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_agent_has_one_client_and_few_are_kept() {
        let fetchers = HttpFetchers::new(AddressPolicy::PublicOnly);
        let of = |name: &str| fetchers.of(&name.parse().unwrap()).unwrap();
        let first = of("A/1");
        assert!(Arc::ptr_eq(&first, &of("A/1")), "its connections are kept");
        assert!(!Arc::ptr_eq(&first, &of("B/1")), "another name, another client");
        for number in 0..KEPT_MAX {
            of(&format!("C/{number}"));
        }
        assert!(fetchers.kept.lock().unwrap().len() <= KEPT_MAX);
    }
}
