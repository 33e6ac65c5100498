//! The HTTP client as the arguments and the definition want it.

use dragline_domain::definition::Draft;
use dragline_http::{HttpConfig, HttpFetcher, certificates_from_pem};

use crate::args::NetworkArgs;
use crate::error::CliError;
use crate::source::read_at_most;

/// The longest file of certificates that is read, in bytes: the roots of every public authority take a quarter of it.
const CA_FILE_BYTES_MAX: usize = 1 << 20;

/// The client that sends the definition's user agent.
///
/// # Errors
/// The certificates cannot be read, or the client cannot be set up.
pub(crate) fn fetcher(network: &NetworkArgs, definition: &Draft) -> Result<HttpFetcher, CliError> {
    let mut config = HttpConfig::new(definition.user_agent.as_str());
    config.address_policy = network.address_policy();
    config.idle_connections_per_host_max =
        config.idle_connections_per_host_max.max(usize::from(definition.politeness.concurrency));
    if let Some(path) = &network.ca_file {
        let pem = read_at_most(path, CA_FILE_BYTES_MAX)?;
        config.extra_roots =
            certificates_from_pem(&pem).map_err(|source| CliError::CaFile { path: path.clone(), source })?;
    }
    Ok(HttpFetcher::new(&config)?)
}
