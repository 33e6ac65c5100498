//! The keys of a definition: their names, values and documentation.
//!
//! Each key is described once, in `table`. The checks of its bounds, the YAML reader, the help of
//! `dragline crawl` and docs/reference/definition.md are all generated from there.

#[macro_use]
mod describe;
mod slot;
mod table;
mod value;

use std::fmt;

pub use slot::{Length, Number, Slot};
pub use table::Key;
pub use value::{KeyDefault, KeyFlag, ValueKind};

impl Key {
    /// Returns its section, such as `budget`; `None` for a top-level key.
    #[must_use]
    pub fn section(self) -> Option<&'static str> {
        self.name().split_once('.').map(|(section, _)| section)
    }

    /// Returns the last part of its name, such as `pages`.
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

/// A place in a definition: a key, one entry of its list, or one part of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyPlace {
    /// The key.
    pub key: Key,
    /// The entry's position, counted from 0; `None` for the key as a whole.
    pub entry: Option<usize>,
    /// The key that this part of the entry overrides; `None` for the entry as a whole.
    pub part: Option<Key>,
}

impl KeyPlace {
    /// Creates the place of an entry of a list, counted from 0.
    #[must_use]
    pub const fn entry(key: Key, entry: usize) -> Self {
        Self { key, entry: Some(entry), part: None }
    }

    /// Creates the place of a part of an entry, which overrides another key.
    #[must_use]
    pub const fn part(key: Key, entry: usize, part: Key) -> Self {
        Self { key, entry: Some(entry), part: Some(part) }
    }

    /// Returns the places that contain it, smallest first, beginning with itself.
    pub fn enclosing(self) -> impl Iterator<Item = Self> {
        [self, Self { part: None, ..self }, self.key.into()].into_iter()
    }
}

impl From<Key> for KeyPlace {
    fn from(key: Key) -> Self {
        Self { key, entry: None, part: None }
    }
}

/// Shows the key, the entry counted from 1, and its part: `scope.exclude entry 2`, `recrawl.rules
/// entry 1, interval`.
impl fmt::Display for KeyPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.entry {
            Some(entry) => write!(f, "{} entry {}", self.key, entry + 1)?,
            None => self.key.fmt(f)?,
        }
        match self.part {
            Some(part) => write!(f, ", {}", part.word()),
            None => Ok(()),
        }
    }
}
