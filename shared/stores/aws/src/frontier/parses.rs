//! Parses: counting crashed ones, and committing their results part by part.

use dragline_domain::frontier::{
    Counts, IterationRow, OriginKey, ParseFault, PartCommit, PartCommitted, PartNotCommitted, RowsByOrigin, SegmentId,
    SegmentRow, commit_part,
};
use dragline_domain::ids::ParseToken;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{BeginParse, CommitParse, ParseCommitted, Parses};
use futures_util::future::try_join_all;

use super::DynamoFrontier;
use crate::dynamo::{Role, Write};
use crate::errors::{StoreError, at};
use crate::rows::{chunk, counts, inbox, iteration, keys, lease, segment};

impl Parses for DynamoFrontier {
    async fn load_segment(&self, id: &SegmentId) -> PortResult<Option<SegmentRow>> {
        at("load segment", id, async {
            let item = self.db.get(&keys::segment(id)).await?;
            item.as_ref().map(|item| segment::read(id, item)).transpose()
        })
        .await
    }

    /// Takes one write if no parse is recorded, the usual case; a recorded one comes back with the
    /// refusal.
    async fn begin_parse(&self, begin: &BeginParse) -> PortResult<Option<SegmentRow>> {
        at("begin parse", &begin.segment, async {
            let id = &begin.segment;
            let mut write = segment::begin_first_parse(id, &begin.begun);
            let mut rounds = self.db.rounds();
            loop {
                rounds.begin().await?;
                let refused = match self.db.write(&write).await? {
                    Ok(item) => return item.as_ref().map(|item| segment::read(id, item)).transpose(),
                    Err(refused) => refused,
                };
                let Some(item) = refused.row(Role::Segment) else { return Ok(None) };
                let row = segment::read(id, item)?;
                if row.begin_parse(&begin.begun, begin.now).is_none() {
                    return Ok(Some(row));
                }
                write = match &row.parsing {
                    Some(died) => segment::begin_next_parse(id, died, &begin.begun),
                    None => segment::begin_first_parse(id, &begin.begun),
                };
            }
        })
        .await
    }

    async fn give_back_parse(&self, id: &SegmentId, token: &ParseToken, blame: ParseFault) -> PortResult<()> {
        at("give back parse", id, async {
            // Refused: it is parsed, another is recorded as begun, or an earlier try gave it back.
            let _refused = self.db.write(&segment::give_back_parse(id, token, blame)).await?;
            Ok(())
        })
        .await
    }

    async fn commit_parse(&self, commit: &CommitParse) -> PortResult<ParseCommitted> {
        at("commit parse", &commit.segment, async {
            let own = &commit.segment.origin;
            let beside = [keys::segment(&commit.segment), keys::iteration(&own.crawl, commit.iteration)];
            let mut rounds = self.db.rounds();
            loop {
                rounds.begin().await?;
                let origins = commit.part.targets.iter().map(|target| &target.origin).chain([own]).collect();
                let current = self.read_current(origins, [&beside[0], &beside[1]]).await?;
                let Some((origins, [segment_item, iteration_item])) = current else { continue };
                let (Some(segment_item), Some(iteration_item)) = (segment_item, iteration_item) else {
                    return Ok(ParseCommitted::Over);
                };
                let row = segment::read(&commit.segment, &segment_item)?;
                let iteration = iteration::read(&iteration_item)?;
                let part = PartCommit {
                    number: commit.part_number,
                    kind: commit.kind,
                    targets: &commit.part.targets,
                    pace: commit.pace,
                    counters: &commit.counters,
                    pages: &commit.pages,
                    now: commit.now,
                    due: commit.due,
                };
                let after = match commit_part(&row, &origins, &iteration, &part) {
                    Ok(after) => after,
                    Err(PartNotCommitted::Refused(refused)) => return Ok(ParseCommitted::Refused(refused)),
                    Err(PartNotCommitted::Over) => return Ok(ParseCommitted::Over),
                };
                let new = after.origins.keys().filter(|origin| !origins.contains_key(*origin));
                try_join_all(new.map(|origin| self.list(origin))).await?;
                let writes = self.committed(commit, &origins, &iteration, &after)?;
                match self.db.transact(&writes).await? {
                    Ok(()) => return Ok(ParseCommitted::Done),
                    Err(refused)
                        if refused.by(Role::Chunk) && !refused.by(Role::Segment) && !refused.by(Role::Inbox) =>
                    {
                        return Err(StoreError::Damaged("there is todo of a part that was not committed".to_owned()));
                    }
                    // Another parser committed, or an origin opened or closed: the rows tell which.
                    Err(_) => {}
                }
            }
        })
        .await
    }
}

impl DynamoFrontier {
    /// Returns one write per row: the domain merges the changes to an origin that is both a target
    /// and the segment's own. The counts of all of them are added to the counts of the segment's
    /// origin.
    fn committed(
        &self,
        commit: &CommitParse,
        before: &RowsByOrigin,
        iteration_before: &IterationRow,
        after: &PartCommitted,
    ) -> Result<Vec<Write>, StoreError> {
        let mut writes = vec![segment::commit_part(&after.segment, commit.part_number, commit.kind)];
        let mut more = Counts::default();
        for (origin, rows) in &after.origins {
            let old = before.get(origin);
            more.add(&Counts::from_change(old, rows));
            writes.push(inbox::add(origin, old.map(|old| &old.inbox), &rows.inbox));
            if old.is_none_or(|old| old.lease != rows.lease) {
                writes.push(self.opened(origin, before, after)?);
            }
        }
        writes.extend(counts::add(&commit.segment.origin, commit.iteration, &more));
        for target in &commit.part.targets {
            for todo in &target.chunks {
                writes.push(chunk::put(&target.origin, todo)?);
            }
        }
        writes.extend(after.iteration.as_ref().map(|opened| iteration::open(iteration_before, opened)));
        Ok(writes)
    }

    fn opened(&self, origin: &OriginKey, before: &RowsByOrigin, after: &PartCommitted) -> Result<Write, StoreError> {
        let old = before.get(origin).map(|rows| &rows.lease);
        lease::replace(origin, old, &after.origins[origin].lease, self.lease_grace)
    }
}
