//! Hosts and the places of their domains: who asks them, who waits for them.

use std::future::Future;

use dragline_domain::frontier::{DomainRow, HostAsk, HostRow};
use dragline_domain::ids::LeaseToken;
use dragline_domain::politeness::Pace;
use dragline_domain::url::{DomainKey, HostKey};
use jiff::Timestamp;

use crate::error::PortResult;

/// Hosts and the places of their domains: who asks them, who waits for them.
pub trait Hosts: Send + Sync {
    /// A host's row, read consistently; `None` if nobody asked it yet.
    fn load_host(&self, host: &HostKey) -> impl Future<Output = PortResult<Option<HostRow>>> + Send;

    /// A registered domain's row, read consistently; `None` if nobody asked a host of it yet.
    fn load_domain(&self, domain: &DomainKey) -> impl Future<Output = PortResult<Option<DomainRow>>> + Send;

    /// Takes a host, and a place in its domain, for a request that no lease of it covers, or stands in line for it: then it says when to try again. Trying again with
    /// the same token is success.
    fn take_host(
        &self,
        host: &HostKey,
        ask: &HostAsk,
    ) -> impl Future<Output = PortResult<Result<HostRow, Timestamp>>> + Send;

    /// Gives such a host back. Does nothing if another has it by now.
    fn give_back_host(&self, back: &GiveBackHost) -> impl Future<Output = PortResult<()>> + Send;
}

/// A host to be given back that was taken without a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GiveBackHost {
    /// The host.
    pub host: HostKey,
    /// The token that it was taken with.
    pub token: LeaseToken,
    /// When it may be asked again.
    pub free_from: Timestamp,
    /// How fast.
    pub pace: Pace,
    /// The time of now.
    pub now: Timestamp,
}
