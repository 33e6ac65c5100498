//! The checks that make a draft a definition.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::{Condition, Draft, Key, Mistake, Place, Problem, Quantity};
use crate::policy::{AllowedOrigins, BlockRule, Decision, Policy, ScopeRule};

/// The limits of a definition's values.
pub mod limits {
    use std::ops::RangeInclusive;
    use std::time::Duration;

    /// The most seeds.
    pub const SEEDS_MAX: usize = 10_000;
    /// The most patterns under `include`, and under `exclude`.
    pub const PATTERNS_MAX: usize = 100;
    /// The most `do_not_crawl` rules, and the most query rules.
    pub const RULES_MAX: usize = 500;
    /// The most tests in all conditions together.
    pub const TESTS_MAX: usize = 1_000;
    /// The most parameter names that a query rule allows.
    pub const PARAMETERS_MAX: usize = 200;
    /// The longest parameter name, in bytes.
    pub const PARAMETER_BYTES_MAX: usize = 200;
    /// The longest reason of a rule, in characters.
    pub const REASON_CHARS_MAX: usize = 200;

    const SECOND: Duration = Duration::from_secs(1);
    const HOUR: Duration = Duration::from_hours(1);
    const DAY: Duration = Duration::from_hours(24);

    /// Links from a seed.
    pub const DEPTH: RangeInclusive<u64> = 0..=10_000;
    /// Pages, of an iteration or of an origin in it. Nothing would be crawled with 0.
    pub const PAGES: RangeInclusive<u64> = 1..=1_000_000_000_000;
    /// Bytes of an iteration: up to 1 PiB.
    pub const BUDGET_BYTES: RangeInclusive<u64> = 1..=1 << 50;
    /// The length of an iteration.
    pub const BUDGET_DURATION: RangeInclusive<Duration> = SECOND..=Duration::from_hours(365 * 24);
    /// How often a path segment may stand in a URL.
    pub const SEGMENT_REPEATS: RangeInclusive<u64> = 1..=100;
    /// Segments of a path.
    pub const SEGMENTS: RangeInclusive<u64> = 1..=1_000;
    /// Bytes of a URL.
    pub const URL_BYTES: RangeInclusive<u64> = 16..=2_048;
    /// From request to request. Above an hour no iteration would end.
    pub const DELAY: RangeInclusive<Duration> = Duration::ZERO..=HOUR;
    /// Requests to one origin at the same time.
    pub const CONCURRENCY: RangeInclusive<u64> = 1..=256;
    /// Hosts of a registered domain that are asked at once; each stands in the row of its domain.
    pub const HOSTS_PER_DOMAIN: RangeInclusive<u64> = 1..=100;
    /// How long a host may be out of reach before its origin is given up.
    pub const PATIENCE: RangeInclusive<Duration> = Duration::from_secs(1)..=DAY;
    /// How long a robots.txt is believed (RFC 9309 section 2.4: at most 24 hours).
    pub const ROBOTS_MAX_AGE: RangeInclusive<Duration> = Duration::from_mins(1)..=DAY;
    /// Any of the time limits of one request: it must end within a lease of 120 seconds, with a reserve to commit.
    pub const TIMEOUT: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(90);
    /// Bytes of a response header.
    pub const HEADER_BYTES: RangeInclusive<u64> = 1 << 10..=1 << 20;
    /// Bytes of a body, as received.
    pub const BODY_BYTES: RangeInclusive<u64> = 1 << 10..=256 << 20;
    /// Bytes of a body with its coding undone.
    pub const DECODED_BYTES: RangeInclusive<u64> = 1 << 10..=1 << 30;
    /// The intervals of the recrawl rule.
    pub const INTERVAL: RangeInclusive<Duration> = Duration::from_mins(1)..=Duration::from_hours(365 * 24);
}

/// Everything that is wrong, in the order of the keys.
pub(super) fn problems(draft: &Draft) -> Vec<Problem> {
    let mut problems: Vec<Problem> =
        [counts(draft), conditions(draft), texts(draft), ranges(draft), bounds(draft)].concat();
    // Rules are tried on the seeds only once they are sound: the compiled policy relies on it.
    if problems.is_empty() {
        problems = seeds(draft);
    }
    problems.sort_by_key(|problem| problem.place);
    problems
}

fn problem(place: impl Into<Place>, mistake: impl Into<Mistake>) -> Problem {
    Problem { place: place.into(), mistake: mistake.into() }
}

fn counts(draft: &Draft) -> Vec<Problem> {
    let lists = [
        (Key::Seeds, draft.seeds.len(), limits::SEEDS_MAX),
        (Key::ScopeInclude, draft.scope.include.len(), limits::PATTERNS_MAX),
        (Key::ScopeExclude, draft.scope.exclude.len(), limits::PATTERNS_MAX),
        (Key::DoNotCrawl, draft.do_not_crawl.len(), limits::RULES_MAX),
        (Key::UrlQueryParameters, draft.url_query_parameters.len(), limits::RULES_MAX),
    ];
    let too_many = lists
        .into_iter()
        .filter(|(_, count, max)| count > max)
        .map(|(key, count, max)| problem(key, Mistake::TooMany { count, max }));
    let none = draft.seeds.is_empty().then(|| problem(Key::Seeds, Mistake::NoSeeds));
    too_many.chain(none).collect()
}

