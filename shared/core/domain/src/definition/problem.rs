//! Problems of a definition, and their remedies.

use std::fmt;
use std::time::Duration;

use jiff::SignedDuration;

use super::{ConditionMistake, ItemMistake, KeyPlace, RecrawlWord, SecretReference, limits};
use crate::url::CrawlUrl;

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {mistake}")]
pub struct Problem {
    /// The place.
    pub place: KeyPlace,
    /// The mistake.
    pub mistake: Mistake,
}

/// All problems of a definition, at least one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Problems(pub(super) Vec<Problem>);

impl Problems {
    /// Returns the problems, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }
}

/// Shows one problem per line, without hints.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            let lead = if index == 0 { "" } else { "\n" };
            write!(f, "{lead}{problem}")?;
        }
        Ok(())
    }
}

/// A value with limits, shown as the user writes it. Only values of the same kind are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub enum Quantity {
    /// A number of something.
    Count(u64),
    /// A size.
    Bytes(u64),
    /// A time.
    Time(Duration),
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DAY: Duration = Duration::from_hours(24);
        const UNITS: [(u64, &str); 4] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        match *self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Bytes(bytes) => {
                let fits = |(size, _): &&(u64, &str)| bytes >= *size && bytes.is_multiple_of(*size);
                match UNITS.iter().find(fits) {
                    Some((size, unit)) => write!(f, "{}{unit}", bytes / size),
                    None => write!(f, "{bytes}B"),
                }
            }
            Self::Time(time)
                if time > DAY && time.subsec_nanos() == 0 && time.as_secs().is_multiple_of(DAY.as_secs()) =>
            {
                write!(f, "{}d", time.as_secs() / DAY.as_secs())
            }
            Self::Time(time) => match SignedDuration::try_from(time) {
                Ok(time) => write!(f, "{time:#}"),
                Err(_) => write!(f, "{}s", time.as_secs()),
            },
        }
    }
}

/// A mistake in a value that has the right form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mistake {
    /// There are no seeds, so the crawl cannot begin.
    #[error("no seeds")]
    NoSeeds,
    /// A list is too long.
    #[error("{count} entries, but at most {max} are allowed")]
    TooMany {
        /// Their number.
        count: usize,
        /// Their limit.
        max: usize,
    },
    /// A value is outside its limits.
    #[error("`{value}` is not between `{min}` and `{max}`")]
    OutOfRange {
        /// The value.
        value: Quantity,
        /// The lower bound.
        min: Quantity,
        /// The upper bound.
        max: Quantity,
    },
    /// A value exceeds the limits of a stack's functions.
    #[error("`{value}` is more than a stack can do, which is `{max}`")]
    BeyondStack {
        /// The value.
        value: Quantity,
        /// The upper bound on a stack.
        max: Quantity,
    },
    /// A rule names a value that is on a machine, which a stack cannot read.
    #[error("a stack cannot read `{0}`")]
    ValueOnStack(SecretReference),
    /// The host of a directory of keys is not one.
    #[error("this must be the address of a host by HTTPS, such as `https://bot.example.org`")]
    NotAHost,
    /// A key names where its public half is, and there is no key.
    #[error("there is no `identity.key` to be found there")]
    NoKey,
    /// A stack does not do it.
    #[error("a stack does not do this")]
    NotOnStack,
    /// The stack has no browsers, in which all pages are to be rendered.
    #[error("this stack has no browsers")]
    NoBrowserOnStack,
    /// One value exceeds another, which is its upper bound.
    #[error("`{value}` is more than {other}, which is `{bound}`")]
    MoreThan {
        /// The value.
        value: Quantity,
        /// The place of its bound.
        other: KeyPlace,
        /// The value there.
        bound: Quantity,
    },
    /// A value of a rule is below one that applies to all URLs, which is its lower bound.
    #[error("`{value}` is less than {other}, which is `{bound}`")]
    LessThan {
        /// The value.
        value: Quantity,
        /// The place of its bound.
        other: KeyPlace,
        /// The value there.
        bound: Quantity,
    },
    /// A policy for known pages needs an interval, and there is none.
    #[error("`{0}` needs an interval")]
    NoInterval(RecrawlWord),
    /// A value that the policy for known pages does not use.
    #[error("this has no effect where the policy is `{0}`")]
    NoEffect(RecrawlWord),
    /// A rule for known pages that changes nothing.
    #[error("the rule has only a condition")]
    EmptyRule,
    /// A rule for main parts without selectors.
    #[error("the rule has no selectors")]
    NoSelector,
    /// An `exclude` pattern matches a seed.
    #[error("the pattern excludes the seed {0}")]
    ExcludesSeed(CrawlUrl),
    /// No `include` pattern matches any seed, so the crawl cannot begin.
    #[error("no pattern includes any of the seeds, such as {0}")]
    IncludesNoSeed(CrawlUrl),
    /// Every seed is blocked.
    #[error("every seed is blocked, such as {seed} by {rule}")]
    BlocksEverySeed {
        /// The first seed.
        seed: CrawlUrl,
        /// The rule that blocks it, as explained to users.
        rule: String,
    },
    /// A condition makes no sense.
    #[error(transparent)]
    Condition(#[from] ConditionMistake),
    /// A type of items makes no sense.
    #[error("{path}: {mistake}")]
    Item {
        /// The names of the type and the field: `Product.price`.
        path: String,
        /// The mistake.
        mistake: ItemMistake,
    },
    /// The patterns together are too large once compiled.
    #[error("the patterns are too large together")]
    PatternsTooLarge,
    /// A reason is missing, too long, or more than one line.
    #[error("a reason must have 1 to {max} characters on one line", max = limits::REASON_CHARS_MAX)]
    Reason,
    /// A text is not a valid parameter name.
    #[error("`{0}` is not a valid parameter name")]
    ParameterName(String),
}

