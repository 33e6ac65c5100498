//! Segments: an attribute for each part.

use dragline_domain::frontier::{PartKind, SegmentId, SegmentRow, SegmentState};
use dragline_domain::ids::LeaseToken;

use super::{DUE_NAMES, due_attributes, fields, index_writes, iteration_number, keys, row};
use crate::dynamo::{Expression, IndexWrites, Item, Role, Write, instant, number, text};
use crate::errors::StoreError;
use crate::tables::{DUE, ITERATION};

const STATE: &str = "state";
const PART: &str = "part";
const CRAWLED: &str = "crawled";
const PROCESSED: &str = "processed";

fn item(segment: &SegmentRow) -> Item {
    let mut attributes = vec![
        (ITERATION, number(segment.iteration.number())),
        ("token", text(segment.token.as_str())),
        ("object", text(segment.object.as_str())),
        ("object_bytes", number(segment.object_bytes)),
        ("entries", number(segment.entries)),
        ("committed_at", instant(segment.committed_at)),
        ("attempts", number(segment.attempts)),
    ];
    match segment.state {
        SegmentState::Crawled { part } => attributes.extend([(STATE, text(CRAWLED)), (PART, number(part))]),
        SegmentState::Processed => attributes.push((STATE, text(PROCESSED))),
    }
    attributes.extend(due_attributes(&segment.id.origin, segment.due));
    row(&keys::segment(&segment.id), attributes)
}

pub(crate) fn read(id: &SegmentId, item: &Item) -> Result<SegmentRow, StoreError> {
    let fields = fields(item)?;
    let state = match fields.text(STATE)? {
        CRAWLED => SegmentState::Crawled { part: fields.number(PART)? },
        PROCESSED => SegmentState::Processed,
        other => return Err(StoreError::Damaged(format!("a segment is `{other}`, which is no state"))),
    };
    Ok(SegmentRow {
        id: id.clone(),
        iteration: iteration_number(fields, ITERATION)?,
        token: LeaseToken::stored(fields.text("token")?.to_owned()),
        state,
        object: fields.parsed("object")?,
        object_bytes: fields.number("object_bytes")?,
        entries: fields.number("entries")?,
        committed_at: fields.instant("committed_at")?,
        attempts: fields.number("attempts")?,
        due: fields.maybe_instant(DUE)?,
    })
}

/// Puts a segment that is committed, where there is none.
pub(crate) fn commit(segment: &SegmentRow) -> Write {
    let put = Write::put(Role::Segment, &keys::segment(&segment.id), item(segment)).if_absent();
    put.indexed(index_writes(None, segment.due))
}

/// Counts an attempt at parsing, while it is not parsed.
pub(crate) fn begin_parse(id: &SegmentId) -> Write {
    let update = Expression::new("ADD #attempts :one").with(":one", number(1));
    let crawled = Expression::new("#state = :crawled").with(":crawled", text(CRAWLED));
    Write::update(Role::Segment, &keys::segment(id), update, &Item::new()).when(crawled)
}

/// Goes on after a part of its parse, if that is the one that was to be committed.
pub(crate) fn commit_part(after: &SegmentRow, part: u32, kind: PartKind) -> Write {
    let (update, index) = match kind {
        PartKind::More => (Expression::new("SET #part = :next").with(":next", number(part + 1)), IndexWrites::None),
        PartKind::Last => (
            Expression::new(format!("SET #state = :processed REMOVE #part, {DUE_NAMES}"))
                .with(":processed", text(PROCESSED)),
            IndexWrites::One,
        ),
    };
    let condition = Expression::new("#state = :crawled AND #part = :part");
    let condition = condition.with(":crawled", text(CRAWLED)).with(":part", number(part));
    Write::update(Role::Segment, &keys::segment(&after.id), update, &item(after)).when(condition).indexed(index)
}

#[cfg(test)]
mod tests {
    use dragline_domain::frontier::{ObjectKey, OriginKey};
    use dragline_domain::ids::{Iteration, Turn};
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn a_segment_comes_back_as_it_was() {
        let origin = OriginKey { crawl: "docs".parse().unwrap(), origin: "https://a.example".parse().unwrap() };
        let id = SegmentId { origin, turn: Turn(7), n: 3 };
        let token = LeaseToken::from_bits(5);
        let at = Timestamp::from_second(1_795_000_000).unwrap();
        let crawled = SegmentRow {
            object: ObjectKey::of_segment(&id, Iteration::FIRST, &token),
            id: id.clone(),
            iteration: Iteration::FIRST,
            token,
            state: SegmentState::Crawled { part: 2 },
            object_bytes: 1_000,
            entries: 9,
            committed_at: at,
            attempts: 1,
            due: Some(at),
        };
        let processed = SegmentRow { state: SegmentState::Processed, due: None, ..crawled.clone() };
        for segment in [crawled, processed] {
            assert_eq!(read(&id, &item(&segment)).unwrap(), segment);
        }
    }
}
