//! The origins being visited, for progress displays.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use dragline_domain::frontier::OriginKey;
use dragline_domain::url::Origin;

/// The origins being visited.
#[derive(Debug, Default)]
pub struct Activity {
    origins: Arc<Mutex<BTreeMap<Origin, usize>>>,
}

/// A guard: the turn is shown until it is dropped.
pub(super) struct Visible {
    origins: Arc<Mutex<BTreeMap<Origin, usize>>>,
    origin: Origin,
}

impl Activity {
    /// Returns the origins being visited, in order.
    #[must_use]
    pub fn origins(&self) -> Vec<Origin> {
        self.origins.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    pub(super) fn begin(&self, key: &OriginKey) -> Visible {
        *self.origins.lock().unwrap_or_else(PoisonError::into_inner).entry(key.origin.clone()).or_default() += 1;
        Visible { origins: Arc::clone(&self.origins), origin: key.origin.clone() }
    }
}

impl Drop for Visible {
    fn drop(&mut self) {
        let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = origins.get_mut(&self.origin) {
            *count -= 1;
            if *count == 0 {
                origins.remove(&self.origin);
            }
        }
    }
}
