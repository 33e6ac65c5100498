//! Where the server listens.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::serve::Listener;
use dragline_service::{Access, PeerAddress};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tower_service::Service as _;

use super::tls::{TlsListener, acceptor};
use crate::args::{ServeArgs, data_flag};
use crate::error::{Failure, while_doing};

/// The most connections at the same time: far more than people and programs open, and fewer than
/// take the files that the crawls need.
const CONNECTIONS_MAX: usize = 256;

/// How long a client may take to send the head of a request, or to send none.
const HEAD_TIME_MAX: Duration = Duration::from_secs(30);

/// The listeners of a server.
pub(super) struct Listeners {
    public: PublicListener,
    /// For the commands of this machine, which speak plain HTTP, if the other one does not.
    own: Option<TcpListener>,
}

enum PublicListener {
    Plain(TcpListener),
    Encrypted(Box<TlsListener>),
}

impl Listeners {
    /// Listens where the arguments say.
    ///
    /// # Errors
    /// The address cannot be listened on, or the files of the certificate cannot be used.
    pub(super) async fn bind(args: &ServeArgs) -> Result<Self, Failure> {
        let acceptor = match (&args.tls_certificate, &args.tls_key) {
            (Some(certificates), Some(key)) => Some(acceptor(certificates, key)?),
            _ => None,
        };
        let listener = listen(args.listen).await?;
        Ok(match acceptor {
            None => Self { public: PublicListener::Plain(listener), own: None },
            Some(acceptor) => {
                let public = PublicListener::Encrypted(Box::new(TlsListener::new(listener, acceptor)));
                Self { public, own: Some(listen((Ipv4Addr::LOCALHOST, 0).into()).await?) }
            }
        })
    }

    /// Returns the URL of the server.
    ///
    /// # Errors
    /// The system does not tell its address.
    pub(super) fn url(&self) -> Result<String, Failure> {
        let (scheme, address) = match &self.public {
            PublicListener::Plain(listener) => ("http", listener.local_addr()),
            PublicListener::Encrypted(listener) => ("https", listener.local_addr()),
        };
        Ok(format!("{scheme}://{}/", address.map_err(while_doing("listening"))?))
    }

    /// Returns the address for the commands of this machine.
    ///
    /// # Errors
    /// The system does not tell it.
    pub(super) fn own_address(&self) -> Result<SocketAddr, Failure> {
        let address = match (&self.own, &self.public) {
            (Some(listener), _) | (None, PublicListener::Plain(listener)) => listener.local_addr(),
            (None, PublicListener::Encrypted(listener)) => listener.local_addr(),
        };
        address.map_err(while_doing("listening"))
    }

    /// Answers requests until what is returned is dropped.
    pub(super) fn serve(self, routes: Router) -> JoinSet<()> {
        let mut servers = JoinSet::new();
        if let Some(own) = self.own {
            servers.spawn(answer(own, routes.clone()));
        }
        match self.public {
            PublicListener::Plain(listener) => servers.spawn(answer(listener, routes)),
            PublicListener::Encrypted(listener) => servers.spawn(answer(*listener, routes)),
        };
        servers
    }
}

/// Answers all who connect, until it is dropped, and each connection with it.
async fn answer<L: Listener<Addr = SocketAddr>>(mut listener: L, routes: Router) {
    let mut connections = JoinSet::new();
    loop {
        // Those that are over make room; if none is, the next one waits for that.
        while connections.try_join_next().is_some() {}
        if connections.len() >= CONNECTIONS_MAX {
            connections.join_next().await;
        }
        let (stream, address) = listener.accept().await;
        let routes = routes.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(PeerAddress(address.ip()));
            // A router is always ready.
            routes.clone().call(request)
        });
        let mut connection = http1::Builder::new();
        connection.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME_MAX);
        let connection = connection.serve_connection(TokioIo::new(stream), service);
        connections.spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection has ended");
            }
        });
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| cannot_listen(address, &error))
}

/// Refuses to let others than this machine in without a token.
///
/// # Errors
/// They could call.
pub(super) fn refuse_strangers(listen: SocketAddr, access: &Access, data: &Path) -> Result<(), Failure> {
    if listen.ip().is_loopback() || !access.is_open() {
        return Ok(());
    }
    let message = format!("others than this machine could call {listen}, and there is no token");
    let hint = format!("make one: `dragline token add NAME --role owner{}`", data_flag(data));
    Err(Failure::new(message).with_hint(hint))
}

fn cannot_listen(listen: SocketAddr, error: &io::Error) -> Failure {
    let failure = Failure::new(format!("cannot listen on {listen}: {error}")).caused_by(error);
    match error.kind() {
        io::ErrorKind::AddrInUse => failure.with_hint("another program does: choose a port with `--listen`"),
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;

    use super::*;

    async fn serve() -> (SocketAddr, JoinSet<()>) {
        let listener = listen((Ipv4Addr::LOCALHOST, 0).into()).await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = Router::new().route("/", get(|| async { "here" }));
        (address, Listeners { public: PublicListener::Plain(listener), own: None }.serve(routes))
    }

    async fn read(stream: &mut TcpStream) -> String {
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test(start_paused = true)]
    async fn clients_that_say_nothing_are_let_go() {
        let (address, _server) = serve().await;
        for (said, expected, why) in [
            ("", "", "nothing"),
            ("GET / HTTP/1.1\r\nHost: a", "", "half a head"),
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "here", "one request, and no other"),
        ] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(said.as_bytes()).await.unwrap();
            assert!(read(&mut stream).await.ends_with(expected), "{why}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_client_waits_if_there_are_too_many() {
        let (address, _server) = serve().await;
        let mut silent = Vec::new();
        for _ in 0..CONNECTIONS_MAX {
            silent.push(TcpStream::connect(address).await.unwrap());
        }
        let mut next = TcpStream::connect(address).await.unwrap();
        next.write_all(b"GET / HTTP/1.0\r\n\r\n").await.unwrap();
        assert!(read(&mut next).await.ends_with("here"), "there is room once the others are let go");
        assert_eq!(read(&mut silent[0]).await, "", "as they are");
    }
}
