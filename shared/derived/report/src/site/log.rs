//! The parts of a report that come from an iteration's log: requests over time, speed, hosts, and
//! changes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use dragline_domain::change::ChangeKind;
use dragline_domain::frontier::CHECK_DEPTH;
use dragline_domain::outcome::OutcomeClass;
use dragline_ports::reader::LogRow;
use foldhash::{HashMap, HashMapExt};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::histogram::Histogram;
use super::rows::Rows;
use super::shape::{Bar, Cell, Chart, ChartKind, Column, Listing, Series, Shade, Unit};
use super::tree::parts;

/// The maximum number of time steps in a chart. With more, pairs are merged.
const STEPS_MAX: usize = 120;

/// The shortest step, in milliseconds.
const STEP_MS: u64 = 1000;

/// The maximum number of hosts that are distinguished; further ones are counted together.
const HOSTS_MAX: usize = 2000;

/// How many of the slowest requests are shown.
const SLOWEST: usize = 100;

/// The series over time: class, name, and shade.
const CLASSES: [(OutcomeClass, &str, Shade); 7] = [
    (OutcomeClass::Content, "content", Shade::Good),
    (OutcomeClass::Redirect, "redirects", Shade::Neutral),
    (OutcomeClass::Dismissed, "copies", Shade::Neutral),
    (OutcomeClass::Missing, "missing", Shade::Warning),
    (OutcomeClass::Failed, "failed", Shade::Error),
    (OutcomeClass::Blocked, "forbidden", Shade::Notice),
    (OutcomeClass::Checked, "links that work", Shade::Good),
];

/// The lower bounds of the size ranges.
const SIZES: [(u64, &str); 7] = [
    (0, "less than 1 KiB"),
    (1 << 10, "from 1 KiB"),
    (4 << 10, "from 4 KiB"),
    (16 << 10, "from 16 KiB"),
    (64 << 10, "from 64 KiB"),
    (256 << 10, "from 256 KiB"),
    (1 << 20, "from 1 MiB"),
];

/// Running totals of a log. Their size depends on the number of hosts, up to a limit, but not on
/// the number of URLs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Visits {
    began_at: Timestamp,
    step_ms: u64,
    steps: Vec<[u64; CLASSES.len()]>,
    statuses: BTreeMap<u16, u64>,
    hosts: HashMap<String, Host>,
    others: Host,
    pub(crate) durations: Histogram,
    pub(crate) first_bytes: Histogram,
    sizes: Histogram,
    slowest: BTreeSet<(Reverse<u64>, String, Option<u64>)>,
    changes: Rows,
    cut: Rows,
}

/// The totals of a host.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Host {
    requests: u64,
    body_bytes: u64,
    refusals: u64,
    failures: u64,
    first_at: Option<Timestamp>,
    last_at: Option<Timestamp>,
    durations: Histogram,
}

impl Host {
    fn add(&mut self, visit: &LogRow, duration_ms: u64) {
        self.requests += 1;
        self.body_bytes += visit.body_bytes.unwrap_or(0);
        self.refusals += u64::from(visit.outcome.is_refusal());
        self.failures += u64::from(visit.outcome.class() == OutcomeClass::Failed);
        self.durations.add(duration_ms);
        self.first_at = Some(self.first_at.map_or(visit.at, |first| first.min(visit.at)));
        self.last_at = Some(self.last_at.map_or(visit.at, |last| last.max(visit.at)));
    }

    /// Returns the average time from one request to the next.
    fn gap_ms(&self) -> Option<u64> {
        let took = self.last_at?.duration_since(self.first_at?).as_millis();
        u64::try_from(took).ok()?.checked_div(self.requests.checked_sub(1)?)
    }
}

impl Visits {
    /// Returns empty totals for an iteration that began at this time.
    pub(crate) fn starting_at(began_at: Timestamp) -> Self {
        Self {
            began_at,
            step_ms: STEP_MS,
            steps: Vec::new(),
            statuses: BTreeMap::new(),
            hosts: HashMap::new(),
            others: Host::default(),
            durations: Histogram::default(),
            first_bytes: Histogram::default(),
            sizes: Histogram::default(),
            slowest: BTreeSet::new(),
            changes: Rows::new(CHANGES),
            cut: Rows::new(CUT),
        }
    }

