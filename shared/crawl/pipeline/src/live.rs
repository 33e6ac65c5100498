//! The process's knowledge of its own turns, independent of the wall clock.
//!
//! The wall clock decides when a lease or a host's rest is over, as other processes have nothing
//! else to go by. Within one process more is known: after the machine slept, or its clock was set
//! ahead, no second turn may begin beside a running one, and no host may get a request too soon.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dragline_domain::ids::LeaseToken;
use dragline_domain::url::{DomainKey, HostKey};

use crate::access::Sessions;
use crate::crawl::RenderedOrigins;

/// The most hosts whose rests are kept; they are in the store as well.
const HOSTS_MAX: usize = 10_000;

/// The running turns of a process, and the hosts that rest after one. Clones share the same state.
#[derive(Clone, Debug, Default)]
pub struct LiveTurns {
    places: Arc<Mutex<Places>>,
    sessions: Sessions,
    rendered: RenderedOrigins,
}

#[derive(Debug, Default)]
struct Places {
    hosts: HashMap<HostKey, HostState>,
    /// The tokens that hold hosts of a domain.
    domains: HashMap<DomainKey, Vec<LeaseToken>>,
}

#[derive(Debug, Default)]
struct HostState {
    /// The tokens that hold the host, or are about to.
    tokens: Vec<LeaseToken>,
    /// The monotonic reading before which it gets no request.
    rests_until: Duration,
}

impl LiveTurns {
    /// Registers a token until the returned value is dropped.
    pub(crate) fn begin(&self, host: HostKey, token: LeaseToken) -> LiveTurn {
        let domain = host.domain();
        let mut places = self.lock();
        places.hosts.entry(host.clone()).or_default().tokens.push(token.clone());
        if let Some(domain) = &domain {
            places.domains.entry(domain.clone()).or_default().push(token.clone());
        }
        drop(places);
        LiveTurn { turns: self.clone(), host, domain, token }
    }

    /// Returns the tokens that hold this host.
    pub(crate) fn at(&self, host: &HostKey) -> Vec<LeaseToken> {
        self.lock().hosts.get(host).map(|known| known.tokens.clone()).unwrap_or_default()
    }

    /// Returns the sessions of this process.
    pub(crate) const fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// Returns what the rendered pages of this process have in common.
    pub(crate) const fn rendered(&self) -> &RenderedOrigins {
        &self.rendered
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A registered token.
#[derive(Debug)]
pub(crate) struct LiveTurn {
    turns: LiveTurns,
    host: HostKey,
    domain: Option<DomainKey>,
    token: LeaseToken,
}

impl LiveTurn {
    /// Returns the other tokens that hold this host, or another host of its domain.
    pub(crate) fn others(&self) -> Vec<LeaseToken> {
        let places = self.turns.lock();
        let tokens = match &self.domain {
            Some(domain) => places.domains.get(domain),
            None => places.hosts.get(&self.host).map(|known| &known.tokens),
        };
        tokens.into_iter().flatten().filter(|token| **token != self.token).cloned().collect()
    }

    /// Returns the monotonic reading before which this host gets no request, as far as this process
    /// knows.
    pub(crate) fn rests_until(&self) -> Duration {
        self.turns.lock().hosts.get(&self.host).map(|known| known.rests_until).unwrap_or_default()
    }

    /// Records that this host gets no request before this monotonic reading.
    pub(crate) fn rest_until(&self, reading: Duration, now: Duration) {
        let hosts = &mut self.turns.lock().hosts;
        if hosts.len() >= HOSTS_MAX {
            hosts.retain(|_, known| !known.tokens.is_empty() || known.rests_until > now);
        }
        if hosts.len() < HOSTS_MAX || hosts.contains_key(&self.host) {
            hosts.entry(self.host.clone()).or_default().rests_until = reading;
        }
    }
}

impl Drop for LiveTurn {
    fn drop(&mut self) {
        let Places { hosts, domains } = &mut *self.turns.lock();
        if let Some(known) = hosts.get_mut(&self.host) {
            known.tokens.retain(|token| *token != self.token);
            if known.tokens.is_empty() && known.rests_until.is_zero() {
                hosts.remove(&self.host);
            }
        }
        if let Some((domain, tokens)) = self.domain.as_ref().and_then(|key| Some((key, domains.get_mut(key)?))) {
            tokens.retain(|token| *token != self.token);
            if tokens.is_empty() {
                domains.remove(domain);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> HostKey {
        HostKey::from_origin(&text.parse().unwrap())
    }

    #[test]
    fn a_turn_is_known_while_it_lives() {
        let [first, second, third] = [1, 2, 3].map(LeaseToken::from_bits);
        let turns = LiveTurns::default();
        let (http, https) = (host("http://a.example"), host("https://a.example"));
        let one = turns.begin(http.clone(), first.clone());
        let two = turns.begin(https, second.clone());
        assert_eq!((one.others(), two.others()), (vec![second.clone()], vec![first]), "of one host");
        let three = turns.begin(host("https://b.example"), third.clone());
        assert_eq!(three.others(), [], "another host, of another domain");
        let below = turns.begin(host("https://www.a.example"), LeaseToken::from_bits(4));
        assert_eq!(below.others().len(), 2, "another of the same domain");
        drop((one, below, three));
        assert_eq!((turns.at(&http), two.others()), (vec![second], vec![]));
        drop(two);
        let places = turns.lock();
        assert!(places.hosts.is_empty() && places.domains.is_empty(), "nothing is kept of turns that are over");
    }

    #[test]
    fn a_rest_is_known_until_it_is_over() {
        let turns = LiveTurns::default();
        let second = Duration::from_secs;
        let at = |n: usize| turns.begin(host(&format!("https://{n}.example")), LeaseToken::from_bits(1));
        for n in 0..HOSTS_MAX {
            at(n).rest_until(second(60 + n as u64 % 2), second(0));
        }
        assert_eq!((at(0).rests_until(), at(1).rests_until()), (second(60), second(61)));
        at(HOSTS_MAX).rest_until(second(120), second(60));
        let readings = [0, 1, HOSTS_MAX].map(|n| at(n).rests_until());
        assert_eq!(readings, [second(0), second(61), second(120)], "rests that are over make room");
    }
}
