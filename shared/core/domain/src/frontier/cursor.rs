//! How far work that goes through the origins of a crawl one after the other has got.
//!
//! Such work may take longer than a worker has. It is done in the order of origins, and the iteration's row says up to which one, so that the next
//! worker continues there. A cursor never claims more than is done, so no origin is lost.

use serde::{Deserialize, Serialize};

use super::IterationRow;
use crate::url::Origin;

/// Up to which origin a piece of work is done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OriginCursor {
    /// Nothing: the work begins with the first one.
    #[default]
    NotBegun,
    /// Everything up to this one, itself included.
    After(Origin),
    /// Everything.
    Done,
}

impl OriginCursor {
    /// Whether nothing is done yet.
    #[must_use]
    pub const fn is_not_begun(&self) -> bool {
        matches!(self, Self::NotBegun)
    }

    /// The last origin that is done; `None` if none or all of them are.
    #[must_use]
    pub const fn last(&self) -> Option<&Origin> {
        match self {
            Self::After(origin) => Some(origin),
            Self::NotBegun | Self::Done => None,
        }
    }
}

/// A piece of work that goes through origins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Walk {
    /// The seeds of the definition are claimed and added. Their origins, not those of the store.
    Seeds,
    /// Origins that earlier iterations know are opened for their candidates.
    Known,
    /// The search for lease holders once the budget is spent: if there are none, nothing of it can come back. Starts again with each reservation.
    Holders,
    /// Origins are given up. Those that cannot be given up yet are skipped, and another round follows as long as any is open.
    Leftovers,
}

impl Walk {
    /// All of them.
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
    /// Returns how far this work has got.
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
    /// Moves a cursor. `None` if it is no longer where it was seen: another worker does the same work, and nothing is known here about the origins
    /// between the two.
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
    fn cursors_come_back_as_they_were_and_take_no_room_before() {
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
