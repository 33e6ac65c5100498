//! A server that sends what it is told to, byte for byte.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What a server does once it has read a request's header.
#[derive(Clone)]
pub(crate) enum Step {
    Send(Vec<u8>),
    SendForever(&'static [u8]),
    /// Read the next request's header on the same connection.
    NextRequest,
    /// Keep the connection and say nothing.
    Hold,
    /// Break the connection off with a TCP reset.
    Reset,
}

impl Step {
    pub(crate) fn send(text: impl AsRef<[u8]>) -> Self {
        Self::Send(text.as_ref().to_vec())
    }
}

/// Does the same steps on each connection and then closes it.
pub(crate) struct RawServer {
    address: SocketAddr,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    connections: Mutex<usize>,
    requests: Mutex<Vec<String>>,
}

impl RawServer {
    pub(crate) async fn start(steps: impl IntoIterator<Item = Step>) -> Self {
        let steps: Vec<Step> = steps.into_iter().collect();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen::default());
        let server = Self { address, seen: Arc::clone(&seen) };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                *seen.connections.lock().unwrap() += 1;
                // The client may hang up at any time; that is for the test to notice.
                tokio::spawn(serve(stream, steps.clone(), Arc::clone(&seen)));
            }
        });
        server
    }

    /// A server that answers one request a connection with this text.
    pub(crate) async fn answering(text: impl AsRef<[u8]>) -> Self {
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
        self.address.port()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://site.test:{}{path}", self.port())
    }

    pub(crate) fn connections(&self) -> usize {
        *self.seen.connections.lock().unwrap()
    }

    /// The headers of the requests, as they came.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen.requests.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, steps: Vec<Step>, seen: Arc<Seen>) -> io::Result<()> {
    read_header(&mut stream, &seen).await?;
    for step in steps {
        match step {
            Step::Send(bytes) => stream.write_all(&bytes).await?,
            Step::SendForever(bytes) => loop {
                stream.write_all(bytes).await?;
            },
            Step::NextRequest => read_header(&mut stream, &seen).await?,
            Step::Hold => std::future::pending().await,
            Step::Reset => stream.set_zero_linger()?,
        }
    }
    Ok(())
}

async fn read_header(stream: &mut TcpStream, seen: &Seen) -> io::Result<()> {
    let mut header = Vec::new();
    while !header.ends_with(b"\r\n\r\n") {
        header.push(stream.read_u8().await?);
    }
    seen.requests.lock().unwrap().push(String::from_utf8(header).unwrap());
    Ok(())
}
