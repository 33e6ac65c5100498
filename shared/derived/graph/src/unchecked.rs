//! The limits of answers about links.

use dragline_domain::shown::plural;

/// What the crawl has not checked, so that an answer does not cover it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unchecked {
    /// Requisites of pages (pictures, styles, scripts and the like) that the crawl did not request.
    pub requisites: u64,
    /// URLs of the crawl that were never visited.
    pub unvisited: u64,
    /// How many URLs are still to be visited; `None` if the crawl is over.
    pub to_go: Option<u64>,
}

impl Unchecked {
    /// Returns whether the answer may change until the crawl is over.
    #[must_use]
    pub const fn may_change(&self) -> bool {
        self.to_go.is_some()
    }

    /// Returns the gaps as text, a line for each kind.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let Self { requisites, unvisited, to_go } = *self;
        let to_go =
            to_go.map(|waiting| format!("the crawl is not over: {} to go, so this may change", plural(waiting, "URL")));
        let unvisited =
            (unvisited > 0).then(|| format!("not checked: {}, never visited so far", plural(unvisited, "URL")));
        let requisites = (requisites > 0).then(|| {
            format!(
                "not checked: {} of pages, such as pictures and styles; `--requisites fetch` crawls them, too",
                plural(requisites, "part")
            )
        });
        [to_go, unvisited, requisites].into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_hint() {
        let nothing = Unchecked::default();
        assert_eq!((nothing.lines().is_empty(), nothing.may_change()), (true, false));
        let all = Unchecked { requisites: 1_048, unvisited: 1, to_go: Some(2) };
        assert!(all.may_change());
        assert_eq!(
            all.lines(),
            [
                "the crawl is not over: 2 URLs to go, so this may change",
                "not checked: 1 URL, never visited so far",
                "not checked: 1,048 parts of pages, such as pictures and styles; `--requisites fetch` crawls them, too",
            ]
        );
    }
}
