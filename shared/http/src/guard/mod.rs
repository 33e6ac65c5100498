//! Whom Dragline talks to.
//!
//! The guard stands in three places, because none sees everything:
//! 1. an address written into the URL, in any spelling, is checked before anything else (`fetcher.rs`): it never meets a resolver;
//! 2. what a name resolves to is checked, and exactly the checked addresses are connected to, with no second lookup;
//! 3. the peer of each new connection is checked before a request goes through it, should the first two ever err.

mod connector;
mod resolver;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

pub(crate) use connector::{ConnectLayer, ends_of};
use dragline_domain::address::{AddressRefused, NameRefused};
use dragline_ports::fetcher::FetchFailureKind;
pub(crate) use resolver::GuardedResolver;
pub use resolver::{NameLookup, SystemLookup};

/// Why there is no connection, where it was this crate that said so. Travels through the client's error chain; `failure.rs` finds it there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoConnection {
    #[error(transparent)]
    PrivateName(#[from] NameRefused),
    #[error("`{host}` has no public address")]
    PrivateAddresses {
        host: String,
        /// Why the first of them was refused.
        #[source]
        first: AddressRefused,
    },
    #[error("connected to {peer}")]
    PrivatePeer {
        peer: SocketAddr,
        #[source]
        refused: AddressRefused,
    },
    #[error("the connection does not say whom it leads to")]
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
    #[error("a connection that no request asked for")]
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
