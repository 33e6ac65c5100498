//! Queries for links that are wrong whatever their target answers: malformed references, and
//! fragments that name nothing.

use std::ops::ControlFlow;

use rusqlite::Row;

use crate::error::GraphError;
use crate::read::Graph;
use crate::rows::{Malformed, MissingFragment};

impl Graph {
    /// Calls back with each malformed reference, by page and in the order of the page. Those that
    /// are legal are left out.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn malformed(&self, visit: impl FnMut(Malformed) -> ControlFlow<()>) -> Result<(), GraphError> {
        let sql = "SELECT from_url, written, why, explanation, text, kind FROM malformed_link WHERE NOT is_hint ORDER BY from_url, place";
        let read = |row: &Row<'_>| {
            Ok(Malformed {
                from_url: row.get(0)?,
                written: row.get(1)?,
                why: row.get(2)?,
                explanation: row.get(3)?,
                anchor: row.get(4)?,
                kind: row.get(5)?,
            })
        };
        self.each(sql, [], read, visit)
    }

    /// Calls back with each link whose fragment names nothing in its target, target by target.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn missing_fragments(&self, visit: impl FnMut(MissingFragment) -> ControlFlow<()>) -> Result<(), GraphError> {
        let sql = "SELECT url, from_url, to_url, anchor, kind FROM broken_fragment ORDER BY url, from_url";
        let read = |row: &Row<'_>| {
            Ok(MissingFragment {
                url: row.get(0)?,
                from_url: row.get(1)?,
                to_url: row.get(2)?,
                anchor: row.get(3)?,
                kind: row.get(4)?,
            })
        };
        self.each(sql, [], read, visit)
    }
}
