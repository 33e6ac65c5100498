//! The numbers by which rows refer to each other.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};

use super::StoreError;

macro_rules! row_ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) struct $name(pub(crate) i64);

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.0.to_sql()
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                i64::column_result(value).map(Self)
            }
        }
    )*};
}

row_ids! {
    /// `crawl.id`.
    CrawlRowId;
    /// `origin.id`.
    OriginRowId;
    /// `segment.id`.
    SegmentRowId;
    /// One URL's ending in a segment: `visit.id`, and the id of everything that belongs to it.
    VisitId;
}

impl VisitId {
    const ENTRY_BITS: u32 = 24;

    /// Returns the id of the n-th entry of a segment. Known without a query, so documents and log
    /// can be put in either order.
    pub(crate) fn new(segment: SegmentRowId, n: u32) -> Result<Self, StoreError> {
        if n >= 1 << Self::ENTRY_BITS || segment.0 >= 1 << (63 - Self::ENTRY_BITS) {
            return Err(StoreError::OutOfRange("the number of a visit"));
        }
        Ok(Self(segment.0 << Self::ENTRY_BITS | i64::from(n)))
    }

    /// Returns the first and the last id that a segment's entries can have.
    pub(crate) fn of_segment(segment: SegmentRowId) -> (Self, Self) {
        let first = segment.0 << Self::ENTRY_BITS;
        (Self(first), Self(first | ((1 << Self::ENTRY_BITS) - 1)))
    }

    /// Returns its number within the segment.
    pub(crate) fn n(self) -> u32 {
        u32::try_from(self.0 & ((1 << Self::ENTRY_BITS) - 1)).expect("24 bits fit")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_is_its_segment_and_its_number() {
        let segment = SegmentRowId(3);
        let (first, last) = VisitId::of_segment(segment);
        assert_eq!(VisitId::new(segment, 0).unwrap(), first);
        assert_eq!(VisitId::new(segment, (1 << 24) - 1).unwrap(), last);
        assert!(VisitId::new(segment, 1 << 24).is_err(), "would be the next segment's first");
        assert_eq!(VisitId::new(segment, 77).unwrap().n(), 77);
        assert_eq!(last.0 + 1, VisitId::of_segment(SegmentRowId(4)).0.0, "segments do not overlap");
    }
}