    /// Restores stored totals.
    pub(crate) fn restore(self) -> Self {
        let (changes, cut) = (self.changes.with_columns(CHANGES), self.cut.with_columns(CUT));
        Self { changes, cut, ..self }
    }

    /// Adds a row of the log.
    pub(crate) fn add(&mut self, visit: &LogRow) {
        self.add_step(visit.at, visit.outcome.class());
        if visit.r#final
            && let Some(change) = visit.change.as_ref().filter(|change| change.kind != ChangeKind::Unchanged)
        {
            let texts = [visit.url.clone(), change.kind.name().to_owned(), change.part_names()];
            self.changes.add(texts.map(Cell::Text).into());
        }
        if visit.is_cut() {
            let kind = visit.content_type.clone().map_or(Cell::Nothing, Cell::Text);
            self.cut.add(vec![Cell::Text(visit.url.clone()), kind, number(visit.body_bytes)]);
        }
        // Where a link leads out, the speed of the answer is not the site's.
        let Some(duration_ms) = visit.duration_ms.filter(|_| visit.depth < CHECK_DEPTH) else { return };
        self.durations.add(duration_ms);
        visit.first_byte_ms.into_iter().for_each(|first_byte_ms| self.first_bytes.add(first_byte_ms));
        if let Some(status) = visit.status {
            *self.statuses.entry(status).or_default() += 1;
        }
        if let Some(body_bytes) = visit.body_bytes {
            self.sizes.add(body_bytes);
        }
        self.add_slow(visit, duration_ms);
        self.host(&visit.url).add(visit, duration_ms);
    }

    fn add_step(&mut self, at: Timestamp, class: OutcomeClass) {
        let after_ms = u64::try_from(at.duration_since(self.began_at).as_millis()).unwrap_or(0);
        let mut step = usize::try_from(after_ms / self.step_ms).unwrap_or(usize::MAX);
        while step >= STEPS_MAX {
            self.steps = self.steps.chunks(2).map(merge_pair).collect();
            self.step_ms *= 2;
            step /= 2;
        }
        if self.steps.len() <= step {
            self.steps.resize(step + 1, Default::default());
        }
        let place = CLASSES.iter().position(|(counted, ..)| *counted == class);
        if let (Some(counts), Some(place)) = (self.steps.get_mut(step), place)
            && let Some(count) = counts.get_mut(place)
        {
            *count += 1;
        }
    }

    fn add_slow(&mut self, visit: &LogRow, duration_ms: u64) {
        let is_slower = self.slowest.last().is_none_or(|(fastest, ..)| duration_ms > fastest.0);
        if self.slowest.len() < SLOWEST || is_slower {
            self.slowest.insert((Reverse(duration_ms), visit.url.clone(), visit.first_byte_ms));
        }
        if self.slowest.len() > SLOWEST {
            self.slowest.pop_last();
        }
    }

    fn host(&mut self, url: &str) -> &mut Host {
        let host = parts(url).next().unwrap_or(url);
        if self.hosts.len() >= HOSTS_MAX && !self.hosts.contains_key(host) {
            return &mut self.others;
        }
        self.hosts.entry(host.to_owned()).or_default()
    }

    /// Returns the charts.
    pub(crate) fn charts(&self) -> Vec<Chart> {
        let series = CLASSES.iter().enumerate().map(|(place, (_, title, shade))| Series {
            title,
            shade: *shade,
            values: self.steps.iter().map(|counts| counts.get(place).copied().unwrap_or(0)).collect(),
        });
        let over_time = ChartKind::OverTime {
            start_at: time(self.began_at),
            step_ms: self.step_ms,
            series: series.filter(|series| series.values.iter().any(|value| *value > 0)).collect(),
        };
        let statuses = self.statuses.iter().map(|(status, requests)| {
            let shade = match status {
                200..300 => Shade::Good,
                300..400 => Shade::Neutral,
                500.. => Shade::Error,
                _ => Shade::Warning,
            };
            Bar { title: status.to_string(), value: *requests, shade }
        });
        let counts = self.sizes.between(&SIZES.map(|(from, _)| from));
        let sizes = SIZES.iter().zip(counts).map(|((_, title), value)| Bar {
            title: (*title).to_owned(),
            value,
            shade: Shade::Neutral,
        });
        let chart = |id, title, about, kind| Chart { id, title, about, unit: Unit::Count, kind };
        vec![
            chart("outcomes", "Outcomes over time", "How the URLs ended, by the time of the visit.", over_time),
            chart(
                "statuses",
                "Status codes",
                "How servers answered, repeated requests included.",
                ChartKind::Bars { bars: statuses.collect() },
            ),
            chart(
                "sizes",
                "Sizes",
                "The sizes of the answers' bodies, as they were received.",
                ChartKind::Bars { bars: sizes.collect() },
            ),
        ]
    }

