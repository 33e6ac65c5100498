//! The keys of a definition, by the names that the user knows.

use std::fmt;

use super::Effect;

macro_rules! keys {
    ($($variant:ident = $name:literal $effect:ident;)*) => {
        /// A key of a definition. [`Key::name`] is the path by which the user writes it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Key { $(#[doc = concat!("`", $name, "`")] $variant,)* }

        impl Key {
            /// Every key there is, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The path in YAML, such as `budget.pages`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What a change of it means for an iteration that is not finished.
            #[must_use]
            pub const fn effect(self) -> Effect {
                match self { $(Self::$variant => Effect::$effect,)* }
            }
        }
    };
}

keys! {
    Name = "name" WhichUrls;
    Seeds = "seeds" WhichUrls;
    ScopeWithin = "scope.within" WhichUrls;
    ScopeInclude = "scope.include" WhichUrls;
    ScopeExclude = "scope.exclude" WhichUrls;
    ScopeMaxDepth = "scope.max_depth" WhichUrls;
    BudgetPages = "budget.pages" WhichUrls;
    BudgetPagesPerOrigin = "budget.pages_per_origin" WhichUrls;
    BudgetBytes = "budget.bytes" WhichUrls;
    BudgetDuration = "budget.duration" WhichUrls;
    DoNotCrawl = "do_not_crawl" WhichUrls;
    UrlQueryParameters = "url_query_parameters" WhichUrls;
    StripQueryParameters = "strip_query_parameters" WhichUrls;
    TrapsSegmentRepeatsMax = "traps.segment_repeats_max" WhichUrls;
    TrapsSegmentsMax = "traps.segments_max" WhichUrls;
    TrapsUrlBytesMax = "traps.url_bytes_max" WhichUrls;
    PolitenessDelay = "politeness.delay" HowOnly;
    PolitenessConcurrency = "politeness.concurrency" HowOnly;
    PolitenessHostsPerDomain = "politeness.hosts_per_domain" HowOnly;
    PolitenessPatience = "politeness.patience" HowOnly;
    PolitenessRobotsMaxAge = "politeness.robots_max_age" HowOnly;
    FetchConnectTimeout = "fetch.connect_timeout" HowOnly;
    FetchFirstByteTimeout = "fetch.first_byte_timeout" HowOnly;
    FetchTimeout = "fetch.timeout" HowOnly;
    FetchHeaderBytesMax = "fetch.header_bytes_max" HowOnly;
    FetchBodyBytesMax = "fetch.body_bytes_max" HowOnly;
    FetchDecodedBytesMax = "fetch.decoded_bytes_max" HowOnly;
    UserAgent = "user_agent" HowOnly;
    RecrawlInterval = "recrawl.interval" WhichUrls;
    RecrawlMin = "recrawl.min" WhichUrls;
    RecrawlMax = "recrawl.max" WhichUrls;
    ScheduleCron = "schedule.cron" HowOnly;
    ScheduleTimeZone = "schedule.time_zone" HowOnly;
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where in a definition: a key, or one entry of its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The key.
    pub key: Key,
    /// The entry's position, counted from 0; absent for the key as a whole.
    pub entry: Option<usize>,
}

impl Place {
    /// One entry of a list, counted from 0.
    #[must_use]
    pub const fn entry(key: Key, entry: usize) -> Self {
        Self { key, entry: Some(entry) }
    }
}

impl From<Key> for Place {
    fn from(key: Key) -> Self {
        Self { key, entry: None }
    }
}

/// The key, and the entry counted from 1: `scope.exclude entry 2`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.entry {
            Some(entry) => write!(f, "{} entry {}", self.key, entry + 1),
            None => self.key.fmt(f),
        }
    }
}
