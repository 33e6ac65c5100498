//! The fields of a draft by the kind of their value, so that code can fill them without knowing
//! each key.

use std::num::TryFromIntError;
use std::time::Duration;

use crate::content::ContentLevel;
use crate::definition::{
    AccessRule, Canonical, DoNotCrawl, ExternalLinks, Feeds, Hostname, ItemType, Line, MainRule, NotifyRule,
    OtherHosts, QueryRule, RecrawlRule, RecrawlWord, RenderWhen, Requisites, Schedule, Screenshot, SecretReference,
    Sitemaps, Soft404, UrlPattern, UserAgent, Within,
};
use crate::ids::CrawlId;
use crate::url::{CrawlUrl, UrlRules};
use crate::use_preferences::Purpose;

/// The field of a draft for a key's value. There is one variant for each
/// [`ValueKind`](super::ValueKind).
pub enum Slot<'d> {
    /// The name of the crawl.
    Name(&'d mut CrawlId),
    /// URLs where the crawl begins.
    Seeds(&'d mut Vec<CrawlUrl>),
    /// The part of a URL that must equal a seed's.
    Within(&'d mut Within),
    /// See [`ValueKind::Sitemaps`](super::ValueKind::Sitemaps).
    Sitemaps(&'d mut Sitemaps),
    /// See [`ValueKind::Feeds`](super::ValueKind::Feeds).
    Feeds(&'d mut Feeds),
    /// See [`ValueKind::Requisites`](super::ValueKind::Requisites).
    Requisites(&'d mut Requisites),
    /// See [`ValueKind::ExternalLinks`](super::ValueKind::ExternalLinks).
    ExternalLinks(&'d mut ExternalLinks),
    /// Patterns over URLs.
    Patterns(&'d mut Vec<UrlPattern>),
    /// Conditions with reasons.
    Blocks(&'d mut Vec<DoNotCrawl>),
    /// Names of parameters, with conditions.
    QueryRules(&'d mut Vec<QueryRule>),
    /// Names of parameters.
    Parameters(&'d mut UrlRules),
    /// A whole number.
    Count(&'d mut dyn Number),
    /// A size in bytes.
    Size(&'d mut dyn Number),
    /// A time.
    Time(&'d mut dyn Length),
    /// A user agent.
    UserAgent(&'d mut UserAgent),
    /// A text on one line; `None` if there is none.
    Line(&'d mut Option<Line>),
    /// The name of a machine; `None` if it is not set.
    Hostname(&'d mut Option<Hostname>),
    /// How much to extract from each page.
    Content(&'d mut ContentLevel),
    /// See [`ValueKind::Canonical`](super::ValueKind::Canonical).
    Canonical(&'d mut Canonical),
    /// See [`ValueKind::Soft404`](super::ValueKind::Soft404).
    Soft404(&'d mut Soft404),
    /// See [`ValueKind::RenderWhen`](super::ValueKind::RenderWhen).
    RenderWhen(&'d mut RenderWhen),
    /// See [`ValueKind::OtherHosts`](super::ValueKind::OtherHosts).
    OtherHosts(&'d mut OtherHosts),
    /// See [`ValueKind::Screenshot`](super::ValueKind::Screenshot).
    Screenshot(&'d mut Screenshot),
    /// A CSS selector; `None` if there is none.
    Selector(&'d mut Option<Line>),
    /// The purpose of the crawl; `None` if it claims none.
    Purpose(&'d mut Option<Purpose>),
    /// Types of items.
    ItemTypes(&'d mut Vec<ItemType>),
    /// Rules for main parts.
    MainRules(&'d mut Vec<MainRule>),
    /// When known pages are due again; `None`: according to the interval.
    RecrawlWord(&'d mut Option<RecrawlWord>),
    /// Conditions with policies.
    RecrawlRules(&'d mut Vec<RecrawlRule>),
    /// The schedule, for its cron expression.
    Cron(&'d mut Option<Schedule>),
    /// The schedule, for its time zone.
    TimeZone(&'d mut Option<Schedule>),
    /// Who is sent what.
    AccessRules(&'d mut Vec<AccessRule>),
    /// Who is told of what.
    NotifyRules(&'d mut Vec<NotifyRule>),
    /// Where a secret is; `None` if there is none.
    Reference(&'d mut Option<SecretReference>),
}

/// A field for a whole number, possibly optional.
pub trait Number {
    /// Returns the number.
    fn get(&self) -> Option<u64>;

    /// Sets the number.
    ///
    /// # Errors
    /// Fails if the number is too large for the field, which stays as it is.
    fn set(&mut self, number: u64) -> Result<(), TryFromIntError>;
}

macro_rules! numbers {
    ($($integer:ty)*) => {$(
        impl Number for $integer {
            fn get(&self) -> Option<u64> {
                u64::try_from(*self).ok()
            }

            fn set(&mut self, number: u64) -> Result<(), TryFromIntError> {
                *self = Self::try_from(number)?;
                Ok(())
            }
        }
    )*};
}

numbers! { u8 u16 u32 u64 usize }

impl<N: Number + Default> Number for Option<N> {
    fn get(&self) -> Option<u64> {
        self.as_ref().and_then(Number::get)
    }

    fn set(&mut self, number: u64) -> Result<(), TryFromIntError> {
        let mut inner = N::default();
        inner.set(number)?;
        *self = Some(inner);
        Ok(())
    }
}

/// A field for a length of time, possibly optional.
pub trait Length {
    /// Returns the time.
    fn get(&self) -> Option<Duration>;

    /// Sets the time.
    fn set(&mut self, time: Duration);
}

impl Length for Duration {
    fn get(&self) -> Option<Duration> {
        Some(*self)
    }

    fn set(&mut self, time: Duration) {
        *self = time;
    }
}

impl Length for Option<Duration> {
    fn get(&self) -> Option<Duration> {
        *self
    }

    fn set(&mut self, time: Duration) {
        *self = Some(time);
    }
}
