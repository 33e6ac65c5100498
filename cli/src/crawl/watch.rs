//! Watches the crawl: counts its work, tracks the activity of each origin, and prints a line per
//! URL if requested.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dragline_domain::capture::{CrawlType, Finality};
use dragline_domain::url::Origin;
use dragline_ports::fetcher::ArrivingBytes;
use dragline_ports::observer::{Event, Observer, Stage, Wait};

use super::events::{ReadEvent, VisitEvent};
use crate::terminal::{Console, Form, Verbosity};

/// The maximum number of origins that are tracked.
const PLACES_MAX: usize = 1_000;

/// The counts of this run, committed or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RunCounts {
    /// URLs taken from the todo, requested or not.
    pub(super) taken: u64,
    /// URLs that ended with an answer.
    pub(super) pages: u64,
    /// Requests, retries included.
    pub(super) requests: u64,
    /// URLs postponed for a retry.
    pub(super) put_off: u64,
    /// URLs that were retried.
    pub(super) tried_again: u64,
    /// Bytes of bodies as received.
    pub(super) body_bytes: u64,
    /// The recent average duration of a request.
    pub(super) took: Duration,
}

/// An origin and its activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OriginStage {
    pub(super) origin: Origin,
    pub(super) stage: Stage,
}

/// An observer of the engine.
pub(super) struct Watch {
    console: Console,
    state: Mutex<State>,
    arriving: ArrivingBytes,
}

#[derive(Default)]
struct State {
    counted: RunCounts,
    places: BTreeMap<Origin, Stage>,
}

impl Watch {
    /// Returns an observer that prints events to the console and counts.
    pub(super) fn new(console: Console) -> Self {
        Self { console, state: Mutex::default(), arriving: ArrivingBytes::default() }
    }

    /// Returns the counts so far.
    pub(super) fn counts(&self) -> RunCounts {
        self.state().counted
    }

    /// Returns the count of bytes under way, which the fetcher keeps.
    pub(super) fn arriving(&self) -> ArrivingBytes {
        self.arriving.clone()
    }

