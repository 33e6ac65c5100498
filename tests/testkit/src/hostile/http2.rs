//! Servers that violate HTTP/2 frame by frame (RFC 9113).

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

const PREFACE_BYTES: usize = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len();
const FRAME_HEADER_BYTES: usize = 9;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;

const NO_FLAGS: u8 = 0;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

/// Why a stream or a connection ends (RFC 9113 section 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Http2Error {
    /// `PROTOCOL_ERROR`.
    Protocol = 1,
    /// `INTERNAL_ERROR`.
    Internal = 2,
    /// `REFUSED_STREAM`.
    RefusedStream = 7,
    /// `CANCEL`.
    Cancel = 8,
    /// `ENHANCE_YOUR_CALM`.
    EnhanceYourCalm = 11,
    /// `HTTP_1_1_REQUIRED`.
    Http11Required = 13,
}

impl Http2Error {
    const fn to_bytes(self) -> [u8; 4] {
        (self as u32).to_be_bytes()
    }
}

/// `:status: 200` and `:status: 404` in HPACK's static table (RFC 7541, appendix A).
const STATUS_200: &[u8] = &[0x88];
const STATUS_404: &[u8] = &[0x8d];

/// `content-type: text/html`, a literal that is not indexed, with its name from that table.
const TEXT_HTML: &[u8] = b"\x0f\x10\x09text/html";

/// `connection: keep-alive`, a field that HTTP/2 forbids (RFC 9113 section 8.2.2), as servers
/// behind a gateway send it.
const CONNECTION: &[u8] = b"\0\x0aconnection\x0akeep-alive";

/// A page over HTTP/1.1.
const PAGE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\na page";

/// What a server does instead of sending a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Http2Misdeed {
    /// Resets the stream before a header.
    Reset(Http2Error),
    /// Sends a page with a field that HTTP/2 forbids.
    ConnectionField,
    /// Resets the stream in the middle of the body.
    ResetInBody,
    /// Sends GOAWAY, by which it leaves every stream out, and closes the connection.
    GoAway(Http2Error),
    /// Sends empty DATA frames without end.
    EmptyData,
    /// Sends CONTINUATION frames without end.
    Continuations,
    /// Sends PING frames without end, and no answer.
    Pings,
    /// Sends SETTINGS frames without end, and no answer.
    Settings,
    /// Sends a frame larger than the negotiated maximum.
    OversizedFrame,
    /// Sends a page with this many empty header fields besides its content type.
    EmptyFields(usize),
}

/// A running server. It answers the first request, which is for robots.txt, with 404, and
/// misbehaves at every other. Where its certificate's configuration offers HTTP/1.1, it sends a
/// page over that.
#[derive(Debug)]
pub struct Http2Site {
    port: u16,
    requests: Arc<Mutex<Vec<Instant>>>,
}

impl Http2Site {
    /// Starts on a free port of the loopback interface.
    ///
    /// # Panics
    /// If no port is free.
    pub async fn start(acceptor: TlsAcceptor, misdeed: Http2Misdeed) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let site = Self { port: listener.local_addr().unwrap().port(), requests: Arc::default() };
        let requests = Arc::clone(&site.requests);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, requests) = (acceptor.clone(), Arc::clone(&requests));
                tokio::spawn(async move {
                    let stream = acceptor.accept(stream).await?;
                    // Hanging up is a fair reaction of a client.
                    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
                        talk(Connection(stream), misdeed, &requests).await
                    } else {
                        talk_plainly(stream, &requests).await
                    }
                });
            }
        });
        site
    }

    /// A URL of the server under this host name.
    #[must_use]
    pub fn named(&self, host: &str, target: &str) -> String {
        format!("https://{host}:{}{target}", self.port)
    }

    /// When each request arrived, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Instant> {
        lock(&self.requests).clone()
    }
}

fn lock(requests: &Mutex<Vec<Instant>>) -> MutexGuard<'_, Vec<Instant>> {
    requests.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records a request, and returns how many came before.
#[expect(clippy::disallowed_methods, reason = "the server's own clock is the witness against the crawler's")]
fn note(requests: &Mutex<Vec<Instant>>) -> usize {
    let mut requests = lock(requests);
    requests.push(Instant::now());
    requests.len() - 1
}

