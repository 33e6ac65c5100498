//! Who the crawl says it is, in a way that sites can verify.

use serde::{Deserialize, Serialize};

use super::{Line, SecretReference};

/// The key by which requests are signed, and where sites find its public half.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Identity {
    /// [`Key::IdentityKey`](super::Key::IdentityKey).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<SecretReference>,
    /// [`Key::IdentityDirectory`](super::Key::IdentityDirectory).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<Line>,
}

impl Identity {
    /// Returns whether requests are not signed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.key.is_none() && self.directory.is_none()
    }

    /// Whether the directory is the address of a host by HTTPS, without a path, as the draft has
    /// it.
    pub(super) fn has_sound_directory(&self) -> bool {
        let Some(directory) = &self.directory else { return true };
        let host = directory.as_str().strip_prefix("https://").map(|rest| rest.strip_suffix('/').unwrap_or(rest));
        let is_of_host = |c: char| c.is_ascii_alphanumeric() || ".-:".contains(c);
        host.is_some_and(|host| !host.is_empty() && host.chars().all(is_of_host))
    }
}
