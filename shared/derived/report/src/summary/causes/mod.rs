//! Why an iteration fetched nothing, grouped by what a person can do about it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use dragline_domain::frontier::LeftoverReason;
use dragline_domain::no_answer::NoAnswer;
use dragline_domain::outcome::{Outcome, OutcomeClass};
use dragline_domain::refusal::Refusal;
use dragline_ports::reader::{LeftoverRow, LogRow};
use serde::{Serialize, Serializer};

/// The maximum number of redirects whose targets are remembered, to check whether they were
/// visited. Further ones count as not visited.
const REDIRECTS_MAX: usize = 1_000;

/// Why a URL was not fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// There was no answer.
    NoAnswer(NoAnswer),
    /// robots.txt forbids it.
    ForbiddenByRobots,
    /// It redirects to a URL outside of the crawl.
    RedirectsElsewhere,
    /// It redirects to itself, directly or through others.
    RedirectsInCircle,
    /// The server has no such page: 404 or 410.
    NotFound,
    /// The server asks for a log-in: 401.
    AsksForLogIn,
    /// The server denies access: 403.
    RefusedByServer,
    /// The page asks not to be indexed.
    NotToBeIndexed,
    /// The definition excludes it.
    RuledOut,
    /// Another reason, given by its outcome.
    Ended(Outcome),
    /// It never had its turn.
    LeftOver(LeftoverReason),
}

/// The URLs that were not fetched for one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CauseCount {
    /// The cause.
    pub cause: Cause,
    /// The number of URLs.
    pub urls: u64,
    /// One of the URLs, or its origin.
    pub example: String,
    /// The redirect target of the example, if it has one.
    pub leads_to: Option<String>,
    /// The deciding rule or error of the example; `None` if the cause is enough.
    pub detail: Option<String>,
}

/// Running counts of causes. Their size does not depend on the number of URLs.
#[derive(Debug, Default)]
pub struct Causes {
    by_cause: BTreeMap<Cause, CauseCount>,
    /// By redirect target.
    redirects: HashMap<String, CauseCount>,
    /// Redirect targets by URL.
    targets: HashMap<String, String>,
}

impl Cause {
    /// Returns the name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoAnswer(NoAnswer::HostNotFound) => "host_not_found",
            Self::NoAnswer(NoAnswer::ConnectionRefused) => "connection_refused",
            Self::NoAnswer(NoAnswer::CertificateNotTrusted) => "certificate_not_trusted",
            Self::NoAnswer(NoAnswer::NoTls) => "no_tls",
            Self::NoAnswer(NoAnswer::TimedOut) => "timed_out",
            Self::NoAnswer(NoAnswer::PrivateAddress) => "private_address",
            Self::ForbiddenByRobots => "forbidden_by_robots_txt",
            Self::RedirectsElsewhere => "redirects_elsewhere",
            Self::RedirectsInCircle => "redirects_in_circle",
            Self::NotFound => "not_found",
            Self::AsksForLogIn => "asks_for_log_in",
            Self::RefusedByServer => "refused_by_server",
            Self::NotToBeIndexed => "not_to_be_indexed",
            Self::RuledOut => "ruled_out",
            Self::Ended(outcome) => outcome.name(),
            Self::LeftOver(reason) => reason.name(),
        }
    }

    /// Returns the text for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::NoAnswer(why) => why.words(),
            Self::ForbiddenByRobots => "forbidden by robots.txt",
            Self::RedirectsElsewhere => "redirects out of the crawl",
            Self::RedirectsInCircle => "redirects in a circle",
            Self::NotFound => "not found",
            Self::AsksForLogIn => "asks for a log-in",
            Self::RefusedByServer => "refused by the server",
            Self::NotToBeIndexed => "asks not to be indexed",
            Self::RuledOut => "ruled out by the definition",
            Self::Ended(outcome) => outcome.name(),
            Self::LeftOver(reason) => reason.words(),
        }
    }

    fn from_visit(visit: &LogRow) -> Option<Self> {
        if visit.outcome.class() == OutcomeClass::Content {
            return None;
        }
        if let Some(refusal) = Refusal::from_answer(visit.outcome, visit.status) {
            return Some(match refusal {
                Refusal::Noindex => Self::NotToBeIndexed,
                Refusal::LogIn => Self::AsksForLogIn,
                Refusal::Denied => Self::RefusedByServer,
            });
        }
        Some(match visit.outcome {
            Outcome::BlockedPrivateAddress => Self::NoAnswer(NoAnswer::PrivateAddress),
            Outcome::BlockedByRobotsTxt => Self::ForbiddenByRobots,
            Outcome::TemporaryRedirect | Outcome::PermanentRedirect => Self::RedirectsElsewhere,
            Outcome::FileNotFound | Outcome::FileGone | Outcome::SoftNotFound => Self::NotFound,
            Outcome::BlockedOriginByLocalPolicy | Outcome::BlockedUrlByLocalPolicy => Self::RuledOut,
            Outcome::RequestTimeout => Self::NoAnswer(NoAnswer::TimedOut),
            other => visit.detail.as_deref().and_then(NoAnswer::from_detail).map_or(Self::Ended(other), Self::NoAnswer),
        })
    }

    fn from_leftover(left: &LeftoverRow) -> Self {
        let no_answer = || left.robots_error.as_deref().and_then(NoAnswer::from_detail);
        match left.reason {
            LeftoverReason::RobotsUnreadable => no_answer().map_or(Self::LeftOver(left.reason), Self::NoAnswer),
            reason => Self::LeftOver(reason),
        }
    }
}

impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Causes {
    /// Adds a visit whose outcome is final.
    pub fn add_visit(&mut self, visit: LogRow) {
        self.redirects.remove(&visit.url);
        let Some(cause) = Cause::from_visit(&visit) else { return };
        let (leads_to, detail) = (visit.redirects_to, visit.detail);
        let counted = CauseCount { cause, urls: 1, example: visit.url, leads_to: leads_to.clone(), detail };
        match leads_to {
            Some(target) if cause == Cause::RedirectsElsewhere && self.redirects.len() < REDIRECTS_MAX => {
                self.targets.insert(counted.example.clone(), target.clone());
                self.redirects.entry(target).and_modify(|same| same.urls += 1).or_insert(counted);
            }
            _ => self.add(counted),
        }
    }

    /// Adds the leftovers of an origin.
    pub fn add_left(&mut self, left: LeftoverRow) {
        let cause = Cause::from_leftover(&left);
        let LeftoverRow { origin, urls, robots_error: detail, .. } = left;
        self.add(CauseCount { cause, urls, example: origin.to_string(), leads_to: None, detail });
    }

    fn add(&mut self, counted: CauseCount) {
        let urls = counted.urls;
        self.by_cause.entry(counted.cause).and_modify(|same| same.urls += urls).or_insert(counted);
    }

    /// Returns whether the redirects from a URL form a circle.
    fn is_in_circle(&self, url: &str) -> bool {
        let mut at = Some(url);
        for _ in 0..=self.targets.len() {
            at = at.and_then(|url| self.targets.get(url)).map(String::as_str);
        }
        at.is_some()
    }

    /// Returns all causes, the most common first.
    #[must_use]
    pub fn into_counts(mut self) -> Vec<CauseCount> {
        let mut redirects: Vec<_> = std::mem::take(&mut self.redirects).into_values().collect();
        redirects.sort_by(|a, b| a.example.cmp(&b.example));
        for redirect in redirects {
            let cause = if self.is_in_circle(&redirect.example) { Cause::RedirectsInCircle } else { redirect.cause };
            self.add(CauseCount { cause, ..redirect });
        }
        let mut counted: Vec<_> = self.by_cause.into_values().collect();
        counted.sort_by_key(|counted| Reverse(counted.urls));
        counted
    }
}

#[cfg(test)]
mod tests;
