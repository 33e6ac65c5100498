//! What is open while a feed is read.

use dragline_domain::feed::Person;
use url::Url;

use super::names::{Field, Rank};

/// An element that is open, and whose elements say something.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) kind: ScopeKind,
    /// What URLs in it are relative to; `None` if that is as around it.
    pub(super) base: Option<Url>,
}

#[derive(Debug)]
pub(super) enum ScopeKind {
    /// The root, or a channel.
    Feed,
    Entry,
    /// A person, and what is said of it without an element.
    Person(Rank, Person, String),
}

/// What a text is for that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Field(Field, Rank),
    /// The identifier of an entry in RSS that is its address, too.
    Permalink,
    Name,
    Email,
    Page,
}
