//! The progress of work that visits the origins of a crawl one after the other.
//!
//! Such work may take longer than a worker has. It follows the order of origins, and the
//! iteration's row records the last finished one, so that the next worker continues there. A cursor
//! is never ahead of the work, so no origin is lost.

use serde::{Deserialize, Serialize};

use super::IterationRow;
use crate::url::Origin;

/// The last finished origin of a walk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OriginCursor {
    /// None: the work begins with the first origin.
    #[default]
    NotBegun,
    /// All origins up to and including this one.
    After(Origin),
    /// All origins.
    Done,
}

impl OriginCursor {
    /// Whether the work has not begun.
    #[must_use]
    pub const fn is_not_begun(&self) -> bool {
        matches!(self, Self::NotBegun)
    }

    /// Returns the last finished origin; `None` if none or all are finished.
    #[must_use]
    pub const fn last(&self) -> Option<&Origin> {
        match self {
            Self::After(origin) => Some(origin),
            Self::NotBegun | Self::Done => None,
        }
    }
}

/// Work that visits origins one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Walk {
    /// The seeds of the definition are claimed and added. This walk goes over the seeds' origins,
    /// not the stored ones.
    Seeds,
    /// Known origins of earlier iterations are opened for their candidates.
    Known,
    /// The search for lease holders once the budget is spent: without any, none of it can come
    /// back. Starts again with each reservation.
    Holders,
    /// Origins are given up. The walk skips those that cannot be given up yet, and repeats as long
    /// as any is open.
    Leftovers,
}

impl Walk {
    /// All walks.
    pub const ALL: [Self; 4] = [Self::Seeds, Self::Known, Self::Holders, Self::Leftovers];
}

/// The cursors of an iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursors(
    // Boxed: rows are passed by value, and most have no cursor.
    Box<Places>,
);

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
struct Places {
    #[serde(skip_serializing_if = "OriginCursor::is_not_begun")]
    seeds: OriginCursor,
    #[serde(skip_serializing_if = "OriginCursor::is_not_begun")]
    known: OriginCursor,
    #[serde(skip_serializing_if = "OriginCursor::is_not_begun")]
    holders: OriginCursor,
    #[serde(skip_serializing_if = "OriginCursor::is_not_begun")]
    leftovers: OriginCursor,
}

impl Cursors {
    /// Returns the cursor of this walk.
    #[must_use]
    pub fn get(&self, walk: Walk) -> &OriginCursor {
        match walk {
            Walk::Seeds => &self.0.seeds,
            Walk::Known => &self.0.known,
            Walk::Holders => &self.0.holders,
            Walk::Leftovers => &self.0.leftovers,
        }
    }

    /// Returns the cursors with this one set.
    #[must_use]
    pub fn with(mut self, walk: Walk, cursor: OriginCursor) -> Self {
        *match walk {
            Walk::Seeds => &mut self.0.seeds,
            Walk::Known => &mut self.0.known,
            Walk::Holders => &mut self.0.holders,
            Walk::Leftovers => &mut self.0.leftovers,
        } = cursor;
        self
    }

    /// Whether no work has begun.
    #[must_use]
    pub fn are_not_begun(&self) -> bool {
        Walk::ALL.into_iter().all(|walk| self.get(walk).is_not_begun())
    }
}

impl IterationRow {
    /// Moves a cursor. `None` if it is no longer where it was seen: another worker does the same
    /// work, and the state of the origins between the two is unknown here.
    #[must_use]
    pub fn move_cursor(&self, walk: Walk, seen: &OriginCursor, to: &OriginCursor) -> Option<Self> {
        (self.cursors.get(walk) == seen)
            .then(|| Self { cursors: self.cursors.clone().with(walk, to.clone()), ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::transition_tests::iteration;
    use super::*;
    use crate::frontier::{IterationStatus, Reserve};

    fn after(host: &str) -> OriginCursor {
        OriginCursor::After(format!("https://{host}").parse().unwrap())
    }

    #[test]
    fn a_cursor_moves_from_where_it_was_seen() {
        let row = iteration(1, IterationStatus::Open);
        for walk in Walk::ALL {
            let begun = row.move_cursor(walk, &OriginCursor::NotBegun, &after("b.example")).unwrap();
            for (seen, to, moves, why) in [
                (after("b.example"), after("c.example"), true, "on"),
                (after("b.example"), OriginCursor::NotBegun, true, "to its start: the next round"),
                (OriginCursor::NotBegun, after("a.example"), false, "somebody else did the first part"),
                (OriginCursor::Done, OriginCursor::NotBegun, false, "it is not done"),
            ] {
                let moved = begun.move_cursor(walk, &seen, &to);
                assert_eq!(moved.is_some(), moves, "{walk:?}: {why}");
                let Some(moved) = moved else { continue };
                for other in Walk::ALL {
                    let expected = if other == walk { &to } else { &OriginCursor::NotBegun };
                    assert_eq!(moved.cursors.get(other), expected, "{walk:?}: {why}");
                }
            }
        }
    }

    #[test]
    fn a_reservation_restarts_the_search_for_holders() {
        let budget = Reserve { pages: Some(3), bytes: None };
        let row = IterationRow { budget, ..iteration(2, IterationStatus::Open) };
        let cursors =
            Walk::ALL.into_iter().fold(Cursors::default(), |cursors, walk| cursors.with(walk, OriginCursor::Done));
        let searched = IterationRow { cursors: cursors.clone(), ..row };
        let (_, reserved) = searched.reserve(Reserve { pages: Some(1), bytes: None }).unwrap();
        assert_eq!(reserved.cursors, cursors.with(Walk::Holders, OriginCursor::NotBegun), "whoever reserved is one");
        assert_eq!(reserved.give_back(budget).cursors, reserved.cursors);
    }

    #[test]
    fn cursors_are_read_back_and_absent_until_they_move() {
        let none = Cursors::default();
        assert_eq!(serde_json::to_string(&none).unwrap(), "{}");
        let some = none.clone().with(Walk::Seeds, OriginCursor::Done).with(Walk::Known, after("a.example"));
        let stored = serde_json::to_string(&some).unwrap();
        assert_eq!(stored, r#"{"seeds":"done","known":{"after":"https://a.example"}}"#);
        for cursors in [none, some] {
            let stored = serde_json::to_string(&cursors).unwrap();
            assert_eq!(serde_json::from_str::<Cursors>(&stored).unwrap(), cursors);
        }
    }
}
