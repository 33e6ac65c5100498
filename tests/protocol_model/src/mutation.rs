//! Mutations of the protocol, each of which leaves one condition out.

macro_rules! mutations {
    ($(#[$on_enum:meta])* pub enum Mutation { $($(#[$doc:meta])* $name:ident,)* }) => {
        $(#[$on_enum])*
        pub enum Mutation {
            $($(#[$doc])* $name,)*
        }

        impl Mutation {
            /// All mutations.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
        }
    };
}

mutations! {
/// What is left out. The domain's function is unchanged: the model passes it values that hide the
/// condition, or ignores its refusal. The comments begin with the name of the row in the table of
/// `docs/internals/protocol.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Begin iteration: whether an iteration runs is not checked.
    BeginBesideARunningOne,
    /// Begin iteration: that the trigger began one earlier is not remembered.
    BeginForgetsTriggers,
    /// Begin iteration: the scheduler's token is not counted as open.
    BeginWithoutToken,
    /// Claim: what another queued counts as own.
    ClaimOfOthers,
    /// Claim: what an earlier try of the same work claimed does not count as own.
    ClaimNotOwnAgain,
    /// Claim: the last to claim is stored as the claimer.
    ClaimerOverwritten,
    /// Claim: a candidate queued in an earlier iteration counts as queued.
    ClaimOnceForEver,
    /// Seed: a trigger's seeds are added each time they arrive.
    SeedTwice,
    /// Seed, commit parse: an origin opens although the iteration is closed.
    OpenOnceOver,
    /// Seed, commit parse: an origin that is open is opened as if it were closed.
    OpenWhatIsOpen,
    /// Seed, commit parse: a chunk overwrites an existing one.
    ChunkOverwritten,
    /// Return the token: whether it is out is not checked.
    TokenReturnedTwice,
    /// Take lease: the ticket's turn is not compared.
    TakeOfAnyTurn,
    /// Take lease: whether the lease is ready or held is not checked.
    TakeOfAnyState,
    /// Take lease: a lease is taken over before its time is over.
    TakeFromTheLiving,
    /// Take lease: whether the iteration is open is not checked.
    TakeWhenNotOpen,
    /// Take lease: the budget is not checked.
    TakeOverBudget,
    /// Take lease: a takeover reserves budget again.
    TakeoverReservesAgain,
    /// Commit segment: the lease's token is not compared.
    CommitWithoutToken,
    /// Commit segment: whether the segment exists already is not checked.
    CommitOverASegment,
    /// Commit segment: an existing segment counts as own, whoever wrote it.
    CommitOwnByKey,
    /// Commit segment: the exhausted chunk is not deleted.
    ChunkStays,
    /// Release: the token is not compared.
    ReleaseWithoutToken,
    /// Release: the unused reservation is kept.
    ReleaseKeepsReserve,
    /// Release idle or close: todo that was added since the inbox was read is not seen.
    ReleaseUnawareOfAdded,
    /// Release idle: a segment that was parsed since the inbox was read is not seen.
    ReleaseUnawareOfParsed,
    /// Take lease: whether another has the host is not checked.
    TakeABusyHost,
    /// Take lease: a dead holder keeps its host for good.
    HostNeverRunsOut,
    /// Release: who holds the host is not checked.
    HostGivenBackByAnyone,
    /// Release: the host is not given back.
    HostKeptAtRelease,
    /// Release: the next in line for the host is not woken.
    NextNotCalled,
    /// Take lease: whether the domain has a place is not checked.
    TakeWithoutAPlace,
    /// Take lease: a dead holder keeps its place for good.
    PlaceNeverRunsOut,
    /// Release: who holds the place is not checked.
    PlaceGivenBackByAnyone,
    /// Release: the place is not given back.
    PlaceKeptAtRelease,
    /// Release: the next in line for a place is not woken.
    NextForAPlaceNotCalled,
    /// Commit parse: a parsed segment is parsed again.
    ParseTwice,
    /// Commit parse: which part is next is not checked.
    PartOutOfTurn,
    /// Commit parse: inboxes are not marked as due.
    ParseNotDue,
    /// After a parse: the origins are not settled.
    ParseLeavesOriginsAlone,
    /// Settle: whether the origin is still idle is not checked.
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
    /// Close with leftovers: unparsed segments are ignored.
    GiveUpUnparsed,
    /// Close with leftovers: state, turn and token are not compared.
    GiveUpUnawareOfLease,
    /// Close with leftovers: todo that was added since is not seen.
    GiveUpUnawareOfAdded,
    /// Close with leftovers: an origin is given up before its holder's time is over.
    GiveUpTheLiving,
    /// Close with leftovers: what a dead holder had reserved is not returned.
    GiveUpKeepsReserve,
    /// Close with leftovers: a leftover overwrites an existing one.
    LeftoverOverwritten,
    /// Close iteration: the count of open origins is not checked.
    CloseWhileOpen,
    /// Close iteration: a closed iteration is closed again.
    CloseAgain,
    /// Stop, resume: whether the iteration is closed is not checked.
    StopWhatIsOver,
    /// Resume: a stopping iteration is resumed.
    ResumeWhatIsStopping,
    /// Documents: each parse uses what it extracted itself.
    DocumentsNotKept,
    /// Plan of parts: another try orders its parts differently.
    PartsPlannedAnew,
    /// Recrawl cursor: what it fetches is not claimed.
    RecrawlUnclaimed,
    /// Recrawl cursor: what an earlier holder claimed for it does not count as own.
    RecrawlNotOwnAgain,
    /// Chunks: the first chunk is taken, at the offset of the one in progress.
    ChunkByOrder,
    /// Barrier: an origin goes deeper while segments of it are unparsed.
    BarrierLeftOut,
    /// Iteration N: only the origins of seeds are opened.
    OnlySeedsOpened,
}
}
