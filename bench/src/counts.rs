//! Counts the requests to a server: whether a crawler got every page, and how often.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dragline_testkit::site::{Content, PathContent};
use serde::Serialize;

/// The counts of all origins of a server since they were last taken.
#[derive(Debug, Default)]
pub(crate) struct Counts(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    taken: CountsSnapshot,
    /// Hashes of the origins and paths of pages. With millions of them, the chance of a collision
    /// is one in a million.
    seen: HashSet<u64>,
}

/// The counts of one period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct CountsSnapshot {
    /// All requests.
    pub(crate) requests: u64,
    /// Distinct pages that were requested.
    pub(crate) pages: u64,
    /// The size of all pages sent, before compression, in bytes.
    pub(crate) body_bytes: u64,
}

impl Counts {
    /// Returns the counts, and resets them.
    pub(crate) fn take(&self) -> CountsSnapshot {
        let State { taken, seen } = mem::take(&mut *self.state());
        CountsSnapshot { pages: seen.len() as u64, ..taken }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, origin: u8, path: &str, found: &PathContent) {
        let mut state = self.state();
        state.taken.requests += 1;
        if let PathContent::Page(page) = found {
            state.taken.body_bytes += page.body.len() as u64;
            let mut hasher = DefaultHasher::new();
            (origin, path).hash(&mut hasher);
            state.seen.insert(hasher.finish());
        }
    }
}

/// Content with counted requests.
pub(crate) struct CountedContent {
    content: Box<dyn Content>,
    origin: u8,
    counts: Arc<Counts>,
}

impl CountedContent {
    /// Counts the requests for this content as those of the origin with this number.
    pub(crate) fn new(content: Box<dyn Content>, origin: u8, counts: Arc<Counts>) -> Self {
        Self { content, origin, counts }
    }
}

impl Content for CountedContent {
    fn find(&self, path: &str) -> io::Result<PathContent> {
        let found = self.content.find(path)?;
        self.counts.count(self.origin, path, &found);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use dragline_testkit::site::GeneratedSite;

    use super::*;

    #[test]
    fn each_page_of_each_origin_counts_once_and_each_request_every_time() {
        let counts = Arc::new(Counts::default());
        let site = GeneratedSite { pages: 3, links_per_page: 1, bytes_per_page: 1_000, seed: 1 };
        let [first, second] =
            [1, 2].map(|origin| CountedContent::new(Box::new(site.content()), origin, Arc::clone(&counts)));
        for (content, path) in [(&first, "/"), (&first, "/"), (&second, "/"), (&second, "/page/2.html"), (&first, "/x")]
        {
            content.find(path).unwrap();
        }
        assert_eq!(counts.take(), CountsSnapshot { requests: 5, pages: 3, body_bytes: 4_000 });
        assert_eq!(counts.take(), CountsSnapshot::default(), "they begin again");
    }
}
