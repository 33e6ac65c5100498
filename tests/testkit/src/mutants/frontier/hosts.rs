//! Defects of hosts and of the places of their domains.

use dragline_domain::frontier::{DomainRow, HostAsk, HostRow};
use dragline_domain::url::{DomainKey, HostKey};
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Frontier, GiveBackHost, Hosts};
use jiff::Timestamp;

use super::super::FrontierMutation as M;
use super::MutantFrontier;

impl<F: Frontier> Hosts for MutantFrontier<F> {
    async fn load_host(&self, host: &HostKey) -> PortResult<Option<HostRow>> {
        let mut row = self.inner.load_host(host).await?;
        if let Some(row) = row.as_mut().filter(|_| self.is(M::NobodyWaits)) {
            row.waiting.clear();
        }
        Ok(row)
    }

    async fn load_domain(&self, domain: &DomainKey) -> PortResult<Option<DomainRow>> {
        let mut row = self.inner.load_domain(domain).await?;
        if let Some(row) = row.as_mut().filter(|_| self.is(M::NobodyWaits)) {
            row.waiting.clear();
        }
        Ok(row)
    }

    async fn take_host(&self, host: &HostKey, ask: &HostAsk) -> PortResult<Result<HostRow, Timestamp>> {
        let mut ask = ask.clone();
        match self.mutation {
            Some(M::LivingForgotten) => ask.alive.clear(),
            Some(M::DomainForgotten) => ask.hosts_per_domain = ask.hosts_per_domain.map(|_| u16::MAX),
            Some(M::PlaceNotTaken) => ask.hosts_per_domain = None,
            _ => {}
        }
        self.inner.take_host(host, &ask).await
    }

    async fn give_back_host(&self, back: &GiveBackHost) -> PortResult<()> {
        let mut back = back.clone();
        if self.is(M::HostGivenBackByAnyone)
            && let Some(holder) = self.inner.load_host(&back.host).await?.and_then(|row| row.holder)
        {
            back.token = holder.token;
        }
        if self.is(M::HostKept) { Ok(()) } else { self.inner.give_back_host(&back).await }
    }
}