fn conditions(draft: &Draft) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut tests = 0;
    for (place, condition) in all_conditions(draft) {
        match condition.mistake() {
            Some(mistake) => problems.push(problem(place, mistake)),
            None => tests += condition.tests(),
        }
        if tests > limits::TESTS_MAX {
            problems.push(problem(place, Mistake::TooMany { count: tests, max: limits::TESTS_MAX }));
            break;
        }
    }
    problems
}

fn all_conditions(draft: &Draft) -> impl Iterator<Item = (Place, &Condition)> {
    let blocks = draft.do_not_crawl.iter().map(|rule| Some(&rule.when)).enumerate();
    let queries = draft.url_query_parameters.iter().map(|rule| rule.when.as_ref()).enumerate();
    blocks
        .map(|(entry, condition)| (Place::entry(Key::DoNotCrawl, entry), condition))
        .chain(queries.map(|(entry, condition)| (Place::entry(Key::UrlQueryParameters, entry), condition)))
        .filter_map(|(place, condition)| Some((place, condition?)))
}

fn texts(draft: &Draft) -> Vec<Problem> {
    let reasons = draft.do_not_crawl.iter().enumerate().filter_map(|(entry, rule)| {
        let chars = rule.reason.chars().count();
        let sound = !rule.reason.trim().is_empty()
            && chars <= limits::REASON_CHARS_MAX
            && !rule.reason.contains(char::is_control);
        (!sound).then(|| problem(Place::entry(Key::DoNotCrawl, entry), Mistake::Reason))
    });
    let names = draft.url_query_parameters.iter().enumerate().filter_map(|(entry, rule)| {
        let place = Place::entry(Key::UrlQueryParameters, entry);
        if rule.allow.len() > limits::PARAMETERS_MAX {
            return Some(problem(place, Mistake::TooMany { count: rule.allow.len(), max: limits::PARAMETERS_MAX }));
        }
        let bad = rule.allow.iter().find(|name| !is_parameter_name(name))?;
        Some(problem(place, Mistake::ParameterName(bad.chars().filter(|c| !c.is_control()).take(40).collect())))
    });
    reasons.chain(names).collect()
}

fn is_parameter_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= limits::PARAMETER_BYTES_MAX && !name.contains(char::is_control)
}

fn ranges(draft: &Draft) -> Vec<Problem> {
    let Draft { scope, budget, traps, politeness, fetch, recrawl, .. } = draft;
    let checks = [
        scope.max_depth.and_then(|depth| count(Key::ScopeMaxDepth, depth.into(), limits::DEPTH)),
        budget.pages.and_then(|pages| count(Key::BudgetPages, pages, limits::PAGES)),
        budget.pages_per_origin.and_then(|pages| count(Key::BudgetPagesPerOrigin, pages, limits::PAGES)),
        budget.bytes.and_then(|bytes| size(Key::BudgetBytes, bytes, limits::BUDGET_BYTES)),
        budget.duration.and_then(|length| time(Key::BudgetDuration, length, limits::BUDGET_DURATION)),
        count(Key::TrapsSegmentRepeatsMax, traps.segment_repeats_max.into(), limits::SEGMENT_REPEATS),
        count(Key::TrapsSegmentsMax, traps.segments_max.into(), limits::SEGMENTS),
        count(Key::TrapsUrlBytesMax, traps.url_bytes_max.into(), limits::URL_BYTES),
        time(Key::PolitenessDelay, politeness.delay, limits::DELAY),
        count(Key::PolitenessConcurrency, politeness.concurrency.into(), limits::CONCURRENCY),
        count(Key::PolitenessHostsPerDomain, politeness.hosts_per_domain.into(), limits::HOSTS_PER_DOMAIN),
        time(Key::PolitenessPatience, politeness.patience, limits::PATIENCE),
        time(Key::PolitenessRobotsMaxAge, politeness.robots_max_age, limits::ROBOTS_MAX_AGE),
        time(Key::FetchConnectTimeout, fetch.connect_timeout, limits::TIMEOUT),
        time(Key::FetchFirstByteTimeout, fetch.first_byte_timeout, limits::TIMEOUT),
        time(Key::FetchTimeout, fetch.timeout, limits::TIMEOUT),
        size(Key::FetchHeaderBytesMax, wide(fetch.header_bytes_max), limits::HEADER_BYTES),
        size(Key::FetchBodyBytesMax, wide(fetch.body_bytes_max), limits::BODY_BYTES),
        size(Key::FetchDecodedBytesMax, fetch.decoded_bytes_max, limits::DECODED_BYTES),
        recrawl.interval.and_then(|interval| time(Key::RecrawlInterval, interval, limits::INTERVAL)),
        time(Key::RecrawlMin, recrawl.min, limits::INTERVAL),
        time(Key::RecrawlMax, recrawl.max, limits::INTERVAL),
    ];
    checks.into_iter().flatten().collect()
}

