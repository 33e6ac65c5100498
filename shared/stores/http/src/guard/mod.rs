//! The guard, which decides to which addresses Dragline connects.
//!
//! It has three checks, because none of them sees everything:
//! 1. a literal address in the URL, in any spelling, is checked before anything else
//!    (`fetcher.rs`), as it never meets a resolver;
//! 2. the addresses of a name are checked, and exactly the checked addresses are connected to, with
//!    no second lookup;
//! 3. the peer of each new connection is checked before a request uses it, in case the first two
//!    fail.

mod connector;
mod resolver;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

pub(crate) use connector::{ConnectLayer, connection_ends};
use dragline_domain::address::{AddressRefused, NameRefused};
use dragline_ports::fetcher::FetchFailureKind;
pub(crate) use resolver::GuardedResolver;
pub use resolver::{NameLookup, SystemLookup};

/// Why this crate refused a connection. Passed through the client's error chain; `failure.rs` finds
/// it there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoConnection {
    #[error(transparent)]
    PrivateName(#[from] NameRefused),
    #[error("`{host}` has no public address")]
    PrivateAddresses {
        host: String,
        /// Why the first address was refused.
        #[source]
        first: AddressRefused,
    },
    #[error("connected to {peer}")]
    PrivatePeer {
        peer: SocketAddr,
        #[source]
        refused: AddressRefused,
    },
    #[error("the connection does not say who the peer is")]
    UnknownPeer,
    #[error("`{host}` cannot be resolved")]
    Lookup {
        host: String,
        #[source]
        error: io::Error,
    },
    #[error("`{0}` has no address")]
    NoAddress(String),
    #[error("no connection after {0:?}")]
    TimedOut(Duration),
    #[error("a connection without a request")]
    NoRequest,
}

impl NoConnection {
    pub(crate) fn kind(&self) -> FetchFailureKind {
        match self {
            Self::PrivateName(_) | Self::PrivateAddresses { .. } | Self::PrivatePeer { .. } | Self::UnknownPeer => {
                FetchFailureKind::PrivateAddress
            }
            Self::Lookup { .. } | Self::NoAddress(_) => FetchFailureKind::NameNotResolved,
            Self::TimedOut(_) => FetchFailureKind::Timeout,
            Self::NoRequest => FetchFailureKind::Connect,
        }
    }
}
