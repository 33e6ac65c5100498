//! A server that follows a script, request by request: for answers that change, and for
//! misbehaviour.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use jiff::Timestamp;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Longer than any request of the crawler.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// When it arrived, by the monotonic clock.
    pub(crate) at: Instant,
    /// The same moment by the wall clock.
    pub(crate) at_wall: Timestamp,
    /// Path and query.
    pub(crate) target: String,
    /// The whole header.
    pub(crate) head: String,
    /// How often this target was requested before.
    pub(crate) earlier: usize,
}

impl Asked {
    /// The request's method.
    pub(crate) fn method(&self) -> &str {
        self.head.split(' ').next().unwrap_or_default()
    }

    /// The value of a field; `None` if the request has no field of that name.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// The port that it was sent to.
    pub(crate) fn port(&self) -> &str {
        self.field("host").and_then(|host| host.rsplit_once(':')).unwrap().1
    }
}

/// What the server does with a request.
pub(crate) enum Act {
    /// Sends these bytes, then closes the connection.
    Send(Vec<u8>),
    /// Closes the connection without an answer.
    HangUp,
}

/// An answer with a `content-length`. Fields are whole lines, such as `etag: "1"`.
pub(crate) fn answer(status: u16, fields: &[&str], body: impl AsRef<[u8]>) -> Act {
    let body = body.as_ref();
    let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
    let head = format!("HTTP/1.1 {status} Said\r\ncontent-length: {}\r\nconnection: close\r\n{fields}\r\n", body.len());
    Act::Send([head.as_bytes(), body].concat())
}

/// An answer that is a page.
pub(crate) fn page(body: &str) -> Act {
    answer(200, &["content-type: text/html"], body)
}

/// A running server, which stops with the test's runtime.
pub(crate) struct ScriptedSite {
    port: u16,
    log: Arc<Mutex<Vec<Asked>>>,
}

impl ScriptedSite {
    /// Starts on a free port.
    pub(crate) async fn start(script: impl Fn(&Asked) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (log, script) = (Arc::new(Mutex::default()), Arc::new(script));
        let shared = Arc::clone(&log);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(talk(stream, Arc::clone(&shared), Arc::clone(&script)));
            }
        });
        Self { port, log }
    }

    /// A URL of the server.
    pub(crate) fn url(&self, target: &str) -> String {
        format!("http://127.0.0.1:{}{target}", self.port)
    }

    /// A URL of the server under another host name.
    pub(crate) fn named(&self, host: &str, target: &str) -> String {
        format!("http://{host}:{}{target}", self.port)
    }

    /// The requests so far, in order.
    pub(crate) fn log(&self) -> Vec<Asked> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The targets requested so far, in order, without robots.txt.
    pub(crate) fn targets(&self) -> Vec<String> {
        self.log().into_iter().map(|asked| asked.target).filter(|target| target != "/robots.txt").collect()
    }
}

async fn talk(mut stream: TcpStream, log: Arc<Mutex<Vec<Asked>>>, script: Arc<impl Fn(&Asked) -> Act>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < HEAD_BYTES_MAX {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_gone) => return,
        }
    }
    let asked = note(&String::from_utf8_lossy(&head), &log);
    if let Act::Send(bytes) = script(&asked) {
        // A client may hang up in the middle.
        let _broken = stream.write_all(&bytes).await;
        let _broken = stream.shutdown().await;
    }
}

#[expect(clippy::disallowed_methods, reason = "the server's own clock is the witness against the crawler's")]
fn note(head: &str, log: &Mutex<Vec<Asked>>) -> Asked {
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let earlier = log.iter().filter(|asked| asked.target == target).count();
    let asked = Asked { at: Instant::now(), at_wall: Timestamp::now(), target, head: head.to_owned(), earlier };
    log.push(asked.clone());
    asked
}
