//! The valid values of a key.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::definition::{Mistake, Quantity};

/// The kind of a key's value, with its bounds, or the limit on entries for a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// The name of a crawl.
    Name,
    /// URLs where a crawl begins.
    Seeds(usize),
    /// One of a few words.
    Within,
    /// See [`Sitemaps`](crate::definition::Sitemaps).
    Sitemaps,
    /// See [`Feeds`](crate::definition::Feeds).
    Feeds,
    /// See [`Requisites`](crate::definition::Requisites).
    Requisites,
    /// See [`ExternalLinks`](crate::definition::ExternalLinks).
    ExternalLinks,
    /// Patterns over URLs.
    Patterns(usize),
    /// Conditions with reasons.
    Blocks(usize),
    /// Names of parameters, with conditions.
    QueryRules(usize),
    /// Names of parameters.
    Parameters(usize),
    /// A whole number.
    Count(RangeInclusive<u64>),
    /// A size in bytes.
    Size(RangeInclusive<u64>),
    /// A time.
    Time(RangeInclusive<Duration>),
    /// A user agent.
    UserAgent,
    /// A text on one line.
    Line,
    /// The name of a machine.
    Hostname,
    /// See [`Canonical`](crate::definition::Canonical).
    Canonical,
    /// See [`Soft404`](crate::definition::Soft404).
    Soft404,
    /// See [`RenderWhen`](crate::definition::RenderWhen).
    RenderWhen,
    /// See [`OtherHosts`](crate::definition::OtherHosts).
    OtherHosts,
    /// See [`Screenshot`](crate::definition::Screenshot).
    Screenshot,
    /// A CSS selector.
    Selector,
    /// See [`Purpose`](crate::use_preferences::Purpose).
    Purpose,
    /// Types of items.
    ItemTypes(usize),
    /// Selectors of main parts, with conditions.
    MainRules(usize),
    /// One of a few words.
    Content,
    /// One of a few words.
    RecrawlWord,
    /// Conditions with policies.
    RecrawlRules(usize),
    /// A cron expression.
    Cron,
    /// The time zone of a cron expression.
    TimeZone,
    /// Hosts, each with what is sent to it.
    AccessRules(usize),
    /// Receivers, each with what it is told.
    NotifyRules(usize),
    /// The place of a secret.
    Reference,
}

impl ValueKind {
    /// Returns the lower and the upper bound of a number, size or time.
    #[must_use]
    pub fn bounds(self) -> Option<(Quantity, Quantity)> {
        fn each<T>(range: RangeInclusive<T>, quantity: fn(T) -> Quantity) -> Option<(Quantity, Quantity)> {
            let (min, max) = range.into_inner();
            Some((quantity(min), quantity(max)))
        }
        match self {
            Self::Count(range) => each(range, Quantity::Count),
            Self::Size(range) => each(range, Quantity::Bytes),
            Self::Time(range) => each(range, Quantity::Time),
            _ => None,
        }
    }

    /// Returns the limit on the entries of a list.
    #[must_use]
    pub const fn entries_max(&self) -> Option<usize> {
        match self {
            Self::Seeds(max)
            | Self::Patterns(max)
            | Self::Blocks(max)
            | Self::QueryRules(max)
            | Self::Parameters(max)
            | Self::ItemTypes(max)
            | Self::MainRules(max)
            | Self::RecrawlRules(max)
            | Self::AccessRules(max)
            | Self::NotifyRules(max) => Some(*max),
            _ => None,
        }
    }

    /// Returns the mistake of a number, size or time that is out of bounds.
    #[must_use]
    pub fn mistake(self, value: Quantity) -> Option<Mistake> {
        let (min, max) = self.bounds()?;
        (value < min || value > max).then_some(Mistake::OutOfRange { value, min, max })
    }
}

/// The value that applies if a key is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyDefault {
    /// This value, as written in YAML.
    Value(&'static str),
    /// No value, with its meaning.
    Nothing(&'static str),
    /// A value that depends on more than the key, in words.
    Derived(&'static str),
    /// It cannot be left out.
    Required,
}

/// A flag of `dragline crawl` that takes precedence over a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyFlag {
    /// Its name, without the hyphens in front.
    pub name: &'static str,
    /// Its help text. The key and its default are added.
    pub help: &'static str,
}
