//! Defects of parses.

use dragline_domain::frontier::{Blame, ParserCounters, PartRefused, SegmentId, SegmentRow, SegmentState};
use dragline_domain::ids::ParseToken;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{BeginParse, CommitParse, Frontier, ParseCommitted, Parses};

use super::super::FrontierMutation as M;
use super::{MutantFrontier, add_again};

impl<F: Frontier> Parses for MutantFrontier<F> {
    async fn load_segment(&self, id: &SegmentId) -> PortResult<Option<SegmentRow>> {
        self.inner.load_segment(id).await
    }

    async fn begin_parse(&self, begin: &BeginParse) -> PortResult<Option<SegmentRow>> {
        match self.mutation {
            Some(M::DeathsNotCounted) => self.inner.load_segment(&begin.segment).await,
            Some(M::BeginningsCounted) => {
                let Some(row) = self.inner.begin_parse(begin).await? else { return Ok(None) };
                let Some(begun) = &row.parsing else { return Ok(Some(row)) };
                self.inner.give_back_parse(&row.id, &begun.token, Blame::Segment).await?;
                self.inner.begin_parse(begin).await
            }
            _ => self.inner.begin_parse(begin).await,
        }
    }

    async fn give_back_parse(&self, id: &SegmentId, token: &ParseToken, blame: Blame) -> PortResult<()> {
        match self.mutation {
            Some(M::ParseNotGivenBack) => Ok(()),
            Some(M::BlameForgotten) => self.inner.give_back_parse(id, token, Blame::Elsewhere).await,
            Some(M::ForeignParseGivenBack) => {
                let row = self.inner.load_segment(id).await?;
                let noted = row.and_then(|row| row.parsing).map_or_else(|| token.clone(), |begun| begun.token);
                self.inner.give_back_parse(id, &noted, blame).await
            }
            _ => self.inner.give_back_parse(id, token, blame).await,
        }
    }

    async fn commit_parse(&self, commit: &CommitParse) -> PortResult<ParseCommitted> {
        if self.is(M::ParseForgotten) {
            return Ok(ParseCommitted::Done);
        }
        let mut commit = commit.clone();
        match self.mutation {
            Some(M::ParseNotCounted) => commit.counters = ParserCounters::default(),
            Some(M::LinksBeyondNotCounted) => commit.counters.links_beyond_budget = 0,
            Some(M::UnreadableNotCounted) => commit.counters.unreadable = 0,
            Some(M::TodoAddedTwice) => commit.part.targets.iter_mut().for_each(|target| add_again(&mut target.chunks)),
            Some(M::PartOrderIgnored) => {
                let row = self.inner.load_segment(&commit.segment).await?;
                if let Some(SegmentState::Crawled { part }) = row.map(|row| row.state) {
                    commit.part_number = part;
                }
            }
            Some(M::TargetsCut) => commit.part.targets.truncate(16),
            Some(M::ForeignTargetsDropped) => {
                commit.part.targets.retain(|target| target.origin == commit.segment.origin);
            }
            _ => {}
        }
        Ok(match self.inner.commit_parse(&commit).await? {
            ParseCommitted::Refused(PartRefused::AlreadyParsed) if self.is(M::RepeatedParseDone) => {
                ParseCommitted::Done
            }
            ParseCommitted::Over if self.is(M::UnknownSegmentDone) => ParseCommitted::Done,
            committed => committed,
        })
    }
}