    /// Returns the tables.
    pub(crate) fn tables(self) -> Vec<Listing> {
        let mut slowest = Rows::new(SLOW);
        for (Reverse(duration_ms), url, first_byte_ms) in self.slowest {
            slowest.add(vec![Cell::Text(url), number(Some(duration_ms)), number(first_byte_ms)]);
        }
        let mut by_requests: Vec<_> = self.hosts.into_iter().collect();
        by_requests
            .sort_by(|(a_name, a), (b_name, b)| (Reverse(a.requests), a_name).cmp(&(Reverse(b.requests), b_name)));
        if self.others.requests > 0 {
            by_requests.push(("all others".to_owned(), self.others));
        }
        let mut hosts = Rows::new(HOSTS);
        for (name, host) in by_requests {
            hosts.add(vec![
                Cell::Text(name),
                number(Some(host.requests)),
                number(host.gap_ms()),
                number(host.durations.quantile(500)),
                number(host.durations.quantile(900)),
                number(Some(host.refusals)),
                number(Some(host.failures)),
                number(Some(host.body_bytes)),
            ]);
        }
        let listing = |id, title, about, rows: Rows| Listing { id, title, about, table: rows.finish_whole() };
        vec![
            listing(
                "changes",
                "Changes",
                "What the iteration found new, changed or gone since the one before.",
                self.changes,
            ),
            listing(
                "hosts",
                "Hosts: speed and politeness",
                "How often each host was asked, on average and while it was crawled, how long it took to answer, and how often it refused.",
                hosts,
            ),
            listing("slowest", "Slowest", "The requests that took longest, up to a hundred.", slowest),
            listing(
                "cut",
                "Bodies cut",
                "Only the beginning of these bodies was kept. Raise `fetch.body_bytes_max` in the definition, or `fetch.decoded_bytes_max` for compressed ones, to keep all of them.",
                self.cut,
            ),
        ]
    }
}

const CHANGES: &[Column] = &[
    Column { id: "url", title: "URL", unit: Unit::Url },
    Column { id: "change", title: "Change", unit: Unit::Text },
    Column { id: "changed_parts", title: "Parts", unit: Unit::Text },
];

const CUT: &[Column] = &[
    Column { id: "url", title: "URL", unit: Unit::Url },
    Column { id: "content_type", title: "Content type", unit: Unit::Text },
    Column { id: "body_bytes", title: "Kept", unit: Unit::Bytes },
];

const SLOW: &[Column] = &[
    Column { id: "url", title: "URL", unit: Unit::Url },
    Column { id: "duration_ms", title: "Duration", unit: Unit::Ms },
    Column { id: "first_byte_ms", title: "Time to first byte", unit: Unit::Ms },
];

const HOSTS: &[Column] = &[
    Column { id: "host", title: "Host", unit: Unit::Text },
    Column { id: "requests", title: "Requests", unit: Unit::Count },
    Column { id: "gap_ms", title: "Gap between requests", unit: Unit::Ms },
    Column { id: "median_ms", title: "Median response time", unit: Unit::Ms },
    Column { id: "ninety_percent_ms", title: "90th percentile of response times", unit: Unit::Ms },
    Column { id: "refusals", title: "Refusals", unit: Unit::Count },
    Column { id: "failures", title: "Failures", unit: Unit::Count },
    Column { id: "body_bytes", title: "Received", unit: Unit::Bytes },
];

fn merge_pair(pair: &[[u64; CLASSES.len()]]) -> [u64; CLASSES.len()] {
    let mut sums = [0; CLASSES.len()];
    for counts in pair {
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    sums
}

pub(crate) fn number(number: Option<u64>) -> Cell {
    number.map_or(Cell::Nothing, Cell::Whole)
}

/// Formats a time for a report.
pub(crate) fn time(at: Timestamp) -> String {
    format!("{at:.3}")
}
