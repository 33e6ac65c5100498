//! What a server does with a connection once it has read a request, one thing after the other.

use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use bytes::Bytes;
use tokio::io::{AsyncWrite, AsyncWriteExt};

/// Parts of a body that are made while they are sent, so that nobody keeps the whole.
type Parts = Box<dyn Iterator<Item = Bytes> + Send>;

/// One thing that a server does.
#[derive(Clone)]
pub enum Step {
    /// Sends these bytes.
    Send(Bytes),
    /// Sends these bytes again and again, with a pause after each time.
    SendForever {
        /// What is sent.
        bytes: Bytes,
        /// The pause; none if it is zero.
        every: Duration,
    },
    /// Sends these bytes one at a time, with a pause after each.
    Drip {
        /// What is sent.
        bytes: Bytes,
        /// The pause after each byte.
        every: Duration,
    },
    /// Sends parts as they are made.
    Stream(Arc<dyn Fn() -> Parts + Send + Sync>),
    /// Reads the next request on the same connection, and goes on.
    NextRequest,
    /// Keeps the connection and says nothing.
    Hold,
    /// Breaks the connection off with a TCP reset.
    Reset,
}

impl Step {
    /// Sends this.
    pub fn send(bytes: impl Into<Bytes>) -> Self {
        Self::Send(bytes.into())
    }

    /// Sends this again and again.
    pub fn send_forever(bytes: impl Into<Bytes>) -> Self {
        Self::send_every(Duration::ZERO, bytes)
    }

    /// Sends this again and again, so often.
    pub fn send_every(every: Duration, bytes: impl Into<Bytes>) -> Self {
        Self::SendForever { bytes: bytes.into(), every }
    }

    /// Sends the parts that this makes anew for each request.
    pub fn stream<I>(parts: impl Fn() -> I + Send + Sync + 'static) -> Self
    where
        I: Iterator<Item = Bytes> + Send + 'static,
    {
        Self::Stream(Arc::new(move || Box::new(parts())))
    }

    /// Does it. An error is the client's hanging up. Whoever reads requests has read the next one before.
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
            Self::NextRequest => {}
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
        })
    }
}

/// A connection that can be broken off.
pub(super) trait Wire: AsyncWrite + Unpin + Send {
    /// Makes closing a TCP reset.
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
