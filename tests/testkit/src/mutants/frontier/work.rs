//! Defects of the work: of turns, of hosts and the places of their domains, of parses, and of
//! origins that nobody holds.

/// Defines the mutants that are given, and these, which call themselves `$this`.
macro_rules! with_mutants_of_work {
    ($this:ident, $($others:tt)*) => { mutants! {
        $($others)*
        Turns<F: Frontier> {
            fn take_lease(origin: &OriginKey, iteration: Iteration, take: &TakeRequest) -> Result<Lease, TakeRefused>;
                also LivingForgotten { let take = &TakeRequest { alive: Vec::new(), ..take.clone() }; };
                also DomainForgotten { let take = &TakeRequest { hosts_per_domain: u16::MAX, ..take.clone() }; };
                - TakeOfAnyTurn: "a ticket of any turn takes the lease" {
                    let turn = $this.inner.load_origin(origin).await?.map_or(take.turn, |rows| rows.lease.turn);
                    let take = &TakeRequest { turn, ..take.clone() };
                };
                - HostEndsWithLease: "a host is held only until the lease it was taken with ends"
                    { let take = &TakeRequest { host_until: take.until, ..take.clone() }; };
                - NothingReserved: "no budget is reserved" {
                    let take = &TakeRequest { wanted: Reserve { pages: Some(0), bytes: Some(0) }, ..take.clone() };
                };
                - ReservedAsWanted: "all that is requested is reserved, whatever is left"
                    but |taken| if let Ok(Lease { state: LeaseState::Leased(holder), .. }) = &mut taken {
                        holder.reserved = take.wanted;
                    };
                - SearchGoesOn: "a search for holders continues although a lease was taken since" => {
                    let searched = $this.cursor(&origin.crawl, iteration, Walk::Holders).await?;
                    let taken = $this.inner.take_lease(origin, iteration, take).await?;
                    if let Some(to) = searched {
                        let (crawl, walk, seen) = (origin.crawl.clone(), Walk::Holders, OriginCursor::NotBegun);
                        $this.inner.move_cursor(&MoveCursor { crawl, iteration, walk, seen, to }).await?;
                    }
                    Ok(taken)
                };
                - LivingHolderReplaced: "a lease is taken over before its time is over, and the origin is asked at once"
                    => match $this.inner.take_lease(origin, iteration, take).await? {
                        Err(TakeRefused::Held) => $this.take_from_anyone(origin, iteration, take).await,
                        taken => Ok(taken),
                    };
                - HeldHostGiven: "a held host is given to another"
                    => match $this.inner.take_lease(origin, iteration, take).await? {
                        Err(TakeRefused::HostBusy { .. }) => $this.take_from_anyone(origin, iteration, take).await,
                        taken => Ok(taken),
                    };
                - TakeWhilePaused: "a paused iteration gives leases"
                    => match $this.inner.take_lease(origin, iteration, take).await? {
                        Err(TakeRefused::NotOpen) => {
                            $this.inner.change_status(&origin.crawl, iteration, StatusChange::Resume).await?;
                            let taken = $this.inner.take_lease(origin, iteration, take).await?;
                            $this.inner.change_status(&origin.crawl, iteration, StatusChange::Pause).await?;
                            Ok(taken)
                        }
                        taken => Ok(taken),
                    };
            fn load_chunk(origin: &OriginKey, key: &ChunkKey) -> Option<TodoChunk>;
            fn first_chunk(origin: &OriginKey, iteration: Iteration, skip: &[ChunkKey]) -> Option<TodoChunk>;
                - SkippedChunksGiven: "the first chunk is given even where it should be skipped" { let skip = &[]; };
            fn commit_segment(commit: &CommitSegment) -> SegmentCommitted;
                - CommitWithoutTokenCheck: "a segment can be committed with any token" {
                    let mut commit = commit.clone();
                    if let Some(holder) = $this.holder(&commit.segment.id.origin).await?
                        && holder.token != commit.segment.token
                    {
                        commit.segment.token = holder.token.clone();
                        commit.lease.state = LeaseState::Leased(holder);
                    }
                    let commit = &commit;
                };
                - RepeatedCommitFenced: "a repeated commit is refused" {
                    if $this.inner.load_segment(&commit.segment.id).await?.is_some() { return Ok(SegmentCommitted::Fenced) }
                };
                - CommitCountedTwice: "a repeated commit makes another segment" {
                    let mut commit = commit.clone();
                    if $this.inner.load_segment(&commit.segment.id).await?.is_some() {
                        commit.segment.id.n += 1;
                        commit.lease.segments += 1;
                        commit.exhausted.clear();
                    }
                    let commit = &commit;
                };
                - RepeatedCommitCounted: "a segment that is committed again is counted again" {
                    if $this.inner.load_segment(&commit.segment.id).await?.is_some() { $this.fresh(); }
                };
                - ExhaustedChunksStay: "exhausted chunks are not deleted"
                    { let commit = &CommitSegment { exhausted: Vec::new(), ..commit.clone() }; };
                - ExhaustedChunksCut: "exhausted chunks that do not fit the transaction are not deleted" {
                    let commit = &spoil(commit.clone(), |commit| commit.exhausted.truncate(EXHAUSTED_CHUNKS_MAX));
                };
            fn release(release: &ReleaseLease) -> Result<(), ReleaseRefused>;
                - ReleaseWithoutInboxCheck: "a lease is released although the inbox has changed" {
                    let rows = $this.inner.load_origin(&release.origin).await?;
                    let seen = rows.map_or_else(|| release.seen.clone(), |rows| rows.inbox);
                    let release = &ReleaseLease { seen, ..release.clone() };
                };
                - ReleaseWithoutTokenCheck: "a lease can be released with any token" {
                    let token = $this.holder(&release.origin).await?.map(|holder| holder.token);
                    let token = token.unwrap_or_else(|| release.token.clone());
                    let release = &ReleaseLease { token, ..release.clone() };
                };
                - RepeatedReleaseFenced: "a repeated release is refused" {
                    if $this.holder(&release.origin).await?.is_none() { return Ok(Err(ReleaseRefused::Fenced)) }
                };
                - GivenUpForgotten: "a lease forgets how its URLs end once the origin is given up"
                    { let release = &spoil(release.clone(), |release| release.lease.given_up = None); };
                - HostFreeAtOnce: "a host may be asked as soon as it is given back"
                    { let release = &ReleaseLease { free_from: Timestamp::UNIX_EPOCH, ..release.clone() }; };
        }
        Hosts<F: Frontier> {
            fn load_host(host: &HostKey) -> Option<HostRow>;
                also NobodyWaits but |row| row.iter_mut().for_each(|row| row.waiting.clear());
            fn load_domain(domain: &DomainKey) -> Option<DomainRow>;
                - NobodyWaits: "there is no line for a host, nor for a place in a domain"
                    but |row| row.iter_mut().for_each(|row| row.waiting.clear());
            fn take_host(host: &HostKey, ask: &HostRequest) -> Result<HostRow, Timestamp>;
                - LivingForgotten: "turns known to be alive count as dead when their time is over"
                    { let ask = &HostRequest { alive: Vec::new(), ..ask.clone() }; };
                - DomainForgotten: "any number of hosts of a domain are asked at once" {
                    let ask = &HostRequest { hosts_per_domain: ask.hosts_per_domain.and(Some(u16::MAX)), ..ask.clone() };
                };
                - PlaceNotTaken: "a host taken without a lease takes no place in its domain"
                    { let ask = &HostRequest { hosts_per_domain: None, ..ask.clone() }; };
            fn give_back_host(back: &GiveBackHost) -> ();
                - HostKept: "a host taken without a lease is never given back" => Ok(());
                - HostGivenBackByAnyone: "a host can be given back with any token" {
                    let holder = $this.inner.load_host(&back.host).await?.and_then(|row| row.holder);
                    let token = holder.map_or_else(|| back.token.clone(), |holder| holder.token);
                    let back = &GiveBackHost { token, ..back.clone() };
                };
        }
        Parses<F: Frontier> {
            fn load_segment(id: &SegmentId) -> Option<SegmentRow>;
            fn begin_parse(begin: &BeginParse) -> Option<SegmentRow>;
                - DeathsNotCounted: "crashed parses are not counted" => $this.inner.load_segment(&begin.segment).await;
                - BeginningsCounted: "each beginning of a parse counts as a crash" {
                    let row = $this.inner.begin_parse(begin).await?;
                    let Some(begun) = row.as_ref().and_then(|row| row.parsing.as_ref()) else { return Ok(row) };
                    $this.inner.give_back_parse(&begin.segment, &begun.token, ParseFault::Segment).await?;
                };
            fn give_back_parse(id: &SegmentId, token: &ParseToken, blame: ParseFault) -> ();
                - ParseNotGivenBack: "a parse that is given back stays recorded as begun" => Ok(());
                - BlameForgotten: "a parse of an unreadable segment is given back as if the store had failed"
                    { let blame = ParseFault::Elsewhere; };
                - ForeignParseGivenBack: "a parse can be given back by another" {
                    let begun = $this.inner.load_segment(id).await?.and_then(|row| row.parsing);
                    let token = begun.as_ref().map_or(token, |begun| &begun.token);
                };
            fn commit_parse(commit: &CommitParse) -> ParseCommitted;
                - ParseForgotten: "a parse is reported as committed but is not" => Ok(ParseCommitted::Done);
                - ParseNotCounted: "the counts of a parse are dropped"
                    { let commit = &spoil(commit.clone(), |it| it.counters = ParserCounters::default()); };
                - PagesNotObserved: "what pages tell of the shapes of URLs is dropped"
                    { let commit = &spoil(commit.clone(), |it| it.pages.clear()); };
                - LinksBeyondNotCounted: "links beyond a budget are not counted"
                    { let commit = &spoil(commit.clone(), |it| it.counters.links_beyond_budget = 0); };
                - UnreadableNotCounted: "lost captures are not counted"
                    { let commit = &spoil(commit.clone(), |it| it.counters.unreadable = 0); };
                - TodoAddedTwice: "the links a parse found are added twice" {
                    let targets = spoil_each(&commit.part.targets, |target| add_again(&mut target.chunks));
                    let commit = &spoil(commit.clone(), |commit| commit.part.targets = targets);
                };
                - PartOrderIgnored: "a part is committed whether or not it is the next one" {
                    let mut commit = commit.clone();
                    let row = $this.inner.load_segment(&commit.segment).await?;
                    if let Some(SegmentState::Crawled { part }) = row.map(|row| row.state) { commit.part_number = part }
                    let commit = &commit;
                };
                - TargetsCut: "a parse adds todo to at most sixteen origins"
                    { let commit = &spoil(commit.clone(), |commit| commit.part.targets.truncate(16)); };
                - RepeatedParseDone: "a repeated parse is reported as done now, not before"
                    but |committed| if committed == ParseCommitted::Refused(PartRefused::AlreadyParsed) {
                        committed = ParseCommitted::Done;
                    };
                - UnknownSegmentDone: "a parse of an unknown segment is reported as done now"
                    but |committed| if committed == ParseCommitted::Over {
                        committed = ParseCommitted::Done;
                    };
        }
        Endings<F: Frontier> {
            fn settle(origin: &OriginKey, seen: &OriginRows) -> SettleResult;
                - SettlementForgotten: "an idle origin is reported as closed, but neither woken nor closed"
                    => Ok(SettleResult::Closed);
                - SettleFromStaleRows: "an origin is settled although its rows have changed" {
                    let now = $this.inner.load_origin(origin).await?;
                    let seen = now.as_ref().unwrap_or(seen);
                };
            fn give_up(give_up: &GiveUp) -> SettleResult;
                - GiveUpFromStaleRows: "an origin is given up although its rows have changed" {
                    let seen = $this.inner.load_origin(&give_up.origin).await?.unwrap_or_else(|| give_up.seen.clone());
                    let give_up = &GiveUp { seen, ..give_up.clone() };
                };
                - GiveUpOnTheLiving: "an origin is given up while its holder has time left"
                    { let give_up = &GiveUp { now: far_ahead(give_up.now), ..give_up.clone() }; };
        }
    } };
}
