//! A limit on the work for a page.

/// The work allowed for a page, in elements examined; texts and JSON count by size. Some seconds at
/// most.
const WORK_MAX: u64 = 20_000_000;

/// The remaining work.
#[derive(Debug)]
pub(crate) struct Work {
    left: u64,
    was_cut: bool,
}

impl Work {
    pub(crate) const fn new() -> Self {
        Self::with_limit(WORK_MAX)
    }

    /// Returns a budget of this size.
    pub(crate) const fn with_limit(left: u64) -> Self {
        Self { left, was_cut: false }
    }

    /// Spends work. Returns whether enough was left: if not, nothing is left for anything of that
    /// cost, and the page is marked as cut.
    #[must_use]
    pub(crate) const fn spend(&mut self, cost: u64) -> bool {
        match self.left.checked_sub(cost) {
            Some(left) => {
                self.left = left;
                true
            }
            None => {
                self.left = 0;
                self.was_cut = true;
                false
            }
        }
    }

    /// Marks the page as cut.
    pub(crate) const fn cut(&mut self) {
        self.was_cut = true;
    }

    pub(crate) const fn was_cut(&self) -> bool {
        self.was_cut
    }
}

/// Converts a length to a cost: the bytes read in the time of examining an element.
pub(crate) fn cost_of_bytes(bytes: usize) -> u64 {
    u64::try_from(bytes / 32).unwrap_or(u64::MAX)
}
