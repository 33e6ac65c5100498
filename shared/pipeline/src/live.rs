//! The turns of this process that are under way.
//!
//! Who holds a lease or a host when its time is over is told by the wall clock, as other processes have no other sign. Within one process
//! it is known: a machine that slept, or whose clock was set ahead, must not begin a second turn beside one that goes on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dragline_domain::ids::LeaseToken;
use dragline_domain::url::HostKey;

/// The tokens by which this process asks hosts, or is about to. All clones are one.
#[derive(Clone, Debug, Default)]
pub struct LiveTurns(Arc<Mutex<HashMap<HostKey, Vec<LeaseToken>>>>);

impl LiveTurns {
    /// Notes a token, until what is returned is dropped.
    pub(crate) fn begin(&self, host: HostKey, token: LeaseToken) -> LiveTurn {
        self.lock().entry(host.clone()).or_default().push(token.clone());
        LiveTurn { turns: self.clone(), host, token }
    }

    /// The tokens by which this host is asked.
    pub(crate) fn at(&self, host: &HostKey) -> Vec<LeaseToken> {
        self.lock().get(host).cloned().unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<HostKey, Vec<LeaseToken>>> {
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
}

impl Drop for LiveTurn {
    fn drop(&mut self) {
        let mut turns = self.turns.lock();
        if let Some(tokens) = turns.get_mut(&self.host) {
            tokens.retain(|token| *token != self.token);
            if tokens.is_empty() {
                turns.remove(&self.host);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_known_while_it_lives() {
        let host = |text: &str| HostKey::of(&text.parse().unwrap());
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
}