    /// Returns the unfinished origins, in order.
    pub(super) fn places(&self) -> Vec<OriginStage> {
        let place = |(origin, stage): (&Origin, &Stage)| OriginStage { origin: origin.clone(), stage: *stage };
        self.state().places.iter().map(place).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Watch {
    fn observe(&self, event: &Event<'_>) {
        self.state().take(event);
        match (event, self.console.form(), self.console.verbosity()) {
            (Event::Visited { url, at, visit, fetched, .. }, Form::Json, _) => {
                self.console.event("request", &VisitEvent::new(url, *at, visit, *fetched));
            }
            (Event::Visited { url, at, visit, fetched, .. }, Form::Text, Verbosity::Urls) => {
                self.console.say(&VisitEvent::new(url, *at, visit, *fetched).line(self.console.colour()));
            }
            (Event::Read { url, outcome, detail }, Form::Json, _) => {
                self.console.event("read", &ReadEvent::new(url, *outcome, *detail));
            }
            (Event::Read { url, outcome, detail }, Form::Text, Verbosity::Urls) => {
                self.console.say(&ReadEvent::new(url, *outcome, *detail).line(self.console.colour()));
            }
            (_, Form::Text, Verbosity::Normal | Verbosity::Quiet)
            | (Event::At { .. } | Event::Began { .. } | Event::Ended { .. }, ..) => {}
        }
    }
}

impl State {
    fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Visited { visit, fetched, .. } => {
                let counted = &mut self.counted;
                match visit.crawl_type {
                    CrawlType::Queued | CrawlType::Import => counted.taken += 1,
                    CrawlType::Retry => counted.tried_again += 1,
                    // It was not in the todo.
                    CrawlType::Recrawl | CrawlType::Reparse => {}
                }
                let answer = fetched.and_then(|fetched| fetched.result.as_ref().ok());
                if let Some(fetched) = fetched {
                    counted.took = match counted.requests {
                        0 => fetched.elapsed,
                        _ => (counted.took * 7 + fetched.elapsed) / 8,
                    };
                    counted.requests += 1;
                }
                counted.pages += u64::from(answer.is_some() && visit.finality == Finality::Final);
                counted.put_off += u64::from(visit.finality == Finality::Retried);
                counted.body_bytes += answer.map_or(0, |answer| answer.body.len_bytes());
            }
            Event::At { origin, stage: Stage::Done } => {
                self.places.remove(&origin.origin);
            }
            Event::At { origin, stage: Stage::Called { until } } => {
                // In any other stage, the turn itself is more accurate.
                if let Some(known) = self.places.get_mut(&origin.origin)
                    && let Stage::Parsing { delay } = *known
                {
                    *known = Stage::Waiting { until: *until, why: Wait::Delay, delay };
                }
            }
            Event::At { origin, stage } => {
                if let Some(known) = self.places.get_mut(&origin.origin) {
                    *known = *stage;
                } else if self.places.len() < PLACES_MAX {
                    self.places.insert(origin.origin.clone(), *stage);
                }
            }
            Event::Read { .. } | Event::Began { .. } | Event::Ended { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::frontier::OriginKey;
    use dragline_ports::observer::{Delay, DelayReason};

    use super::*;
    use crate::crawl::events::tests::{answered, unanswered, url, visit};

    #[test]
    fn visits_are_counted_by_kind() {
        let mut state = State::default();
        let (page, failure) = (answered(200, b"body"), unanswered());
        for (crawl_type, finality, fetched) in [
            (CrawlType::Queued, Finality::Final, Some(&page)),
            (CrawlType::Queued, Finality::Final, None),
            (CrawlType::Queued, Finality::Retried, Some(&failure)),
            (CrawlType::Retry, Finality::Final, Some(&page)),
            (CrawlType::Recrawl, Finality::Final, Some(&page)),
            (CrawlType::Queued, Finality::Final, Some(&failure)),
        ] {
            let mut visit = visit();
            (visit.crawl_type, visit.finality) = (crawl_type, finality);
            let (url, at) = (url("/"), jiff::Timestamp::UNIX_EPOCH);
            let origin = OriginKey { crawl: "example".parse().unwrap(), origin: url.origin() };
            state.take(&Event::Visited { origin: &origin, url: &url, at, visit: &visit, fetched });
        }
        let took = Duration::from_millis(45);
        let expected = RunCounts { taken: 4, pages: 3, requests: 5, put_off: 1, tried_again: 1, body_bytes: 12, took };
        assert_eq!(state.counted, expected);
    }

    #[test]
    fn unfinished_origins_are_tracked_up_to_a_maximum() {
        let mut state = State::default();
        let key = |n: usize| OriginKey {
            crawl: "example".parse().unwrap(),
            origin: format!("https://{n}.example").parse().unwrap(),
        };
        for n in 0..PLACES_MAX + 5 {
            state.take(&Event::At { origin: &key(n), stage: Stage::Robots });
        }
        assert_eq!(state.places.len(), PLACES_MAX);
        let delay = Delay { time: Duration::from_secs(2), reason: DelayReason::CrawlDelay };
        let until = jiff::Timestamp::UNIX_EPOCH;
        let waiting = Stage::Waiting { until, why: Wait::Delay, delay };
        for (stage, expected, why) in [
            (Stage::Called { until }, Stage::Robots, "its turn is under way"),
            (Stage::Parsing { delay }, Stage::Parsing { delay }, "nothing is left to fetch"),
            (Stage::Called { until }, waiting, "now there is, with the same delay as before"),
        ] {
            state.take(&Event::At { origin: &key(1), stage });
            assert_eq!(state.places.get(&key(1).origin), Some(&expected), "{why}");
        }
        state.take(&Event::At { origin: &key(PLACES_MAX + 9), stage: Stage::Called { until } });
        assert_eq!(state.places.len(), PLACES_MAX);
        for n in 0..PLACES_MAX + 5 {
            state.take(&Event::At { origin: &key(n), stage: Stage::Done });
        }
        assert!(state.places.is_empty());
    }
}
