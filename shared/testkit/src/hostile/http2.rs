//! Servers that violate HTTP/2 frame by frame (RFC 9113).

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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

const INTERNAL_ERROR: u32 = 2;

/// `:status: 200` and `:status: 404` in HPACK's static table (RFC 7541, appendix A).
const STATUS_200: &[u8] = &[0x88];
const STATUS_404: &[u8] = &[0x8d];

/// `content-type: text/html`, a literal that is not indexed, with its name from that table.
const TEXT_HTML: &[u8] = b"\x0f\x10\x09text/html";

/// What a server does instead of sending a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Http2Misdeed {
    /// Resets the stream before a header.
    ResetStream,
    /// Resets the stream in the middle of the body.
    ResetInBody,
    /// Sends GOAWAY and closes the connection.
    GoAway,
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

/// A running server. It answers the first request, which is for robots.txt, with 404, and misbehaves at every other.
#[derive(Debug)]
pub struct Http2Site {
    port: u16,
    requests: Arc<AtomicUsize>,
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
                    talk(Connection(stream), misdeed, &requests).await
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

    /// How many requests arrived.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
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

async fn talk(mut connection: Connection, misdeed: Http2Misdeed, requests: &AtomicUsize) -> io::Result<()> {
    connection.0.read_exact(&mut [0; PREFACE_BYTES]).await?;
    connection.send(SETTINGS, NO_FLAGS, 0, &[]).await?;
    connection.send(SETTINGS, ACK, 0, &[]).await?;
    loop {
        let stream = connection.next_request().await?;
        if requests.fetch_add(1, Ordering::SeqCst) == 0 {
            connection.send(HEADERS, END_HEADERS | END_STREAM, stream, STATUS_404).await?;
        } else {
            misbehave(&mut connection, misdeed, stream).await?;
        }
    }
}

async fn misbehave(connection: &mut Connection, misdeed: Http2Misdeed, stream: u32) -> io::Result<()> {
    match misdeed {
        Http2Misdeed::ResetStream => connection.send(RST_STREAM, NO_FLAGS, stream, &INTERNAL_ERROR.to_be_bytes()).await,
        Http2Misdeed::ResetInBody => {
            connection.send(HEADERS, END_HEADERS, stream, STATUS_200).await?;
            connection.send(DATA, NO_FLAGS, stream, b"<p>half a page").await?;
            connection.send(RST_STREAM, NO_FLAGS, stream, &INTERNAL_ERROR.to_be_bytes()).await
        }
        Http2Misdeed::GoAway => {
            // The last stream that was processed: none.
            let payload = [[0; 4], INTERNAL_ERROR.to_be_bytes()].concat();
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
