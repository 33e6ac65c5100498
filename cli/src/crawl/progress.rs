//! What the progress display says: a pure function of the counters.

use std::collections::VecDeque;
use std::time::Duration;

use dragline_domain::outcome::OutcomeClass;
use dragline_domain::url::Origin;
use dragline_pipeline::ports::frontier::Progress;

use crate::terminal::{bytes, count, duration, plural};

/// Origins that are named; of more, the number is told.
const ORIGINS_SHOWN: usize = 3;

/// How an iteration stands at one moment.
#[derive(Clone, Debug)]
pub(super) struct Snapshot<'a> {
    /// Since this run began.
    pub(super) elapsed: Duration,
    /// The counters of the whole iteration.
    pub(super) progress: &'a Progress,
    /// Pages a second of late; absent before that can be told.
    pub(super) rate: Option<f64>,
    /// The origins that are being visited.
    pub(super) origins: &'a [Origin],
}

impl Snapshot<'_> {
    /// How much is done and how much waits.
    pub(super) fn amounts(&self) -> String {
        let rate = self.rate.map_or_else(String::new, |rate| format!(" ({rate:.1}/s)"));
        let progress = self.progress;
        format!(
            "{}: {}{rate}, {} waiting, {}",
            duration(Duration::from_secs(self.elapsed.as_secs())),
            plural(progress.crawler.pages, "page"),
            count(progress.waiting()),
            bytes(progress.crawler.body_bytes)
        )
    }

    /// How URLs ended, by class; empty before any did.
    pub(super) fn outcomes(&self) -> String {
        let classes = [
            (OutcomeClass::Content, "content"),
            (OutcomeClass::Redirect, "redirects"),
            (OutcomeClass::Missing, "missing"),
            (OutcomeClass::Failed, "failed"),
            (OutcomeClass::Blocked, "blocked"),
            (OutcomeClass::Dismissed, "dismissed"),
        ];
        let parser = &self.progress.parser;
        let of_class =
            |class| parser.outcomes.iter().filter(|(outcome, _)| outcome.class() == class).map(|(_, n)| n).sum();
        let mut parts: Vec<String> = classes
            .into_iter()
            .map(|(class, name)| (of_class(class), name))
            .chain([(parser.stuck, "stuck")])
            .filter(|(number, _): &(u64, _)| *number > 0)
            .map(|(number, name)| format!("{} {name}", count(number)))
            .collect();
        if self.progress.retries_waiting > 0 {
            parts.push(format!("{} to be tried again", count(self.progress.retries_waiting)));
        }
        parts.join(", ")
    }

    /// Where requests go to; empty while they go nowhere.
    pub(super) fn places(&self) -> String {
        let shown: Vec<&str> = self.origins.iter().take(ORIGINS_SHOWN).map(Origin::as_str).collect();
        match self.origins.len().saturating_sub(ORIGINS_SHOWN) {
            0 => shown.join(", "),
            more => format!("{} and {more} more", shown.join(", ")),
        }
    }

    /// All of it on one line, for logs and pipes.
    pub(super) fn line(&self) -> String {
        let mut line = self.amounts();
        for (lead, part) in [("; ", self.outcomes()), ("; at ", self.places())] {
            if !part.is_empty() {
                line.push_str(lead);
                line.push_str(&part);
            }
        }
        line
    }
}

/// Pages a second over the last moments.
#[derive(Debug, Default)]
pub(super) struct Rate {
    seen: VecDeque<(Duration, u64)>,
}

impl Rate {
    /// How far back it looks.
    const WINDOW: Duration = Duration::from_secs(10);
    /// Readings that are kept at most, should they come often.
    const READINGS_MAX: usize = 100;

    /// Takes note of a reading of the counter and gives the rate; absent until some time lies between two readings.
    pub(super) fn after(&mut self, now: Duration, pages: u64) -> Option<f64> {
        // The oldest reading that is kept is at the window's edge, so that a slow crawl has a rate too.
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
    use std::collections::BTreeMap;

    use dragline_domain::frontier::{CrawlerCounters, ParserCounters};
    use dragline_domain::outcome::Outcome;

    use super::*;

    fn busy() -> Progress {
        let outcomes = BTreeMap::from([
            (Outcome::FileIngested, 1_100),
            (Outcome::FileDidNotChange, 22),
            (Outcome::Redirect, 40),
            (Outcome::FileNotFound, 30),
            (Outcome::BlockedByRobotsTxt, 7),
            (Outcome::ConnectionFailed, 3),
        ]);
        Progress {
            added: 1_545,
            taken: 1_200,
            retries_waiting: 2,
            crawler: CrawlerCounters { requests: 1_210, pages: 1_205, retries: 5, body_bytes: 47_815_065 },
            parser: ParserCounters { stuck: 1, outcomes, ..ParserCounters::default() },
            ..Progress::default()
        }
    }

    #[test]
    fn the_line_of_a_busy_crawl() {
        let origins: Vec<Origin> =
            ["a", "b", "c", "d", "e"].map(|host| format!("https://{host}.example.org").parse().unwrap()).to_vec();
        let progress = busy();
        let snapshot = |origins| Snapshot {
            elapsed: Duration::from_millis(80_700),
            progress: &progress,
            rate: Some(15.26),
            origins,
        };
        insta::assert_snapshot!(
            snapshot(&origins[..]).line(),
            @"1m 20s: 1,205 pages (15.3/s), 347 waiting, 45.60 MiB; 1,122 content, 40 redirects, 30 missing, 3 failed, 7 blocked, 1 stuck, 2 to be tried again; at https://a.example.org, https://b.example.org, https://c.example.org and 2 more"
        );
        assert_eq!(snapshot(&origins[..1]).places(), "https://a.example.org");
    }

    #[test]
    fn the_line_of_a_crawl_that_just_began() {
        let snapshot = Snapshot { elapsed: Duration::ZERO, progress: &Progress::default(), rate: None, origins: &[] };
        insta::assert_snapshot!(snapshot.line(), @"0s: 0 pages, 0 waiting, 0 B");
    }

    #[test]
    fn the_rate_is_that_of_the_last_moments() {
        let mut rate = Rate::default();
        let at = Duration::from_secs;
        for (now, pages, expected, why) in [
            (at(0), 100, None, "pages of an earlier run do not count"),
            (Duration::from_millis(100), 105, None, "too short a time to tell"),
            (at(2), 120, Some(10.0), "since the beginning"),
            (at(10), 120, Some(2.0), "it slows down"),
            (at(14), 120, Some(0.0), "what lies back is forgotten"),
            (at(24), 130, Some(1.0), "and it goes on"),
        ] {
            assert_eq!(rate.after(now, pages), expected, "{why}");
        }
    }
}
