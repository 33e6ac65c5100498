//! The host that both origins share: had by one turn at a time.

use std::rc::Rc;

use dragline_domain::frontier::{HostHolder, HostRow, IterationRow, Lease, Take, TurnRefused, TurnTaken, take_turn};
use dragline_domain::ids::LeaseToken;

use crate::config::Hosts;
use crate::model::Model;
use crate::mutation::Mutation;
use crate::state::{Message, State, Ticket, now, run_out};
use crate::steps::Steps;

impl Model {
    /// Takes a lease, and the host with it where the origins share one. `None` if either is refused; who waits for the host is noted then.
    pub(crate) fn take_with_host(
        &self,
        state: &mut State,
        ticket: Ticket,
        lease: &Lease,
        row: &IterationRow,
        take: &Take,
    ) -> Option<(Lease, IterationRow)> {
        if self.config.hosts == Hosts::Apart {
            return lease.take(row, take).ok();
        }
        let mut asked = state.host.as_deref().cloned();
        if let Some(asked) = asked.as_mut().filter(|_| self.lacks(Mutation::TakeABusyHost)) {
            asked.holder = None;
        }
        match take_turn(&self.keys[ticket.origin], lease, row, asked.as_ref(), take) {
            Err(TurnRefused::Lease(_)) => None,
            Err(TurnRefused::Host(busy)) => {
                state.host = Some(Rc::new(busy.row));
                None
            }
            Ok(TurnTaken { lease, iteration, host }) => {
                state.host = Some(Rc::new(host));
                Some((lease, iteration))
            }
        }
    }

    /// Gives the host back that a lease was taken with, and calls whoever is next.
    pub(crate) fn give_host_back(&self, state: &mut State, token: &LeaseToken) {
        let Some(host) = state.host.clone() else { return };
        let holder = host.holder.as_ref().filter(|_| self.lacks(Mutation::HostGivenBackByAnyone));
        let token = holder.map_or(token, |holder| &holder.token);
        if self.lacks(Mutation::HostKeptAtRelease) {
            return;
        }
        let Some(back) = host.give_back(token, run_out(), host.pace, now()) else { return };
        if let Some(next) = back.next().filter(|_| !self.lacks(Mutation::NextNotCalled)) {
            let origin = self.keys.iter().position(|key| *key == next.origin).expect("only they wait");
            state.send(Message::Ticket(Ticket { iteration: next.iteration, origin, turn: next.turn }));
        }
        state.host = Some(Rc::new(back));
    }
}

/// As time goes by, nobody bears the token any more that the host was taken with, and whoever is next has lost its place.
pub(crate) fn time_steps(model: &Model, steps: &mut Steps<'_>) {
    let Some(host) = &steps.state.host else { return };
    let put = |row: HostRow| move |next: &mut State| next.host = Some(Rc::new(row));
    match &host.holder {
        Some(holder) if holder.until != run_out() && !model.lacks(Mutation::HostNeverRunsOut) => {
            // It is taken for as long as the turn can go on, its lease renewed or not.
            let mut asking = steps.state.crawlers.iter().filter(|crawler| crawler.asks());
            if asking.any(|crawler| crawler.held().is_some_and(|held| held.token == holder.token)) {
                return;
            }
            let holder = HostHolder { until: run_out(), ..holder.clone() };
            let row = HostRow { holder: Some(holder), ..(**host).clone() };
            steps.owed(|| "the host's time runs out".to_owned(), put(row));
        }
        None if !host.waiting.is_empty() && host.free_from != run_out() => {
            let row = HostRow { free_from: run_out(), ..(**host).clone() };
            steps.owed(|| "whoever is next has lost its place".to_owned(), put(row));
        }
        Some(_) | None => {}
    }
}
