//! The servers: their contents, requests and answers.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dragline_domain::time::{after, between};
use dragline_domain::url::CrawlUrl;
use dragline_ports::fetcher::FetchFailureKind;
use jiff::Timestamp;

use super::access::{Sender, Sent, is_for_missing};
use super::page::Arrival;
use super::scripts;
use super::{Access, Answer, Ended, Response, Sending, Site};

/// How long a robots.txt, or a page that does not exist, takes to answer.
const THINK: Duration = Duration::from_millis(40);

/// The servers of a site, with their access log. They outlive the crawler: the driver keeps them in
/// an `Arc`.
#[derive(Debug)]
pub struct Servers {
    /// Edition by edition; the last one stays. Never empty.
    editions: Vec<Site>,
    began: Timestamp,
    sending: Sending,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    edition: u32,
    requests: HashMap<CrawlUrl, u32>,
    log: Vec<Access>,
    unsent: u64,
    /// When each page was first to be rendered, in any browser.
    first_rendered: HashMap<CrawlUrl, Timestamp>,
}

/// The time of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) now: Timestamp,
    /// By the client's clock.
    pub(crate) shown: Timestamp,
}

/// The index of a request in the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry(usize);

impl Servers {
    /// Starts servers of these editions at this time, in the first one. If pages change by
    /// themselves, one edition is enough.
    #[must_use]
    pub fn new(editions: Vec<Site>, began: Timestamp) -> Self {
        Self { editions, began, sending: Sending::Whole, state: Mutex::default() }
    }

    /// Sends pages in this form from now on.
    #[must_use]
    pub fn sending(self, sending: Sending) -> Self {
        Self { sending, ..self }
    }

    /// Returns for how long a page has been there to be rendered, if it is now.
    pub(super) fn rendered_for(&self, url: &CrawlUrl, now: Timestamp) -> Duration {
        between(*self.state().first_rendered.entry(url.clone()).or_insert(now), now)
    }

    /// The true time at this point of the run, whatever any clock shows.
    pub(crate) fn time(&self, passed: Duration) -> Timestamp {
        after(self.began, passed)
    }

    /// The site that they serve now.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn site(&self) -> &Site {
        self.edition(self.state().edition)
    }

    fn edition(&self, number: u32) -> &Site {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        self.editions.get(number).or(self.editions.last()).expect("there is a site")
    }

    /// Begins the next edition, between two iterations.
    pub fn publish_next_edition(&self) {
        self.state().edition += 1;
    }

    /// Every request so far, in the order in which they began.
    #[must_use]
    pub fn accesses(&self) -> Vec<Access> {
        self.state().log.clone()
    }

    /// How many requests for addresses that cannot exist, and of pages, were given up before any
    /// server saw them.
    #[must_use]
    pub fn unsent(&self) -> u64 {
        self.state().unsent
    }

    /// Records that a request was given up before any server saw it.
    pub(super) fn give_up(&self, url: &CrawlUrl, sender: Sender) {
        self.state().unsent += u64::from(is_for_missing(url) || sender == Sender::Page);
    }

    /// Records a request, and decides on its answer and how long that takes; without an answer none
    /// ever comes.
    pub(super) fn begin(
        &self,
        url: &CrawlUrl,
        sent: Sent,
        set_out: Timestamp,
        Moment { now, shown }: Moment,
    ) -> (Entry, Duration, Option<Answer>) {
        let mut state = self.state();
        let requests = state.requests.entry(url.clone()).or_default();
        let earlier = *requests;
        *requests += 1;
        let arrival = Arrival { sent: sent.clone(), earlier, edition: state.edition, now };
        let Sent { target, cookie, conditions, sender } = sent;
        state.log.push(Access {
            url: url.clone(),
            begun: now,
            shown,
            set_out,
            target,
            cookie,
            conditions,
            sender,
            ended: None,
        });
        let (think, answer) = self.answer(url, &arrival);
        (Entry(state.log.len() - 1), think, answer)
    }

    /// Records the end of a request.
    pub(super) fn end(&self, entry: Entry, answer: Answer, at: Timestamp) {
        if let Some(access) = self.state().log.get_mut(entry.0) {
            access.ended = Some(Ended { at, answer });
        }
    }

    fn answer(&self, url: &CrawlUrl, arrival: &Arrival) -> (Duration, Option<Answer>) {
        let path = url.path_and_query();
        let Some(host) = self.edition(arrival.edition).hosts.get(&url.origin()) else {
            return (THINK, Some(Answer::Nothing(FetchFailureKind::NameNotResolved)));
        };
        let age = between(self.began, arrival.now);
        if host.dies_at.is_some_and(|end| end <= age) {
            return (THINK, Some(Answer::Nothing(FetchFailureKind::Connect)));
        }
        match host.pages.get(path) {
            _ if path == "/robots.txt" => (THINK, host.robots.answer(age, arrival)),
            _ if arrival.sent.sender == Sender::Page => (THINK, scripts::answer(url, arrival)),
            Some(page) => (page.think, page.answer(url, arrival).map(|answer| self.sending.send(answer))),
            None => (THINK, Some(Answer::Response(Response::new(404, "not here")))),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