fn count(key: Key, value: u64, range: RangeInclusive<u64>) -> Option<Problem> {
    within(key, value, range, Quantity::Count)
}

fn size(key: Key, value: u64, range: RangeInclusive<u64>) -> Option<Problem> {
    within(key, value, range, Quantity::Bytes)
}

fn time(key: Key, value: Duration, range: RangeInclusive<Duration>) -> Option<Problem> {
    within(key, value, range, Quantity::Time)
}

fn within<T: PartialOrd>(
    key: Key,
    value: T,
    range: RangeInclusive<T>,
    quantity: impl Fn(T) -> Quantity,
) -> Option<Problem> {
    if range.contains(&value) {
        return None;
    }
    let (min, max) = range.into_inner();
    Some(problem(key, Mistake::OutOfRange { value: quantity(value), min: quantity(min), max: quantity(max) }))
}

/// Values that another key bounds.
fn bounds(draft: &Draft) -> Vec<Problem> {
    let Draft { fetch, recrawl, .. } = draft;
    // Without an interval there is nothing for the two bounds to be compared with but each other.
    let interval = recrawl.interval.unwrap_or(recrawl.min.min(recrawl.max));
    let times = [
        (Key::FetchConnectTimeout, fetch.connect_timeout, Key::FetchTimeout, fetch.timeout),
        (Key::FetchFirstByteTimeout, fetch.first_byte_timeout, Key::FetchTimeout, fetch.timeout),
        (Key::RecrawlMin, recrawl.min, Key::RecrawlMax, recrawl.max),
        (Key::RecrawlMin, recrawl.min, Key::RecrawlInterval, interval),
        (Key::RecrawlInterval, interval, Key::RecrawlMax, recrawl.max),
    ]
    .map(|(key, value, other, bound)| (key, Quantity::Time(value), other, Quantity::Time(bound), value > bound));
    let body = wide(fetch.body_bytes_max);
    let sizes = [(Key::FetchBodyBytesMax, body, Key::FetchDecodedBytesMax, fetch.decoded_bytes_max)]
        .map(|(key, value, other, bound)| (key, Quantity::Bytes(value), other, Quantity::Bytes(bound), value > bound));
    let mut problems: Vec<Problem> = Vec::new();
    for (key, value, other, bound, more) in times.into_iter().chain(sizes) {
        // An interval that is too small for the minimum is told once, not for each pair that it stands in.
        if more && problems.iter().all(|told| told.place.key != key) {
            problems.push(problem(key, Mistake::MoreThan { value, other, bound }));
        }
    }
    problems
}

fn wide(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

/// What the rules make of the seeds: one that is shut out by the user's own rules was not meant so.
fn seeds(draft: &Draft) -> Vec<Problem> {
    let Ok(policy) = Policy::of_sound_draft(draft) else {
        return vec![problem(Key::ScopeInclude, Mistake::PatternsTooLarge)];
    };
    let allowed = AllowedOrigins::of_draft(draft);
    let mut problems: Vec<Problem> = Vec::new();
    let mut included = 0_usize;
    let mut not_included = None;
    let mut blocked = None;
    let mut crawled = 0_usize;
    for seed in &draft.seeds {
        match policy.decide(seed, 0, &allowed) {
            Decision::OutOfScope(ScopeRule::Exclude { entry, .. }) => {
                let place = Place::entry(Key::ScopeExclude, entry);
                if problems.iter().all(|told| told.place != place) {
                    problems.push(problem(place, Mistake::ExcludesSeed(seed.clone())));
                }
            }
            Decision::OutOfScope(ScopeRule::NotIncluded) => not_included = not_included.or(Some(seed)),
            // Seeds are within their own origins and 0 links from themselves.
            Decision::OutOfScope(ScopeRule::NotWithin(_) | ScopeRule::Depth { .. }) => {}
            Decision::Blocked(rule) => {
                included += 1;
                blocked = blocked.or(Some((seed, rule)));
            }
            Decision::Crawl => {
                included += 1;
                crawled += 1;
            }
        }
    }
    if let (0, Some(seed)) = (included, not_included) {
        problems.push(problem(Key::ScopeInclude, Mistake::IncludesNoSeed(seed.clone())));
    }
    if let (0, Some((seed, rule))) = (crawled, blocked) {
        let mistake = Mistake::BlocksEverySeed { seed: seed.clone(), rule: rule.to_string() };
        problems.push(problem(place_of(&rule), mistake));
    }
    problems
}

fn place_of(rule: &BlockRule<'_>) -> Place {
    match rule {
        BlockRule::DoNotCrawl { entry, .. } => Place::entry(Key::DoNotCrawl, *entry),
        BlockRule::QueryParameters(_) => Key::UrlQueryParameters.into(),
        BlockRule::Trap(trap) => trap.key().into(),
    }
}
