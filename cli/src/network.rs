//! The HTTP client as the arguments and the definition want it.

use dragline_domain::address::AddressPolicy;
use dragline_domain::definition::Draft;
use dragline_http::{Certificate, CertificatePolicy, HttpConfig, HttpFetcher, certificates_from_pem};

use crate::args::NetworkArgs;
use crate::crawl::Room;
use crate::error::CliError;
use crate::source::read_at_most;

/// The longest file of certificates that is read, in bytes: the roots of every public authority take a quarter of it.
const CA_FILE_BYTES_MAX: usize = 1 << 20;

/// What the arguments say about requests, their files read.
pub(crate) struct Network {
    address_policy: AddressPolicy,
    certificates: CertificatePolicy,
    extra_roots: Vec<Certificate>,
}

impl Network {
    /// Reads the files that the arguments name.
    ///
    /// # Errors
    /// The certificates cannot be read.
    pub(crate) fn of(args: &NetworkArgs) -> Result<Self, CliError> {
        let extra_roots = match &args.ca_file {
            None => Vec::new(),
            Some(path) => {
                let pem = read_at_most(path, CA_FILE_BYTES_MAX)?;
                certificates_from_pem(&pem).map_err(|source| CliError::CaFile { path: path.clone(), source })?
            }
        };
        Ok(Self { address_policy: args.address_policy(), certificates: args.certificate_policy(), extra_roots })
    }

    /// The client that sends the definition's user agent. Without a word on room it keeps a few hundred connections.
    ///
    /// # Errors
    /// It cannot be set up.
    pub(crate) fn fetcher(&self, definition: &Draft, room: Option<&Room>) -> Result<HttpFetcher, CliError> {
        let mut config = HttpConfig::new(definition.user_agent.as_str());
        config.address_policy = self.address_policy;
        config.certificates = self.certificates;
        config.extra_roots.clone_from(&self.extra_roots);
        let concurrency = usize::from(definition.politeness.concurrency);
        config.idle_connections_per_host_max = config.idle_connections_per_host_max.max(concurrency);
        if let Some(room) = room {
            config.idle_connections_max = room.idle_connections_max;
        }
        Ok(HttpFetcher::new(&config)?)
    }
}
