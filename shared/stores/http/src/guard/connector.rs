//! A layer around the client's connector. It enforces the connect time-out, reports the progress of
//! a request, and checks the peer of every new connection before the client may use it.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use dragline_domain::address::{AddressPolicy, check};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpInfo};
use tower_layer::Layer;
use tower_service::Service;

use super::NoConnection;
use crate::timing::{self, ATTEMPT, Ends, Phase};

type BoxError = Box<dyn Error + Send + Sync>;

/// Wraps the client's connector.
#[derive(Clone, Debug)]
pub(crate) struct ConnectLayer {
    policy: AddressPolicy,
    opened: Arc<AtomicUsize>,
}

impl ConnectLayer {
    /// Counts new connections in `opened`.
    pub(crate) fn new(policy: AddressPolicy, opened: Arc<AtomicUsize>) -> Self {
        Self { policy, opened }
    }
}

impl<S> Layer<S> for ConnectLayer {
    type Service = GuardedConnector<S>;

    fn layer(&self, inner: S) -> Self::Service {
        GuardedConnector { inner, policy: self.policy, opened: Arc::clone(&self.opened) }
    }
}

/// The client's connector, with the guard.
#[derive(Clone, Debug)]
pub(crate) struct GuardedConnector<S> {
    inner: S,
    policy: AddressPolicy,
    opened: Arc<AtomicUsize>,
}

impl<S, Target> Service<Target> for GuardedConnector<S>
where
    S: Service<Target, Error = BoxError>,
    S::Response: Connection,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, target: Target) -> Self::Future {
        // Read here, not in the future: if a pooled connection becomes free first, another task
        // finishes this one.
        let Ok(attempt) = ATTEMPT.try_get() else {
            return Box::pin(async { Err(NoConnection::NoRequest.into()) });
        };
        attempt.enter(Phase::Connecting);
        let (policy, opened) = (self.policy, Arc::clone(&self.opened));
        let connecting = self.inner.call(target);
        Box::pin(async move {
            let limit = attempt.connect_timeout;
            let connected = match tokio::time::timeout(limit, connecting).await {
                Ok(Ok(connection)) => public_ends(policy, &connection.connected()).map(|ends| (connection, ends)),
                Ok(Err(error)) => Err(error),
                Err(_) => Err(NoConnection::TimedOut(limit).into()),
            };
            opened.fetch_add(usize::from(connected.is_ok()), Ordering::Relaxed);
            let ends = connected.as_ref().ok().map(|(_, ends)| *ends);
            attempt.enter(Phase::Connected { at: timing::now(), ends });
            connected.map(|(connection, _)| connection)
        })
    }
}

fn public_ends(policy: AddressPolicy, connected: &Connected) -> Result<Ends, BoxError> {
    let ends = connection_ends(connected).ok_or(NoConnection::UnknownPeer)?;
    let peer = ends.peer;
    check(policy, peer.ip()).map_err(|refused| NoConnection::PrivatePeer { peer, refused })?;
    Ok(ends)
}

/// Returns the ends of a connection, if the client knows them.
pub(crate) fn connection_ends(connected: &Connected) -> Option<Ends> {
    let mut extras = http::Extensions::new();
    connected.get_extras(&mut extras);
    extras.get::<HttpInfo>().map(|info| Ends { local: info.local_addr(), peer: info.remote_addr() })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dragline_ports::fetcher::FetchFailureKind::{self, Connect, PrivateAddress};
    use hyper_util::client::legacy::connect::HttpConnector;
    use tokio::net::TcpListener;

    use super::*;
    use crate::timing::Attempt;

    /// Connects as the client would once the resolver has accepted the address.
    async fn connect(policy: AddressPolicy, attempt: &Arc<Attempt>) -> Result<(), FetchFailureKind> {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", server.local_addr().unwrap()).parse::<http::Uri>().unwrap();
        let mut connector = ConnectLayer::new(policy, Arc::default()).layer(Boxed(HttpConnector::new()));
        let connected = ATTEMPT.scope(Arc::clone(attempt), async { connector.call(url).await }).await;
        connected.map(drop).map_err(|error| error.downcast_ref::<NoConnection>().map_or(Connect, NoConnection::kind))
    }

    /// Gives the plain connector the client's error type.
    #[derive(Clone)]
    struct Boxed(HttpConnector);

    impl Service<http::Uri> for Boxed {
        type Response = <HttpConnector as Service<http::Uri>>::Response;
        type Error = BoxError;
        type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

        fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
            self.0.poll_ready(context).map_err(Into::into)
        }

        fn call(&mut self, target: http::Uri) -> Self::Future {
            let connecting = self.0.call(target);
            Box::pin(async { Ok(connecting.await?) })
        }
    }

    #[tokio::test]
    async fn a_private_peer_is_refused_however_it_was_reached() {
        let attempt = Arc::new(Attempt::new(Duration::from_secs(5)));
        assert_eq!(connect(AddressPolicy::PublicOnly, &attempt).await, Err(PrivateAddress));
        assert!(!attempt.phase().has_connection(), "nothing can have been sent");
        assert_eq!(connect(AddressPolicy::AllowPrivate, &attempt).await, Ok(()));
        assert!(attempt.phase().has_connection());
    }

    /// A connector for a network that drops everything.
    struct Silent;

    impl Service<http::Uri> for Silent {
        type Response = <Boxed as Service<http::Uri>>::Response;
        type Error = BoxError;
        type Future = std::future::Pending<Result<Self::Response, BoxError>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, _: http::Uri) -> Self::Future {
            std::future::pending()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn connecting_ends_with_its_limit() {
        let attempt = Arc::new(Attempt::new(Duration::from_secs(7)));
        let began = timing::now();
        let mut connector = ConnectLayer::new(AddressPolicy::AllowPrivate, Arc::default()).layer(Silent);
        let connecting = ATTEMPT.scope(Arc::clone(&attempt), async { connector.call(http::Uri::default()).await });
        let error = connecting.await.err().unwrap();
        assert!(matches!(error.downcast_ref(), Some(NoConnection::TimedOut(_))), "{error}");
        assert_eq!(began.elapsed(), Duration::from_secs(7));
        assert!(!attempt.phase().has_connection());
    }

    #[tokio::test]
    async fn without_a_request_there_is_no_connection() {
        let mut connector =
            ConnectLayer::new(AddressPolicy::AllowPrivate, Arc::default()).layer(Boxed(HttpConnector::new()));
        let error = connector.call(http::Uri::from_static("http://127.0.0.1:1/")).await.err().unwrap();
        assert!(matches!(error.downcast_ref(), Some(NoConnection::NoRequest)), "{error}");
    }
}
