//! Deliberate defects that the invariants must find. Each is a wrapper over a port: production code
//! has no hooks.

mod archive;
mod documents;
mod fetcher;
mod late;
mod log;

use std::fmt;
use std::str::FromStr;

use dragline_testkit::mutants::FrontierMutation as Frontier;

use crate::invariants::Invariant;

pub(crate) use archive::MutatedArchive;
pub(crate) use documents::MutatedDocuments;
pub(crate) use fetcher::MutatedFetcher;
pub use late::LateEffect;
pub(crate) use late::PutOff;
pub(crate) use log::mutated_log;

/// A defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// A defect of the frontier, which the conformance suite rejects, too.
    Frontier(Frontier),
    /// An unreadable robots.txt is treated as missing.
    RobotsFailurePermits,
    /// A missing robots.txt is treated as one that forbids everything.
    RobotsMissingForbids,
    /// The key of a segment's object does not distinguish holders of the lease: the later one
    /// overwrites it.
    OneObjectForAllHolders,
    /// Objects are reported as deleted but are not.
    ObjectsStay,
    /// After a crash, opening the directory lets origins be asked at once.
    DelayForgottenAfterDeath,
    /// A server error is taken for a page that is gone, which hides it.
    FailureHides,
    /// A 304 is taken for a page that is gone.
    NotModifiedHides,
    /// No earlier document is found, so that nothing is known of the links of a page that did not
    /// change.
    EarlierForgotten,
    /// A page that is gone is reported as gone by each visit.
    GoneReportedAgain,
    /// What changed is reported by no visit.
    ChangeNotReported,
    /// Each try to tell people of something says that it came to be owed just now.
    NoticeRedated,
    /// Effects in the wrong order.
    Late(LateEffect),
}

