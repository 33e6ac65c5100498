//! Who the crawl is to an origin: logging in before its first page, and what follows from answers
//! for strangers.

use std::sync::Arc;

use dragline_domain::definition::LogIn;
use dragline_domain::frontier::{FollowUp, GiveUpOutcome, LeftoverReason, TodoEntry};
use dragline_domain::outcome::{Outcome, OutcomeClass};
use dragline_domain::politeness::{RobotsUse, robots_wait};
use dragline_domain::shown::one_line;
use dragline_domain::time::after;
use dragline_domain::url::CrawlUrl;

use super::TurnWork;
use crate::World;
use crate::access::{LogInRequest, OriginAccess};
use crate::crawl::log_in::{Phase, REQUESTS_MAX, Step, logged_out, step};
use crate::crawl::paced::{FetchEnd, PacedRequests};
use crate::crawl::robots::Robots;
use crate::crawl::send::SentRequest;
use crate::crawl::visit::DETAIL_CHARS_MAX;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::fetcher::{FetchRequest, Fetcher, Fetchers, Session};

/// How many answers in a row may be for strangers, each after another log-in, until the origin is
/// given up. A single one may be about a page that is not for every member.
const REFUSALS_MAX: u32 = 3;

/// The access of a turn's origin.
pub(super) struct TurnAccess {
    known: Arc<OriginAccess>,
    /// The form by which the crawl logs in; `None` if it has other ways.
    log_in: Option<LogIn>,
    /// Whether the log-in failed in a way that may pass: nothing is requested before the next turn.
    pub(super) is_put_off: bool,
}

impl TurnAccess {
    /// Returns the access by the rules of the definition; `None` if none of them says who the crawl
    /// is to this origin.
    pub(super) fn new<W: World>(turn: &TurnWork<W, impl Fetchers>) -> Option<Self> {
        let rules = turn.context.definition.access.iter();
        let rules: Vec<_> =
            rules.filter(|rule| rule.has_secrets() && rule.is_for_origin(&turn.origin.origin)).collect();
        let log_in = rules.iter().rev().find_map(|rule| rule.log_in.as_deref()).cloned();
        let known = turn.world.live().sessions().at(&turn.origin, turn.lease.iteration);
        (!rules.is_empty()).then_some(Self { known, log_in, is_put_off: false })
    }

    /// Returns the session at the origin.
    pub(super) fn session(&self) -> Arc<Session> {
        self.known.session()
    }
}

impl<W: World, S: Fetchers> TurnWork<W, S> {
    /// Whether the crawl must log in before the next page.
    pub(super) fn must_log_in(&self) -> bool {
        self.access.as_ref().is_some_and(|access| access.log_in.is_some() && !access.known.is_logged_in())
    }

    /// Returns the session in which a URL is requested; `None` if the site's cookies are ignored.
    pub(super) fn session_for(&self, url: &CrawlUrl) -> Option<Arc<Session>> {
        let keeps = self.context.keeps_session(url);
        self.access.as_ref().filter(|_| keeps).map(|access| access.known.session())
    }

