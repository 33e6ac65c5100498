//! Whether an origin is still up, and when to give it up.

use std::sync::Arc;

use dragline_domain::frontier::{GiveUpOutcome, LeftoverReason, ReadAs};
use dragline_domain::politeness::{OriginSign, Probe};
use dragline_domain::shown::one_line;
use dragline_formats::robots::Unreadable;

use super::TurnWork;
use crate::World;
use crate::crawl::outcome::{Comparison, Shown, fetch_outcome, origin_sign};
use crate::crawl::paced::Answer;
use crate::crawl::pacer::Connecting;
use crate::crawl::robots::{Robots, StoredUse};
use crate::crawl::send::{Attempt, SentRequest, send};
use crate::crawl::visit::DETAIL_CHARS_MAX;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::fetcher::{ConnectionChoice, FetchOutcome, FetchRequest, Fetchers};
use dragline_ports::observer::Wait;

/// The longest path, in bytes, that is kept as a probe: the whole row is written with every commit.
const WORKED_BYTES_MAX: usize = 1 << 10;

impl<W: World, S: Fetchers> TurnWork<W, S> {
    /// Counts what a visit says about its origin. Requests that failed together count as one
    /// failure, as none of them could wait for the others' results.
    pub(super) fn lose_patience(&mut self, sign: OriginSign, sent: &SentRequest) {
        let clock = self.world.clock();
        let has_failed = sign != OriginSign::Answered;
        if has_failed && self.failed_at.is_some_and(|at| sent.started < at) {
            return;
        }
        self.lease.patience = self.lease.patience.after(sign, &self.lease.pace);
        if has_failed {
            self.failed_at = Some(clock.monotonic());
            self.failed_with = Some(describe_failure(&sent.fetched));
        }
        if sent.fetched.is_out_of_reach() {
            // It may be restarting.
            let politeness = &self.context.definition.politeness;
            let wait = self.lease.patience.wait(politeness.patience, politeness.failures);
            self.pacer.hold_off(clock, wait, Wait::OutOfReach);
        }
    }

    /// Remembers the first page that works, as a probe for when others do not.
    pub(super) fn remember_that_it_works(&mut self, path_and_query: &str) {
        if self.lease.worked.is_none() && path_and_query.len() <= WORKED_BYTES_MAX {
            self.lease.worked = Some(path_and_query.to_owned());
        }
    }

    /// Requests something that worked before, as patience is exhausted: the first page that worked,
    /// or else robots.txt. If that is not answered, the origin is given up. Does nothing if the
    /// lease would be too old by then.
    pub(super) async fn probe(&mut self) -> PortResult<()> {
        let worked = self.lease.worked.clone();
        let probe = if worked.is_some() { Probe::Page } else { Probe::RobotsTxt };
        if !self.lease.patience.may_be_saved_by(probe, self.context.definition.politeness.failures) {
            self.give_up_as_it_failed();
            return Ok(());
        }
        let sign = match worked {
            Some(path) => self.ask_for_page(&path).await,
            None => self.ask_for_robots_txt().await?,
        };
        let Some(sign) = sign else { return Ok(()) };
        match self.lease.patience.after_probe(probe, sign, &self.lease.pace) {
            Some(patience) => self.lease.patience = patience,
            None => self.give_up_as_it_failed(),
        }
        tracing::info!(origin = %self.origin, ?probe, ?sign, "asked for what worked, as too much failed");
        Ok(())
    }

    /// Makes no more requests to the origin in this iteration: its URLs end like the last one that
    /// failed.
    pub(super) fn give_up(&mut self, reason: LeftoverReason, failure: &str) {
        self.lease.ending = Some(reason);
        self.lease.given_up = Some(Box::new(GiveUpOutcome::after_failure(one_line(failure, DETAIL_CHARS_MAX))));
    }

    fn give_up_as_it_failed(&mut self) {
        let of_robots = self.robots.unreadable().map(Unreadable::failure);
        let failure = of_robots.or_else(|| self.failed_with.take());
        self.give_up(LeftoverReason::OriginGivenUp, failure.as_deref().unwrap_or("it failed too often"));
    }

    /// Ends the walk through the candidates if the origin is given up.
    pub(super) async fn end_walk_if_given_up(&mut self) -> PortResult<()> {
        if self.lease.given_up.is_some() {
            self.planner.end_walk(&*self.world, &self.lease, &self.inbox).await?;
        }
        Ok(())
    }

    /// Requests a page on a new connection, without visiting it.
    async fn ask_for_page(&mut self, path_and_query: &str) -> Option<OriginSign> {
        let clock = self.world.clock();
        let url = self.origin.origin.url_at(path_and_query).ok()?;
        let latest_start = self.latest_start();
        let start = self.pacer.start_in_time(clock, latest_start).await?;
        let request = FetchRequest {
            connection: ConnectionChoice::New,
            watch: Some(Arc::new(Connecting::new(Arc::clone(&self.pacer), Arc::clone(&self.world)))),
            session: self.session_for(&url),
            ..FetchRequest::new(url.clone(), self.context.limits().reading_all())
        };
        let times = (start, latest_start);
        let sent = send(clock, &*self.fetcher, &self.pacer, times, request, Attempt::Again).await;
        let SentRequest { at, fetched, wall, .. } = sent.ok()?;
        self.lease.pace = self.pacer.pace();
        let product_token = self.context.definition.user_agent.product_token();
        let comparison = Comparison { last: None, shown: Shown::Body, product_token, read_as: ReadAs::Typed };
        let (outcome, _) = fetch_outcome(&fetched, wall.as_ref(), &comparison);
        let sign = origin_sign(&fetched, outcome);
        self.failed_with = Some(describe_failure(&fetched));
        self.segments.asides.push(Answer { url, at, fetched });
        sign
    }

    /// Reads robots.txt again; it applies from now on.
    async fn ask_for_robots_txt(&mut self) -> PortResult<Option<OriginSign>> {
        let asking = self.read_rules(StoredUse::IsReplaced).await?;
        Ok(match (&self.robots, asking) {
            (Robots::HostBusy(_), _) => None,
            (Robots::Known(_), RulesAnswer::Answered) => Some(OriginSign::Answered),
            _ => Some(OriginSign::Silent),
        })
    }
}

/// Returns a description of how a request failed.
fn describe_failure(fetched: &FetchOutcome) -> String {
    match &fetched.result {
        Ok(response) => format!("status {}", response.status),
        Err(failure) => failure.detail.clone(),
    }
}

/// The result of a request for the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RulesAnswer {
    /// A server answered.
    Answered,
    /// None did, or there was no request.
    Unanswered,
}
