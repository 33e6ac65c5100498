//! A server that follows a script, request by request.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::step::Wire;
use super::{Step, html, links, reply};

/// Longer than any request of the crawler.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Asked {
    /// When it arrived, by the monotonic clock.
    pub at: Instant,
    /// Path and query, as sent.
    pub target: String,
    /// The whole header.
    pub head: String,
    /// The body; empty without `Content-Length`.
    pub body: String,
    /// How often this target was requested before.
    pub earlier: usize,
}

impl Asked {
    /// The value of a field; `None` if the request has no field of that name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

/// What a server does with a request.
type Script = dyn Fn(&Asked) -> Vec<Step> + Send + Sync;

#[derive(Debug, Default)]
struct Seen {
    connections: usize,
    requests: Vec<Asked>,
}

/// A running server, which stops with the test's runtime.
#[derive(Clone, Debug)]
pub struct HostileSite {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
}

impl HostileSite {
    /// Starts a server on a free port of the loopback interface. It does what the script says for
    /// each request, which has a connection of its own.
    ///
    /// # Panics
    /// If no port is free.
    pub async fn start(script: impl Fn(&Asked) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self::listen(None, Arc::new(script)).await
    }

    /// Starts the same server behind TLS.
    ///
    /// # Panics
    /// If no port is free.
    pub async fn start_tls(
        acceptor: TlsAcceptor,
        script: impl Fn(&Asked) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        Self::listen(Some(acceptor), Arc::new(script)).await
    }

    async fn listen(acceptor: Option<TlsAcceptor>, script: Arc<Script>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let site = Self { address: listener.local_addr().unwrap(), seen: Arc::default() };
        let seen = Arc::clone(&site.seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                lock(&seen).connections += 1;
                let (acceptor, seen, script) = (acceptor.clone(), Arc::clone(&seen), Arc::clone(&script));
                // A client may hang up at any time, or refuse the certificate.
                tokio::spawn(async move {
                    match acceptor {
                        None => talk(stream, &seen, &*script).await,
                        Some(acceptor) => talk(acceptor.accept(stream).await?, &seen, &*script).await,
                    }
                });
            }
        });
        site
    }

    /// Starts a server with a page at `/` that links to `nasty`, with good pages on both sides of
    /// it. Everything else is 404, robots.txt included.
    pub async fn beside_good_pages(nasty: Vec<(String, Vec<Step>)>) -> Self {
        let targets: Vec<String> = nasty.iter().map(|(target, _)| target.clone()).collect();
        let seed = links(["/good/before".to_owned()].into_iter().chain(targets).chain(["/good/after".to_owned()]));
        Self::start(move |asked| match asked.target.as_str() {
            "/" => html(&seed),
            "/good/before" | "/good/after" => html("<title>good</title>a good page"),
            target => {
                let steps = nasty.iter().find(|(nasty, _)| nasty == target).map(|(_, steps)| steps.clone());
                steps.unwrap_or_else(|| reply(404, &[], ""))
            }
        })
        .await
    }

    /// Scheme, host and port.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A URL of the server.
    #[must_use]
    pub fn url(&self, target: &str) -> String {
        format!("{}{target}", self.origin())
    }

    /// A URL of the server under another host name.
    #[must_use]
    pub fn named(&self, host: &str, target: &str) -> String {
        format!("http://{host}:{}{target}", self.port())
    }

    /// The address it listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The port of that address.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.address.port()
    }

    /// How many connections it has accepted.
    #[must_use]
    pub fn connections(&self) -> usize {
        lock(&self.seen).connections
    }

    /// The requests so far, in order.
    #[must_use]
    pub fn log(&self) -> Vec<Asked> {
        lock(&self.seen).requests.clone()
    }

    /// The targets of the requests so far, in order.
    #[must_use]
    pub fn targets(&self) -> Vec<String> {
        self.log().into_iter().map(|asked| asked.target).collect()
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn talk(mut stream: impl Wire + AsyncRead, seen: &Mutex<Seen>, script: &Script) -> io::Result<()> {
    let steps = script(&note(&read_request(&mut stream).await?, seen));
    for step in &steps {
        if matches!(step, Step::NextRequest) {
            note(&read_request(&mut stream).await?, seen);
        }
        step.act(&mut stream).await?;
    }
    // These are no orderly ends.
    if matches!(steps.last(), Some(Step::Reset | Step::HangUp)) { Ok(()) } else { stream.shutdown().await }
}

/// Reads a header and a body.
async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<(String, String)> {
    let head = read_head(stream).await?;
    let length =
        head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0).min(HEAD_BYTES_MAX)];
    stream.read_exact(&mut body).await?;
    Ok((head, String::from_utf8_lossy(&body).into_owned()))
}

async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < HEAD_BYTES_MAX {
        head.push(stream.read_u8().await?);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

#[expect(clippy::disallowed_methods, reason = "the server's own clock is the witness against the crawler's")]
fn note((head, body): &(String, String), seen: &Mutex<Seen>) -> Asked {
    let mut seen = lock(seen);
    let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let earlier = seen.requests.iter().filter(|asked| asked.target == target).count();
    let asked = Asked { at: Instant::now(), target, head: head.clone(), body: body.clone(), earlier };
    seen.requests.push(asked.clone());
    asked
}
