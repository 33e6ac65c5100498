//! What a URL is in the graph.

use dragline_domain::outcome::{Outcome, OutcomeClass};

/// What a URL is now, as far as the crawl knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// A page.
    Page,
    /// A page that another one stands for.
    Copy,
    /// Content that is no page.
    File,
    /// It redirects.
    Redirect,
    /// The server says that there is nothing.
    Missing,
    /// The last visit failed.
    Failed,
    /// A rule forbids it.
    Blocked,
    /// It is known, and was not visited.
    Unvisited,
    /// The crawl does not visit it: it is out of scope, or no page.
    Outside,
}

impl State {
    /// As it is stored.
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
        }
    }

    /// Returns the state after this outcome of the last visit. Whether content is a page is not known from it.
    #[must_use]
    pub const fn after(outcome: Outcome) -> Self {
        match outcome.class() {
            OutcomeClass::Content => Self::File,
            OutcomeClass::Dismissed => Self::Copy,
            OutcomeClass::Redirect => Self::Redirect,
            OutcomeClass::Missing => Self::Missing,
            OutcomeClass::Failed => Self::Failed,
            OutcomeClass::Blocked => Self::Blocked,
        }
    }
}

/// Whether a link to a URL that ended like this is broken: people who follow it get nothing, whoever they are.
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
        // There is something, which may be elsewhere.
        Outcome::FileIngested
        | Outcome::FileOfUnknownType
        | Outcome::FileDidNotChange
        | Outcome::PermanentRedirect
        | Outcome::Redirect
        | Outcome::NotCanonical
        | Outcome::Duplicate
        // The crawler asked too often.
        | Outcome::AskedToTryAgain
        | Outcome::RateLimited
        // It is there for others.
        | Outcome::BlockedByRobotsTxt
        | Outcome::BlockedAtRequestOfRemote
        | Outcome::BlockedOriginByLocalPolicy
        | Outcome::BlockedUrlByLocalPolicy
        | Outcome::BlockedByChallenge
        | Outcome::BlockedByLogin
        | Outcome::BlockedByConsent
        | Outcome::BlockedPrivateAddress
        // Nobody asked the server.
        | Outcome::OriginGivenUp
        | Outcome::BudgetExhausted
        | Outcome::Cancelled
        | Outcome::SomeoneStoleMyWork
        | Outcome::DatabaseError
        | Outcome::UnknownError => false,
    }
}