    /// Logs in, as far as the lease allows: the next turn goes on from there. If the origin
    /// refuses, it is given up; if something else fails, another turn tries again, until patience
    /// ends.
    pub(super) async fn log_in(&mut self) -> PortResult<()> {
        let Some((log_in, known)) =
            self.access.as_ref().and_then(|access| Some((access.log_in.clone()?, Arc::clone(&access.known))))
        else {
            return Ok(());
        };
        let first = || LogInRequest { url: log_in.page().clone(), form: None, is_after_form: false, requests: 0 };
        let mut next = known.resume().unwrap_or_else(first);
        let session = known.session();
        let latest_start = self.latest_start();
        let waiter = self.waiter();
        let hosts_per_domain = self.context.definition.politeness.hosts_per_domain;
        let (world, fetcher, pacer) = (Arc::clone(&self.world), Arc::clone(&self.fetcher), Arc::clone(&self.pacer));
        let paced = PacedRequests::new(&world, &*fetcher, &pacer, latest_start, &waiter, hosts_per_domain);
        let result = loop {
            if next.requests == REQUESTS_MAX {
                break Step::Refused("it leads on and on".to_owned());
            }
            if world.clock().monotonic() + pacer.wait(world.clock()) >= latest_start {
                known.interrupt(next);
                return Ok(());
            }
            let request = FetchRequest {
                session: Some(Arc::clone(&session)),
                form: next.form.clone(),
                ..FetchRequest::new(next.url.clone(), self.context.limits().reading_all())
            };
            let fetched = paced.fetch(request).await;
            self.lease.pace = pacer.pace();
            self.lease.robots = RobotsUse::Used;
            match paced.take_end() {
                FetchEnd::Busy(until) => {
                    known.interrupt(next);
                    self.robots = Robots::HostBusy(until);
                    return Ok(());
                }
                FetchEnd::Failed(error) => return Err(error),
                FetchEnd::Server | FetchEnd::Nobody => {}
            }
            self.segments.requests_aside += 1;
            let is_after_form = next.is_after_form || next.form.is_some();
            let phase = if is_after_form { Phase::Sent } else { Phase::Page };
            let requests = next.requests + 1;
            next = match step(&log_in, phase, &next.url, &fetched) {
                Step::Follow(url) => LogInRequest { url, form: None, is_after_form, requests },
                Step::Send(url, form) => LogInRequest { url, form: Some(Arc::new(form)), is_after_form, requests },
                end => break end,
            };
        };
        // What it answered is a stranger's, or has a session in it: it is not archived.
        drop(paced);
        match result {
            Step::Done => {
                tracing::info!(origin = %self.origin, "logged in");
                known.log_in(self.world.clock().monotonic());
            }
            Step::Later(why) => self.put_log_in_off(&why),
            Step::Refused(why) => self.is_refused(&format!("the log-in failed: {why}")),
            Step::Follow(_) | Step::Send(..) => {}
        }
        Ok(())
    }

    fn put_log_in_off(&mut self, why: &str) {
        tracing::warn!(origin = %self.origin, why, "the log-in is tried again later");
        self.lease.patience = self.lease.patience.lose_one();
        if self.lease.patience.is_exhausted(self.context.definition.politeness.failures) {
            self.is_refused(&format!("the log-in failed: {why}"));
            return;
        }
        let now = self.world.clock().now();
        let wait = robots_wait(self.lease.patience, &self.lease.pace);
        self.lease.wait_until(after(now, wait), now);
        if let Some(access) = &mut self.access {
            access.is_put_off = true;
        }
    }

    /// Makes no more requests to the origin in this iteration, as it does not let the crawl in.
    fn is_refused(&mut self, why: &str) {
        self.lease.ending = Some(LeftoverReason::LoggedOut);
        let detail = one_line(why, DETAIL_CHARS_MAX);
        self.lease.given_up = Some(Box::new(GiveUpOutcome { outcome: Outcome::LoggedOut, detail }));
    }

    /// Returns by what a page's answer is one for strangers; `None` if it is not, or the crawl did
    /// not say who it is.
    pub(super) fn logged_out(&self, url: &CrawlUrl, sent: &SentRequest) -> Option<String> {
        let access = self.access.as_ref()?;
        let rules = &self.context.definition.access;
        if !rules.iter().any(|rule| rule.has_secrets() && rule.matches(url)) {
            return None;
        }
        logged_out(access.log_in.as_ref(), url, &sent.fetched, sent.wall.as_ref())
    }

    /// Returns the follow-up for an answer to a stranger: the same request after another log-in.
    pub(super) fn after_log_in(&self) -> Option<FollowUp> {
        self.access.as_ref().and_then(|access| access.log_in.as_ref()).map(|_| FollowUp::LoggedIn)
    }

    /// Draws the consequences of a page's answer for the session.
    pub(super) fn note_access(&mut self, entry: &TodoEntry, outcome: Outcome, sent: &SentRequest) {
        let Some(access) = &self.access else { return };
        if outcome.class() == OutcomeClass::Content {
            access.known.is_let_in();
        }
        if outcome != Outcome::LoggedOut {
            return;
        }
        if access.log_in.is_some() && entry.follow_up.is_none() {
            access.known.log_out(sent.started);
            return;
        }
        if access.known.count_refusal() >= REFUSALS_MAX {
            self.is_refused(&format!("{REFUSALS_MAX} answers in a row were for strangers"));
        }
    }
}
