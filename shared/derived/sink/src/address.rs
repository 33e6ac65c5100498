//! The address of a database, and how connections to it are encrypted.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// How long a connection may take, unless the address says otherwise.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// What every certificate in PEM begins with.
const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----";

/// An address that cannot be read. Its text is not part of the message, as it may contain a
/// password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The address itself.
    #[error("the address of the database is not valid")]
    Address,
    /// The certificates after it.
    #[error("the certificate after the address of the database is not valid")]
    Certificate,
}

/// The address of a database, as a URL (`postgres://user@host/db`) or as keys and values
/// (`host=/run/postgresql dbname=db`). It may contain a password, which is never shown. After it
/// there may be certificates in PEM, of the only authorities that are trusted then.
#[derive(Clone)]
pub struct Address {
    config: Config,
    authorities: Vec<CertificateDer<'static>>,
}

impl Address {
    /// Returns whether a text is meant as the URL of a database.
    #[must_use]
    pub fn is_url(text: &str) -> bool {
        ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme))
    }

    /// Whether it is only sockets on this machine.
    pub(crate) fn is_socket(&self) -> bool {
        self.config.get_hosts().iter().all(|host| !matches!(host, Host::Tcp(_)))
            && self.config.get_hostaddrs().is_empty()
    }

    pub(crate) const fn config(&self) -> &Config {
        &self.config
    }

    /// The authorities that are trusted instead of the machine's; empty for those.
    pub(crate) fn authorities(&self) -> &[CertificateDer<'static>] {
        &self.authorities
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let (text, pem) = text.split_at(text.find(CERTIFICATE).unwrap_or(text.len()));
        let authorities = CertificateDer::pem_slice_iter(pem.as_bytes())
            .collect::<Result<_, _>>()
            .map_err(|_| AddressError::Certificate)?;
        // Certificates are always verified here, so the stricter modes of other programs are the
        // same as `require`, which is the only one that the client knows.
        let text = text.trim().replace("sslmode=verify-full", "sslmode=require");
        let text = text.replace("sslmode=verify-ca", "sslmode=require");
        let mut config: Config = text.parse().map_err(|_| AddressError::Address)?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(AddressError::Address);
        }
        if !text.contains("sslmode=") {
            // A server on this machine has a certificate that nobody signed, if it has one.
            config.ssl_mode(if is_on_this_machine(&config) { SslMode::Disable } else { SslMode::Require });
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("dragline");
        }
        Ok(Self { config, authorities })
    }
}

/// Returns whether nothing that is sent leaves the machine.
fn is_on_this_machine(config: &Config) -> bool {
    let is_local = |host: &Host| match host {
        Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    let addresses = config.get_hostaddrs();
    if addresses.is_empty() {
        config.get_hosts().iter().all(is_local)
    } else {
        addresses.iter().all(std::net::IpAddr::is_loopback)
    }
}

impl fmt::Display for Address {
    /// Writes where it is, without the user and the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = match self.config.get_hosts().first() {
            Some(Host::Tcp(name)) => name.clone(),
            #[cfg(unix)]
            Some(Host::Unix(path)) => path.display().to_string(),
            None => self.config.get_hostaddrs().first().map(ToString::to_string).unwrap_or_default(),
        };
        let name = self.config.get_dbname().or(self.config.get_user()).unwrap_or_default();
        write!(f, "`{name}` at {host}")
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_the_machine_is_encrypted_unless_the_address_says_otherwise() {
        for (text, expected, why) in [
            ("postgres://me@db.example/results", SslMode::Require, "others could read it"),
            ("postgres://me@10.0.0.7/results", SslMode::Require, "the same in a local network"),
            ("postgres://me@localhost/results", SslMode::Disable, "it stays here"),
            ("postgres://me@127.0.0.1:5433/results", SslMode::Disable, "it stays here"),
            ("postgres://me@%2Frun%2Fpostgresql/results", SslMode::Disable, "it is a socket"),
            ("host=/run/postgresql user=me", SslMode::Disable, "it is a socket"),
            ("postgres://me@db.example/results?sslmode=disable", SslMode::Disable, "the user wants it"),
            ("postgres://me@db.example/results?sslmode=verify-full", SslMode::Require, "it is always verified"),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.config().get_ssl_mode(), expected, "{text} because {why}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        let address: Address = "postgres://me:hunter2@db.example/results".parse().unwrap();
        assert_eq!(format!("{address} {address:?}"), "`results` at db.example Address(`results` at db.example)");
        for text in
            ["postgres://me:hunter2@db.example:x/results", "postgres://", "results", "dbname=x password=hunter2"]
        {
            let error = text.parse::<Address>().unwrap_err();
            assert_eq!(error.to_string(), "the address of the database is not valid", "{text}");
        }
    }

    #[test]
    fn authorities_may_follow_an_address() {
        let pem = format!("{CERTIFICATE}\nAQID\n-----END CERTIFICATE-----\n");
        for (more, expected, why) in [
            (String::new(), Ok(0), "the machine knows its authority"),
            (format!("\n{pem}"), Ok(1), "nobody else knows it"),
            (format!("\n{pem}{pem}"), Ok(2), "an old one and its successor"),
            (format!("\n{CERTIFICATE}\nAQID"), Err(AddressError::Certificate), "it is cut off"),
        ] {
            let address = format!("postgres://me@db.example/results{more}").parse::<Address>();
            assert_eq!(address.map(|address| address.authorities().len()), expected, "because {why}");
        }
    }
}
