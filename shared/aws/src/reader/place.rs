//! Places among what origins hold, as cursors say them: an origin, and the sort key of the row that was read last there.

use dragline_domain::url::Origin;
use dragline_ports::reader::Cursor;

use crate::errors::StoreError;

/// Neither an origin nor the sort key of a segment or a candidate has one.
const BETWEEN: char = ' ';

/// A place among what origins hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The origin that was come to.
    pub(super) origin: Origin,
    /// Behind this row of it; absent: at its beginning.
    pub(super) after: Option<String>,
}

impl Place {
    /// The beginning of an origin.
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

/// What is wrong with a cursor that another stream gave, or nobody.
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
            let place = Place { origin: origin.clone(), after: after.map(str::to_owned) };
            assert_eq!(Place::read(&place.cursor()).unwrap(), place, "{why}");
        }
        for cursor in ["", "7", "leftover#0000000001#", " https://a.example"] {
            assert!(Place::read(&Cursor::new(cursor)).is_err(), "{cursor}");
        }
    }
}
