//! Real documentation sites, from Debian's packages.

use std::path::PathBuf;

use crate::checkout::provided;

/// A site that `scripts/fetch-sites` unpacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebianSite {
    /// Python 3.11's manual, made with Sphinx: about 530 pages.
    Python,
    /// `PostgreSQL` 15's manual, made with `DocBook`: about 1,170 pages.
    Postgresql,
    /// Git's manual, made with `AsciiDoc`: about 200 pages.
    Git,
}

impl DebianSite {
    /// The directory whose `index.html` is the site's first page.
    ///
    /// # Panics
    /// If the packages cannot be fetched.
    #[must_use]
    pub fn directory(self) -> PathBuf {
        let html = match self {
            Self::Python => "python3.11/html",
            Self::Postgresql => "postgresql-doc-15/html",
            Self::Git => "git-doc",
        };
        provided().sites.join(html)
    }
}
