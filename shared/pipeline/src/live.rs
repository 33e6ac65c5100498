//! What this process knows of its own turns, whatever the clock says.
//!
//! When a lease or a host's rest is over is told by the wall clock, as other processes have no other sign. Within one process it is known: a
//! machine that slept, or whose clock was set ahead, must neither begin a second turn beside one that goes on, nor ask a host too soon.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dragline_domain::ids::LeaseToken;
use dragline_domain::url::HostKey;

/// The rests of no more hosts are kept; they are in the store as well.
const HOSTS_MAX: usize = 10_000;

/// The turns of a process that are under way, and the hosts that rest after one. All clones are one.
#[derive(Clone, Debug, Default)]
pub struct LiveTurns(Arc<Mutex<HashMap<HostKey, Known>>>);

#[derive(Debug, Default)]
struct Known {
    /// By which it is asked, or about to be.
    tokens: Vec<LeaseToken>,
    /// The monotonic reading before which it is not asked.
    rests_until: Duration,
}

impl LiveTurns {
    /// Notes a token, until what is returned is dropped.
    pub(crate) fn begin(&self, host: HostKey, token: LeaseToken) -> LiveTurn {
        self.lock().entry(host.clone()).or_default().tokens.push(token.clone());
        LiveTurn { turns: self.clone(), host, token }
    }

    /// The tokens by which this host is asked.
    pub(crate) fn at(&self, host: &HostKey) -> Vec<LeaseToken> {
        self.lock().get(host).map(|known| known.tokens.clone()).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<HostKey, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A token that is noted.
#[derive(Debug)]
pub(crate) struct LiveTurn {
    turns: LiveTurns,
    host: HostKey,
    token: LeaseToken,
}

impl LiveTurn {
    /// The tokens of the others by which this host is asked.
    pub(crate) fn others(&self) -> Vec<LeaseToken> {
        self.turns.at(&self.host).into_iter().filter(|token| *token != self.token).collect()
    }

    /// The monotonic reading before which this host is not asked, by what this process knows.
    pub(crate) fn rests_until(&self) -> Duration {
        self.turns.lock().get(&self.host).map(|known| known.rests_until).unwrap_or_default()
    }

    /// Notes that this host is not asked before this monotonic reading.
    pub(crate) fn rest_until(&self, reading: Duration, now: Duration) {
        let mut turns = self.turns.lock();
        if turns.len() >= HOSTS_MAX {
            turns.retain(|_, known| !known.tokens.is_empty() || known.rests_until > now);
        }
        if turns.len() < HOSTS_MAX || turns.contains_key(&self.host) {
            turns.entry(self.host.clone()).or_default().rests_until = reading;
        }
    }
}

impl Drop for LiveTurn {
    fn drop(&mut self) {
        let mut turns = self.turns.lock();
        if let Some(known) = turns.get_mut(&self.host) {
            known.tokens.retain(|token| *token != self.token);
            if known.tokens.is_empty() && known.rests_until.is_zero() {
                turns.remove(&self.host);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> HostKey {
        HostKey::of(&text.parse().unwrap())
    }

    #[test]
    fn a_turn_is_known_while_it_lives() {
        let [first, second] = [1, 2].map(LeaseToken::from_bits);
        let turns = LiveTurns::default();
        let (http, https) = (host("http://a.example"), host("https://a.example"));
        let one = turns.begin(http.clone(), first.clone());
        let two = turns.begin(https, second.clone());
        assert_eq!((one.others(), two.others()), (vec![second.clone()], vec![first]), "of one host");
        assert_eq!(turns.at(&host("https://b.example")), []);
        drop(one);
        assert_eq!((turns.at(&http), two.others()), (vec![second], vec![]));
        drop(two);
        assert!(turns.lock().is_empty(), "nothing is kept of who is gone");
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
        assert_eq!(readings, [second(0), second(61), second(120)], "what is over makes room");
    }
}