async fn talk_plainly(mut stream: TlsStream<TcpStream>, requests: &Mutex<Vec<Instant>>) -> io::Result<()> {
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await?);
        }
        note(requests);
        stream.write_all(PAGE).await?;
        stream.flush().await?;
    }
}

struct Connection(TlsStream<TcpStream>);

impl Connection {
    async fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> io::Result<()> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let mut frame = vec![length[1], length[2], length[3], kind, flags];
        frame.extend_from_slice(&stream.to_be_bytes());
        frame.extend_from_slice(payload);
        self.0.write_all(&frame).await?;
        self.0.flush().await
    }

    async fn send_forever(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> io::Result<()> {
        loop {
            self.send(kind, flags, stream, payload).await?;
        }
    }

    /// Returns the stream of the next request, ignoring other frames.
    async fn next_request(&mut self) -> io::Result<u32> {
        loop {
            let mut header = [0; FRAME_HEADER_BYTES];
            self.0.read_exact(&mut header).await?;
            let length = u32::from_be_bytes([0, header[0], header[1], header[2]]);
            let mut payload = vec![0; length as usize];
            self.0.read_exact(&mut payload).await?;
            if header[3] == HEADERS {
                return Ok(u32::from_be_bytes([header[5], header[6], header[7], header[8]]));
            }
        }
    }
}

async fn talk(mut connection: Connection, misdeed: Http2Misdeed, requests: &Mutex<Vec<Instant>>) -> io::Result<()> {
    connection.0.read_exact(&mut [0; PREFACE_BYTES]).await?;
    connection.send(SETTINGS, NO_FLAGS, 0, &[]).await?;
    connection.send(SETTINGS, ACK, 0, &[]).await?;
    loop {
        let stream = connection.next_request().await?;
        if note(requests) == 0 {
            connection.send(HEADERS, END_HEADERS | END_STREAM, stream, STATUS_404).await?;
        } else {
            misbehave(&mut connection, misdeed, stream).await?;
        }
    }
}

async fn misbehave(connection: &mut Connection, misdeed: Http2Misdeed, stream: u32) -> io::Result<()> {
    match misdeed {
        Http2Misdeed::Reset(error) => connection.send(RST_STREAM, NO_FLAGS, stream, &error.to_bytes()).await,
        Http2Misdeed::ConnectionField => {
            let head = [STATUS_200, TEXT_HTML, CONNECTION].concat();
            connection.send(HEADERS, END_HEADERS, stream, &head).await?;
            connection.send(DATA, END_STREAM, stream, b"a page").await
        }
        Http2Misdeed::ResetInBody => {
            connection.send(HEADERS, END_HEADERS, stream, STATUS_200).await?;
            connection.send(DATA, NO_FLAGS, stream, b"<p>half a page").await?;
            connection.send(RST_STREAM, NO_FLAGS, stream, &Http2Error::Internal.to_bytes()).await
        }
        Http2Misdeed::GoAway(error) => {
            // The last stream that was processed: none.
            let payload = [[0; 4], error.to_bytes()].concat();
            connection.send(GOAWAY, NO_FLAGS, 0, &payload).await?;
            connection.0.shutdown().await
        }
        Http2Misdeed::EmptyData => {
            connection.send(HEADERS, END_HEADERS, stream, STATUS_200).await?;
            connection.send_forever(DATA, NO_FLAGS, stream, &[]).await
        }
        Http2Misdeed::Continuations => {
            connection.send(HEADERS, NO_FLAGS, stream, STATUS_200).await?;
            // A field named `a` without a value, not indexed.
            connection.send_forever(CONTINUATION, NO_FLAGS, stream, &[0, 1, b'a', 0]).await
        }
        Http2Misdeed::EmptyFields(count) => {
            // As in `Continuations`. A frame takes some 4,000 of them.
            let head = [STATUS_200, TEXT_HTML, &[0, 1, b'a', 0].repeat(count)].concat();
            connection.send(HEADERS, END_HEADERS, stream, &head).await?;
            connection.send(DATA, END_STREAM, stream, b"a page").await
        }
        Http2Misdeed::Pings => connection.send_forever(PING, NO_FLAGS, 0, &[0; 8]).await,
        Http2Misdeed::Settings => connection.send_forever(SETTINGS, NO_FLAGS, 0, &[]).await,
        Http2Misdeed::OversizedFrame => connection.send(0xfe, NO_FLAGS, stream, &[0; 1 << 20]).await,
    }
}
