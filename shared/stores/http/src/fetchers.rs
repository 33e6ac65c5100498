//! HTTP clients: one for each user agent and number of connections per host, as each definition may
//! have its own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use dragline_domain::definition::{Draft, Identity, SecretReference};
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::fetcher::Fetchers;
use dragline_ports::renderer::NoRenderer;
use dragline_ports::secrets::{NoSecrets, Secret, SecretError, Secrets};

use crate::access::{Access, Values, read_values};
use crate::identity::Signer;
use crate::{HttpConfig, HttpConfigError, HttpFetcher, Proxies, SystemLookup, certificates_from_pem};

/// The most clients kept.
const KEPT_MAX: usize = 16;

/// Settings whose values nobody may see. They are read when they are needed, and without them
/// nothing is requested.
#[derive(Clone, Debug, Default)]
pub struct SecretSettings {
    /// The URL of the proxy of all requests, with a name and a password.
    pub proxy: Option<SecretReference>,
    /// Certificates to trust in addition, as PEM.
    pub extra_roots: Option<SecretReference>,
}

/// The clients of a process, which keep their connections from turn to turn.
pub struct HttpFetchers {
    config: HttpConfig,
    settings: SecretSettings,
    secrets: Arc<dyn Secrets>,
    kept: Mutex<HashMap<Kind, Arc<HttpFetcher>>>,
}

/// The properties that distinguish clients.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kind {
    user_agent: String,
    idle_connections_per_host_max: usize,
    body_bytes_per_second: Option<u64>,
    /// The rules with their values as they are now: a changed one is another kind.
    values: Values,
    proxy: Option<Secret>,
    extra_roots: Option<Secret>,
    identity: Identity,
    identity_key: Option<Secret>,
}

impl HttpFetchers {
    /// Returns clients with these settings, except for those in definitions.
    #[must_use]
    pub fn new(config: HttpConfig) -> Self {
        let settings = SecretSettings::default();
        Self { config, settings, secrets: Arc::new(NoSecrets), kept: Mutex::default() }
    }

    /// Returns the same clients, with these settings too.
    #[must_use]
    pub fn with_settings(self, settings: SecretSettings) -> Self {
        Self { settings, ..self }
    }

    /// Returns the same clients, which find the values that rules name here.
    #[must_use]
    pub fn with_secrets(self, secrets: Arc<dyn Secrets>) -> Self {
        Self { secrets, ..self }
    }

    /// Checks that the values are there that the rules of a definition name. Without them, its
    /// requests to the hosts of these rules fail, and none is sent.
    ///
    /// # Errors
    /// One cannot be read or used.
    pub async fn check_access(&self, definition: &Draft) -> Result<(), SecretError> {
        Access::new(&read_values(&definition.access, &*self.secrets).await).check()?;
        let key = self.read(definition.identity.key.as_ref()).await?;
        Signer::new(&definition.identity, key.as_ref()).map(|_| ())
    }

    async fn client(&self, definition: &Draft) -> Result<Arc<HttpFetcher>, HttpConfigError> {
        let values = read_values(&definition.access, &*self.secrets).await;
        let concurrency = usize::from(definition.politeness.concurrency);
        let kind = Kind {
            user_agent: definition.user_agent.as_str().to_owned(),
            idle_connections_per_host_max: self.config.idle_connections_per_host_max.max(concurrency),
            body_bytes_per_second: definition.politeness.bytes_per_second,
            values,
            proxy: self.read(self.settings.proxy.as_ref()).await?,
            extra_roots: self.read(self.settings.extra_roots.as_ref()).await?,
            identity: definition.identity.clone(),
            identity_key: self.read(definition.identity.key.as_ref()).await?,
        };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fetcher) = kept.get(&kind) {
            return Ok(Arc::clone(fetcher));
        }
        let Kind { user_agent, idle_connections_per_host_max, body_bytes_per_second, .. } = kind.clone();
        let mut config =
            HttpConfig { user_agent, idle_connections_per_host_max, body_bytes_per_second, ..self.config.clone() };
        if let Some(url) = &kind.proxy {
            config.proxies = Some(Proxies::all(url.reveal())?);
        }
        if let Some(pem) = &kind.extra_roots {
            config.extra_roots.extend(certificates_from_pem(pem.reveal().as_bytes())?);
        }
        let access = Access::new(&kind.values);
        let signer = Signer::new(&kind.identity, kind.identity_key.as_ref())?;
        let fetcher = HttpFetcher::with_access(&config, Arc::new(SystemLookup), access)?.signed_by(signer);
        let fetcher = Arc::new(fetcher);
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(kind, Arc::clone(&fetcher));
        Ok(fetcher)
    }

    async fn read(&self, reference: Option<&SecretReference>) -> Result<Option<Secret>, SecretError> {
        match reference {
            Some(reference) => self.secrets.read(reference).await.map(Some),
            None => Ok(None),
        }
    }
}

impl Fetchers for HttpFetchers {
    type Fetcher = HttpFetcher;
    type Renderer = NoRenderer;

    async fn fetcher_for(&self, definition: &Draft) -> PortResult<Arc<HttpFetcher>> {
        let failed = |error| PortError::new(PortErrorKind::Other, "set up client", &definition.name, error);
        self.client(definition).await.map_err(failed)
    }

    fn renderer(&self) -> Arc<NoRenderer> {
        Arc::new(NoRenderer)
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::url::{CrawlUrl, UrlRules};

    use super::*;

    #[tokio::test]
    async fn equal_identities_share_a_client_and_few_clients_are_kept() {
        let fetchers = HttpFetchers::new(HttpConfig::new("not sent"));
        let client = async |user_agent: &str, concurrency| {
            let mut draft =
                Draft::for_seeds(vec![CrawlUrl::parse("https://a.example/", &UrlRules::default()).unwrap()]);
            draft.user_agent = user_agent.parse().unwrap();
            draft.politeness.concurrency = concurrency;
            fetchers.fetcher_for(&draft).await.unwrap()
        };
        let first = client("A/1", 1).await;
        assert!(Arc::ptr_eq(&first, &client("A/1", 1).await), "its connections are kept");
        assert!(Arc::ptr_eq(&first, &client("A/1", 2).await), "two connections per host are kept in any case");
        assert!(!Arc::ptr_eq(&first, &client("A/1", 8).await), "more connections, another client");
        assert!(!Arc::ptr_eq(&first, &client("B/1", 1).await), "another name, another client");
        for number in 0..KEPT_MAX {
            client(&format!("C/{number}"), 1).await;
        }
        assert!(fetchers.kept.lock().unwrap().len() <= KEPT_MAX);
    }
}
