//! Segments: an attribute for each part.

use dragline_domain::frontier::{ParseBegun, ParseFault, PartKind, SegmentId, SegmentRow, SegmentState};
use dragline_domain::ids::{LeaseToken, ParseToken};

use super::{DUE_NAMES, Owed, due_attributes, fields, index_writes, iteration_number, keys, row};
use crate::dynamo::{Expression, Fields, IndexWrites, Item, Role, Write, instant, number, text};
use crate::errors::StoreError;
use crate::tables::{DUE, ITERATION};

const STATE: &str = "state";
const PART: &str = "part";
const CRAWLED: &str = "crawled";
const PROCESSED: &str = "processed";
const PARSE_TOKEN: &str = "parse_token";
const PARSE_UNTIL: &str = "parse_until";

fn item(segment: &SegmentRow) -> Item {
    let mut attributes = vec![
        (ITERATION, number(segment.iteration.number())),
        ("token", text(segment.token.as_str())),
        ("object", text(segment.object.as_str())),
        ("object_bytes", number(segment.object_bytes)),
        ("entries", number(segment.entries)),
        ("put_off", number(segment.put_off)),
        ("committed_at", instant(segment.committed_at)),
        ("attempts", number(segment.attempts)),
    ];
    match segment.state {
        SegmentState::Crawled { part } => attributes.extend([(STATE, text(CRAWLED)), (PART, number(part))]),
        SegmentState::Processed => attributes.push((STATE, text(PROCESSED))),
    }
    if let Some(ParseBegun { token, until }) = &segment.parsing {
        attributes.extend([(PARSE_TOKEN, text(token.as_str())), (PARSE_UNTIL, instant(*until))]);
    }
    attributes.extend(due_attributes(Owed::Parse, &segment.id.origin, segment.due));
    row(&keys::segment(&segment.id), attributes)
}

pub(crate) fn read(id: &SegmentId, item: &Item) -> Result<SegmentRow, StoreError> {
    let fields = fields(item)?;
    let state = match fields.text(STATE)? {
        CRAWLED => SegmentState::Crawled { part: fields.number(PART)? },
        PROCESSED => SegmentState::Processed,
        other => return Err(StoreError::Damaged(format!("a segment has the unknown state `{other}`"))),
    };
    let parsing = match (fields.maybe(PARSE_TOKEN, Fields::text)?, fields.maybe_instant(PARSE_UNTIL)?) {
        (Some(token), Some(until)) => Some(ParseBegun { token: ParseToken::stored(token.to_owned()), until }),
        _ => None,
    };
    Ok(SegmentRow {
        id: id.clone(),
        iteration: iteration_number(fields, ITERATION)?,
        token: LeaseToken::stored(fields.text("token")?.to_owned()),
        state,
        object: fields.parsed("object")?,
        object_bytes: fields.number("object_bytes")?,
        entries: fields.number("entries")?,
        // Rows of earlier versions do not have it.
        put_off: fields.maybe_number("put_off")?.unwrap_or(0),
        committed_at: fields.instant("committed_at")?,
        attempts: fields.number("attempts")?,
        parsing,
        due: fields.maybe_instant(DUE)?,
    })
}

/// Puts a committed segment if there is none.
pub(crate) fn commit(segment: &SegmentRow) -> Write {
    let put = Write::put(Role::Segment, &keys::segment(&segment.id), item(segment)).if_absent();
    put.indexed(index_writes(None, segment.due))
}

/// Records that a parse begins, if the segment is not parsed and no other parse is recorded.
pub(crate) fn begin_first_parse(id: &SegmentId, begun: &ParseBegun) -> Write {
    let update = Expression::new("SET #parse_token = :parse, #parse_until = :until");
    let free = Expression::new("#state = :crawled AND attribute_not_exists(#parse_token)");
    let update = update.with(":parse", text(begun.token.as_str())).with(":until", instant(begun.until));
    let free = free.with(":crawled", text(CRAWLED));
    Write::update(Role::Segment, &keys::segment(id), update, &Item::new()).when(free)
}

/// Records that a parse begins in place of a crashed one, which is counted, if that one is still
/// recorded.
pub(crate) fn begin_next_parse(id: &SegmentId, died: &ParseBegun, begun: &ParseBegun) -> Write {
    let update = Expression::new("SET #parse_token = :parse, #parse_until = :until ADD #attempts :one")
        .with(":parse", text(begun.token.as_str()))
        .with(":until", instant(begun.until))
        .with(":one", number(1));
    Write::update(Role::Segment, &keys::segment(id), update, &Item::new()).when(is_recorded(&died.token))
}

/// Removes the parse with this token if it is the recorded one, and counts it if the segment is to
/// blame.
pub(crate) fn give_back_parse(id: &SegmentId, token: &ParseToken, blame: ParseFault) -> Write {
    let update = match blame {
        ParseFault::Elsewhere => Expression::new("REMOVE #parse_token, #parse_until"),
        ParseFault::Segment => {
            Expression::new("REMOVE #parse_token, #parse_until ADD #attempts :one").with(":one", number(1))
        }
    };
    Write::update(Role::Segment, &keys::segment(id), update, &Item::new()).when(is_recorded(token))
}

fn is_recorded(token: &ParseToken) -> Expression {
    let noted = Expression::new("#state = :crawled AND #parse_token = :noted");
    noted.with(":crawled", text(CRAWLED)).with(":noted", text(token.as_str()))
}

/// Advances after a part of its parse, if that part is the next one.
pub(crate) fn commit_part(after: &SegmentRow, part: u32, kind: PartKind) -> Write {
    let (update, index) = match kind {
        PartKind::More => (Expression::new("SET #part = :next").with(":next", number(part + 1)), IndexWrites::None),
        PartKind::Last => (
            Expression::new(format!("SET #state = :processed REMOVE #part, #parse_token, #parse_until, {DUE_NAMES}"))
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
    fn a_segment_is_read_back() {
        let origin = OriginKey { crawl: "docs".parse().unwrap(), origin: "https://a.example".parse().unwrap() };
        let id = SegmentId { origin, turn: Turn(7), n: 3 };
        let token = LeaseToken::from_bits(5);
        let at = Timestamp::from_second(1_795_000_000).unwrap();
        let crawled = SegmentRow {
            object: ObjectKey::for_segment(&id, Iteration::FIRST, &token),
            id: id.clone(),
            iteration: Iteration::FIRST,
            token,
            state: SegmentState::Crawled { part: 2 },
            object_bytes: 1_000,
            entries: 9,
            put_off: 0,
            committed_at: at,
            attempts: 1,
            parsing: Some(ParseBegun { token: ParseToken::from_bits(9), until: at }),
            due: Some(at),
        };
        let processed = SegmentRow { state: SegmentState::Processed, due: None, parsing: None, ..crawled.clone() };
        for segment in [crawled, processed] {
            assert_eq!(read(&id, &item(&segment)).unwrap(), segment);
        }
    }
}
