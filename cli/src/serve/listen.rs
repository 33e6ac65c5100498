//! Where the server listens.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use axum::Router;
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::serve::{IncomingStream, Listener};
use dragline_service::{Access, PeerAddress};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::tls::{TlsListener, acceptor};
use crate::args::{ServeArgs, data_flag};
use crate::error::{Failure, while_doing};

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
        let routes = routes.layer(middleware::from_fn(note_peer));
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

async fn answer<L>(listener: L, routes: Router)
where
    L: Listener<Addr = SocketAddr>,
    Peer: for<'l> Connected<IncomingStream<'l, L>>,
{
    // It ends only with the process.
    let _ = axum::serve(listener, routes.into_make_service_with_connect_info::<Peer>()).await;
}

/// Who is at the other end of a connection.
#[derive(Clone, Copy, Debug)]
struct Peer(SocketAddr);

impl Connected<IncomingStream<'_, TcpListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, TcpListener>) -> Self {
        Self(*stream.remote_addr())
    }
}

impl Connected<IncomingStream<'_, TlsListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, TlsListener>) -> Self {
        Self(*stream.remote_addr())
    }
}

async fn note_peer(ConnectInfo(Peer(address)): ConnectInfo<Peer>, mut request: Request, next: Next) -> Response {
    request.extensions_mut().insert(PeerAddress(address.ip()));
    next.run(request).await
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
