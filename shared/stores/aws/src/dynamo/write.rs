//! A write to one row, with its condition.

use super::{Expression, Item, Key};
use crate::meter::capacity::{WriteUnits, item_bytes};

/// The role of a row in a transaction, which identifies the one that refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Crawl,
    Trigger,
    Host,
    Domain,
    Iteration,
    Lease,
    Inbox,
    Seeding,
    Segment,
    Chunk,
    Counts,
    Leftover,
    Other,
}

/// How a write affects the sparse index: an entry that moves is deleted and put.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum IndexWrites {
    #[default]
    None,
    One,
    Move,
}

#[derive(Clone, Debug)]
pub(super) enum Action {
    Put(Item),
    Update(Expression),
    Delete,
    Check,
}

/// One row's part in a write.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(super) role: Role,
    pub(super) key: Key,
    pub(super) action: Action,
    pub(super) condition: Option<Expression>,
    /// The item's size, before or after, whichever is larger.
    pub(super) bytes: u64,
    index: IndexWrites,
}

/// A write that had no effect: rows with these roles did not meet their conditions. Contains each
/// row as it was, if it existed.
#[derive(Clone, Debug)]
pub(crate) struct RefusedWrite(pub(super) Vec<(Role, Option<Item>)>);

impl RefusedWrite {
    pub(crate) fn by(&self, role: Role) -> bool {
        self.0.iter().any(|(refused, _)| *refused == role)
    }

    /// Returns the row that refused; `None` also if it did not exist.
    pub(crate) fn row(&self, role: Role) -> Option<&Item> {
        self.0.iter().find(|(refused, _)| *refused == role).and_then(|(_, item)| item.as_ref())
    }
}

impl Write {
    pub(crate) fn put(role: Role, key: &Key, item: Item) -> Self {
        let bytes = item_bytes(&item);
        Self::new(role, key, Action::Put(item), bytes)
    }

    /// Returns an update of an item that is about as large as this afterwards.
    pub(crate) fn update(role: Role, key: &Key, update: Expression, after: &Item) -> Self {
        Self::new(role, key, Action::Update(update), item_bytes(after))
    }

    pub(crate) fn delete(role: Role, key: &Key, bytes: u64) -> Self {
        Self::new(role, key, Action::Delete, bytes)
    }

    /// Returns a check: nothing is written, but the condition must hold.
    pub(crate) fn check(role: Role, key: &Key, row: &Item, condition: Expression) -> Self {
        Self::new(role, key, Action::Check, item_bytes(row)).when(condition)
    }

    fn new(role: Role, key: &Key, action: Action, bytes: u64) -> Self {
        Self { role, key: key.clone(), action, condition: None, bytes, index: IndexWrites::None }
    }

    pub(crate) fn when(self, condition: Expression) -> Self {
        let condition = match self.condition {
            Some(earlier) => earlier.and(condition),
            None => condition,
        };
        Self { condition: Some(condition), ..self }
    }

    /// Requires that no item with this key exists.
    pub(crate) fn if_absent(self) -> Self {
        self.when(Expression::new("attribute_not_exists(#sk)"))
    }

    /// Requires that an item with this key exists.
    pub(crate) fn if_there(self) -> Self {
        self.when(Expression::new("attribute_exists(#sk)"))
    }

    pub(crate) fn indexed(self, index: IndexWrites) -> Self {
        Self { index, ..self }
    }

    pub(super) fn index_units(&self) -> WriteUnits {
        // The index holds little more than keys: below 1 KB each.
        match self.index {
            IndexWrites::None => WriteUnits(0),
            IndexWrites::One => WriteUnits(1),
            IndexWrites::Move => WriteUnits(2),
        }
    }

    pub(super) const fn update_expression(&self) -> Option<&Expression> {
        match &self.action {
            Action::Update(update) => Some(update),
            Action::Put(_) | Action::Delete | Action::Check => None,
        }
    }
}
