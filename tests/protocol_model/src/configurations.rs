//! The configurations explored. Each allows one or two kinds of faults, so that it stays small.

use crate::config::{Config, Cut, Faults, History, Hosts, LateMessages, Reading, Sweeping, Workers};
use crate::site::Site;

const NONE: Faults = Faults::NONE;
const ONE_EACH: Workers = Workers { schedulers: 1, crawlers: 1, parsers: 1 };
const TWO_CRAWLERS: Workers = Workers { crawlers: 2, ..ONE_EACH };
const ONE_CRAWLER: Workers = Workers { parsers: 2, ..ONE_EACH };
const TWO_SCHEDULERS: Workers = Workers { schedulers: 2, ..ONE_EACH };

/// Nothing goes wrong.
impl Config {
    /// The smallest: a page on each of two origins.
    pub const SMALLEST: Self = Self::for_site(Site::TWO_PAGES);
    /// Four pages that link in circles.
    pub const CROSS_LINKED: Self = Self::for_site(Site::CROSS_LINKED);
    /// A chunk arrives that sorts before the one being consumed.
    pub const OVERTAKING: Self = Self { workers: ONE_CRAWLER, ..Self::for_site(Site::OVERTAKING) };
    /// Nothing is sent again, and nothing needs to be.
    pub const UNAIDED: Self =
        Self { sweeping: Sweeping::OnlyCloses, reading: Reading::Apart, ..Self::for_site(Site::FAN) };
    /// The same, where two segments lead to one page.
    pub const UNAIDED_MEETING: Self =
        Self { sweeping: Sweeping::OnlyCloses, reading: Reading::Apart, ..Self::for_site(Site::MEETING) };
    /// The same, on pages that link in circles.
    pub const UNAIDED_CIRCLES: Self = Self { sweeping: Sweeping::OnlyCloses, ..Self::for_site(Site::CROSS_LINKED) };
}

/// Workers die, messages are lost or delivered twice.
impl Config {
    /// A worker of any kind dies at any step.
    pub const CRASH: Self = Self::for_site(Site::CROSS_LINKED).with(Faults { crashes: 1, ..NONE });
    /// A worker dies, and others act between reading and acting.
    pub const CRASH_APART: Self =
        Self { reading: Reading::Apart, ..Self::for_site(Site::FAN).with(Faults { crashes: 1, ..NONE }) };
    /// A worker dies, where two segments lead to one page.
    pub const CRASH_MEETING: Self = Self::for_site(Site::MEETING).with(Faults { crashes: 1, ..NONE });
    /// Two workers die, or one twice.
    pub const CRASHES: Self = Self::for_site(Site::FAN).with(Faults { crashes: 2, ..NONE });
    /// A parse is committed in parts; a worker dies, and a message is delivered twice.
    pub const CRASH_IN_PARTS: Self = Self {
        cut: Cut::ByTarget,
        ..Self::for_site(Site::BOTH_WAYS).with(Faults { crashes: 1, duplicates: 1, ..NONE })
    };
    /// A worker dies, and a message is lost.
    pub const CRASH_AND_LOSS: Self = Self::for_site(Site::FAN).with(Faults { crashes: 1, losses: 1, ..NONE });
    /// A worker dies, and a message is delivered twice.
    pub const CRASH_AND_DUPLICATE: Self = Self::for_site(Site::FAN).with(Faults { crashes: 1, duplicates: 1, ..NONE });
    /// Two messages are lost.
    pub const LOSSES: Self = Self::for_site(Site::CROSS_LINKED).with(Faults { losses: 2, ..NONE });
    /// A message is delivered twice.
    pub const DUPLICATE: Self =
        Self { reading: Reading::Apart, ..Self::for_site(Site::FAN).with(Faults { duplicates: 1, ..NONE }) };
    /// Messages are delivered twice, and long after they were useful.
    pub const LATE_DUPLICATES: Self = Self {
        late_messages: LateMessages::Delivered,
        ..Self::for_site(Site::FAN).with(Faults { duplicates: 2, ..NONE })
    };
}

