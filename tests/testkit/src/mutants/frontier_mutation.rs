//! The defects of frontiers.

use super::mutations;

mutations! {
    /// What is wrong with a frontier.
    FrontierMutation {
        /// An existing definition is not replaced.
        DefinitionKeptFirst,
        /// A definition is put over any version.
        DefinitionPutBlindly,
        /// Any version of a definition that is asked for is the newest one.
        PastDefinitionsForgotten,
        /// A new version forgets the origins that joined.
        JoinedForgotten,
        /// Who joined is read from the beginning, not from a place on.
        JoinedFromTheBeginning,
        /// Origins join whoever joined meanwhile.
        JoinedBlindly,
        /// A crawl that was switched off comes due.
        SwitchedOffStillDue,
        /// A crawl is due a day early.
        CrawlsDueTooEarly,
        /// A schedule is advanced from any time.
        ScheduleMovedBlindly,
        /// No crawl is ever listed as running.
        NothingRuns,
        /// A trigger is not recorded as handled.
        HandledForgotten,
        /// A repeated trigger gets the newest iteration, not its own.
        OldTriggerGetsNewest,
        /// A trigger that arrives during another's iteration gets that iteration.
        BusyIsOwn,
        /// The origins that were opened in an iteration are not counted.
        OriginsNotCounted,
        /// The scheduler's token is never returned.
        TokenNotReturned,
        /// A cursor is reported as moved but is not.
        CursorStays,
        /// The first move of a cursor takes it to the end.
        CursorAhead,
        /// A cursor is moved from anywhere.
        CursorMovedBlindly,
        /// A repeated move is refused.
        RepeatedMoveRefused,
        /// A search for holders continues although a lease was taken since.
        SearchGoesOn,
        /// A change of status that does not fit is reported as done.
        StatusNotChecked,
        /// An iteration with open origins is reported as closed.
        ClosedWithOpenOrigins,
        /// A URL that another claimer queued is reported as own.
        ClaimAlwaysOwn,
        /// The wrong claimer of a URL is reported.
        ClaimerMistaken,
        /// A repeated claim is not recognised.
        ClaimForgotten,
        /// A shorter way is ignored.
        ShorterWayIgnored,
        /// No visit of a URL is known where a shorter way was found.
        ShorterWayUnvisited,
        /// A URL is claimed before it is due.
        ClaimBeforeDue,
        /// Turns known to be alive count as dead when their time is over.
        LivingForgotten,
        /// Paths are cut at the length of a sort key.
        LongPathsCut,
        /// A trigger's seeds are added each time they arrive.
        SeedsAddedAgain,
        /// Seedings are listed in the inbox.
        SeedingsListed,
        /// Seeds that do not fit the transaction are dropped.
        SeedsCut,
        /// A full page of origins lacks its last one.
        ListDropsLast,
        /// An inbox never stops being due.
        DueNeverCleared,
        /// An origin that reopens treats its candidates as visited.
        CandidatesPassedOver,
        /// An inbox read on its own is as it was when the origin opened.
        InboxReadAsOpened,
        /// A lease keeps only eight retries.
        RetriesCut,
        /// The first robots.txt is kept for good.
        RobotsKeptFirst,
        /// robots.txt is not kept.
        RobotsNotKept,
        /// The robots.txt put last is kept, whenever it was fetched.
        RobotsGoBack,
        /// A robots.txt fetched by a clock that was ahead stays until that time has come.
        RobotsOfTheFutureKept,
        /// A ticket of any turn takes the lease.
        TakeOfAnyTurn,
        /// A held lease is given to another.
        HeldLeaseGiven,
        /// A lease is taken over before its time is over, and the origin is asked at once.
        LivingHolderReplaced,
        /// A lease is taken over as soon as it ends.
        TakeoverWithoutDelay,
        /// A held host is given to another.
        HeldHostGiven,
        /// A free host is given to anyone, ignoring the line.
        LineIgnored,
        /// A host taken without a lease is never given back.
        HostKept,
        /// A host may be asked as soon as it is given back.
        HostFreeAtOnce,
        /// A host can be given back with any token.
        HostGivenBackByAnyone,
        /// A host's back-off is forgotten.
        BackOffForgotten,
        /// There is no line for a host, nor for a place in a domain.
        NobodyWaits,
        /// Any number of hosts of a domain are asked at once.
        DomainForgotten,
        /// A host taken without a lease takes no place in its domain.
        PlaceNotTaken,
        /// A host is held only until the lease it was taken with ends.
        HostEndsWithLease,
        /// No budget is reserved.
        NothingReserved,
        /// All that is requested is reserved, whatever is left.
        ReservedAsWanted,
        /// A paused iteration gives leases.
        TakeWhilePaused,
        /// The first chunk is given even where it should be skipped.
        SkippedChunksGiven,
        /// The cursor returns what is queued in this iteration.
        CursorTakesQueued,
        /// The cursor returns what is not due.
        CursorBeforeDue,
        /// The cursor ends after one page.
        CursorLost,
        /// A pass through candidates selects what any pass selects.
        CursorIgnoresPasses,
        /// A pass does not know which rules are in force.
        CursorIgnoresRules,
        /// A pass does not tell what later passes visit.
        CursorLooksNotAhead,
        /// A segment can be committed with any token.
        CommitWithoutTokenCheck,
        /// A repeated commit is refused.
        RepeatedCommitFenced,
        /// A repeated commit makes another segment.
        CommitCountedTwice,
        /// Exhausted chunks are not deleted.
        ExhaustedChunksStay,
        /// Exhausted chunks that do not fit the transaction are not deleted.
        ExhaustedChunksCut,
        /// A lease is released although the inbox has changed.
        ReleaseWithoutInboxCheck,
        /// A lease can be released with any token.
        ReleaseWithoutTokenCheck,
        /// Crashed parses are not counted.
        DeathsNotCounted,
        /// Each beginning of a parse counts as a crash.
        BeginningsCounted,
        /// A parse that is given back stays recorded as begun.
        ParseNotGivenBack,
        /// A parse of an unreadable segment is given back as if the store had failed.
        BlameForgotten,
        /// A parse can be given back by another.
        ForeignParseGivenBack,
        /// A repeated log is refused.
        RepeatedLogRefused,
        /// A log without entries is not put.
        EmptyLogNotPut,
        /// A log is cut after a hundred entries.
        LogCut,
        /// A late update overwrites a newer one.
        UpdateGoesBack,
        /// An update without a capture erases the last capture.
        CaptureErased,
        /// The last capture is dated by the last visit, which may have found it unchanged.
        CaptureRedated,
        /// What a visit changes in what is shown is lost.
        HiddenForgotten,
        /// A document that is made again counts as a visit.
        ReparseEnds,
        /// A parse is reported as committed but is not.
        ParseForgotten,
        /// The counts of a parse are dropped.
        ParseNotCounted,
        /// Links beyond a budget are not counted.
        LinksBeyondNotCounted,
        /// Lost captures are not counted.
        UnreadableNotCounted,
        /// The links a parse found are added twice.
        TodoAddedTwice,
        /// A part is committed whether or not it is the next one.
        PartOrderIgnored,
        /// A parse adds todo to at most sixteen origins.
        TargetsCut,
        /// A parse adds todo only to its own origin.
        ForeignTargetsDropped,
        /// A repeated parse is reported as done now, not before.
        RepeatedParseDone,
        /// A parse of an unknown segment is reported as done now.
        UnknownSegmentDone,
        /// An idle origin is reported as closed, but neither woken nor closed.
        SettlementForgotten,
        /// An origin is settled although its rows have changed.
        SettleFromStaleRows,
        /// An origin is given up although its rows have changed.
        GiveUpFromStaleRows,
        /// An origin is given up while its holder has time left.
        GiveUpOnTheLiving,
        /// Unparsed segments are never overdue.
        SegmentsNeverOverdue,
        /// Leases are listed as overdue where they were not asked for.
        LeasesHideTheRest,
        /// Origins and segments share their room among the overdue work.
        OriginsHideLostParses,
        /// A repeated release is refused.
        RepeatedReleaseFenced,
        /// Postponed work keeps its old due time.
        PostponeForgotten,
        /// The close of an iteration stores no notice.
        EndNotOwed,
        /// A notice is reported as kept but is not.
        NoticeForgotten,
        /// Each notice gets a new key, so that they pile up.
        NoticesPileUp,
        /// Everybody who marks a fact as told is the first.
        ToldAgain,
        /// What one crawl told is told for all.
        ToldOfAnyCrawl,
        /// A notice is due a day early.
        NoticesDueTooEarly,
        /// A postponed notice keeps its old due time.
        NoticePostponeForgotten,
        /// Postponing a notice that was sent brings it back.
        ToldNoticeComesBack,
        /// A notice that was sent is still due.
        ToldNoticeStays,
        /// The parsers' counts are left out of the sums.
        ParsersNotSummed,
        /// A lease forgets how its URLs end once the origin is given up.
        GivenUpForgotten,
        /// What an iteration counted is forgotten when the next one begins.
        PastCountsForgotten,
        /// A segment that is committed again is counted again.
        RepeatedCommitCounted,
        /// Leftovers are left out of the sums.
        LeftoversForgotten,
    }
}
