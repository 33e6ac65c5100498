//! The states of a URL in the graph.

use dragline_domain::outcome::{Outcome, OutcomeClass};

/// The current state of a URL, as far as the crawl knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// A page.
    Page,
    /// A page with another canonical page.
    Copy,
    /// Content that is not a page.
    File,
    /// A redirect.
    Redirect,
    /// The server says that it does not exist.
    Missing,
    /// The last visit failed.
    Failed,
    /// A rule forbids it.
    Blocked,
    /// It is known, but was not visited.
    Unvisited,
    /// The crawl does not visit it: it is out of scope, or not a page.
    Outside,
    /// The crawl only asked whether it is there, and it is.
    Checked,
}

impl State {
    /// Returns the stored name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Copy => "copy",
            Self::File => "file",
            Self::Redirect => "redirect",
            Self::Missing => "missing",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
            Self::Unvisited => "unvisited",
            Self::Outside => "outside",
            Self::Checked => "checked",
        }
    }

    /// Returns the state after this outcome of the last visit. It does not distinguish pages from
    /// other content.
    #[must_use]
    pub const fn after(outcome: Outcome) -> Self {
        match outcome.class() {
            OutcomeClass::Content => Self::File,
            OutcomeClass::Dismissed => Self::Copy,
            OutcomeClass::Redirect => Self::Redirect,
            OutcomeClass::Missing => Self::Missing,
            OutcomeClass::Failed => Self::Failed,
            OutcomeClass::Blocked => Self::Blocked,
            OutcomeClass::Checked => Self::Checked,
        }
    }
}

/// Returns whether links to a URL with this outcome are broken, which means for every visitor.
#[must_use]
pub const fn breaks_links(outcome: Outcome) -> bool {
    match outcome {
        Outcome::FileGone
        | Outcome::FileNotFound
        | Outcome::SoftNotFound
        | Outcome::ServerBlamedClient
        | Outcome::DidNotUnderstandAnswer
        | Outcome::ServerInternalError
        | Outcome::ServerUnavailable
        | Outcome::ConnectionFailed
        | Outcome::RequestTimeout
        | Outcome::ErrorReadingResponse => true,
        // Something exists, perhaps elsewhere.
        Outcome::FileIngested
        | Outcome::StoredNotRead
        | Outcome::FileDidNotChange
        | Outcome::PermanentRedirect
        | Outcome::TemporaryRedirect
        | Outcome::NotCanonical
        | Outcome::Duplicate
        | Outcome::NeedsScript
        | Outcome::LinkWorks
        // The crawler sent too many requests.
        | Outcome::AskedToTryAgain
        | Outcome::RateLimited
        // It exists for others.
        | Outcome::BlockedByRobotsTxt
        | Outcome::BlockedAtRequestOfRemote
        | Outcome::BlockedOriginByLocalPolicy
        | Outcome::BlockedUrlByLocalPolicy
        | Outcome::BlockedByChallenge
        | Outcome::BlockedByLogin
        | Outcome::BlockedByConsent
        | Outcome::LoggedOut
        | Outcome::UseReserved
        | Outcome::CrawlerTrap
        | Outcome::BlockedPrivateAddress
        // The server was not asked.
        | Outcome::OriginGivenUp
        | Outcome::BudgetExhausted
        | Outcome::Cancelled
        | Outcome::SomeoneStoleMyWork
        | Outcome::DatabaseError
        | Outcome::UnknownError => false,
    }
}
