//! What is explored. Each configuration lets one or two kinds of things go wrong.

use crate::config::{Config, Cut, Faults, History, LateMessages, Reading, Sweeping, Workers};
use crate::site::Site;

const NONE: Faults = Faults::NONE;

impl Config {
    /// The smallest: a page on each of two origins, nothing goes wrong.
    pub const SMALLEST: Self = Self::of(Site::TWO_PAGES);
    /// Nothing goes wrong, on four pages with cross links.
    pub const CROSS_LINKED: Self = Self::of(Site::CROSS_LINKED);
    /// Nothing goes wrong, so nothing may have to be sent again.
    pub const UNAIDED: Self = Self { sweeping: Sweeping::OnlyCloses, reading: Reading::Apart, ..Self::of(Site::FAN) };
    /// Two segments that claim the same page.
    pub const UNAIDED_MEETING: Self = Self { sweeping: Sweeping::OnlyCloses, ..Self::of(Site::MEETING) };
    /// Somebody dies.
    pub const CRASH: Self = Self::of(Site::FAN).with(Faults { crashes: 1, ..NONE });
    /// Somebody dies while others act between what is read and what is done.
    pub const CRASH_APART: Self =
        Self { reading: Reading::Apart, ..Self::of(Site::CIRCLE).with(Faults { crashes: 1, ..NONE }) };
    /// Two die, or one twice.
    pub const TWO_CRASHES: Self = Self::of(Site::CIRCLE).with(Faults { crashes: 2, ..NONE });
    /// Two segments claim the same page, and somebody dies.
    pub const CRASH_MEETING: Self = Self::of(Site::MEETING).with(Faults { crashes: 1, ..NONE });
    /// A parse in parts, and two crashes.
    pub const CRASH_PARTS: Self =
        Self { cut: Cut::ByTarget, ..Self::of(Site::BOTH_WAYS).with(Faults { crashes: 1, duplicates: 1, ..NONE }) };
    /// A message comes twice.
    pub const DUPLICATE: Self = Self::of(Site::FAN).with(Faults { duplicates: 1, ..NONE });
    /// A message comes twice
    pub const DUPLICATE_APART: Self =
        Self { reading: Reading::Apart, ..Self::of(Site::CIRCLE).with(Faults { duplicates: 1, ..NONE }) };
    /// Messages come twice and late
    pub const DUPLICATES_LATE: Self = Self {
        late_messages: LateMessages::Delivered,
        ..Self::of(Site::CIRCLE).with(Faults { duplicates: 2, ..NONE })
    };
    /// messages lost
    pub const LOSSES: Self = Self::of(Site::FAN).with(Faults { losses: 2, ..NONE });
    /// expiry
    pub const EXPIRY: Self = Self::of(Site::FAN).with(Faults { expiries: 1, ..NONE });
    /// expiry
    pub const LOST_ANSWER: Self = Self::of(Site::FAN).with(Faults { lost_answers: 1, expiries: 1, ..NONE });
    /// expiry
    pub const EXPIRY_APART: Self =
        Self { reading: Reading::Apart, ..Self::of(Site::CIRCLE).with(Faults { expiries: 1, duplicates: 1, ..NONE }) };
    /// expiry
    pub const EXPIRY_CRASH: Self = Self::of(Site::CIRCLE).with(Faults { expiries: 1, crashes: 1, ..NONE });
    /// stop
    pub const STOP: Self = Self { reading: Reading::Apart, ..Self::of(Site::FAN).with(Faults { stops: 1, ..NONE }) };
    /// stop
    pub const STOP_CRASH: Self =
        Self { reading: Reading::Apart, ..Self::of(Site::CIRCLE).with(Faults { stops: 1, crashes: 1, ..NONE }) };
    /// stop
    pub const STOP_EXPIRY: Self =
        Self { reading: Reading::Apart, ..Self::of(Site::CIRCLE).with(Faults { stops: 1, expiries: 1, ..NONE }) };
    /// pause
    pub const PAUSE: Self = Self::of(Site::FAN).with(Faults { pauses: 2, stops: 1, ..NONE });
    /// pause
    pub const BUDGET: Self =
        Self { pages_max: Some(1), ..Self::of(Site::CIRCLE).with(Faults { expiries: 1, crashes: 1, ..NONE }) };
    /// pause
    pub const BUDGET_TWO: Self = Self {
        pages_max: Some(2),
        reading: Reading::Apart,
        ..Self::of(Site::MEETING).with(Faults { crashes: 1, ..NONE })
    };
    /// pause
    pub const RETRIES: Self = Self::of(Site::FAN).with(Faults { flukes: 1, ..NONE });
    /// pause
    pub const RETRIES_CRASH: Self = Self::of(Site::CIRCLE).with(Faults { flukes: 1, crashes: 1, ..NONE });
    /// pause
    pub const PATIENCE: Self =
        Self { reading: Reading::Apart, ..Self::of(Site::FAN).with(Faults { failures: 1, ..NONE }) };
    /// pause
    pub const PATIENCE_CRASH: Self = Self::of(Site::CIRCLE).with(Faults { failures: 1, crashes: 1, ..NONE });
    /// pause
    pub const BARRIER: Self = Self { depth_max: Some(2), reading: Reading::Apart, ..Self::of(Site::TWO_WAYS) };
    /// pause
    pub const BARRIER_CRASH: Self =
        Self { depth_max: Some(2), ..Self::of(Site::TWO_WAYS).with(Faults { crashes: 1, ..NONE }) };
    /// pause
    pub const BARRIER_FAN: Self = Self { depth_max: Some(1), ..Self::of(Site::CROSS_LINKED).with(Faults { ..NONE }) };
    /// pause
    pub const TWO_COMMANDS: Self = Self {
        commands: 2,
        workers: Workers { schedulers: 2, crawlers: 1, parsers: 1 },
        ..Self::of(Site::TWO_PAGES).with(Faults { crashes: 1, ..NONE })
    };
    /// pause
    pub const TWO_SCHEDULERS: Self = Self {
        workers: Workers { schedulers: 2, crawlers: 1, parsers: 1 },
        ..Self::of(Site::MEETING).with(Faults { duplicates: 1, crashes: 1, ..NONE })
    };
    /// pause
    pub const RECRAWL: Self =
        Self { history: History::CrawledOnce, ..Self::of(Site::THERE_AND_BACK).with(Faults { crashes: 1, ..NONE }) };
    /// pause
    pub const RECRAWL_CIRCLE: Self = Self {
        history: History::CrawledOnce,
        reading: Reading::Apart,
        ..Self::of(Site::CIRCLE).with(Faults { expiries: 1, ..NONE })
    };
    /// pause
    pub const REPEATED: Self = Self {
        history: History::ToBeRepeated,
        workers: Workers { schedulers: 2, crawlers: 1, parsers: 1 },
        ..Self::of(Site::TWO_PAGES).with(Faults { duplicates: 1, ..NONE })
    };
    /// pause
    pub const REPEATED_EXPIRY: Self = Self {
        history: History::ToBeRepeated,
        late_messages: LateMessages::Delivered,
        workers: Workers { schedulers: 1, crawlers: 2, parsers: 1 },
        ..Self::of(Site::TWO_PAGES).with(Faults { expiries: 1, duplicates: 1, ..NONE })
    };
    /// skips
    pub const SKIPS: Self = Self::of(Site::CIRCLE).with(Faults { skips: 1, crashes: 1, ..NONE });
    /// crash & dup
    pub const CRASH_DUPLICATE: Self = Self::of(Site::CIRCLE).with(Faults { crashes: 1, duplicates: 1, ..NONE });
    /// crash & dup
    pub const CRASH_LOSS: Self = Self::of(Site::CIRCLE).with(Faults { crashes: 1, losses: 1, ..NONE });
    /// crash & dup
    pub const CROSS_LINKED_CRASH: Self = Self::of(Site::CROSS_LINKED).with(Faults { crashes: 1, ..NONE });
}
