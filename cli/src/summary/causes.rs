//! Why an iteration got nothing, counted by what a person can do about it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use dragline_domain::frontier::LeftoverReason;
use dragline_domain::no_answer::NoAnswer;
use dragline_domain::outcome::{Outcome, OutcomeClass};
use dragline_local::Allowance;
use dragline_local::query::{LogRow, OriginLeft};
use serde::{Serialize, Serializer};

use crate::args::{allowance_flag, shell_word};
use crate::crawl::leftover_why;
use crate::terminal::{plural, safe};

/// Causes that are named; those of the most URLs.
const NAMED_MAX: usize = 4;

/// Redirects of which it is remembered where they lead, to see whether they got there. Others count as if they had not.
const REDIRECTS_MAX: usize = 1_000;

/// What kept a URL from being got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Cause {
    /// There was no answer.
    NoAnswer(NoAnswer),
    /// robots.txt says no.
    ForbiddenByRobots,
    /// It leads to a URL that is none of the crawl's.
    RedirectsElsewhere,
    /// The server knows no such page: 404 or 410.
    NotFound,
    /// The server wants a login, or nobody: 401 or 403.
    RefusedByServer,
    /// The page asks not to be indexed.
    NotToBeIndexed,
    /// The definition rules it out.
    RuledOut,
    /// Its outcome says it.
    Ended(Outcome),
    /// It never had its turn.
    LeftOver(LeftoverReason),
    /// For a reason that is not known here.
    Unknown,
}

/// URLs that one cause kept from being got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CauseCount {
    /// The cause.
    pub(crate) cause: Cause,
    /// How many.
    pub(crate) urls: u64,
    /// One of them, or its origin.
    pub(crate) example: String,
    /// Where that one leads; absent if it leads nowhere.
    pub(crate) leads_to: Option<String>,
    /// The rule that decided on it, or the error that was met; absent where the cause says it all.
    pub(crate) detail: Option<String>,
}

/// What is counted so far. It does not grow with the URLs.
#[derive(Debug, Default)]
pub(crate) struct Causes {
    by_cause: BTreeMap<Cause, CauseCount>,
    /// By where they lead.
    redirects: HashMap<String, CauseCount>,
}

/// Why nothing was got.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WhyNothing<'a>(pub(super) &'a [CauseCount]);

impl Cause {
    /// As it is named to programs.
    fn name(self) -> &'static str {
        match self {
            Self::NoAnswer(NoAnswer::HostNotFound) => "host_not_found",
            Self::NoAnswer(NoAnswer::ConnectionRefused) => "connection_refused",
            Self::NoAnswer(NoAnswer::CertificateNotTrusted) => "certificate_not_trusted",
            Self::NoAnswer(NoAnswer::NoTls) => "no_tls",
            Self::NoAnswer(NoAnswer::TimedOut) => "timed_out",
            Self::NoAnswer(NoAnswer::PrivateAddress) => "private_address",
            Self::ForbiddenByRobots => "forbidden_by_robots_txt",
            Self::RedirectsElsewhere => "redirects_elsewhere",
            Self::NotFound => "not_found",
            Self::RefusedByServer => "refused_by_server",
            Self::NotToBeIndexed => "not_to_be_indexed",
            Self::RuledOut => "ruled_out",
            Self::Ended(outcome) => outcome.name(),
            Self::LeftOver(reason) => reason.name(),
            Self::Unknown => "unknown",
        }
    }

    /// As it is told to people.
    fn words(self) -> &'static str {
        match self {
            Self::NoAnswer(why) => why.words(),
            Self::ForbiddenByRobots => "forbidden by robots.txt",
            Self::RedirectsElsewhere => "redirects to what is outside of the crawl",
            Self::NotFound => "not found",
            Self::RefusedByServer => "refused by the server",
            Self::NotToBeIndexed => "asks not to be indexed",
            Self::RuledOut => "ruled out by the definition",
            Self::Ended(outcome) => outcome.name(),
            Self::LeftOver(reason) => leftover_why(reason),
            Self::Unknown => "for a reason that is not known here",
        }
    }

    fn of_visit(visit: &LogRow) -> Option<Self> {
        let Some(outcome) = Outcome::from_code(visit.outcome) else { return Some(Self::Unknown) };
        if outcome.class() == OutcomeClass::Content {
            return None;
        }
        Some(match outcome {
            Outcome::BlockedPrivateAddress => Self::NoAnswer(NoAnswer::PrivateAddress),
            Outcome::BlockedByRobotsTxt => Self::ForbiddenByRobots,
            Outcome::Redirect | Outcome::PermanentRedirect => Self::RedirectsElsewhere,
            Outcome::FileNotFound | Outcome::FileGone => Self::NotFound,
            Outcome::BlockedAtRequestOfRemote if visit.status.is_some_and(|status| status >= 400) => {
                Self::RefusedByServer
            }
            Outcome::BlockedAtRequestOfRemote => Self::NotToBeIndexed,
            Outcome::BlockedOriginByLocalPolicy | Outcome::BlockedUrlByLocalPolicy => Self::RuledOut,
            Outcome::RequestTimeout => Self::NoAnswer(NoAnswer::TimedOut),
            other => visit.detail.as_deref().and_then(NoAnswer::of_detail).map_or(Self::Ended(other), Self::NoAnswer),
        })
    }

    fn of_leftover(left: &OriginLeft) -> Self {
        let reason = LeftoverReason::from_name(&left.reason);
        let no_answer = || left.robots_error.as_deref().and_then(NoAnswer::of_detail);
        match reason {
            Some(LeftoverReason::RobotsUnreadable) => {
                no_answer().map_or(Self::LeftOver(LeftoverReason::RobotsUnreadable), Self::NoAnswer)
            }
            Some(reason) => Self::LeftOver(reason),
            None => Self::Unknown,
        }
    }
}

impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Causes {
    /// Counts a visit whose outcome is final.
    pub(crate) fn add_visit(&mut self, visit: LogRow) {
        self.redirects.remove(&visit.url);
        let Some(cause) = Cause::of_visit(&visit) else { return };
        let (leads_to, detail) = (visit.redirects_to, visit.detail);
        let counted = CauseCount { cause, urls: 1, example: visit.url, leads_to: leads_to.clone(), detail };
        match leads_to {
            Some(target) if cause == Cause::RedirectsElsewhere && self.redirects.len() < REDIRECTS_MAX => {
                self.redirects.entry(target).and_modify(|same| same.urls += 1).or_insert(counted);
            }
            _ => self.add(counted),
        }
    }

    /// Counts what an origin left over.
    pub(crate) fn add_left(&mut self, left: OriginLeft) {
        let cause = Cause::of_leftover(&left);
        let OriginLeft { origin: example, urls, robots_error: detail, .. } = left;
        self.add(CauseCount { cause, urls, example, leads_to: None, detail });
    }

    fn add(&mut self, counted: CauseCount) {
        let urls = counted.urls;
        self.by_cause.entry(counted.cause).and_modify(|same| same.urls += urls).or_insert(counted);
    }

    /// All causes, the commonest first.
    pub(crate) fn counted(mut self) -> Vec<CauseCount> {
        let mut redirects: Vec<_> = std::mem::take(&mut self.redirects).into_values().collect();
        redirects.sort_by(|a, b| a.example.cmp(&b.example));
        redirects.into_iter().for_each(|redirect| self.add(redirect));
        let mut counted: Vec<_> = self.by_cause.into_values().collect();
        counted.sort_by_key(|counted| Reverse(counted.urls));
        counted
    }
}

impl CauseCount {
    /// The cause and one of its URLs, with what else is known of that one.
    pub(super) fn line(&self) -> String {
        let leads_to = self.leads_to.as_deref().map_or_else(String::new, |to| format!(" leads to {}", safe(to)));
        // The error of a request begins with the cause.
        let detail = self.detail.as_deref().map(|detail| {
            let rest = detail.strip_prefix(self.cause.words()).and_then(|rest| rest.strip_prefix(": "));
            format!(" ({})", safe(rest.unwrap_or(detail)))
        });
        format!("{}: {}{leads_to}{}", self.cause.words(), safe(&self.example), detail.unwrap_or_default())
    }

    /// What to do about it.
    fn hint(&self) -> Option<String> {
        Some(match self.cause {
            Cause::NoAnswer(NoAnswer::HostNotFound) => {
                "is the host spelled rightly, and this machine connected to a network?".to_owned()
            }
            Cause::NoAnswer(NoAnswer::ConnectionRefused) => {
                "nobody listens there: are host, port and scheme the right ones, and is the server running?".to_owned()
            }
            Cause::NoAnswer(NoAnswer::CertificateNotTrusted) => format!(
                "trust the certificate, or that of its authority, with `--ca-file PEM`; or check none with `{}`",
                allowance_flag(Allowance::UncheckedCertificates)
            ),
            Cause::NoAnswer(NoAnswer::NoTls) => "is it `http://` rather than `https://`?".to_owned(),
            Cause::NoAnswer(NoAnswer::TimedOut) => {
                "try again later, or allow more time: `fetch.connect_timeout` and its like in crawl.yaml".to_owned()
            }
            Cause::NoAnswer(NoAnswer::PrivateAddress) => format!(
                "if it is a server of your own, allow its address with `{}`",
                allowance_flag(Allowance::PrivateAddresses)
            ),
            Cause::ForbiddenByRobots => format!(
                "the site does not want it crawled: `dragline explain {}` tells the rule",
                shell_word(Path::new(&self.example))
            ),
            Cause::RedirectsElsewhere => {
                let to = self.leads_to.as_deref()?;
                format!("crawl where it leads: `dragline crawl {}`", shell_word(Path::new(to)))
            }
            Cause::NotFound => "the server has no such page: does the URL open in a browser?".to_owned(),
            Cause::RefusedByServer => {
                "the server lets nobody in, or not this crawler; it is not asked again".to_owned()
            }
            Cause::RuledOut => "look at `scope`, `do_not_crawl` and `traps` in crawl.yaml".to_owned(),
            Cause::NotToBeIndexed | Cause::Ended(_) | Cause::LeftOver(_) | Cause::Unknown => return None,
        })
    }
}

impl WhyNothing<'_> {
    /// Each cause on a line, with its number of URLs where there are several.
    pub(super) fn lines(self, numbered: impl Fn(u64, &str) -> String) -> Vec<String> {
        let named = self.0.iter().take(NAMED_MAX).map(|counted| numbered(counted.urls, &counted.line()));
        let others: u64 = self.0.iter().skip(NAMED_MAX).map(|counted| counted.urls).sum();
        named.chain((others > 0).then(|| numbered(others, "for other reasons"))).collect()
    }

    /// All of it as an error's message.
    pub(crate) fn message(self) -> String {
        let lines = self.lines(|urls, line| format!("{}: {line}", plural(urls, "URL")));
        match &lines[..] {
            [] => "nothing was crawled".to_owned(),
            [only] => format!("nothing was crawled: {only}"),
            lines => format!("nothing was crawled\n  {}", lines.join("\n  ")),
        }
    }

    /// What to do about it, the commonest cause first.
    pub(crate) fn hints(self) -> Vec<String> {
        self.0.iter().take(NAMED_MAX).filter_map(CauseCount::hint).collect()
    }
}

#[cfg(test)]
mod tests;
