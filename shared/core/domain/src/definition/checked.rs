//! A definition that has passed every check.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use super::{Draft, Problems, validate};
use crate::url::CrawlUrl;

/// A definition that has passed every check. Reads like the [`Draft`] from which it was made; to
/// change it, change a draft.
///
/// Stored as `{"format": 1, "definition": {…}}`. Reading one back checks it again, as limits may be
/// stricter than when it was stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Definition(Draft);

impl Definition {
    /// The version of the stored form.
    pub const FORMAT: u32 = 1;

    /// Checks a draft.
    ///
    /// # Errors
    /// All problems, not just the first one.
    pub fn new(draft: Draft) -> Result<Self, Problems> {
        let problems = validate::problems(&draft);
        if problems.is_empty() { Ok(Self(draft)) } else { Err(Problems(problems)) }
    }

    /// Creates the definition of a crawl with these seeds and all defaults.
    ///
    /// # Errors
    /// Fails if there are no seeds, too many, or only ones that look like traps.
    pub fn for_seeds(seeds: Vec<CrawlUrl>) -> Result<Self, Problems> {
        Self::new(Draft::for_seeds(seeds))
    }

    /// Returns this definition with the [`Effect::HowOnly`](super::Effect::HowOnly) keys of another
    /// one: it crawls the same URLs in the other's way, except those that the other excludes. No
    /// check spans the two kinds of keys.
    #[must_use]
    pub fn adopting(&self, other: &Self) -> Self {
        let Draft { politeness, fetch, user_agent, content, canonical, soft_404, render, items, main, .. } =
            other.0.clone();
        let Draft { access, archive, recrawl, schedule, notify, sink, identity, user, .. } = other.0.clone();
        let Draft { ignore_robots, nofollow, noindex, purpose, .. } = other.0.clone();
        let mixed = Draft {
            politeness,
            fetch,
            user_agent,
            content,
            canonical,
            soft_404,
            render,
            items,
            main,
            ..self.0.clone()
        };
        let mut mixed = Draft { ignore_robots, nofollow, noindex, purpose, ..mixed };
        let (exclude, blocked) = (&other.scope.exclude, &other.do_not_crawl);
        mixed.scope.exclude.extend(exclude.iter().filter(|pattern| !self.scope.exclude.contains(pattern)).cloned());
        mixed.do_not_crawl.extend(blocked.iter().filter(|rule| !self.do_not_crawl.contains(rule)).cloned());
        Self(Draft { access, archive, recrawl, schedule, notify, sink, identity, user, ..mixed })
    }

    /// Returns the draft, for changes.
    #[must_use]
    pub fn into_draft(self) -> Draft {
        self.0
    }
}

impl Deref for Definition {
    type Target = Draft;

    fn deref(&self) -> &Draft {
        &self.0
    }
}

#[derive(Serialize, Deserialize)]
struct Stored {
    format: u32,
    definition: Draft,
}

/// The reason why a stored definition cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoredError {
    /// A later version wrote it.
    #[error("a definition of format {0}, but this version reads only {known}", known = Definition::FORMAT)]
    Format(u32),
    /// It does not pass today's checks.
    #[error(transparent)]
    Invalid(#[from] Problems),
}

impl TryFrom<Stored> for Definition {
    type Error = StoredError;

    fn try_from(stored: Stored) -> Result<Self, StoredError> {
        if stored.format == Self::FORMAT {
            Ok(Self::new(stored.definition)?)
        } else {
            Err(StoredError::Format(stored.format))
        }
    }
}

impl From<Definition> for Stored {
    fn from(definition: Definition) -> Self {
        Self { format: Definition::FORMAT, definition: definition.0 }
    }
}
