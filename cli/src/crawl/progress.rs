//! The text of the progress display: a pure function of the counters.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use dragline_domain::frontier::CrawlerCounters;
use dragline_domain::outcome::{Outcome, OutcomeClass};
use dragline_domain::url::Origin;
use dragline_ports::frontier::Progress;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::origin_stages;
use super::watch::{OriginStage, RunCounts};
use crate::terminal::{bytes, count, duration, plural, time_of_day};

/// The shortest remaining time that is shown.
const LEFT_SHOWN_MIN: Duration = Duration::from_secs(2);

/// A snapshot of an iteration.
#[derive(Clone, Debug)]
pub(super) struct Snapshot<'a> {
    /// The time since this run began.
    pub(super) elapsed: Duration,
    /// The counters of the whole iteration at the start of this run.
    pub(super) before: &'a Progress,
    /// The counters at the last commit.
    pub(super) committed: &'a Progress,
    /// This run's counts, committed or not.
    pub(super) counted: RunCounts,
    /// Bytes so far of bodies under way.
    pub(super) arriving_bytes: u64,
    /// Recent pages per second; `None` until it can be measured.
    pub(super) rate: Option<f64>,
    /// The pages left in the budget; `None` without a budget.
    pub(super) budget: Option<u64>,
    /// The maximum number of requests under way at one origin.
    pub(super) concurrency: u16,
    /// The unfinished origins, those being visited first.
    pub(super) places: &'a [OriginStage],
    pub(super) now: Timestamp,
}

/// The event `progress`.
#[derive(Debug, Serialize)]
pub(super) struct ProgressEvent<'a> {
    elapsed_ms: u64,
    pages: u64,
    requests: u64,
    pages_per_second: Option<f64>,
    waiting: u64,
    retries_waiting: u64,
    body_bytes: u64,
    left_ms: Option<u64>,
    outcomes: BTreeMap<&'static str, u64>,
    stuck: u64,
    origins: Vec<origin_stages::OriginState<'a>>,
    origins_more: u64,
}

