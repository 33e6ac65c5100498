//! Who is told of a crawl's events, and of which.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::SecretReference;
use crate::url::CrawlUrl;

/// A receiver, and what it is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotifyRule {
    /// The receiver.
    pub receiver: Receiver,
    /// The events; empty: all but beginnings and progress.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<NotifyEvent>,
    /// How often it is told of progress; `None`: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<ProgressStep>,
    /// A test of items: it is told of those that come to pass it. `None`: of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<ItemTest>,
}

impl NotifyRule {
    /// Whether it is told on an event. A rule that has only a test of items, or only progress, is
    /// about nothing else.
    #[must_use]
    pub fn includes(&self, event: NotifyEvent) -> bool {
        if event == NotifyEvent::Progress {
            return self.progress.is_some();
        }
        if self.events.is_empty() {
            return self.items.is_none() && self.progress.is_none() && event != NotifyEvent::Started;
        }
        self.events.contains(&event)
    }
}

/// Who is told.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Receiver {
    /// A program, by a request.
    Webhook {
        /// Where it listens.
        url: CrawlUrl,
        /// Where the secret is by which requests are signed; `None`: they are not signed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        secret: Option<SecretReference>,
    },
    /// A person, by mail.
    Email(MailAddress),
}

/// The address of a person, such as `ada@example.org`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MailAddress(String);

/// A text that is no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a mail address, such as `ada@example.org`")]
pub struct MailAddressError;

impl MailAddress {
    /// The limit on an address, in bytes (RFC 5321, section 4.5.3.1.3).
    pub const LEN_MAX: usize = 254;

    /// Returns it as a text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for MailAddress {
    type Err = MailAddressError;

    fn from_str(text: &str) -> Result<Self, MailAddressError> {
        let is_sound = |part: &str| {
            !part.is_empty()
                && part.chars().all(|c| c.is_alphanumeric() || ".!#$%&'*+/=?^_`{|}~-".contains(c))
                && !part.starts_with('.')
                && !part.ends_with('.')
        };
        match text.split_once('@') {
            Some((local, domain)) if text.len() <= Self::LEN_MAX && is_sound(local) && is_sound(domain) => {
                Ok(Self(text.to_owned()))
            }
            _ => Err(MailAddressError),
        }
    }
}

impl TryFrom<String> for MailAddress {
    type Error = MailAddressError;

    fn try_from(text: String) -> Result<Self, MailAddressError> {
        text.parse()
    }
}

impl From<MailAddress> for String {
    fn from(address: MailAddress) -> Self {
        address.0
    }
}

/// What a receiver may be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotifyEvent {
    /// An iteration began.
    Started,
    /// An iteration has come further.
    Progress,
    /// An iteration is over.
    Finished,
    /// An iteration is over, and something has changed.
    Changed,
    /// A page is STUCK.
    Stuck,
    /// The template of pages has changed.
    Drifted,
    /// A site was given up, or its robots.txt cannot be read.
    GivenUp,
    /// An iteration was skipped, as the last one was running.
    Skipped,
    /// Something else was not as it should be: a body was cut, a sitemap gave nothing.
    Warning,
    /// The disk is nearly full.
    DiskLow,
}

impl NotifyEvent {
    /// All events, in the order of the documentation.
    pub const ALL: [Self; 10] = [
        Self::Started,
        Self::Progress,
        Self::Finished,
        Self::Changed,
        Self::Stuck,
        Self::Drifted,
        Self::GivenUp,
        Self::Skipped,
        Self::Warning,
        Self::DiskLow,
    ];

    /// Returns its name in a definition.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Progress => "progress",
            Self::Finished => "finished",
            Self::Changed => "changed",
            Self::Stuck => "stuck",
            Self::Drifted => "drifted",
            Self::GivenUp => "given_up",
            Self::Skipped => "skipped",
            Self::Warning => "warning",
            Self::DiskLow => "disk_low",
        }
    }
}

/// How far an iteration comes between two notices of its progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgressStep {
    /// This many percent of the URLs that are known by then, 1 to 50.
    Percent(u8),
    /// This long, in whole minutes.
    Minutes(u32),
}

/// A text that is no step of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("progress is told each `1%` to `50%`, or each `1m` to `30d`, in whole minutes")]
pub struct ProgressStepError;

impl ProgressStep {
    const PERCENT_MAX: u8 = 50;
    const MINUTES_MAX: u32 = 30 * 24 * 60;

