//! Conditions of the protocol, each left out to see whether it is missed.

macro_rules! mutations {
    ($(#[$on_enum:meta])* pub enum Mutation { $($(#[$doc:meta])* $name:ident,)* }) => {
        $(#[$on_enum])*
        pub enum Mutation {
            $($(#[$doc])* $name,)*
        }

        impl Mutation {
            /// Every one that there is.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
        }
    };
}

mutations! {
/// What is left out. The domain's function stays as it is: where the model calls it, it is handed what hides the condition from it, or
/// its refusal is passed over. Named after the row of the table in `docs/protocol.md` that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Begin iteration: whether an iteration runs is not asked.
    BeginBesideARunningOne,
    /// Begin iteration: that the trigger began one earlier is not remembered.
    BeginForgetsTriggers,
    /// Begin iteration: the scheduler's token is not counted among what is open.
    BeginWithoutToken,
    /// Claim: what somebody else queued counts as own.
    ClaimOfOthers,
    /// Claim: what an earlier try of the same work claimed does not count as own.
    ClaimNotOwnAgain,
    /// Claim: whoever comes last is written as the claimer.
    ClaimerOverwritten,
    /// Claim: a candidate queued in an earlier iteration counts as queued.
    ClaimOnceForEver,
    /// Seed: a trigger's seeds are added each time.
    SeedTwice,
    /// Seed, commit parse: an origin opens though the iteration is over.
    OpenOnceOver,
    /// Seed, commit parse: an origin that is open is opened as if it were closed.
    OpenWhatIsOpen,
    /// Seed, commit parse: a chunk is put over one that is there.
    ChunkOverwritten,
    /// Return the token: whether it is out is not asked.
    TokenReturnedTwice,
    /// Take lease: the ticket's turn is not compared.
    TakeOfAnyTurn,
    /// Take lease: whether the lease is ready or held is not asked.
    TakeOfAnyState,
    /// Take lease: a holder whose time has not run out is taken over.
    TakeFromTheLiving,
    /// Take lease: whether the iteration is open is not asked.
    TakeWhenNotOpen,
    /// Take lease: the budget is not asked.
    TakeOverBudget,
    /// Take lease: a takeover reserves anew.
    TakeoverReservesAgain,
    /// Commit segment: the lease's token is not compared.
    CommitWithoutToken,
    /// Commit segment: whether the segment is there already is not asked.
    CommitOverASegment,
    /// Commit segment: whoever wrote the segment that is there, it counts as own.
    CommitOwnByKey,
    /// Commit segment: the chunk that it exhausts stays.
    ChunkStays,
    /// Release: the token is not compared.
    ReleaseWithoutToken,
    /// Release: what was reserved and not used is kept.
    ReleaseKeepsReserve,
    /// Release idle or close: todo that was added since the inbox was read is not seen.
    ReleaseUnawareOfAdded,
    /// Release idle: a segment that was parsed since the inbox was read is not seen.
    ReleaseUnawareOfParsed,
    /// Take lease: whether somebody else has the host is not asked.
    TakeABusyHost,
    /// Take lease: a host that nobody gives back is its dead holder's for ever.
    HostNeverRunsOut,
    /// Release: whose the host is, is not asked.
    HostGivenBackByAnyone,
    /// Release: the host is not given back.
    HostKeptAtRelease,
    /// Release: whoever waits for the host is not called.
    NextNotCalled,
    /// Take lease: whether the domain has a place is not asked.
    TakeWithoutAPlace,
    /// Take lease: a place that nobody gives back is its dead holder's for ever.
    PlaceNeverRunsOut,
    /// Release: whose the place is, is not asked.
    PlaceGivenBackByAnyone,
    /// Release: the place is not given back.
    PlaceKeptAtRelease,
    /// Release: whoever waits for a place is not called.
    NextForAPlaceNotCalled,
    /// Commit parse: a segment that is parsed is parsed again.
    ParseTwice,
    /// Commit parse: which part is next is not asked.
    PartOutOfTurn,
    /// Commit parse: what is written is not marked as due.
    ParseNotDue,
    /// After a parse: nobody sees to the origins.
    ParseLeavesOriginsAlone,
    /// Settle: whether the origin is still idle is not asked.
    SettleUnawareOfState,
    /// Settle: the turn is not compared.
    SettleUnawareOfTurn,
    /// Settle: `taken` and `segments` are not compared.
    SettleUnawareOfTaken,
    /// Settle: todo that was added since the rows were read is not seen.
    SettleUnawareOfAdded,
    /// Settle: segments that were parsed since the rows were read are not seen.
    SettleUnawareOfParsed,
    /// Sweep: the command of a token that is out is not sent again.
    SweepForgetsToken,
    /// Sweep: tickets are not sent again.
    SweepForgetsTickets,
    /// Sweep: parse messages are not sent again.
    SweepForgetsParses,
    /// Sweep: idle origins are not settled.
    SweepForgetsIdle,
    /// Close with leftovers: segments may be unparsed.
    GiveUpUnparsed,
    /// Close with leftovers: state, turn and token are not compared.
    GiveUpUnawareOfLease,
    /// Close with leftovers: todo that was added since is not seen.
    GiveUpUnawareOfAdded,
    /// Close with leftovers: a holder whose time has not run out is given up.
    GiveUpTheLiving,
    /// Close with leftovers: what a dead holder had reserved is not returned.
    GiveUpKeepsReserve,
    /// Close with leftovers: a leftover is put over one that is there.
    LeftoverOverwritten,
    /// Close iteration: the count of open origins is not asked.
    CloseWhileOpen,
    /// Close iteration: what is closed is closed again.
    CloseAgain,
    /// Stop, resume: whether the iteration is over is not asked.
    StopWhatIsOver,
    /// Resume: what is stopping is resumed.
    ResumeWhatIsStopping,
    /// Documents: each parse goes by what it understood itself.
    DocumentsNotKept,
    /// Plan of parts: another try plans its parts in another order.
    PartsPlannedAnew,
    /// Recrawl cursor: what it fetches is not claimed.
    RecrawlUnclaimed,
    /// Recrawl cursor: what an earlier holder claimed for it does not count as own.
    RecrawlNotOwnAgain,
    /// Chunks: the first one is taken, at the offset of the one that was begun.
    ChunkByOrder,
    /// Barrier: an origin goes deeper while segments of it are unparsed.
    BarrierLeftOut,
    /// Iteration N: only the origins of seeds are opened.
    OnlySeedsOpened,
}
}
