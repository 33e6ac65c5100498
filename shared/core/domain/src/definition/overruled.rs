//! What a crawl does against the word of a page, as the site belongs to who said so. No key of a
//! definition says it: only a command does.

use serde::{Deserialize, Serialize};

use crate::document::Directives;

/// How to treat the links of a page that are marked `nofollow`, or all links of a page that is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nofollow {
    /// They are not followed.
    #[default]
    Obey,
    /// They are followed like others: the site belongs to who said so.
    Follow,
}

impl Nofollow {
    /// Whether it is obeyed.
    #[must_use]
    pub fn is_obeyed(&self) -> bool {
        *self == Self::Obey
    }
}

/// How to treat a page that asks for `noindex`, itself or by its header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Noindex {
    /// Nothing is kept of what it says.
    #[default]
    Obey,
    /// It is kept like others: the site belongs to who said so.
    Keep,
}

impl Noindex {
    /// Whether it is obeyed.
    #[must_use]
    pub fn is_obeyed(&self) -> bool {
        *self == Self::Obey
    }

    /// Returns what a page asks for, as far as it is obeyed.
    #[must_use]
    pub fn heed(self, asked: Directives) -> Directives {
        Directives { noindex: asked.noindex && self.is_obeyed(), ..asked }
    }
}
