//! Positions of cursors within origins: an origin, and the sort key of the last row read there.

use dragline_domain::url::Origin;
use dragline_ports::reader::Cursor;

use crate::errors::StoreError;

/// The separator; it occurs neither in an origin nor in the sort key of a segment or a candidate.
const BETWEEN: char = ' ';

/// A position in the rows of origins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OriginCursor {
    /// The current origin.
    pub(super) origin: Origin,
    /// The row after which to continue; `None` for the origin's beginning.
    pub(super) after: Option<String>,
}

impl OriginCursor {
    /// Returns the beginning of an origin.
    pub(super) const fn beginning(origin: Origin) -> Self {
        Self { origin, after: None }
    }

    pub(super) fn read(cursor: &Cursor) -> Result<Self, StoreError> {
        let (origin, after) = match cursor.as_str().split_once(BETWEEN) {
            Some((origin, after)) => (origin, Some(after.to_owned())),
            None => (cursor.as_str(), None),
        };
        let origin = origin.parse().map_err(|_| no_place(cursor))?;
        Ok(Self { origin, after })
    }

    pub(super) fn cursor(&self) -> Cursor {
        match &self.after {
            Some(after) => Cursor::new(format!("{}{BETWEEN}{after}", self.origin)),
            None => Cursor::new(self.origin.as_str()),
        }
    }
}

/// Returns the error for a cursor that this stream did not return.
pub(super) fn no_place(cursor: &Cursor) -> StoreError {
    StoreError::Damaged(format!("the cursor `{cursor}` is of another stream"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_comes_back_from_its_cursor() {
        let origin: Origin = "https://a.example:8443".parse().unwrap();
        for (after, why) in [
            (None, "an origin's beginning"),
            (Some("segment#00000000000000000007#00000000000000000003"), "a segment"),
            (Some("/a?b=c#d"), "a candidate"),
            (Some("#00ff"), "one with a long path"),
        ] {
            let place = OriginCursor { origin: origin.clone(), after: after.map(str::to_owned) };
            assert_eq!(OriginCursor::read(&place.cursor()).unwrap(), place, "{why}");
        }
        for cursor in ["", "7", "leftover#0000000001#", " https://a.example"] {
            assert!(OriginCursor::read(&Cursor::new(cursor)).is_err(), "{cursor}");
        }
    }
}