/// Leases run out, answers are lost, captures are skipped.
impl Config {
    /// Leases run out while their holders live.
    pub const EXPIRY: Self = Self::for_site(Site::CROSS_LINKED).with(Faults { expiries: 2, ..NONE });
    /// A lease runs out, a message is delivered twice, and others act in between.
    pub const EXPIRY_APART: Self = Self {
        reading: Reading::Apart,
        ..Self::for_site(Site::CIRCLE).with(Faults { expiries: 1, duplicates: 1, ..NONE })
    };
    /// A lease runs out, and a worker dies.
    pub const EXPIRY_AND_CRASH: Self = Self::for_site(Site::FAN).with(Faults { expiries: 1, crashes: 1, ..NONE });
    /// The answer of a commit is lost, and a lease runs out.
    pub const LOST_ANSWER: Self = Self::for_site(Site::FAN).with(Faults { lost_answers: 1, expiries: 1, ..NONE });
    /// A parse skips what it cannot read, and a worker dies.
    pub const SKIP: Self = Self::for_site(Site::FAN).with(Faults { skips: 1, crashes: 1, ..NONE });
}

/// The user, budgets, failures and depth.
impl Config {
    /// The user stops the crawl.
    pub const STOP: Self = Self {
        workers: ONE_EACH,
        reading: Reading::Apart,
        ..Self::for_site(Site::MEETING).with(Faults { stops: 1, ..NONE })
    };
    /// The user stops the crawl, and a worker dies.
    pub const STOP_AND_CRASH: Self =
        Self { reading: Reading::Apart, ..Self::for_site(Site::FAN).with(Faults { stops: 1, crashes: 1, ..NONE }) };
    /// The user stops the crawl, and a lease runs out.
    pub const STOP_AND_EXPIRY: Self =
        Self { reading: Reading::Apart, ..Self::for_site(Site::FAN).with(Faults { stops: 1, expiries: 1, ..NONE }) };
    /// The user pauses the crawl twice, or stops it.
    pub const PAUSE: Self = Self::for_site(Site::FAN).with(Faults { pauses: 2, stops: 1, ..NONE });
    /// Two pages may be fetched; a lease runs out, and a worker dies.
    pub const BUDGET: Self =
        Self { pages_max: Some(2), ..Self::for_site(Site::FAN).with(Faults { expiries: 1, crashes: 1, ..NONE }) };
    /// Two pages may be fetched, of two origins; a worker dies.
    pub const BUDGET_SHARED: Self =
        Self { pages_max: Some(2), ..Self::for_site(Site::MEETING).with(Faults { crashes: 1, ..NONE }) };
    /// Four pages may be fetched; the user stops the crawl, and a worker dies.
    pub const BUDGET_AND_STOP: Self =
        Self { pages_max: Some(4), ..Self::for_site(Site::FAN).with(Faults { stops: 1, crashes: 1, ..NONE }) };
    /// A page is retried.
    pub const RETRY: Self = Self::for_site(Site::FAN).with(Faults { flukes: 1, ..NONE });
    /// A page is retried, and a worker dies.
    pub const RETRY_AND_CRASH: Self = Self::for_site(Site::CIRCLE).with(Faults { flukes: 1, crashes: 1, ..NONE });
    /// A page is retried, and the user stops the crawl.
    pub const RETRY_AND_STOP: Self = Self::for_site(Site::CIRCLE).with(Faults { flukes: 1, stops: 1, ..NONE });
    /// An origin is given up.
    pub const PATIENCE: Self =
        Self { reading: Reading::Apart, ..Self::for_site(Site::FAN).with(Faults { failures: 1, ..NONE }) };
    /// An origin is given up, and a worker dies.
    pub const PATIENCE_AND_CRASH: Self = Self::for_site(Site::FAN).with(Faults { failures: 1, crashes: 1, ..NONE });
    /// The depth is limited.
    pub const BARRIER: Self =
        Self { depth_max: Some(2), reading: Reading::Apart, workers: ONE_EACH, ..Self::for_site(Site::TWO_WAYS) };
    /// The depth is limited; a page is retried.
    pub const BARRIER_AND_RETRY: Self =
        Self { reading: Reading::Merged, ..Self::BARRIER.with(Faults { flukes: 1, ..NONE }) };
    /// The depth is limited; a worker dies.
    pub const BARRIER_AND_CRASH: Self =
        Self { reading: Reading::Merged, ..Self::BARRIER.with(Faults { crashes: 1, ..NONE }) };
}

