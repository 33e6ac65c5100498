//! The defects of frontiers.

use super::mutations;

mutations! {
    /// What is wrong with a frontier.
    FrontierMutation {
        /// A definition that is there is not replaced.
        DefinitionKeptFirst,
        /// A definition is put over whatever version is there.
        DefinitionPutBlindly,
        /// Of a definition's versions only the newest is there, whichever is asked for.
        PastDefinitionsForgotten,
        /// A new version forgets the origins that joined.
        JoinedForgotten,
        /// A crawl that was switched off comes due.
        SwitchedOffStillDue,
        /// A crawl is due a day before its time.
        CrawlsDueTooEarly,
        /// A schedule's time is passed on whichever it is by then.
        ScheduleMovedBlindly,
        /// No crawl is ever said to run.
        NothingRuns,
        /// What a trigger asked for is not noted as done.
        HandledForgotten,
        /// A trigger that comes again gets the newest iteration, not its own.
        OldTriggerGetsNewest,
        /// A trigger that comes while another's iteration runs gets that one.
        BusyIsOwn,
        /// The scheduler's token stays out.
        TokenNotReturned,
        /// A cursor is said to be moved, and is not.
        CursorStays,
        /// A cursor stands at the end as soon as anything is done.
        CursorAhead,
        /// A cursor is moved wherever it is by then.
        CursorMovedBlindly,
        /// A move that comes again is refused.
        RepeatedMoveRefused,
        /// A search for holders goes on although somebody took a lease since.
        SearchGoesOn,
        /// A change of status that does not fit is said to be done.
        StatusNotChecked,
        /// An iteration with open origins is said to be closed.
        ClosedWithOpenOrigins,
        /// What somebody else queued is said to be own.
        ClaimAlwaysOwn,
        /// Who queued a URL is told wrong.
        ClaimerMistaken,
        /// Whoever claims again is not known again.
        ClaimForgotten,
        /// What is not due is claimed all the same.
        ClaimBeforeDue,
        /// Turns that are known to live count as dead when their time is over.
        LivingForgotten,
        /// Paths are cut where a sort key ends.
        LongPathsCut,
        /// A trigger's seeds are added each time they come.
        SeedsAddedAgain,
        /// Seedings are listed in the inbox.
        SeedingsListed,
        /// Seeds beyond what a transaction holds are dropped.
        SeedsCut,
        /// A full page of origins lacks its last one.
        ListDropsLast,
        /// An inbox is always owed something.
        DueNeverCleared,
        /// An origin that opens again takes its candidates as gone through.
        CandidatesPassedOver,
        /// An inbox that is read alone is as it was when it opened.
        InboxReadAsOpened,
        /// A lease keeps eight retries.
        RetriesCut,
        /// robots.txt is kept once.
        RobotsKeptFirst,
        /// robots.txt is not kept.
        RobotsNotKept,
        /// robots.txt is kept as it was put last, whenever it was fetched.
        RobotsGoBack,
        /// robots.txt that a clock fetched which was ahead stays until that time has come.
        RobotsOfTheFutureKept,
        /// A ticket of any turn takes the lease.
        TakeOfAnyTurn,
        /// A lease that somebody holds is said to be taken.
        HeldLeaseGiven,
        /// A lease is taken from a holder with time left, and the origin is asked at once.
        LivingHolderReplaced,
        /// A lease is taken over as soon as it ends.
        TakeoverWithoutDelay,
        /// A host that somebody else asks is given.
        HeldHostGiven,
        /// Whoever comes gets a free host, whoever waits.
        LineIgnored,
        /// A host that was taken without a lease is not given back.
        HostKept,
        /// A host that was given back may be asked at once.
        HostFreeAtOnce,
        /// Any token gives a host back.
        HostGivenBackByAnyone,
        /// A host may be asked as fast as before, whatever it said.
        BackOffForgotten,
        /// Nobody is in line for a host, nor for a place in a domain.
        NobodyWaits,
        /// Any number of hosts of a domain are asked at once.
        DomainForgotten,
        /// Who has no lease takes no place in a domain.
        PlaceNotTaken,
        /// A host is free when the lease ends that it was taken with.
        HostEndsWithLease,
        /// Nothing of the budget is set aside.
        NothingReserved,
        /// As much as is wanted is set aside, whatever is left.
        ReservedAsWanted,
        /// A paused iteration gives leases.
        TakeWhilePaused,
        /// The first chunk is given although it is to be skipped.
        SkippedChunksGiven,
        /// The cursor goes through what is queued in this iteration.
        CursorTakesQueued,
        /// The cursor takes what is not due.
        CursorBeforeDue,
        /// The cursor is through after a page.
        CursorLost,
        /// Any token commits.
        CommitWithoutTokenCheck,
        /// A commit that comes again is refused.
        RepeatedCommitFenced,
        /// A commit that comes again is a further segment.
        CommitCountedTwice,
        /// Exhausted chunks stay.
        ExhaustedChunksStay,
        /// Exhausted chunks beyond what a transaction deletes stay.
        ExhaustedChunksCut,
        /// A lease is let go whatever the inbox says by then.
        ReleaseWithoutInboxCheck,
        /// Any token lets go.
        ReleaseWithoutTokenCheck,
        /// Parses that died are not counted.
        DeathsNotCounted,
        /// Each beginning of a parse counts as one that died.
        BeginningsCounted,
        /// A parse that is given back stays noted as begun.
        ParseNotGivenBack,
        /// A parse that could not read its segment is given back as if the store had failed.
        BlameForgotten,
        /// Whoever gives a parse back gives back another's.
        ForeignParseGivenBack,
        /// A log that comes again is refused.
        RepeatedLogRefused,
        /// A log without entries is not put.
        EmptyLogNotPut,
        /// A log is cut after a hundred entries.
        LogCut,
        /// An update that comes late overwrites what is newer.
        UpdateGoesBack,
        /// An update without a capture erases the one that is kept.
        CaptureErased,
        /// A parse is said to be committed, and is not.
        ParseForgotten,
        /// What a parse counted is left out.
        ParseNotCounted,
        /// What a parse could not read is not counted.
        UnreadableNotCounted,
        /// What a parse found is added twice.
        TodoAddedTwice,
        /// A part is committed whether or not it is the next one.
        PartOrderIgnored,
        /// A parse adds todo to sixteen origins and no more.
        TargetsCut,
        /// A parse adds todo to its own origin alone.
        ForeignTargetsDropped,
        /// A parse that comes again is said to be done now.
        RepeatedParseDone,
        /// A parse of an unknown segment is said to be done.
        UnknownSegmentDone,
        /// An idle origin is said to be closed, and neither woken nor closed.
        SettlementForgotten,
        /// An origin is settled whatever its rows say by then.
        SettleFromStaleRows,
        /// An origin is given up whatever its rows say by then.
        GiveUpFromStaleRows,
        /// A holder with time left is given up.
        GiveUpOnTheLiving,
        /// Unparsed segments are never overdue.
        SegmentsNeverOverdue,
        /// Leases are overdue where they are not asked for.
        LeasesHideTheRest,
        /// A release that comes again is refused.
        RepeatedReleaseFenced,
        /// Postponed work is due as before.
        PostponeForgotten,
        /// That an iteration closed is owed to nobody.
        EndNotOwed,
        /// A notice is said to be kept, and is not.
        NoticeForgotten,
        /// Each notice has a place of its own, so that they pile up.
        NoticesPileUp,
        /// A notice is due a day before its time.
        NoticesDueTooEarly,
        /// A postponed notice is due as before.
        NoticePostponeForgotten,
        /// Postponing a notice that people were told owes it again.
        ToldNoticeComesBack,
        /// A notice that people were told is still owed.
        ToldNoticeStays,
        /// What parsers did is left out of the sums.
        ParsersNotSummed,
        /// Leftovers are left out of the sums.
        LeftoversForgotten,
    }
}
