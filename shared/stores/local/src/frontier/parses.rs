//! Parses: counting crashed ones, and committing their results part by part.

use dragline_domain::frontier::{
    OriginKey, ParseFault, PartCommit, PartNotCommitted, RowsByOrigin, SegmentId, SegmentRow, commit_part,
};
use dragline_domain::ids::ParseToken;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{BeginParse, CommitParse, ParseCommitted, Parses};

use super::SqliteFrontier;
use crate::db::{Db, StoreError};

impl Parses for SqliteFrontier {
    async fn load_segment(&self, id: &SegmentId) -> PortResult<Option<SegmentRow>> {
        let key = id.clone();
        self.run("load segment", id, move |db| Ok(db.segment(&key)?.map(|stored| stored.row))).await
    }

    async fn begin_parse(&self, begin: &BeginParse) -> PortResult<Option<SegmentRow>> {
        let request = begin.clone();
        self.run("begin parse", &begin.segment, move |db| begin_parse(db, &request)).await
    }

    async fn give_back_parse(&self, id: &SegmentId, token: &ParseToken, blame: ParseFault) -> PortResult<()> {
        let (key, token) = (id.clone(), token.clone());
        self.run("give back parse", id, move |db| give_back_parse(db, &key, &token, blame)).await
    }

    async fn commit_parse(&self, commit: &CommitParse) -> PortResult<ParseCommitted> {
        let request = commit.clone();
        self.run("commit parse", &commit.segment, move |db| commit_parse(db, &request)).await
    }
}

fn begin_parse(db: &Db, begin: &BeginParse) -> Result<Option<SegmentRow>, StoreError> {
    let Some(stored) = db.segment(&begin.segment)? else { return Ok(None) };
    let Some(row) = stored.row.begin_parse(&begin.begun, begin.now) else { return Ok(Some(stored.row)) };
    db.update_segment(stored.row_id, &row)?;
    Ok(Some(row))
}

fn give_back_parse(db: &Db, id: &SegmentId, token: &ParseToken, blame: ParseFault) -> Result<(), StoreError> {
    let Some(stored) = db.segment(id)? else { return Ok(()) };
    match stored.row.give_back_parse(token, blame) {
        Some(row) => db.update_segment(stored.row_id, &row),
        None => Ok(()),
    }
}

fn commit_parse(db: &Db, commit: &CommitParse) -> Result<ParseCommitted, StoreError> {
    let Some(stored) = db.segment(&commit.segment)? else { return Ok(ParseCommitted::Over) };
    let Some(iteration) = db.iteration(&commit.segment.origin.crawl, commit.iteration)? else {
        return Ok(ParseCommitted::Over);
    };
    let targets = &commit.part.targets;
    let touched = targets.iter().map(|target| &target.origin).chain([&commit.segment.origin]);
    let part = PartCommit {
        number: commit.part_number,
        kind: commit.kind,
        targets,
        pace: commit.pace,
        counters: &commit.counters,
        pages: &commit.pages,
        now: commit.now,
        due: commit.due,
    };
    let after = match commit_part(&stored.row, &load_rows(db, touched)?, &iteration, &part) {
        Ok(after) => after,
        Err(PartNotCommitted::Refused(refused)) => return Ok(ParseCommitted::Refused(refused)),
        Err(PartNotCommitted::Over) => return Ok(ParseCommitted::Over),
    };
    for (key, rows) in &after.origins {
        db.put_origin_rows(db.ensure_origin(key)?, rows)?;
    }
    for target in targets {
        let origin = db.ensure_origin(&target.origin)?;
        target.chunks.iter().try_for_each(|chunk| db.put_chunk(origin, chunk))?;
    }
    if let Some(iteration) = &after.iteration {
        db.update_iteration(iteration)?;
    }
    db.update_segment(stored.row_id, &after.segment)?;
    Ok(ParseCommitted::Done)
}

/// Returns the existing rows of these origins.
fn load_rows<'k>(db: &Db, keys: impl Iterator<Item = &'k OriginKey>) -> Result<RowsByOrigin, StoreError> {
    let mut found = RowsByOrigin::new();
    for key in keys {
        if let Some(origin) = db.origin_id(key)?
            && let Some(rows) = db.origin_rows(origin)?
        {
            found.insert(key.clone(), rows);
        }
    }
    Ok(found)
}
