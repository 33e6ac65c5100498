//! Hosts and the places of their domains: who sends them requests, who waits for them.

use std::future::Future;

use dragline_domain::frontier::{DomainRow, HostAsk, HostRow};
use dragline_domain::ids::LeaseToken;
use dragline_domain::politeness::Pace;
use dragline_domain::url::{DomainKey, HostKey};
use jiff::Timestamp;

use crate::error::PortResult;

/// Hosts and the places of their domains: who sends them requests, who waits for them.
pub trait Hosts: Send + Sync {
    /// Returns a host's row, read consistently; `None` if no request was made to it yet.
    fn load_host(&self, host: &HostKey) -> impl Future<Output = PortResult<Option<HostRow>>> + Send;

    /// Returns a registered domain's row, read consistently; `None` if no request was made to any of its hosts yet.
    fn load_domain(&self, domain: &DomainKey) -> impl Future<Output = PortResult<Option<DomainRow>>> + Send;

    /// Takes a host, and a place in its domain, for a request that no lease of it covers. If it is busy, stands in line and says when to try again.
    /// Trying again with the same token succeeds.
    fn take_host(
        &self,
        host: &HostKey,
        ask: &HostAsk,
    ) -> impl Future<Output = PortResult<Result<HostRow, Timestamp>>> + Send;

    /// Gives back a host that was taken without a lease. Does nothing if another has taken it since.
    fn give_back_host(&self, back: &GiveBackHost) -> impl Future<Output = PortResult<()>> + Send;
}

/// A host to be given back that was taken without a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GiveBackHost {
    /// The host.
    pub host: HostKey,
    /// The token that it was taken with.
    pub token: LeaseToken,
    /// When the next request may be made to it.
    pub free_from: Timestamp,
    /// The pace to keep there.
    pub pace: Pace,
    /// The current time.
    pub now: Timestamp,
}
