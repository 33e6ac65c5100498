//! Leaving out a condition of the protocol causes a violation, or is listed with the reason why
//! not.

use Invariant::{
    BarrierHeld, BudgetAddsUp, CountsInOrder, DoneIsDone, EndInReach, EndIsFinal, EverythingClaimed, HolderCommits,
    HostKept, LeaseKept, LeasesOnlyWhileOpen, NothingLost, OneIterationATrigger, OneOutcomeAPage, OpenCountedRight,
    OverMeansNoTodo, OverMeansParsed, TodoIsThere,
};
use dragline_protocol_model::{Config, Invariant, Mutation, explore};

/// The mutation, the configuration that shows it, and the invariant that it violates.
const CAUGHT: &[(Mutation, Config, Invariant)] = &[
    (Mutation::BeginBesideARunningOne, Config::TWO_COMMANDS, OneIterationATrigger),
    (Mutation::BeginForgetsTriggers, Config::REPEATED, OneIterationATrigger),
    (Mutation::BeginWithoutToken, Config::SMALLEST, EverythingClaimed),
    (Mutation::ClaimOfOthers, Config::CROSS_LINKED, OneOutcomeAPage),
    (Mutation::ClaimNotOwnAgain, Config::CRASH_AND_LOSS, NothingLost),
    (Mutation::ClaimerOverwritten, Config::CRASH_MEETING, NothingLost),
    (Mutation::ClaimOnceForEver, Config::RECRAWL_AND_EXPIRY, EverythingClaimed),
    (Mutation::SeedTwice, Config::CRASH_AND_LOSS, TodoIsThere),
    (Mutation::OpenOnceOver, Config::REPEATED, OpenCountedRight),
    (Mutation::OpenWhatIsOpen, Config::CROSS_LINKED, OpenCountedRight),
    (Mutation::TokenReturnedTwice, Config::COMMAND_TWICE, OpenCountedRight),
    (Mutation::TakeOfAnyState, Config::LATE_DUPLICATES, LeaseKept),
    (Mutation::TakeFromTheLiving, Config::DUPLICATE, LeaseKept),
    (Mutation::TakeWhenNotOpen, Config::PAUSE, LeasesOnlyWhileOpen),
    (Mutation::TakeOverBudget, Config::BUDGET, BudgetAddsUp),
    (Mutation::TakeoverReservesAgain, Config::BUDGET, BudgetAddsUp),
    (Mutation::CommitWithoutToken, Config::EXPIRY_APART, HolderCommits),
    (Mutation::CommitOverASegment, Config::LOST_ANSWER, CountsInOrder),
    (Mutation::CommitOwnByKey, Config::EXPIRY_APART, DoneIsDone),
    (Mutation::ChunkStays, Config::CROSS_LINKED, OneOutcomeAPage),
    (Mutation::ReleaseWithoutToken, Config::EXPIRY_APART, LeaseKept),
    (Mutation::ReleaseKeepsReserve, Config::BUDGET, BudgetAddsUp),
    (Mutation::ReleaseUnawareOfAdded, Config::UNAIDED_MEETING, OverMeansNoTodo),
    (Mutation::ReleaseUnawareOfParsed, Config::UNAIDED, EndInReach),
    (Mutation::TakeABusyHost, Config::HOST_UNAIDED, HostKept),
    (Mutation::HostNeverRunsOut, Config::HOST_REPEATED, EndInReach),
    (Mutation::HostGivenBackByAnyone, Config::HOST_AND_EXPIRY, HostKept),
    (Mutation::HostKeptAtRelease, Config::HOST_UNAIDED, EndInReach),
    (Mutation::NextNotCalled, Config::HOST_UNAIDED, EndInReach),
    (Mutation::TakeWithoutAPlace, Config::DOMAIN_UNAIDED, HostKept),
    (Mutation::PlaceNeverRunsOut, Config::DOMAIN_REPEATED, EndInReach),
    (Mutation::PlaceGivenBackByAnyone, Config::DOMAIN_AND_EXPIRY, HostKept),
    (Mutation::PlaceKeptAtRelease, Config::DOMAIN_UNAIDED, EndInReach),
    (Mutation::NextForAPlaceNotCalled, Config::DOMAIN_UNAIDED, EndInReach),
    (Mutation::ParseTwice, Config::DUPLICATE, CountsInOrder),
    (Mutation::PartOutOfTurn, Config::CRASH_IN_PARTS, TodoIsThere),
    (Mutation::ParseNotDue, Config::CRASH_AND_LOSS, EndInReach),
    (Mutation::ParseLeavesOriginsAlone, Config::UNAIDED, EndInReach),
    (Mutation::SettleUnawareOfState, Config::CRASH_APART, OpenCountedRight),
    (Mutation::SettleUnawareOfAdded, Config::UNAIDED_MEETING, OverMeansNoTodo),
    (Mutation::SweepForgetsToken, Config::CRASH_AND_LOSS, EndInReach),
    (Mutation::SweepForgetsTickets, Config::CRASH_AND_LOSS, EndInReach),
    (Mutation::SweepForgetsParses, Config::CRASH_AND_LOSS, EndInReach),
    (Mutation::SweepForgetsIdle, Config::CRASH_AND_LOSS, EndInReach),
    (Mutation::GiveUpUnparsed, Config::STOP, OverMeansParsed),
    (Mutation::GiveUpUnawareOfAdded, Config::STOP, OverMeansNoTodo),
    (Mutation::GiveUpTheLiving, Config::STOP, LeaseKept),
    (Mutation::GiveUpKeepsReserve, Config::BUDGET_AND_STOP, BudgetAddsUp),
    (Mutation::CloseWhileOpen, Config::SMALLEST, EverythingClaimed),
    (Mutation::CloseAgain, Config::SMALLEST, EndIsFinal),
    (Mutation::StopWhatIsOver, Config::STOP, EndIsFinal),
    (Mutation::ResumeWhatIsStopping, Config::PAUSE, EndIsFinal),
    (Mutation::DocumentsNotKept, Config::SKIP, NothingLost),
    (Mutation::PartsPlannedAnew, Config::CRASH_IN_PARTS, TodoIsThere),
    (Mutation::RecrawlUnclaimed, Config::RECRAWL_AND_EXPIRY, OneOutcomeAPage),
    (Mutation::RecrawlNotOwnAgain, Config::RECRAWL, NothingLost),
    (Mutation::ChunkByOrder, Config::OVERTAKING, TodoIsThere),
    (Mutation::BarrierLeftOut, Config::BARRIER, BarrierHeld),
    (Mutation::OnlySeedsOpened, Config::RECRAWL_LINKS_GONE, EverythingClaimed),
];