impl Mistake {
    /// Returns the remedy; `None` if the message says it all.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoSeeds => "list at least one URL under `seeds`",
            Self::TooMany { .. } => "one pattern can often stand for several entries",
            Self::OutOfRange { .. } | Self::ParameterName(_) => return None,
            Self::BeyondStack { .. } => "lower it, or run this crawl on a machine of yours",
            Self::ValueOnStack(_) => "keep it in AWS Secrets Manager and name it `secret:NAME`",
            Self::NotOnStack => {
                "leave it out, and run `dragline export CRAWL --to …` by a timer of a machine that reaches the database"
            }
            Self::NoBrowserOnStack => {
                "deploy the stack with `Rendering=yes` (docs/guide/rendering.md), or say `auto`, by which it crawls \
                 without them"
            }
            Self::MoreThan { other, .. } => return Some(format!("lower it, or raise `{other}`")),
            Self::LessThan { other, .. } => {
                return Some(format!("raise it, lower `{other}`, or give the rule its own `{}`", other.key.word()));
            }
            Self::NoInterval(_) => "add `interval`, or choose the policy `always`",
            Self::NoEffect(_) => "remove it, or choose another `policy`",
            Self::EmptyRule => "add at least one of `policy`, `interval`, `min` and `max`, or remove it",
            Self::NoSelector => "add at least one of `include`, `exclude` and `ignore`, or remove it",
            Self::ExcludesSeed(_) => "make the pattern narrower, or remove the seed",
            Self::IncludesNoSeed(_) => "seeds must match as well: add a pattern for the pages where the crawl begins",
            Self::BlocksEverySeed { .. } => "nothing would be crawled: make the rule narrower, or add another seed",
            Self::Condition(ConditionMistake::Empty) => "leave it out, or put a condition in the list",
            Self::Condition(ConditionMistake::TooDeep) => "write several rules instead of one",
            Self::Condition(ConditionMistake::Pointless(_)) => "texts are compared with the URL as it is requested",
            Self::Item { mistake, .. } => mistake.hint(),
            Self::PatternsTooLarge => "use fewer patterns, or simpler ones",
            Self::Reason => "say in a few words why these URLs are left alone",
            Self::NotAHost => {
                "sites look for the public key on that host, in `/.well-known/http-message-signatures-directory`"
            }
            Self::NoKey => "make one with `dragline identity new`, and name it: `key: file:identity.pem`",
        };
        Some(hint.to_owned())
    }
}