    /// Returns the step of this many percent.
    ///
    /// # Errors
    /// It is not 1 to 50.
    pub fn from_percent(percent: u8) -> Result<Self, ProgressStepError> {
        if (1..=Self::PERCENT_MAX).contains(&percent) { Ok(Self::Percent(percent)) } else { Err(ProgressStepError) }
    }

    /// Returns the step of this time.
    ///
    /// # Errors
    /// It has no whole number of minutes, or is longer than 30 days.
    pub fn from_time(time: Duration) -> Result<Self, ProgressStepError> {
        if time.subsec_nanos() > 0 || !time.as_secs().is_multiple_of(60) {
            return Err(ProgressStepError);
        }
        match u32::try_from(time.as_secs() / 60) {
            Ok(minutes) if (1..=Self::MINUTES_MAX).contains(&minutes) => Ok(Self::Minutes(minutes)),
            _ => Err(ProgressStepError),
        }
    }
}

/// A test of one field of items: `price < 100`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ItemTest {
    /// The type of the items; `None`: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_type: Option<String>,
    /// The field, such as `price` or `offers.price`.
    pub field: String,
    /// How it is compared.
    pub comparison: Comparison,
    /// With what. A number, unless the comparison is for equality.
    pub value: String,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Comparison {
    /// Less.
    #[serde(rename = "<")]
    Less,
    /// Less or equal.
    #[serde(rename = "<=")]
    AtMost,
    /// Greater.
    #[serde(rename = ">")]
    Greater,
    /// Greater or equal.
    #[serde(rename = ">=")]
    AtLeast,
    /// Equal.
    #[serde(rename = "=")]
    Equal,
    /// Not equal.
    #[serde(rename = "!=")]
    NotEqual,
}

impl Comparison {
    /// The signs, those that begin with another one first.
    const SIGNS: [(&'static str, Self); 6] = [
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("!=", Self::NotEqual),
        ("<", Self::Less),
        (">", Self::Greater),
        ("=", Self::Equal),
    ];

    fn sign(self) -> &'static str {
        Self::SIGNS.into_iter().find(|(_, comparison)| *comparison == self).map_or("=", |(sign, _)| sign)
    }
}

/// A text that is no test of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ItemTestError {
    /// It has not three parts.
    #[error("a test of items is a field, a comparison and a value, such as `price < 100`")]
    Form,
    /// What is compared by size is no number.
    #[error("`<`, `<=`, `>` and `>=` compare numbers")]
    Number,
}

impl ItemTest {
    /// The limit on a test, in bytes.
    const LEN_MAX: usize = 500;

    /// Whether a value of the field passes it. Numbers are compared as such, other values as texts;
    /// no value passes nothing.
    #[must_use]
    pub fn passes(&self, value: Option<&str>) -> bool {
        let Some(value) = value else { return false };
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let order = match (number(value), number(&self.value)) {
            (Some(value), Some(bound)) => value.partial_cmp(&bound),
            _ => None,
        };
        match self.comparison {
            Comparison::Less => order.is_some_and(std::cmp::Ordering::is_lt),
            Comparison::AtMost => order.is_some_and(std::cmp::Ordering::is_le),
            Comparison::Greater => order.is_some_and(std::cmp::Ordering::is_gt),
            Comparison::AtLeast => order.is_some_and(std::cmp::Ordering::is_ge),
            Comparison::Equal => order.map_or_else(|| value == self.value, std::cmp::Ordering::is_eq),
            Comparison::NotEqual => order.map_or_else(|| value != self.value, std::cmp::Ordering::is_ne),
        }
    }
}

impl FromStr for ItemTest {
    type Err = ItemTestError;

    fn from_str(text: &str) -> Result<Self, ItemTestError> {
        let signs =
            Comparison::SIGNS.into_iter().filter_map(|(sign, comparison)| Some((text.find(sign)?, sign, comparison)));
        // The first sign in the text; of two at one place, the longer.
        let (at, sign, comparison) =
            signs.min_by_key(|(at, sign, _)| (*at, usize::MAX - sign.len())).ok_or(ItemTestError::Form)?;
        let (field, value) = (text[..at].trim(), text[at + sign.len()..].trim());
        let is_field = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | ':' | '[' | ']');
        if field.is_empty() || value.is_empty() || text.len() > Self::LEN_MAX || !field.chars().all(is_field) {
            return Err(ItemTestError::Form);
        }
        let is_by_size = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        if is_by_size && !value.parse::<f64>().is_ok_and(f64::is_finite) {
            return Err(ItemTestError::Number);
        }
        Ok(Self { item_type: None, field: field.to_owned(), comparison, value: value.to_owned() })
    }
}