impl Snapshot<'_> {
    /// Returns the number of URLs in the iteration that ended with an answer. For earlier runs it
    /// is derived: the requested URLs, less retries and URLs that ended without an answer.
    pub(super) fn pages(&self) -> u64 {
        let CrawlerCounters { pages, retries, .. } = self.before.crawler;
        let unanswered = [Outcome::ConnectionFailed, Outcome::RequestTimeout].map(|outcome| self.before.count(outcome));
        pages.saturating_sub(retries + unanswered.iter().sum::<u64>()) + self.counted.pages
    }

    fn requests(&self) -> u64 {
        self.before.crawler.requests + self.counted.requests
    }

    /// Returns the size of all bodies as received, also of those under way.
    fn body_bytes(&self) -> u64 {
        self.before.crawler.body_bytes + self.counted.body_bytes + self.arriving_bytes
    }

    fn retries_waiting(&self) -> u64 {
        (self.before.retries_waiting + self.counted.put_off).saturating_sub(self.counted.tried_again)
    }

    /// Returns the number of waiting URLs, including retries.
    fn waiting(&self) -> u64 {
        self.committed.added.saturating_sub(self.before.taken + self.counted.taken) + self.retries_waiting()
    }

    /// Estimates the time to fetch the waiting URLs; `None` unless exactly one origin is left.
    fn time_left(&self) -> Option<Duration> {
        let [place] = self.places else { return None };
        let (delay, wait) = origin_stages::origin_pace(place, self.now).filter(|_| self.committed.origins_open == 1)?;
        let requests = self.waiting().min(self.budget.unwrap_or(u64::MAX));
        let each = delay.max(self.counted.took / u32::from(self.concurrency.max(1)));
        let waits_after_the_first = u32::try_from(requests.checked_sub(1)?).unwrap_or(u32::MAX);
        (!each.is_zero()).then(|| wait + each.saturating_mul(waits_after_the_first))
    }

    /// Describes what is done and what waits.
    pub(super) fn amounts(&self) -> String {
        let rate = self.rate.map_or_else(String::new, |rate| format!(" ({rate:.1}/s)"));
        let left = self.time_left().filter(|left| *left >= LEFT_SHOWN_MIN);
        let left = left.map_or_else(String::new, |left| format!(", about {} left", roughly(left)));
        format!(
            "{}: {}{rate}, {} waiting, {}{left}",
            duration(Duration::from_secs(self.elapsed.as_secs())),
            plural(self.pages(), "page"),
            count(self.waiting()),
            bytes(self.body_bytes())
        )
    }

    /// Returns the number of parsed URLs of this class.
    fn count_class(&self, class: OutcomeClass) -> u64 {
        let outcomes = &self.committed.parser.outcomes;
        outcomes.iter().filter(|(outcome, _)| outcome.class() == class).map(|(_, number)| number).sum()
    }

    /// Counts the outcomes by class; empty before the first. A fetched URL counts once it is
    /// parsed.
    pub(super) fn outcomes(&self) -> String {
        let classes = [
            (OutcomeClass::Content, "content"),
            (OutcomeClass::Redirect, "redirects"),
            (OutcomeClass::Missing, "missing"),
            (OutcomeClass::Failed, "failed"),
            (OutcomeClass::Blocked, "blocked"),
            (OutcomeClass::Dismissed, "dismissed"),
            (OutcomeClass::Checked, "links that work"),
        ];
        let mut parts: Vec<String> = classes
            .into_iter()
            .map(|(class, name)| (self.count_class(class), name))
            .chain([(self.committed.parser.stuck, "stuck")])
            .filter(|(number, _): &(u64, _)| *number > 0)
            .map(|(number, name)| format!("{} {name}", count(number)))
            .collect();
        if self.retries_waiting() > 0 {
            parts.push(format!("{} to be retried", count(self.retries_waiting())));
        }
        parts.join(", ")
    }

    /// Describes the origins and their waits; empty if there are none.
    pub(super) fn places(&self, zone: &TimeZone) -> String {
        origin_stages::words(self.places, self.now, zone)
    }

    /// Returns what a line tells apart from the one before: all that moves by work, and what is
    /// waited for, but no time.
    pub(super) fn mark(&self) -> ProgressMark {
        let waits = self.places.iter().take(origin_stages::ORIGINS_SHOWN);
        ProgressMark {
            numbers: [self.pages(), self.requests(), self.waiting(), self.retries_waiting(), self.body_bytes()],
            outcomes: self.outcomes(),
            waits: waits.map(|place| (place.origin.clone(), origin_stages::waits_for(place.stage))).collect(),
        }
    }

    /// Returns everything on one line, for logs and pipes. It begins with the time of day.
    pub(super) fn line(&self, zone: &TimeZone) -> String {
        let mut line = format!("{} {}", time_of_day(self.now, zone), self.amounts());
        for (lead, part) in [("; ", self.outcomes()), ("; at ", self.places(zone))] {
            if !part.is_empty() {
                line.push_str(lead);
                line.push_str(&part);
            }
        }
        line
    }

    /// Returns everything as a JSON object.
    pub(super) fn event(&self) -> ProgressEvent<'_> {
        use OutcomeClass::{Blocked, Content, Dismissed, Failed, Missing, Redirect};
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let (origins, origins_more) = origin_stages::origin_states(self.places);
        ProgressEvent {
            elapsed_ms: millis(self.elapsed),
            pages: self.pages(),
            requests: self.requests(),
            pages_per_second: self.rate.map(|rate| (rate * 100.0).round() / 100.0),
            waiting: self.waiting(),
            retries_waiting: self.retries_waiting(),
            body_bytes: self.body_bytes(),
            left_ms: self.time_left().map(millis),
            outcomes: [Content, Redirect, Missing, Failed, Blocked, Dismissed]
                .into_iter()
                .map(|class| (class.name(), self.count_class(class)))
                .collect(),
            stuck: self.committed.parser.stuck,
            origins,
            origins_more,
        }
    }
}

/// What two lines of progress have in common if nothing happened between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProgressMark {
    numbers: [u64; 5],
    outcomes: String,
    waits: Vec<(Origin, &'static str)>,
}

/// Decides when a line is printed, and which.
#[derive(Debug, Default)]
pub(super) struct LineSchedule {
    /// The last line: what it said, and when, since the start of the run.
    last: Option<(ProgressMark, Duration)>,
    /// When something moved for the last time, as far as lines said so.
    moved_at: Duration,
}