/// The mutation that violates nothing, the configuration most likely to show it, and why the
/// condition stays in the protocol.
const NOT_CAUGHT: &[(Mutation, Config, &str)] = &[
    (
        Mutation::ChunkOverwritten,
        Config::CRASH_AND_LOSS,
        "a chunk is only put by a transaction that happens once: this is the second line of the same defence",
    ),
    (
        Mutation::TakeOfAnyTurn,
        Config::LATE_DUPLICATES,
        "a late ticket would take what a current one takes; the condition only saves rows and delays of unneeded turns",
    ),
    (
        Mutation::SettleUnawareOfTurn,
        Config::DUPLICATE,
        "within an iteration the four numbers grow with every turn that did something; across iterations the iteration is compared",
    ),
    (
        Mutation::SettleUnawareOfTaken,
        Config::DUPLICATE,
        "only a holder writes them, and the lease must get another turn before it can be held",
    ),
    (
        Mutation::SettleUnawareOfParsed,
        Config::DUPLICATE,
        "it closes only once all segments are parsed, and there are no more than all; an extra wake-up does no harm",
    ),
    (
        Mutation::GiveUpUnawareOfLease,
        Config::STOP_AND_EXPIRY,
        "here the lease's end is read in the same transaction; a store that cannot do that has only state, turn and token",
    ),
    (
        Mutation::LeftoverOverwritten,
        Config::STOP,
        "an origin closes once a turn, as its state says: this is the second line of the same defence",
    ),
];

#[test]
fn what_is_left_out_is_missed_by_the_invariant_that_it_is_there_for() {
    for &(mutation, config, expected) in CAUGHT {
        let finding = explore(config.without(mutation)).finding;
        let what = finding.as_ref().map(|finding| finding.what);
        let told = finding.map_or_else(|| "nothing is found".to_owned(), |finding| finding.to_string());
        assert_eq!(what, Some(expected), "{mutation:?}: {told}");
    }
}

#[test]
fn what_may_be_left_out_is_only_what_another_condition_covers() {
    for &(mutation, config, why) in NOT_CAUGHT {
        if let Some(finding) = explore(config.without(mutation)).finding {
            panic!("{mutation:?} is listed as harmless, because {why}; but {finding}");
        }
    }
}

#[test]
fn every_condition_stands_in_one_of_the_tables() {
    for &mutation in Mutation::ALL {
        let caught = CAUGHT.iter().filter(|(of, ..)| *of == mutation).count();
        let not_caught = NOT_CAUGHT.iter().filter(|(of, ..)| *of == mutation).count();
        assert_eq!(caught + not_caught, 1, "{mutation:?}");
    }
}
