//! How much may be done with a page.

/// What a page may take, in elements looked at; texts and JSON count by their size. Some seconds at the very most.
const WORK_MAX: u64 = 20_000_000;

/// What is left of it.
#[derive(Debug)]
pub(crate) struct Work {
    left: u64,
    was_cut: bool,
}

impl Work {
    pub(crate) const fn new() -> Self {
        Self::with_limit(WORK_MAX)
    }

    /// So much of it.
    pub(crate) const fn with_limit(left: u64) -> Self {
        Self { left, was_cut: false }
    }

    /// Takes so much of it. Whether there was enough left: if not, nothing is left for what costs as much, and the page is marked.
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

/// A length as a cost: so many bytes are read while an element is looked at.
pub(crate) fn cost_of_bytes(bytes: usize) -> u64 {
    u64::try_from(bytes / 32).unwrap_or(u64::MAX)
}