impl LineSchedule {
    /// How often a line is printed while something moves.
    const EVERY: Duration = Duration::from_secs(10);
    /// How often a line is printed while nothing does, so that nobody takes the crawl for dead.
    const EVERY_STILL: Duration = Duration::from_secs(5 * 60);

    /// Returns the line that is due; `None` if none is.
    pub(super) fn line(&mut self, snapshot: &Snapshot<'_>, zone: &TimeZone) -> Option<String> {
        let now = snapshot.elapsed;
        let since = now.saturating_sub(self.last.as_ref().map_or(Duration::ZERO, |(_, at)| *at));
        if since < Self::EVERY {
            return None;
        }
        let mark = snapshot.mark();
        let is_still = self.last.as_ref().is_some_and(|(last, _)| *last == mark);
        if is_still && since < Self::EVERY_STILL {
            return None;
        }
        if !is_still {
            self.moved_at = now;
        }
        self.last = Some((mark, now));
        let still = Duration::from_secs(now.saturating_sub(self.moved_at).as_secs());
        let line = snapshot.line(zone);
        Some(if is_still { format!("{line}; nothing has moved for {}", duration(still)) } else { line })
    }
}

/// Rounds an estimated duration up: to whole seconds, and above two minutes to whole minutes.
fn roughly(time: Duration) -> String {
    let seconds = time.as_secs();
    let step = if seconds < 120 { 1 } else { 60 };
    duration(Duration::from_secs(seconds.div_ceil(step) * step))
}

/// The recent rate of pages per second.
#[derive(Debug, Default)]
pub(super) struct Rate {
    seen: VecDeque<(Duration, u64)>,
}

impl Rate {
    /// The length of the measured window.
    const WINDOW: Duration = Duration::from_secs(10);
    /// The maximum number of readings in memory, however frequent.
    const READINGS_MAX: usize = 100;

