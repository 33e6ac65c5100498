//! The stored form of every row: its key, its attributes, and its updates.
//! `docs/internals/frontier-dynamodb.md` describes them.
//!
//! Every row has the version of its form as `v`. Values that conditions compare are attributes of
//! their own.

pub(crate) mod candidate;
pub(crate) mod chunk;
pub(crate) mod counts;
pub(crate) mod host;
pub(crate) mod inbox;
pub(crate) mod iteration;
pub(crate) mod keys;
pub(crate) mod known;
pub(crate) mod lease;
mod packed;
pub(crate) mod remade;
pub(crate) mod remake;
pub(crate) mod seeding;
pub(crate) mod segment;

use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use dragline_domain::frontier::OriginKey;
use dragline_domain::ids::Iteration;
use dragline_domain::time::after;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::dynamo::{Expression, Fields, IndexWrites, Item, Key, instant, number, text};
use crate::errors::StoreError;
use crate::tables::{AGENDA, AGENDA_AT, DUE, DUE_SHARD, DUE_SLOT, EXPIRES};

pub(crate) use self::packed::{inflate, pack, pack_bytes, unpack};

/// The version of every row's form.
const VERSION: i32 = 1;

/// The attribute for the version.
const VERSION_NAME: &str = "v";

/// The number of index partitions over which a crawl's overdue work of a kind is spread.
pub(crate) const SHARDS: u8 = 4;

/// The kinds of owed work. Each has partitions of its own in the index: origins that wait for a
/// turn, however many, must not hide lost parses. Earlier versions put segments beside the origins,
/// where they are still found.
/// segments beside the origins, where they are still found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owed {
    /// An origin's next turn, or its end: leases and inboxes.
    Turn,
    /// The parse of a segment.
    Parse,
}

/// Returns a row with this key and these attributes.
pub(crate) fn row<'a>(key: &Key, attributes: impl IntoIterator<Item = (&'a str, AttributeValue)>) -> Item {
    key.with(attributes.into_iter().chain([(VERSION_NAME, number(VERSION))]))
}

/// Returns an update that may create its row: it sets `#v = :v`.
pub(crate) fn versioned(update: Expression) -> Expression {
    update.with(":v", number(VERSION))
}

/// Returns the attributes of a row of a known form.
pub(crate) fn fields(item: &Item) -> Result<Fields<'_>, StoreError> {
    let fields = Fields(item);
    match fields.number::<i32>(VERSION_NAME)? {
        VERSION => Ok(fields),
        other => Err(StoreError::Damaged(format!("a row has the unknown version {other}"))),
    }
}

pub(crate) fn iteration_number(fields: Fields<'_>, name: &str) -> Result<Iteration, StoreError> {
    Iteration::new(fields.number(name)?).ok_or_else(|| StoreError::Damaged("an iteration has the number 0".to_owned()))
}

/// The times in the index are rounded down to this, as moving an entry costs two more writes, and a
/// lease moves with each of its commits. The sweeper runs as often.
const SLOT: Duration = Duration::from_secs(300);

/// Returns the position in the index for a due time: not after it.
pub(crate) fn due_slot(due: Timestamp) -> Timestamp {
    let seconds = due.as_second();
    let start = seconds - seconds.rem_euclid(SLOT.as_secs().cast_signed());
    Timestamp::from_second(start).unwrap_or(due)
}

/// Returns the attributes for finding work when it is due; none while nothing is owed.
fn due_attributes(owed: Owed, origin: &OriginKey, due: Option<Timestamp>) -> Vec<(&'static str, AttributeValue)> {
    match due {
        Some(due) => {
            vec![(DUE, instant(due)), (DUE_SLOT, instant(due_slot(due))), (DUE_SHARD, text(due_shard(owed, origin)))]
        }
        None => Vec::new(),
    }
}

/// The counterpart of [`due_attributes`] in an update.
pub(crate) const SET_DUE: &str = "#due = :due, #due_slot = :slot, #due_shard = :shard";

