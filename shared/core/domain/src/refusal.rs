//! How a remote asks not to be ingested: the kinds of the outcome
//! [`Outcome::BlockedAtRequestOfRemote`].

use serde::{Deserialize, Serialize};

use crate::outcome::Outcome;

/// How a remote asks not to be ingested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// The page asks not to be indexed.
    Noindex,
    /// The server asks for a log-in: status 401.
    LogIn,
    /// The server denies access: status 403.
    Denied,
}

impl Refusal {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Noindex, Self::LogIn, Self::Denied];

    /// Returns how a remote refused, by the outcome and the status of its answer; `None` if it did
    /// not. An answer without a status is an unchanged page, which asks for noindex.
    #[must_use]
    pub const fn from_answer(outcome: Outcome, status: Option<u16>) -> Option<Self> {
        match (outcome, status) {
            (Outcome::BlockedAtRequestOfRemote, Some(401)) => Some(Self::LogIn),
            (Outcome::BlockedAtRequestOfRemote, Some(400..)) => Some(Self::Denied),
            (Outcome::BlockedAtRequestOfRemote, _) => Some(Self::Noindex),
            _ => None,
        }
    }

    /// Returns the name as stored and shown to programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Noindex => "noindex",
            Self::LogIn => "log_in",
            Self::Denied => "denied",
        }
    }

    /// Returns the meaning, for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Noindex => "the page asks for noindex",
            Self::LogIn => "it asks for a log-in (status 401)",
            Self::Denied => "the server denies access (status 403)",
        }
    }
}

/// What the detail of a 401 says after its status.
pub const ASKS_FOR_LOG_IN: &str = "it asks for a log-in";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_by_its_status() {
        let refused = Outcome::BlockedAtRequestOfRemote;
        for (outcome, status, expected, why) in [
            (refused, Some(200), Some(Refusal::Noindex), "a page says so"),
            (refused, Some(304), Some(Refusal::Noindex), "it said so before"),
            (refused, None, Some(Refusal::Noindex), "its document was made again"),
            (refused, Some(401), Some(Refusal::LogIn), "for members"),
            (refused, Some(403), Some(Refusal::Denied), "for nobody, or for no crawler"),
            (Outcome::BlockedByLogin, Some(401), None, "a form to log in is a wall"),
            (Outcome::FileIngested, Some(200), None, "a page"),
        ] {
            assert_eq!(Refusal::from_answer(outcome, status), expected, "{why}");
        }
    }
}