impl Mutation {
    /// All defects, each with the invariant that finds it.
    pub const ALL: &'static [(Self, Invariant)] = &[
        (Self::Frontier(Frontier::CommitWithoutTokenCheck), Invariant::OnlyTheHolderCommits),
        (Self::Frontier(Frontier::ReleaseWithoutTokenCheck), Invariant::OnlyTheHolderCommits),
        (Self::Frontier(Frontier::LivingHolderReplaced), Invariant::DelayKept),
        (Self::DelayForgottenAfterDeath, Invariant::DelayKept),
        (Self::Frontier(Frontier::HeldHostGiven), Invariant::DelayKept),
        (Self::Frontier(Frontier::LivingForgotten), Invariant::DelayKept),
        (Self::Frontier(Frontier::HostFreeAtOnce), Invariant::DelayKept),
        (Self::Frontier(Frontier::DomainForgotten), Invariant::DomainKept),
        (Self::Frontier(Frontier::SettlementForgotten), Invariant::Over),
        (Self::Frontier(Frontier::ClosedWithOpenOrigins), Invariant::Over),
        (Self::Frontier(Frontier::TokenNotReturned), Invariant::Over),
        (Self::Frontier(Frontier::SegmentsNeverOverdue), Invariant::Over),
        (Self::Frontier(Frontier::ParseForgotten), Invariant::Over),
        (Self::Frontier(Frontier::BlameForgotten), Invariant::Over),
        (Self::Late(LateEffect::ObjectAfterCommit), Invariant::StuckOnlyByDeaths),
        (Self::Frontier(Frontier::ClaimAlwaysOwn), Invariant::VisitedOnce),
        (Self::Frontier(Frontier::ExhaustedChunksStay), Invariant::VisitedOnce),
        (Self::Frontier(Frontier::TodoAddedTwice), Invariant::VisitedOnce),
        (Self::Frontier(Frontier::SeedsAddedAgain), Invariant::VisitedOnce),
        (Self::Frontier(Frontier::ClaimForgotten), Invariant::NothingLost),
        (Self::Frontier(Frontier::ClaimerMistaken), Invariant::NothingLost),
        (Self::Frontier(Frontier::ShorterWayUnvisited), Invariant::VisitedOnce),
        (Self::Frontier(Frontier::ShorterWayIgnored), Invariant::ReachFound),
        (Self::Frontier(Frontier::PastDefinitionsForgotten), Invariant::ReachFound),
        (Self::Late(LateEffect::LogAfterCommit), Invariant::NothingLost),
        (Self::Late(LateEffect::DocumentsAfterClaims), Invariant::CurrentStateIsFresh),
        (Self::Frontier(Frontier::ParseNotCounted), Invariant::ProgressEqualsLog),
        (Self::Frontier(Frontier::LeftoversForgotten), Invariant::ProgressEqualsLog),
        (Self::Frontier(Frontier::GivenUpForgotten), Invariant::NothingLost),
        (Self::Frontier(Frontier::LinksBeyondNotCounted), Invariant::ProgressEqualsLog),
        (Self::Frontier(Frontier::OriginsNotCounted), Invariant::BudgetKept),
        (Self::Frontier(Frontier::JoinedFromTheBeginning), Invariant::Over),
        (Self::OneObjectForAllHolders, Invariant::CapturesReadable),
        (Self::Frontier(Frontier::CaptureRedated), Invariant::CapturesReadable),
        (Self::RobotsFailurePermits, Invariant::RobotsObeyed),
        (Self::RobotsMissingForbids, Invariant::ReachFound),
        (Self::Frontier(Frontier::ReservedAsWanted), Invariant::BudgetKept),
        (Self::Frontier(Frontier::CursorAhead), Invariant::ReachFound),
        (Self::Frontier(Frontier::UnreadableNotCounted), Invariant::NothingLost),
        (Self::Frontier(Frontier::BeginningsCounted), Invariant::StuckOnlyByDeaths),
        (Self::Frontier(Frontier::EndNotOwed), Invariant::EndTold),
        (Self::ObjectsStay, Invariant::NoObjectLeft),
        (Self::FailureHides, Invariant::CurrentStateIsFresh),
        (Self::NotModifiedHides, Invariant::CurrentStateIsFresh),
        (Self::EarlierForgotten, Invariant::CurrentStateIsFresh),
        (Self::Frontier(Frontier::HiddenForgotten), Invariant::CurrentStateIsFresh),
        (Self::GoneReportedAgain, Invariant::EachChangeIsReportedOnce),
        (Self::ChangeNotReported, Invariant::EachChangeIsReportedOnce),
        (Self::Frontier(Frontier::CursorIgnoresPasses), Invariant::NeverVisitedGoFirst),
        (Self::Frontier(Frontier::HandledForgotten), Invariant::CallsKept),
        (Self::Frontier(Frontier::SwitchedOffStillDue), Invariant::CallsKept),
        (Self::Frontier(Frontier::DefinitionKeptFirst), Invariant::CallsKept),
        (Self::Frontier(Frontier::OffForgotten), Invariant::RemovedRests),
        (Self::Frontier(Frontier::ToldNoticeStays), Invariant::NoticesKept),
        (Self::NoticeRedated, Invariant::NoticesKept),
    ];

    pub(crate) const fn of_frontier(self) -> Option<Frontier> {
        match self {
            Self::Frontier(mutation) => Some(mutation),
            _ => None,
        }
    }

    pub(crate) const fn late_effect(self) -> Option<LateEffect> {
        match self {
            Self::Late(effect) => Some(effect),
            _ => None,
        }
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Frontier(mutation) => write!(f, "{mutation:?}"),
            Self::Late(effect) => write!(f, "{effect:?}"),
            other => write!(f, "{other:?}"),
        }
    }
}

impl FromStr for Mutation {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|(mutation, _)| mutation.to_string() == name);
        known.map(|(mutation, _)| *mutation).ok_or_else(|| format!("{name} is not a mutation"))
    }
}
