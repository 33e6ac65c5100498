//! A turn's reports to the observer: each visit as it ends, and what the origin waits for.

use std::time::Duration;

use dragline_domain::capture::Visit;
use dragline_domain::frontier::{OriginKey, Release};
use dragline_domain::time::after;
use dragline_domain::url::CrawlUrl;
use jiff::Timestamp;

use super::TurnWork;
use crate::World;
use crate::context::CrawlContext;
use crate::crawl::robots::Robots;
use dragline_ports::clock::Clock;
use dragline_ports::fetcher::{FetchOutcome, Fetchers};
use dragline_ports::observer::{Delay, DelayReason, Event, Stage, Wait};

/// Two times count as different if they are further apart than this: one is stored in milliseconds,
/// the other comes from another clock.
const BLUR: Duration = Duration::from_millis(10);

/// Reports that an origin's turn did not begin, as others are using its host.
pub(super) fn host_is_busy(world: &impl World, context: &CrawlContext, origin: &OriginKey, until: Timestamp) {
    let delay = Delay { time: context.definition.politeness.delay, reason: DelayReason::Definition };
    world.observer().observe(&Event::At { origin, stage: Stage::Waiting { until, why: Wait::Host, delay } });
}

impl<W: World, S: Fetchers> TurnWork<W, S> {
    /// Reports the origin's stage.
    pub(super) fn is_at(&self, stage: Stage) {
        self.world.observer().observe(&Event::At { origin: &self.origin, stage });
    }

    /// Reports that a visit is over, which began at this time.
    pub(super) fn is_visited(&self, url: &CrawlUrl, at: Timestamp, visit: &Visit, fetched: Option<&FetchOutcome>) {
        let origin = &self.origin;
        self.world.observer().observe(&Event::Visited { origin, url, at, visit, fetched });
    }

    /// Reports that the next request starts at this monotonic reading.
    pub(super) fn asks_at(&self, start: Duration) {
        let clock = self.world.clock();
        let until = after(clock.now(), start.saturating_sub(clock.monotonic()));
        self.is_at(Stage::Waiting { until, why: self.pacer.why(start), delay: self.delay() });
    }

    /// Reports that the turn is over, and how it released its origin. `free_from` is the monotonic
    /// reading from which the pacer would start the next request.
    pub(super) fn is_released(&self, how: Release, free_from: Duration) {
        let stage = match how {
            Release::Wake { not_before } => {
                let clock = self.world.clock();
                let paced = after(clock.now(), free_from.saturating_sub(clock.monotonic()));
                let is_later = not_before > after(paced, BLUR);
                let (until, why) = match self.robots {
                    _ if self.lease.given_up.is_some() => (not_before, self.pacer.why(free_from)),
                    Robots::HostBusy(until) => (until, Wait::Host),
                    Robots::Unreadable(_) | Robots::NobodyThere(_) if is_later => (not_before, Wait::Robots),
                    Robots::OutOfReach(_) if is_later => (not_before, Wait::OutOfReach),
                    _ if is_later => (not_before, Wait::Retry),
                    _ => (not_before, self.pacer.why(free_from)),
                };
                Stage::Waiting { until, why, delay: self.delay() }
            }
            Release::Idle => Stage::Parsing { delay: self.delay() },
            Release::Close | Release::CloseWithLeftovers => Stage::Done,
        };
        self.is_at(stage);
    }

    fn delay(&self) -> Delay {
        let pace = self.pacer.pace();
        let reason = if pace.delay() > pace.base_delay {
            DelayReason::BackOff
        } else if pace.base_delay > self.context.definition.politeness.delay {
            DelayReason::CrawlDelay
        } else {
            DelayReason::Definition
        };
        Delay { time: pace.delay(), reason }
    }
}
