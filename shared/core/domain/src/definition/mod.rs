//! The user's request: a crawl, as defined in YAML or on the command line.
//!
//! A [`Draft`] has the user's values, with defaults for the rest; a [`Definition`] is a draft that
//! has passed every check. YAML and the command line both fill a draft, so the same rules check
//! both, and errors are reported as [`Problem`]s: the place, the mistake and a hint. Each key is
//! described once, by [`Key`].

mod access;
mod access_text;
mod changes;
mod checked;
mod condition;
mod draft;
mod host_pattern;
mod identity;
mod item_mistake;
mod items;
#[cfg(test)]
mod items_tests;
mod key;
mod log_in;
mod main_part;
mod notify;
mod overruled;
mod pattern;
mod problem;
mod provenance;
mod recrawl;
mod render;
mod schedule;
mod secret;
mod sink;
mod stack;
#[cfg(test)]
mod tests;
mod user_agent;
mod validate;

pub use access::{AccessRule, Authorization, PlainHttp, ProxyRule, Referer, SecretField};
pub use access_text::{
    FieldName, FieldNameError, LanguagePriorities, LanguagePrioritiesError, ProxyUrl, ProxyUrlError,
};
pub use changes::{Effect, changes, outgrown};
pub use checked::{Definition, StoredError};
pub use condition::{Condition, ConditionMistake, TextTest};
pub use draft::{
    Budget, Canonical, DoNotCrawl, Draft, ExternalLinks, Feeds, Fetch, Links, Politeness, QueryRule, Requisites, Scope,
    Sitemaps, Soft404, TrapLimits, Within,
};
pub use host_pattern::{HostPattern, HostPatternError};
pub use identity::Identity;
pub use item_mistake::ItemMistake;
pub use items::{FieldKind, FieldRule, ItemType, Presence, ScalarKind, Selector, SelectorPlace};
pub use key::{Key, KeyDefault, KeyFlag, KeyPlace, Length, Number, Slot, ValueKind};
pub use log_in::{FormField, LogIn, SetCookies, logs_out};
pub use main_part::MainRule;
pub use notify::{
    Comparison, ItemTest, ItemTestError, MailAddress, MailAddressError, NotifyEvent, NotifyRule, ProgressStep,
    ProgressStepError, Receiver,
};
pub use overruled::{Nofollow, Noindex};
pub use pattern::{PatternError, TextPattern, UrlPattern};
pub use problem::{Mistake, Problem, Problems, Quantity};
pub use provenance::{Hostname, HostnameError, Line, LineError, Provenance};
pub(crate) use recrawl::Level;
pub use recrawl::{Recrawl, RecrawlRule, RecrawlWord};
pub use render::{OtherHosts, Render, RenderWhen, Screenshot};
pub use schedule::{Schedule, ScheduleError};
pub use secret::{SecretReference, SecretReferenceError};
pub use sink::Sink;
pub use stack::{RunsWhere, STACK_MAXIMA, StackBrowsers, stack_problems};
pub use user_agent::{UserAgent, UserAgentError, product_token};
pub use validate::limits;
