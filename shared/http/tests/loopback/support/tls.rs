//! Certificates of our own, and a server that shows them.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// A certificate authority that nobody knows until its root is given to a fetcher.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    root_pem: String,
}

impl Authority {
    /// Two authorities of one name would be taken for each other until the signature is looked at.
    pub(crate) fn named(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root_pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), root_pem }
    }

    /// The root as a `--ca-file` holds it.
    pub(crate) fn root_pem(&self) -> &[u8] {
        self.root_pem.as_bytes()
    }
}

/// What a server offers in its handshake.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Version {
    Http11,
    Http2,
}

/// Answers every request with its HTTP version as the text, and with a field as long as the path's number says.
pub(crate) struct TlsServer {
    address: SocketAddr,
}

impl TlsServer {
    /// A server with a certificate for `name`, good until the year `last`.
    pub(crate) async fn start(authority: &Authority, name: &str, last: i32, version: Version) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.not_after = rcgen::date_time_ymd(last, 1, 1);
        let certificate = params.signed_by(&key, &authority.issuer).unwrap();
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
            .unwrap();
        config.alpn_protocols = match version {
            Version::Http11 => vec![b"http/1.1".to_vec()],
            Version::Http2 => vec![b"h2".to_vec()],
        };
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    // A client that does not like the certificate hangs up here.
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let stream = TokioIo::new(stream);
                    let _ = match version {
                        Version::Http11 => http1::Builder::new().serve_connection(stream, service_fn(answer)).await,
                        Version::Http2 => {
                            http2::Builder::new(TokioExecutor::new()).serve_connection(stream, service_fn(answer)).await
                        }
                    };
                });
            }
        });
        Self { address }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://site.test:{}{path}", self.address.port())
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<reqwest::Body>, Infallible> {
    let long = "x".repeat(request.uri().path()[1..].parse().unwrap_or_default());
    let host = format!("{:?}", request.headers().get("host"));
    let fields = Response::builder().header("x-host", host).header("x-long", long);
    Ok(fields.body(format!("{:?}", request.version()).into()).unwrap())
}