    /// Adds a reading of the counter and returns the rate; `None` until the readings are far enough
    /// apart.
    pub(super) fn add_reading(&mut self, now: Duration, pages: u64) -> Option<f64> {
        // The oldest reading lies at the window's edge, so that a slow crawl has a rate too.
        while self.seen.len() >= Self::READINGS_MAX
            || self.seen.get(1).is_some_and(|(at, _)| now.saturating_sub(*at) >= Self::WINDOW)
        {
            self.seen.pop_front();
        }
        self.seen.push_back((now, pages));
        let (since, before) = self.seen.front()?;
        let (time, more) = (now.saturating_sub(*since), pages.saturating_sub(*before));
        let more = u32::try_from(more).map_or(f64::from(u32::MAX), f64::from);
        (time >= Duration::from_millis(500)).then(|| more / time.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::frontier::ParserCounters;
    use dragline_ports::observer::{DelayReason, Stage, Wait};

    use super::*;
    use crate::crawl::origin_stages::tests::{parsing, place, waiting};

    fn busy() -> Progress {
        let outcomes = BTreeMap::from([
            (Outcome::FileIngested, 1_100),
            (Outcome::FileDidNotChange, 22),
            (Outcome::TemporaryRedirect, 40),
            (Outcome::FileNotFound, 30),
            (Outcome::BlockedByRobotsTxt, 7),
            (Outcome::ConnectionFailed, 3),
        ]);
        Progress {
            added: 1_545,
            taken: 1_200,
            retries_waiting: 2,
            crawler: CrawlerCounters {
                requests: 1_210,
                pages: 1_205,
                retries: 5,
                body_bytes: 47_815_065,
                bodies_cut: 0,
            },
            parser: ParserCounters { stuck: 1, outcomes, ..ParserCounters::default() },
            ..Progress::default()
        }
    }

    /// A snapshot with nothing done since the last commit.
    fn snapshot<'a>(progress: &'a Progress, places: &'a [OriginStage]) -> Snapshot<'a> {
        Snapshot {
            elapsed: Duration::from_millis(80_700),
            before: progress,
            committed: progress,
            counted: RunCounts::default(),
            arriving_bytes: 0,
            rate: None,
            budget: None,
            concurrency: 2,
            places,
            now: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn the_line_of_a_busy_crawl() {
        let slow = waiting(0, Wait::Delay, 1, DelayReason::Definition);
        let places = ["a", "b", "c", "d", "e"].map(|host| place(host, slow));
        let progress = busy();
        let snapshot = Snapshot { rate: Some(15.26), ..snapshot(&progress, &places) };
        insta::assert_snapshot!(
            snapshot.line(&TimeZone::UTC),
            @"00:00:00 1m 20s: 1,197 pages (15.3/s), 347 waiting, 45.60 MiB; 1,122 content, 40 redirects, 30 missing, 3 failed, 7 blocked, 1 stuck, 2 to be retried; at https://a.example.org, https://b.example.org, https://c.example.org and 2 more"
        );
    }

    #[test]
    fn the_line_of_a_crawl_that_just_began() {
        let progress = Progress::default();
        let snapshot = Snapshot { elapsed: Duration::ZERO, ..snapshot(&progress, &[]) };
        insta::assert_snapshot!(snapshot.line(&TimeZone::UTC), @"00:00:00 0s: 0 pages, 0 waiting, 0 B");
    }

    #[test]
    fn a_line_has_the_time_of_day_where_it_is_read() {
        let (progress, now) = (Progress::default(), "2026-03-01T23:30:05Z".parse().unwrap());
        let snapshot = Snapshot { now, ..snapshot(&progress, &[]) };
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(snapshot.line(&zone), "01:30:05 1m 20s: 0 pages, 0 waiting, 0 B");
    }

    #[test]
    fn a_line_is_not_repeated_while_nothing_moves() {
        let progress = busy();
        let rests = [place("a", waiting(3_600, Wait::RetryAfter, 2, DelayReason::BackOff))];
        let tries = [place("a", waiting(3_600, Wait::OutOfReach, 2, DelayReason::BackOff))];
        let mut lines = LineSchedule::default();
        for (at_s, bytes, places, expected, why) in [
            (9, 0, &rests, None, "it is early"),
            (10, 0, &rests, Some(false), "the first one"),
            (20, 0, &rests, None, "the same"),
            (300, 0, &rests, None, "the same"),
            (310, 0, &rests, Some(true), "five minutes later, so that it is seen to live"),
            (320, 0, &rests, None, "it was just said"),
            (610, 0, &rests, Some(true), "another five minutes"),
            (620, 1 << 20, &rests, Some(false), "a large body is arriving"),
            (629, 2 << 20, &rests, None, "ten seconds have not passed"),
            (630, 2 << 20, &rests, Some(false), "more of it"),
            (640, 2 << 20, &tries, Some(false), "it waits for something else"),
            (650, 2 << 20, &tries, None, "and goes on to"),
        ] {
            let elapsed = Duration::from_secs(at_s);
            let now = Timestamp::UNIX_EPOCH + elapsed;
            let snapshot = Snapshot { elapsed, now, arriving_bytes: bytes, ..snapshot(&progress, places) };
            let line = lines.line(&snapshot, &TimeZone::UTC);
            assert_eq!(line.as_ref().map(|line| line.contains("nothing has moved")), expected, "{at_s}: {why}");
            if at_s == 610 {
                insta::assert_snapshot!(line.unwrap(), @"00:10:10 10m 10s: 1,197 pages, 347 waiting, 45.60 MiB; 1,122 content, 40 redirects, 30 missing, 3 failed, 7 blocked, 1 stuck, 2 to be retried; at https://a.example.org (waiting until 01:00:00, as asked by its Retry-After; a request every 2s, because it refused some); nothing has moved for 10m");
            }
        }
    }

    #[test]
    fn bytes_under_way_count() {
        let progress = busy();
        let snapshot = Snapshot { arriving_bytes: 1 << 20, ..snapshot(&progress, &[]) };
        assert_eq!(snapshot.amounts(), "1m 20s: 1,197 pages, 347 waiting, 46.60 MiB");
    }

    #[test]
    fn uncommitted_work_counts() {
        let progress = busy();
        let took = Duration::from_millis(50);
        let counted =
            RunCounts { taken: 9, pages: 8, requests: 12, put_off: 3, tried_again: 2, body_bytes: 1 << 20, took };
        let before = snapshot(&progress, &[]);
        let after = Snapshot { counted, ..before.clone() };
        assert_eq!((before.pages(), after.pages()), (1_197, 1_205));
        assert_eq!(
            (before.waiting(), after.waiting()),
            (347, 339),
            "nine had their turn, and one more is to be retried"
        );
        assert_eq!(after.amounts(), "1m 20s: 1,205 pages, 339 waiting, 46.60 MiB");
        let mut committed = progress.clone();
        committed.added += 100;
        committed.taken += 9;
        committed.retries_waiting += 1;
        committed.crawler.pages += 12;
        let committed = Snapshot { committed: &committed, ..after };
        assert_eq!((committed.pages(), committed.waiting()), (1_205, 439), "a commit counts nothing twice");
    }

    #[test]
    fn the_time_left_is_shown_where_it_is_known() {
        use DelayReason::{BackOff, Definition};
        let alone = |waiting| Progress { added: waiting, origins_open: 1, ..Progress::default() };
        let several = Progress { origins_open: 2, ..alone(100) };
        let next = |wait_s, why, delay_s| waiting(wait_s, why, delay_s, Definition);
        let rests = waiting(60, Wait::RetryAfter, 2, BackOff);
        for (progress, stage, took_ms, budget, expected, why) in [
            (alone(100), next(1, Wait::Delay, 1), 50, None, Some(100), "a request a second"),
            (alone(100), next(0, Wait::Delay, 1), 0, None, Some(99), "the first one is under way"),
            (alone(100), next(0, Wait::Delay, 1), 4_000, None, Some(198), "it answers slowly, two at a time"),
            (alone(100), next(0, Wait::Delay, 0), 500, None, Some(24), "no delay, but it takes time"),
            (alone(100), next(0, Wait::Delay, 0), 0, None, None, "neither delay nor duration"),
            (alone(100), next(0, Wait::Delay, 1), 50, Some(11), Some(10), "the budget ends it"),
            (alone(10), rests, 50, None, Some(78), "it rests first"),
            (alone(0), next(1, Wait::Delay, 1), 50, None, None, "nothing waits"),
            (alone(100), parsing(1), 50, None, None, "more may be found"),
            (alone(100), next(9, Wait::OutOfReach, 1), 50, None, None, "it is unknown when"),
            (alone(100), next(4, Wait::Robots, 1), 50, None, None, "and whether it may be crawled"),
            (several, next(1, Wait::Delay, 1), 50, None, None, "others may be slower"),
        ] {
            let places = [place("a", stage)];
            let counted = RunCounts { took: Duration::from_millis(took_ms), ..RunCounts::default() };
            let left = Snapshot { counted, budget, ..snapshot(&progress, &places) }.time_left();
            assert_eq!(left.map(|left| left.as_secs()), expected, "{why}");
        }
        let (progress, places) = (alone(500), [place("a", waiting(1, Wait::Delay, 1, Definition))]);
        assert_eq!(snapshot(&progress, &places).amounts(), "1m 20s: 0 pages, 500 waiting, 0 B, about 9m left");
    }

    #[test]
    fn the_event_of_a_busy_crawl() {
        let (progress, places) = (busy(), [place("a", Stage::Robots)]);
        let event =
            serde_json::to_value(Snapshot { rate: Some(15.264), ..snapshot(&progress, &places) }.event()).unwrap();
        assert_eq!(
            event,
            serde_json::json!({
                "elapsed_ms": 80_700, "pages": 1_197, "requests": 1_210, "pages_per_second": 15.26, "waiting": 347,
                "retries_waiting": 2, "body_bytes": 47_815_065, "left_ms": null,
                "outcomes": { "content": 1_122, "redirect": 40, "missing": 30, "failed": 3, "blocked": 7, "dismissed": 0 },
                "stuck": 1,
                "origins": [{
                    "origin": "https://a.example.org", "waits_for": "robots_txt", "until": null, "delay_ms": null,
                    "delay_reason": null,
                }],
                "origins_more": 0,
            })
        );
    }

    #[test]
    fn the_rate_covers_the_last_moments() {
        let mut rate = Rate::default();
        let at = Duration::from_secs;
        for (now, pages, expected, why) in [
            (at(0), 100, None, "pages of an earlier run do not count"),
            (Duration::from_millis(100), 105, None, "too short a time to tell"),
            (at(2), 120, Some(10.0), "since the beginning"),
            (at(10), 120, Some(2.0), "it slows down"),
            (at(14), 120, Some(0.0), "older readings are forgotten"),
            (at(24), 130, Some(1.0), "it picks up again"),
        ] {
            assert_eq!(rate.add_reading(now, pages), expected, "{why}");
        }
    }
}
