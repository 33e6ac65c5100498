//! The host that both origins share, or their domain with its one place: held by one turn at a
//! time.

use std::rc::Rc;

use dragline_domain::frontier::{
    DomainRow, HostHolder, HostRefused, HostRow, HostRows, HostWaiter, IterationRow, Lease, TakeRequest, TurnRefused,
    TurnTaken, take_turn,
};
use dragline_domain::ids::LeaseToken;

use crate::config::Hosts;
use crate::model::Model;
use crate::mutation::Mutation;
use crate::state::{Message, State, Ticket, now, run_out};
use crate::steps::Steps;

impl Model {
    /// Takes a lease, with the shared host or the domain's place, if any. `None` if either is
    /// refused, which puts the origin in line.
    pub(crate) fn take_with_host(
        &self,
        state: &mut State,
        ticket: Ticket,
        lease: &Lease,
        row: &IterationRow,
        take: &TakeRequest,
    ) -> Option<(Lease, IterationRow)> {
        if self.config.hosts == Hosts::Apart {
            return lease.take(row, take).ok();
        }
        let (mut host, mut domain) = (state.host.as_deref().cloned(), state.domain.as_deref().cloned());
        if let Some(host) = host.as_mut().filter(|_| self.lacks(Mutation::TakeABusyHost)) {
            host.holder = None;
        }
        if let Some(domain) = domain.as_mut().filter(|_| self.lacks(Mutation::TakeWithoutAPlace)) {
            domain.holders.clear();
        }
        let rows = HostRows { host: host.as_ref(), domain: domain.as_ref() };
        match take_turn(&self.keys[ticket.origin], lease, row, rows, take) {
            Err(TurnRefused::Lease(_)) => None,
            Err(TurnRefused::Host(HostRefused::Host(busy))) => {
                state.host = Some(Rc::new(busy.row));
                None
            }
            Err(TurnRefused::Host(HostRefused::Domain(busy))) => {
                state.domain = Some(Rc::new(busy.row));
                None
            }
            Ok(TurnTaken { lease, iteration, host }) => {
                // The other's row says no more than its lease.
                match self.config.hosts {
                    Hosts::OfOneDomain => state.domain = host.domain.map(Rc::new),
                    Hosts::Apart | Hosts::Shared => state.host = Some(Rc::new(host.host)),
                }
                Some((lease, iteration))
            }
        }
    }

    /// Gives back the host or place that a lease was taken with, and wakes the next in line.
    pub(crate) fn give_host_back(&self, state: &mut State, token: &LeaseToken) {
        if let Some(host) = state.host.clone().filter(|_| !self.lacks(Mutation::HostKeptAtRelease)) {
            let holder = host.holder.as_ref().filter(|_| self.lacks(Mutation::HostGivenBackByAnyone));
            let token = holder.map_or(token, |holder| &holder.token);
            if let Some(back) = host.give_back(token, run_out(), host.pace, now()) {
                self.call(state, back.next().filter(|_| !self.lacks(Mutation::NextNotCalled)));
                state.host = Some(Rc::new(back));
            }
        }
        if let Some(domain) = state.domain.clone().filter(|_| !self.lacks(Mutation::PlaceKeptAtRelease)) {
            let holder = domain.holders.first().filter(|_| self.lacks(Mutation::PlaceGivenBackByAnyone));
            let token = holder.map_or(token, |holder| &holder.token);
            if let Some(back) = domain.give_back(token, now()) {
                self.call(state, back.next().filter(|_| !self.lacks(Mutation::NextForAPlaceNotCalled)));
                state.domain = Some(Rc::new(back));
            }
        }
    }

    fn call(&self, state: &mut State, next: Option<&HostWaiter>) {
        let Some(next) = next else { return };
        let origin = self.keys.iter().position(|key| *key == next.origin).expect("only they wait");
        state.send(Message::Ticket(Ticket { iteration: next.iteration, origin, turn: next.turn }));
    }
}

/// Lets time pass: once nobody bears the token of the host or place, it runs out; then whoever is
/// next loses its turn.
pub(crate) fn time_steps(model: &Model, steps: &mut Steps<'_>) {
    // It is taken for as long as the turn can last, whether its lease is renewed or not.
    let asks = |token: &LeaseToken| {
        let mut asking = steps.state.crawlers.iter().filter(|crawler| crawler.asks());
        asking.any(|crawler| crawler.held().is_some_and(|held| held.token == *token))
    };
    let over = |holder: &HostHolder| HostHolder { until: run_out(), ..holder.clone() };
    let is_dead = |holder: &HostHolder| holder.until != run_out() && !asks(&holder.token);
    let (mut host_after, mut domain_after) = (None, None);
    if let Some(host) = steps.state.host.as_deref() {
        let lapses = host.holder.is_none() && !host.waiting.is_empty() && host.free_from != run_out();
        host_after = match &host.holder {
            Some(holder) if is_dead(holder) && !model.lacks(Mutation::HostNeverRunsOut) => {
                Some(HostRow { holder: Some(over(holder)), ..host.clone() })
            }
            _ => lapses.then(|| HostRow { free_from: run_out(), ..host.clone() }),
        };
    }
    if let Some(domain) = steps.state.domain.as_deref() {
        let lapses = domain.holders.is_empty() && !domain.waiting.is_empty() && domain.freed_at != run_out();
        domain_after = match domain.holders.first() {
            Some(holder) if is_dead(holder) && !model.lacks(Mutation::PlaceNeverRunsOut) => {
                Some(DomainRow { holders: vec![over(holder)], ..domain.clone() })
            }
            _ => lapses.then(|| DomainRow { freed_at: run_out(), ..domain.clone() }),
        };
    }
    if let Some(row) = host_after {
        let what = if row.holder.is_some() { "the host's time runs out" } else { "the next in line loses its turn" };
        steps.owed(|| what.to_owned(), move |next: &mut State| next.host = Some(Rc::new(row)));
    }
    if let Some(row) = domain_after {
        let is_held = !row.holders.is_empty();
        let what = if is_held { "the place's time runs out" } else { "the next in line loses its place" };
        steps.owed(|| what.to_owned(), move |next: &mut State| next.domain = Some(Rc::new(row)));
    }
}
