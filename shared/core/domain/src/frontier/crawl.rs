//! The versions of a crawl's definition, and the origins that joined.

use super::Decided;
use crate::definition::Definition;

/// The result of storing a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrawlPut {
    /// It is stored under this version, now or by an earlier try whose answer was lost.
    Stored(u32),
    /// Somebody else has changed the definition since it was read. Nothing was written.
    Changed,
}

/// Decides whether a definition may be stored, from the stored one with its version, if any, and
/// the version on which the new one is based (`None` if there was none).
#[must_use]
pub fn put_definition(stored: Option<(u32, &Definition)>, seen: Option<u32>, wanted: &Definition) -> Decided<CrawlPut> {
    let next = seen.map_or(1, |seen| seen.saturating_add(1));
    match stored {
        Some((version, definition)) if version == next && definition == wanted => {
            Decided::Leave(CrawlPut::Stored(next))
        }
        _ if stored.map(|(version, _)| version) == seen => Decided::Write(CrawlPut::Stored(next)),
        _ => Decided::Leave(CrawlPut::Changed),
    }
}

/// The inputs of a crawl, in two numbers: enough to tell whether earlier reads of it are still
/// current.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CrawlStamp {
    /// The version of its definition.
    pub version: u32,
    /// How many origins have joined its scope. Only grows.
    pub joined: u64,
}

/// The result of adding origins to those that joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginsJoined {
    /// They joined.
    Joined,
    /// Others, perhaps the same ones, joined since the stamp was read. Nothing was written.
    Changed,
}

/// Decides whether origins may join a crawl after they were compared with the first `seen` that
/// joined: only if no others have joined since.
#[must_use]
pub const fn join_origins(stored: CrawlStamp, seen: u64) -> Decided<OriginsJoined> {
    if stored.joined == seen { Decided::Write(OriginsJoined::Joined) } else { Decided::Leave(OriginsJoined::Changed) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::{CrawlUrl, UrlRules};

    #[test]
    fn a_definition_replaces_only_the_version_it_is_based_on() {
        let of =
            |seed: &str| Definition::for_seeds(vec![CrawlUrl::parse(seed, &UrlRules::default()).unwrap()]).unwrap();
        let (ours, theirs) = (of("https://a.example/"), of("https://a.example/other"));
        for (stored, seen, expected, why) in [
            (None, None, Decided::Write(CrawlPut::Stored(1)), "the first"),
            (Some((1, &theirs)), Some(1), Decided::Write(CrawlPut::Stored(2)), "as it was seen"),
            (Some((2, &ours)), Some(1), Decided::Leave(CrawlPut::Stored(2)), "an earlier try of the same"),
            (Some((2, &theirs)), Some(1), Decided::Leave(CrawlPut::Changed), "somebody else's change"),
            (Some((3, &ours)), Some(1), Decided::Leave(CrawlPut::Changed), "the same, but others came between"),
            (Some((1, &theirs)), None, Decided::Leave(CrawlPut::Changed), "somebody else was the first"),
            (None, Some(1), Decided::Leave(CrawlPut::Changed), "it is gone"),
        ] {
            assert_eq!(put_definition(stored, seen, &ours), expected, "{why}");
        }
    }

    #[test]
    fn origins_join_only_if_no_others_joined_meanwhile() {
        let stored = CrawlStamp { version: 3, joined: 2 };
        for (seen, expected, why) in [
            (2, Decided::Write(OriginsJoined::Joined), "no others joined since"),
            (1, Decided::Leave(OriginsJoined::Changed), "another joined, or this is tried again"),
            (3, Decided::Leave(OriginsJoined::Changed), "there never were so many"),
        ] {
            assert_eq!(join_origins(stored, seen), expected, "{why}");
        }
    }
}
