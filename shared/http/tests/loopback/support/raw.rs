//! A server that sends what it is told to, byte for byte.

use std::net::SocketAddr;

use bytes::Bytes;
use dragline_testkit::hostile::{HostileSite, Step};

/// Does the same steps on each connection and then closes it.
pub(crate) struct RawServer(HostileSite);

impl RawServer {
    pub(crate) async fn start(steps: impl IntoIterator<Item = Step>) -> Self {
        let steps: Vec<Step> = steps.into_iter().collect();
        Self(HostileSite::start(move |_| steps.clone()).await)
    }

    /// A server that answers one request a connection with this text.
    pub(crate) async fn answering(text: impl Into<Bytes>) -> Self {
        Self::start([Step::send(text)]).await
    }

    /// A server that answers two requests a connection, and says that it hangs up then: had it only hung up, whether
    /// the client notices in time would be chance.
    pub(crate) async fn answering_twice() -> Self {
        let first = Step::send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        let last = Step::send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
        Self::start([first, Step::NextRequest, last]).await
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.port()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.0.address()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        self.0.named("site.test", path)
    }

    pub(crate) fn connections(&self) -> usize {
        self.0.connections()
    }

    /// The headers of the requests, as they came.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.0.log().into_iter().map(|asked| asked.head).collect()
    }
}
