//! The keys of a definition: what each is called, which values it has, and what it is for.
//!
//! Each key is described once, in `table`. The checks of its bounds, the YAML reader, the help of `dragline crawl` and docs/definition.md are all
//! made from that.

mod slot;
mod table;
mod value;

use std::fmt;

pub use slot::{Length, Number, Slot};
pub use table::Key;
pub use value::{KeyDefault, KeyFlag, ValueKind};

impl Key {
    /// The key that it is under, such as `budget`; `None` for a top-level key.
    #[must_use]
    pub fn section(self) -> Option<&'static str> {
        self.name().split_once('.').map(|(section, _)| section)
    }

    /// The last part of its name, such as `pages`.
    #[must_use]
    pub fn word(self) -> &'static str {
        self.name().split_once('.').map_or_else(|| self.name(), |(_, word)| word)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where in a definition: a key, or one entry of its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The key.
    pub key: Key,
    /// The entry's position, counted from 0; `None` for the key as a whole.
    pub entry: Option<usize>,
}

impl Place {
    /// One entry of a list, counted from 0.
    #[must_use]
    pub const fn entry(key: Key, entry: usize) -> Self {
        Self { key, entry: Some(entry) }
    }
}

impl From<Key> for Place {
    fn from(key: Key) -> Self {
        Self { key, entry: None }
    }
}

/// The key, and the entry counted from 1: `scope.exclude entry 2`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.entry {
            Some(entry) => write!(f, "{} entry {}", self.key, entry + 1),
            None => self.key.fmt(f),
        }
    }
}