/// Shows it as it is written, without the type.
impl fmt::Display for ItemTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.field, self.comparison.sign(), self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_of_items_compares_numbers_and_texts() {
        for (test, value, expected, why) in [
            ("price < 100", Some("99.9"), true, "less"),
            ("price < 100", Some("100"), false, "equal"),
            ("price <= 100", Some("100.0"), true, "the same number"),
            ("price >= -1", Some("-1"), true, "a negative number"),
            ("price>1e3", Some("1000.5"), true, "without spaces"),
            ("price < 100", Some("free"), false, "no number"),
            ("price < 100", Some("NaN"), false, "no number either"),
            ("price < 100", None, false, "no value"),
            ("availability = InStock", Some("InStock"), true, "a text"),
            ("availability != InStock", Some("SoldOut"), true, "another"),
            ("availability != InStock", None, false, "no value is not another one"),
            ("price = 100", Some("100.00"), true, "equal as numbers"),
            ("offers.price < 5", Some("4"), true, "a path"),
            ("note = a < b", Some("a < b"), true, "the first sign counts"),
        ] {
            let test: ItemTest = test.parse().unwrap();
            assert_eq!(test.passes(value), expected, "{test} of {value:?}: {why}");
            assert_eq!(test.to_string().parse(), Ok(test));
        }
        for (text, error) in [
            ("price", ItemTestError::Form),
            ("< 100", ItemTestError::Form),
            ("price <", ItemTestError::Form),
            ("the price < 100", ItemTestError::Form),
            ("price < cheap", ItemTestError::Number),
            ("price < inf", ItemTestError::Number),
        ] {
            assert_eq!(text.parse::<ItemTest>(), Err(error), "{text}");
        }
    }

    #[test]
    fn addresses_are_checked() {
        for text in ["ada@example.org", "a.b+c@example.org", "jörg@müller.example"] {
            assert_eq!(text.parse::<MailAddress>().unwrap().as_str(), text);
        }
        for text in
            ["", "ada", "@example.org", "ada@", "a@b@c", "a b@c", "a@b\r\nBcc: x@y", "<ada@example.org>", ".a@b"]
        {
            assert!(text.parse::<MailAddress>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_rule_is_told_of_what_it_names() {
        let rule = |events: &[NotifyEvent], progress, items: Option<&str>| NotifyRule {
            receiver: Receiver::Email("ada@example.org".parse().unwrap()),
            events: events.to_vec(),
            progress,
            items: items.map(|test| test.parse().unwrap()),
        };
        let minutes = Some(ProgressStep::Minutes(5));
        for (rule, expected, why) in [
            (rule(&[], None, None), &NotifyEvent::ALL[2..], "all but beginnings and progress"),
            (rule(&[NotifyEvent::Stuck], None, None), &[NotifyEvent::Stuck], "what it names"),
            (rule(&[], None, Some("price < 1")), &[], "items alone"),
            (rule(&[], minutes, None), &[NotifyEvent::Progress], "progress alone"),
            (rule(&[NotifyEvent::Finished], minutes, None), &[NotifyEvent::Progress, NotifyEvent::Finished], "both"),
        ] {
            let told: Vec<NotifyEvent> = NotifyEvent::ALL.into_iter().filter(|event| rule.includes(*event)).collect();
            assert_eq!(told, expected, "{why}");
        }
    }

    #[test]
    fn steps_of_progress_have_bounds() {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        assert_eq!(ProgressStep::from_time(minutes(30)), Ok(ProgressStep::Minutes(30)));
        assert_eq!(ProgressStep::from_percent(50), Ok(ProgressStep::Percent(50)));
        for step in [ProgressStep::from_time(minutes(0)), ProgressStep::from_time(Duration::from_secs(90))] {
            assert!(step.is_err());
        }
        assert!(ProgressStep::from_time(minutes(60 * 24 * 31)).is_err());
        assert!(ProgressStep::from_percent(0).is_err() && ProgressStep::from_percent(51).is_err());
    }
}
