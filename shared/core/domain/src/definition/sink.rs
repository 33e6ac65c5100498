//! Where results are written, besides the store.

use serde::{Deserialize, Serialize};

use super::{Line, SecretReference};

/// Where results are written, besides the store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sink {
    /// [`Key::SinkPostgres`](super::Key::SinkPostgres).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postgres: Option<SecretReference>,
    /// [`Key::SinkParquet`](super::Key::SinkParquet).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parquet: Option<Line>,
}

impl Sink {
    /// Returns whether results are only stored.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.postgres.is_none() && self.parquet.is_none()
    }
}
