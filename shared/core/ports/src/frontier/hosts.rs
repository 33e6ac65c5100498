//! Hosts and the places of their domains: their current users and their queues.

use std::future::Future;

use dragline_domain::frontier::{DomainRow, HostRequest, HostRow};
use dragline_domain::ids::LeaseToken;
use dragline_domain::politeness::Pace;
use dragline_domain::url::{DomainKey, HostKey};
use jiff::Timestamp;

use crate::error::PortResult;

/// Hosts and the places of their domains: their current users and their queues.
pub trait Hosts: Send + Sync {
    /// Returns a host's row, read consistently; `None` if it has never been requested.
    fn load_host(&self, host: &HostKey) -> impl Future<Output = PortResult<Option<HostRow>>> + Send;

    /// Returns a registered domain's row, read consistently; `None` if none of its hosts has ever
    /// been requested.
    fn load_domain(&self, domain: &DomainKey) -> impl Future<Output = PortResult<Option<DomainRow>>> + Send;

    /// Takes a host, and a place in its domain, for a request outside of any lease. If it is busy,
    /// joins its queue and returns when to try again. Retries with the same token succeed.
    fn take_host(
        &self,
        host: &HostKey,
        ask: &HostRequest,
    ) -> impl Future<Output = PortResult<Result<HostRow, Timestamp>>> + Send;

    /// Gives back a host that was taken without a lease. Does nothing if another has taken it
    /// since.
    fn give_back_host(&self, back: &GiveBackHost) -> impl Future<Output = PortResult<()>> + Send;
}

/// A request to give back a host that was taken without a lease.
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
