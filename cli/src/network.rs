//! The HTTP client, configured by the arguments and the definition.

use std::sync::Arc;

use dragline_domain::address::AddressPolicy;
use dragline_domain::definition::Draft;
use dragline_domain::url::CrawlUrl;
use dragline_engine::room::Room;
use dragline_http::{
    ByteRate, Certificate, CertificatePolicy, HttpConfig, HttpConfigError, HttpFetcher, HttpFetchers, Proxies,
    certificates_from_pem,
};
use dragline_local::LocalSecrets;
use dragline_ports::fetcher::Fetchers as _;

use crate::args::NetworkArgs;
use crate::definition_source::read_at_most;
use crate::error::Failure;
use crate::exit::Exit;
use crate::terminal::Console;

/// The maximum size of a certificate file, in bytes: four times the roots of all public
/// authorities.
const CA_FILE_BYTES_MAX: usize = 1 << 20;

/// The network settings of the arguments, with their files loaded.
pub(crate) struct Network {
    address_policy: AddressPolicy,
    certificates: CertificatePolicy,
    extra_roots: Vec<Certificate>,
    proxies: Proxies,
    rate: Option<ByteRate>,
    secrets: Arc<LocalSecrets>,
}

impl Network {
    /// Reads the files that the arguments name.
    ///
    /// # Errors
    /// The certificates cannot be read.
    pub(crate) fn from_args(args: &NetworkArgs) -> Result<Self, Failure> {
        let extra_roots = match &args.ca_file {
            None => Vec::new(),
            Some(path) => {
                let pem = read_at_most(path, CA_FILE_BYTES_MAX)?;
                let failed = |error| Failure::new(format!("{}: {error}", path.display())).caused_by(&error);
                certificates_from_pem(&pem).map_err(failed)?
            }
        };
        let secrets = args.access.secrets();
        Ok(Self {
            address_policy: args.address_policy(),
            certificates: args.certificate_policy(),
            extra_roots,
            proxies: args.access.proxies(&secrets)?,
            rate: args.max_rate.map(ByteRate::new),
            secrets: Arc::new(secrets),
        })
    }

    /// Returns a client that sends what the definition says of who asks.
    ///
    /// # Errors
    /// A value that the definition names is missing, or the client cannot be set up.
    pub(crate) async fn fetcher(&self, definition: &Draft) -> Result<Arc<HttpFetcher>, Failure> {
        let fetchers = self.fetchers(self.config(definition, None));
        self.check_access(&fetchers, definition).await?;
        Ok(fetchers.fetcher_for(definition).await?)
    }

    /// Says by which proxy requests leave, if they do.
    pub(crate) fn tell_proxy(&self, url: Option<&CrawlUrl>, console: &Console) {
        if let Some(proxy) = url.and_then(|url| self.proxies.shown_for(url)) {
            console.say(&format!("requests are made through the proxy {proxy}"));
        }
    }

    /// Returns clients of this configuration.
    pub(crate) fn fetchers(&self, config: HttpConfig) -> HttpFetchers {
        HttpFetchers::new(config).with_secrets(Arc::clone(&self.secrets) as _)
    }

    /// Checks that the values are there that a definition names.
    ///
    /// # Errors
    /// One is missing, or of no use.
    pub(crate) async fn check_access(&self, fetchers: &HttpFetchers, definition: &Draft) -> Result<(), Failure> {
        let checked = fetchers.check_access(definition).await;
        checked.map_err(|error| Failure { exit: Exit::NoAccess, ..Failure::new(format!("access: {error}")) })
    }

    /// Returns the configuration of a client. Without a [`Room`] it keeps a few hundred idle
    /// connections.
    pub(crate) fn config(&self, definition: &Draft, room: Option<&Room>) -> HttpConfig {
        let mut config = HttpConfig::new(definition.user_agent.as_str());
        config.address_policy = self.address_policy;
        config.certificates = self.certificates;
        config.extra_roots.clone_from(&self.extra_roots);
        config.proxies = Some(self.proxies.clone());
        // Whoever names a proxy on a machine of their own means it.
        config.rule_proxies = AddressPolicy::AllowPrivate;
        config.rate.clone_from(&self.rate);
        if let Some(room) = room {
            config.idle_connections_max = room.idle_connections_max;
        }
        config
    }
}

impl From<HttpConfigError> for Failure {
    fn from(error: HttpConfigError) -> Self {
        Self::from_error(&error)
    }
}
