//! What this process knows of how origins let it in: their sessions, which are stored nowhere.
//!
//! Another process that takes an origin over logs in by itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dragline_domain::frontier::OriginKey;
use dragline_domain::ids::Iteration;
use dragline_domain::url::CrawlUrl;
use dragline_ports::fetcher::{FilledForm, Session};

/// The most origins of which it is kept. For others the crawl logs in again in the next turn.
const ORIGINS_MAX: usize = 1_000;

/// Sessions by origin and iteration. Clones share the same state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sessions(Arc<Mutex<ByOrigin>>);

type ByOrigin = HashMap<(OriginKey, Iteration), Arc<OriginAccess>>;

impl Sessions {
    /// Returns what is known of an origin in an iteration.
    pub(crate) fn at(&self, origin: &OriginKey, iteration: Iteration) -> Arc<OriginAccess> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= ORIGINS_MAX {
            known.retain(|_, access| Arc::strong_count(access) > 1);
        }
        Arc::clone(known.entry((origin.clone(), iteration)).or_default())
    }
}

/// How one origin lets the crawl in.
#[derive(Debug, Default)]
pub(crate) struct OriginAccess(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    session: Arc<Session>,
    /// The monotonic reading at the log-in; `None` while the crawl is not logged in.
    logged_in_at: Option<Duration>,
    /// A log-in that the end of a turn interrupted.
    begun: Option<LogInRequest>,
    /// How many answers in a row were for strangers, although another log-in had come before.
    refusals: u32,
}

/// The next request of a log-in.
#[derive(Clone, Debug)]
pub(crate) struct LogInRequest {
    pub url: CrawlUrl,
    /// The form to send; `None` for a page.
    pub form: Option<Arc<FilledForm>>,
    /// Whether the form was sent before.
    pub is_after_form: bool,
    /// How many requests came before.
    pub requests: usize,
}

impl OriginAccess {
    /// Returns the session.
    pub(crate) fn session(&self) -> Arc<Session> {
        Arc::clone(&self.lock().session)
    }

    pub(crate) fn is_logged_in(&self) -> bool {
        self.lock().logged_in_at.is_some()
    }

    /// Returns the request by which an interrupted log-in goes on; `None`: a new one begins,
    /// without the old one's cookies.
    pub(crate) fn resume(&self) -> Option<LogInRequest> {
        let mut state = self.lock();
        let begun = state.begun.take();
        if begun.is_none() {
            state.session = Arc::default();
        }
        begun
    }

    pub(crate) fn interrupt(&self, next: LogInRequest) {
        self.lock().begun = Some(next);
    }

    pub(crate) fn log_in(&self, at: Duration) {
        self.lock().logged_in_at = Some(at);
    }

    /// Notes that the answer to a request was for strangers. A request that was sent before the
    /// last log-in says nothing about the session.
    pub(crate) fn log_out(&self, asked_at: Duration) {
        let mut state = self.lock();
        state.logged_in_at = state.logged_in_at.filter(|at| *at > asked_at);
    }

    /// Counts an answer for strangers that no other log-in changes, and returns how many came in a
    /// row.
    pub(crate) fn count_refusal(&self) -> u32 {
        let mut state = self.lock();
        state.refusals += 1;
        state.refusals
    }

    /// Notes an answer for members.
    pub(crate) fn is_let_in(&self) {
        self.lock().refusals = 0;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::ids::CrawlId;

    use super::*;

    #[test]
    fn a_session_is_of_one_origin_and_iteration() {
        let sessions = Sessions::default();
        let key = |origin: &str| OriginKey {
            crawl: CrawlId::try_from("c".to_owned()).unwrap(),
            origin: origin.parse().unwrap(),
        };
        let (first, next) = (Iteration::FIRST, Iteration::FIRST.next());
        let one = sessions.at(&key("https://a.example"), first);
        assert!(Arc::ptr_eq(&one, &sessions.at(&key("https://a.example"), first)), "it is kept");
        assert!(!Arc::ptr_eq(&one, &sessions.at(&key("https://b.example"), first)), "another origin");
        assert!(!Arc::ptr_eq(&one, &sessions.at(&key("https://a.example"), next)), "another iteration");
        for n in 0..=ORIGINS_MAX {
            sessions.at(&key(&format!("https://{n}.example")), first);
        }
        assert!(sessions.0.lock().unwrap().len() <= ORIGINS_MAX);
        assert!(Arc::ptr_eq(&one, &sessions.at(&key("https://a.example"), first)), "it is in use");
    }

    #[test]
    fn only_an_answer_after_the_log_in_ends_a_session() {
        let second = Duration::from_secs;
        let access = OriginAccess::default();
        assert!(!access.is_logged_in() && access.resume().is_none());
        access.log_in(second(10));
        access.log_out(second(9));
        assert!(access.is_logged_in(), "it was sent before");
        access.log_out(second(10));
        assert!(!access.is_logged_in());
        let before = access.session();
        assert!(access.resume().is_none() && !Arc::ptr_eq(&before, &access.session()), "its cookies are gone");
        assert_eq!((access.count_refusal(), access.count_refusal()), (1, 2));
        access.is_let_in();
        assert_eq!(access.count_refusal(), 1, "not in a row");
    }
}
