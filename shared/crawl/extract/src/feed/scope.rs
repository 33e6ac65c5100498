//! The open elements of a feed.

use dragline_domain::feed::Person;
use url::Url;

use super::names::{Field, Rank};

/// An open element with fields.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) kind: ScopeKind,
    /// The base URL in it; `None` if it is inherited.
    pub(super) base: Option<Url>,
}

#[derive(Debug)]
pub(super) enum ScopeKind {
    /// The root, or a channel.
    Feed,
    Entry,
    /// A person, and the text directly in the element.
    Person(Rank, Person, String),
}

/// The destination of the current text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Field(Field, Rank),
    /// The identifier of an RSS entry that is also its URL.
    Permalink,
    Name,
    Email,
    Page,
}
