//! HTTPS by a certificate and a key in files, which are read again when the server starts.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::Listener;
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::error::Failure;

/// How long a client may take to greet.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);

/// The most clients that are greeting.
const HANDSHAKES_MAX: usize = 256;

/// The pause after an error of the system, such as too many open files.
const PAUSE: Duration = Duration::from_secs(1);

/// Returns an acceptor with the certificates and the key of two PEM files.
///
/// # Errors
/// A file cannot be read, or has nothing of its kind, or the two do not belong together.
pub(super) fn acceptor(certificates: &Path, key: &Path) -> Result<TlsAcceptor, Failure> {
    let failed = |path: &Path, why: String| Failure::new(format!("{}: {why}", path.display()));
    let read = |path: &Path| fs::read(path).map_err(|error| failed(path, error.to_string()).caused_by(&error));
    let chain: Vec<_> = CertificateDer::pem_slice_iter(&read(certificates)?)
        .collect::<Result<_, _>>()
        .map_err(|error| failed(certificates, error.to_string()))?;
    if chain.is_empty() {
        return Err(failed(certificates, "it has no certificate in PEM".to_owned()));
    }
    let key_der = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|error| failed(key, error.to_string()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key_der))
        .map_err(|error| failed(key, error.to_string()).with_hint("the key must be that of the first certificate"))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// A listener whose connections are encrypted. Clients greet beside one another, so that a slow one
/// keeps no other waiting.
pub(super) struct TlsListener {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    greeting: JoinSet<Option<(TlsStream<TcpStream>, SocketAddr)>>,
}

impl TlsListener {
    pub(super) fn new(listener: TcpListener, acceptor: TlsAcceptor) -> Self {
        Self { listener, acceptor, greeting: JoinSet::new() }
    }

    fn greet(&mut self, stream: TcpStream, address: SocketAddr) {
        let acceptor = self.acceptor.clone();
        self.greeting.spawn(async move {
            let stream = timeout(HANDSHAKE_MAX, acceptor.accept(stream)).await.ok()?.ok()?;
            Some((stream, address))
        });
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        loop {
            let has_room = self.greeting.len() < HANDSHAKES_MAX;
            tokio::select! {
                accepted = self.listener.accept(), if has_room => match accepted {
                    Ok((stream, address)) => self.greet(stream, address),
                    Err(error) => {
                        tracing::warn!(%error, "a connection cannot be accepted");
                        tokio::time::sleep(PAUSE).await;
                    }
                },
                Some(greeted) = self.greeting.join_next() => {
                    if let Ok(Some(connection)) = greeted {
                        return connection;
                    }
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}
