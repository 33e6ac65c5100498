//! What differs between two versions of a definition.

use super::{Draft, Key, Schedule};

/// What a change means for an iteration that is not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Other URLs would be crawled: the iteration must start again.
    WhichUrls,
    /// The same URLs are crawled in another manner: the iteration can go on.
    HowOnly,
}

/// One key that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Change {
    /// Which one.
    pub key: Key,
    /// What that means for an iteration that is not finished.
    pub effect: Effect,
}

/// The keys that differ between two versions, in the order of [`Key::ALL`]. Empty when they are the same.
#[must_use]
pub fn changes(old: &Draft, new: &Draft) -> Vec<Change> {
    Key::ALL.iter().filter(|key| differs(**key, old, new)).map(|&key| Change { key, effect: key.effect() }).collect()
}

fn differs(key: Key, old: &Draft, new: &Draft) -> bool {
    match key {
        Key::Name => old.name != new.name,
        Key::Seeds => old.seeds != new.seeds,
        Key::ScopeWithin => old.scope.within != new.scope.within,
        Key::ScopeInclude => old.scope.include != new.scope.include,
        Key::ScopeExclude => old.scope.exclude != new.scope.exclude,
        Key::ScopeMaxDepth => old.scope.max_depth != new.scope.max_depth,
        Key::BudgetPages => old.budget.pages != new.budget.pages,
        Key::BudgetPagesPerOrigin => old.budget.pages_per_origin != new.budget.pages_per_origin,
        Key::BudgetBytes => old.budget.bytes != new.budget.bytes,
        Key::BudgetDuration => old.budget.duration != new.budget.duration,
        Key::DoNotCrawl => old.do_not_crawl != new.do_not_crawl,
        Key::UrlQueryParameters => old.url_query_parameters != new.url_query_parameters,
        Key::StripQueryParameters => old.strip_query_parameters != new.strip_query_parameters,
        Key::TrapsSegmentRepeatsMax => old.traps.segment_repeats_max != new.traps.segment_repeats_max,
        Key::TrapsSegmentsMax => old.traps.segments_max != new.traps.segments_max,
        Key::TrapsUrlBytesMax => old.traps.url_bytes_max != new.traps.url_bytes_max,
        Key::PolitenessDelay => old.politeness.delay != new.politeness.delay,
        Key::PolitenessConcurrency => old.politeness.concurrency != new.politeness.concurrency,
        Key::PolitenessHostsPerDomain => old.politeness.hosts_per_domain != new.politeness.hosts_per_domain,
        Key::PolitenessPatience => old.politeness.patience != new.politeness.patience,
        Key::PolitenessRobotsMaxAge => old.politeness.robots_max_age != new.politeness.robots_max_age,
        Key::FetchConnectTimeout => old.fetch.connect_timeout != new.fetch.connect_timeout,
        Key::FetchFirstByteTimeout => old.fetch.first_byte_timeout != new.fetch.first_byte_timeout,
        Key::FetchTimeout => old.fetch.timeout != new.fetch.timeout,
        Key::FetchHeaderBytesMax => old.fetch.header_bytes_max != new.fetch.header_bytes_max,
        Key::FetchBodyBytesMax => old.fetch.body_bytes_max != new.fetch.body_bytes_max,
        Key::FetchDecodedBytesMax => old.fetch.decoded_bytes_max != new.fetch.decoded_bytes_max,
        Key::UserAgent => old.user_agent != new.user_agent,
        Key::RecrawlInterval => old.recrawl.interval != new.recrawl.interval,
        Key::RecrawlMin => old.recrawl.min != new.recrawl.min,
        Key::RecrawlMax => old.recrawl.max != new.recrawl.max,
        Key::ScheduleCron => old.schedule.as_ref().map(Schedule::cron) != new.schedule.as_ref().map(Schedule::cron),
        Key::ScheduleTimeZone => {
            old.schedule.as_ref().map(Schedule::time_zone) != new.schedule.as_ref().map(Schedule::time_zone)
        }
    }
}
