//! What a server does with a connection once it has read a request, step by step.

use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use bytes::Bytes;
use tokio::io::{AsyncWrite, AsyncWriteExt};

/// Parts of a body that are made while they are sent, so that the whole is never in memory.
type Parts = Box<dyn Iterator<Item = Bytes> + Send>;

/// One action of a server.
#[derive(Clone)]
pub enum Step {
    /// Sends these bytes.
    Send(Bytes),
    /// Sends these bytes repeatedly, with a pause after each time.
    SendForever {
        /// The bytes to send.
        bytes: Bytes,
        /// The pause; zero for none.
        every: Duration,
    },
    /// Sends these bytes one at a time, with a pause after each.
    Drip {
        /// The bytes to send.
        bytes: Bytes,
        /// The pause after each byte.
        every: Duration,
    },
    /// Sends parts as they are made.
    Stream(Arc<dyn Fn() -> Parts + Send + Sync>),
    /// Reads the next request on the same connection and continues.
    NextRequest,
    /// Keeps the connection open and sends nothing.
    Hold,
    /// Aborts the connection with a TCP reset.
    Reset,
    /// Closes the connection. Over TLS, without the `close_notify` that should come first.
    HangUp,
}

impl Step {
    /// Sends this text or these bytes.
    pub fn send(bytes: impl Into<Bytes>) -> Self {
        Self::Send(bytes.into())
    }

    /// Sends this without end, without pauses.
    pub fn send_forever(bytes: impl Into<Bytes>) -> Self {
        Self::send_every(Duration::ZERO, bytes)
    }

    /// Sends this without end, with this pause after each time.
    pub fn send_every(every: Duration, bytes: impl Into<Bytes>) -> Self {
        Self::SendForever { bytes: bytes.into(), every }
    }

    /// Sends the parts that this function makes for each request.
    pub fn stream<I>(parts: impl Fn() -> I + Send + Sync + 'static) -> Self
    where
        I: Iterator<Item = Bytes> + Send + 'static,
    {
        Self::Stream(Arc::new(move || Box::new(parts())))
    }

    /// Performs the step. Fails when the client hangs up. The caller reads the request that
    /// [`Step::Read`] waits for.
    pub(super) async fn act(&self, wire: &mut impl Wire) -> io::Result<()> {
        match self {
            Self::Send(bytes) => wire.write_all(bytes).await?,
            Self::SendForever { bytes, every } => loop {
                wire.write_all(bytes).await?;
                if !every.is_zero() {
                    wire.flush().await?;
                    tokio::time::sleep(*every).await;
                }
            },
            Self::Drip { bytes, every } => {
                for byte in bytes {
                    wire.write_all(&[*byte]).await?;
                    wire.flush().await?;
                    tokio::time::sleep(*every).await;
                }
            }
            Self::Stream(parts) => {
                for part in parts() {
                    wire.write_all(&part).await?;
                }
            }
            Self::NextRequest | Self::HangUp => {}
            Self::Hold => std::future::pending().await,
            Self::Reset => wire.reset_when_closed()?,
        }
        wire.flush().await
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Send(_) => "Send",
            Self::SendForever { .. } => "SendForever",
            Self::Drip { .. } => "Drip",
            Self::Stream(_) => "Stream",
            Self::NextRequest => "NextRequest",
            Self::Hold => "Hold",
            Self::Reset => "Reset",
            Self::HangUp => "HangUp",
        })
    }
}

/// A connection that can be aborted.
pub(super) trait Wire: AsyncWrite + Unpin + Send {
    /// Makes closing the connection send a TCP reset.
    fn reset_when_closed(&self) -> io::Result<()>;
}

impl Wire for tokio::net::TcpStream {
    fn reset_when_closed(&self) -> io::Result<()> {
        self.set_zero_linger()
    }
}

impl Wire for tokio_rustls::server::TlsStream<tokio::net::TcpStream> {
    fn reset_when_closed(&self) -> io::Result<()> {
        self.get_ref().0.set_zero_linger()
    }
}
