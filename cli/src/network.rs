//! The HTTP client, configured by the arguments and the definition.

use dragline_domain::address::AddressPolicy;
use dragline_domain::definition::Draft;
use dragline_engine::room::Room;
use dragline_http::{Certificate, CertificatePolicy, HttpConfig, HttpConfigError, HttpFetcher, certificates_from_pem};

use crate::args::NetworkArgs;
use crate::definition_source::read_at_most;
use crate::error::Failure;

/// The maximum size of a certificate file, in bytes: four times the roots of all public
/// authorities.
const CA_FILE_BYTES_MAX: usize = 1 << 20;

/// The network settings of the arguments, with their files loaded.
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
    pub(crate) fn from_args(args: &NetworkArgs) -> Result<Self, Failure> {
        let extra_roots = match &args.ca_file {
            None => Vec::new(),
            Some(path) => {
                let pem = read_at_most(path, CA_FILE_BYTES_MAX)?;
                let failed = |error| Failure::new(format!("{}: {error}", path.display())).caused_by(&error);
                certificates_from_pem(&pem).map_err(failed)?
            }
        };
        Ok(Self { address_policy: args.address_policy(), certificates: args.certificate_policy(), extra_roots })
    }

    /// Returns a client that sends the definition's user agent.
    ///
    /// # Errors
    /// The client cannot be set up.
    pub(crate) fn fetcher(&self, definition: &Draft) -> Result<HttpFetcher, Failure> {
        Ok(HttpFetcher::new(&self.config(definition, None))?)
    }

    /// Returns the configuration of a client. Without a [`Room`] it keeps a few hundred idle
    /// connections.
    pub(crate) fn config(&self, definition: &Draft, room: Option<&Room>) -> HttpConfig {
        let mut config = HttpConfig::new(definition.user_agent.as_str());
        config.address_policy = self.address_policy;
        config.certificates = self.certificates;
        config.extra_roots.clone_from(&self.extra_roots);
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