/// The values for [`SET_DUE`].
pub(crate) fn due_values(owed: Owed, origin: &OriginKey, due: Timestamp) -> [(&'static str, AttributeValue); 3] {
    [(":due", instant(due)), (":slot", instant(due_slot(due))), (":shard", text(due_shard(owed, origin)))]
}

/// The attributes that an update removes once nothing is owed.
const DUE_NAMES: &str = "#due, #due_slot, #due_shard";

/// The crawls with a schedule, in the index of crawls.
pub(crate) const SCHEDULED: &str = "scheduled";

/// The iterations that are not closed, in the index of crawls.
pub(crate) const RUNNING: &str = "running";

/// Notices that people have not been told yet, in the index of crawls.
pub(crate) const OWED_NOTICES: &str = "notices";

/// Returns the attributes for finding a crawl's row that needs attention of this kind at this time.
pub(crate) fn agenda(kind: &str, at: Timestamp) -> [(&'static str, AttributeValue); 2] {
    [(AGENDA, text(kind)), (AGENDA_AT, instant(at))]
}

/// Returns the expiry attribute of a row that is kept this long after a time.
pub(crate) fn expires(since: Timestamp, known: Duration) -> (&'static str, AttributeValue) {
    (EXPIRES, number(after(since, known).as_second()))
}

/// Returns the index partition for an origin's overdue work.
fn due_shard(owed: Owed, origin: &OriginKey) -> String {
    let shard = Sha256::digest(origin.origin.as_str())[0] % SHARDS;
    shard_name(origin.crawl.as_str(), owed, shard)
}

/// Returns the name of an index partition.
pub(crate) fn shard_name(crawl: &str, owed: Owed, shard: u8) -> String {
    match owed {
        Owed::Turn => format!("{crawl}#{shard}"),
        Owed::Parse => format!("{crawl}#{shard}#parse"),
    }
}

/// Returns how a change of `due` affects the index.
pub(crate) fn index_writes(before: Option<Timestamp>, after: Option<Timestamp>) -> IndexWrites {
    match (before, after) {
        (None, None) => IndexWrites::None,
        (Some(before), Some(after)) if due_slot(before) == due_slot(after) => IndexWrites::None,
        (Some(_), Some(_)) => IndexWrites::Move,
        (Some(_), None) | (None, Some(_)) => IndexWrites::One,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_another_version_is_not_read() {
        let key = keys::crawl(&"docs".parse().unwrap());
        let mut item = row(&key, [("a", text("b"))]);
        assert_eq!(fields(&item).unwrap().text("a").unwrap(), "b");
        item.insert(VERSION_NAME.to_owned(), number(2));
        assert!(fields(&item).is_err(), "of a later version");
        item.remove(VERSION_NAME);
        assert!(fields(&item).is_err(), "without a version");
    }

    #[test]
    fn work_is_found_at_most_five_minutes_before_it_is_due() {
        for (second, slot) in [(0, 0), (299, 0), (300, 300), (1_795_000_123, 1_794_999_900), (-1, -300)] {
            let [due, slot] = [second, slot].map(|second| Timestamp::from_second(second).unwrap());
            assert_eq!(due_slot(due), slot);
        }
        let within = Timestamp::from_millisecond(299_999).unwrap();
        assert_eq!(due_slot(within), Timestamp::UNIX_EPOCH);
    }

    #[test]
    fn an_entry_of_the_index_that_moves_is_written_twice() {
        let at = |second| Some(Timestamp::from_second(second).unwrap());
        for (before, after, writes, why) in [
            (None, None, IndexWrites::None, "not in it"),
            (at(1), at(299), IndexWrites::None, "it stays where it is"),
            (None, at(1), IndexWrites::One, "it enters"),
            (at(1), None, IndexWrites::One, "it leaves"),
            (at(299), at(300), IndexWrites::Move, "deleted and put"),
        ] {
            assert_eq!(index_writes(before, after), writes, "{why}");
        }
    }
}