/// Commands and iterations.
impl Config {
    /// Commands of two triggers, and a worker dies.
    pub const TWO_COMMANDS: Self = Self {
        commands: 2,
        workers: TWO_SCHEDULERS,
        ..Self::for_site(Site::TWO_PAGES).with(Faults { crashes: 1, ..NONE })
    };
    /// A command is delivered to two schedulers, or a scheduler dies.
    pub const COMMAND_TWICE: Self = Self {
        workers: TWO_SCHEDULERS,
        ..Self::for_site(Site::BOTH_WAYS).with(Faults { duplicates: 1, crashes: 1, ..NONE })
    };
    /// A site that was crawled before; a worker dies.
    pub const RECRAWL: Self =
        Self { history: History::CrawledOnce, ..Self::for_site(Site::CIRCLE).with(Faults { crashes: 1, ..NONE }) };
    /// A site that was crawled before, and links that are gone.
    pub const RECRAWL_LINKS_GONE: Self = Self {
        history: History::CrawledOnce,
        ..Self::for_site(Site::THERE_AND_BACK).with(Faults { skips: 1, ..NONE })
    };
    /// A site that was crawled before; a lease runs out.
    pub const RECRAWL_AND_EXPIRY: Self = Self {
        history: History::CrawledOnce,
        reading: Reading::Apart,
        ..Self::for_site(Site::CIRCLE).with(Faults { expiries: 1, ..NONE })
    };
    /// Another iteration follows at once; a message is delivered twice.
    pub const REPEATED: Self = Self {
        history: History::ToBeRepeated,
        workers: TWO_SCHEDULERS,
        ..Self::for_site(Site::TWO_PAGES).with(Faults { duplicates: 1, ..NONE })
    };
    /// Another iteration follows at once; a lease runs out, and messages arrive late.
    pub const REPEATED_LATE: Self = Self {
        history: History::ToBeRepeated,
        late_messages: LateMessages::Delivered,
        workers: TWO_CRAWLERS,
        ..Self::for_site(Site::TWO_PAGES).with(Faults { expiries: 1, duplicates: 1, ..NONE })
    };
}

/// Both origins' hosts share a domain, of which one host is visited at a time.
impl Config {
    /// Nothing is sent again, and nothing needs to be.
    pub const DOMAIN_UNAIDED: Self = Self { hosts: Hosts::OfOneDomain, ..Self::HOST_UNAIDED };
    /// A lease runs out, and others act in between.
    pub const DOMAIN_AND_EXPIRY: Self = Self { hosts: Hosts::OfOneDomain, ..Self::HOST_AND_EXPIRY };
    /// Another iteration follows at once; a worker dies, and the user stops the crawl.
    pub const DOMAIN_REPEATED: Self = Self { hosts: Hosts::OfOneDomain, ..Self::HOST_REPEATED };
}

/// Both origins share a host.
impl Config {
    /// Nothing is sent again, and nothing needs to be.
    pub const HOST_UNAIDED: Self = Self {
        hosts: Hosts::Shared,
        sweeping: Sweeping::OnlyCloses,
        workers: TWO_CRAWLERS,
        ..Self::for_site(Site::FAN)
    };
    /// A lease runs out, and others act in between.
    pub const HOST_AND_EXPIRY: Self = Self {
        hosts: Hosts::Shared,
        reading: Reading::Apart,
        workers: TWO_CRAWLERS,
        ..Self::for_site(Site::MEETING).with(Faults { expiries: 1, ..NONE })
    };
    /// A worker dies.
    pub const HOST_AND_CRASH: Self = Self {
        hosts: Hosts::Shared,
        workers: TWO_CRAWLERS,
        ..Self::for_site(Site::MEETING).with(Faults { crashes: 1, ..NONE })
    };
    /// Another iteration follows at once; a worker dies, and the user stops the crawl.
    pub const HOST_REPEATED: Self = Self {
        hosts: Hosts::Shared,
        history: History::ToBeRepeated,
        workers: TWO_CRAWLERS,
        ..Self::for_site(Site::TWO_SEEDS).with(Faults { crashes: 1, stops: 1, ..NONE })
    };
}
