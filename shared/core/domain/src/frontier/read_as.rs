//! How a body is parsed.

use serde::{Deserialize, Serialize};

/// How the body of a URL is parsed: by the type that the server names, or by how the URL was found,
/// whatever the type is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadAs {
    /// By its type, like nearly all.
    #[default]
    Typed,
    /// As a sitemap: robots.txt or an index of sitemaps names it.
    Sitemap,
    /// As robots.txt: it is one, or the target of its redirect.
    Robots,
    /// As a feed: a page, or another part of the feed, names it.
    Feed,
    /// As a sitemap, if it is one. Nobody names it: it is where most sites have theirs.
    SitemapTrial,
    /// Not at all: a page links to it, and how a request for it ends is all that is wanted.
    Check,
}

impl ReadAs {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Typed, Self::Sitemap, Self::Robots, Self::Feed, Self::SitemapTrial, Self::Check];

    /// Returns the stored name; `None` for the default, which is not stored.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Typed => None,
            Self::Sitemap => Some("sitemap"),
            Self::Robots => Some("robots"),
            Self::Feed => Some("feed"),
            Self::SitemapTrial => Some("sitemap_trial"),
            Self::Check => Some("check"),
        }
    }

    /// Returns the value with this name; `None` if there is none.
    #[must_use]
    pub fn from_name(name: Option<&str>) -> Option<Self> {
        Self::ALL.into_iter().find(|read_as| read_as.name() == name)
    }

    /// Whether it is expected to be a sitemap.
    #[must_use]
    pub const fn is_sitemap(self) -> bool {
        matches!(self, Self::Sitemap | Self::SitemapTrial)
    }

    /// Whether the type decides.
    #[must_use]
    pub const fn is_typed(&self) -> bool {
        matches!(self, Self::Typed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_names_are_read_back() {
        for read_as in ReadAs::ALL {
            assert_eq!(ReadAs::from_name(read_as.name()), Some(read_as));
            let json = serde_json::to_value(read_as).unwrap();
            assert_eq!(json.as_str(), Some(read_as.name().unwrap_or("typed")));
        }
        assert_eq!(ReadAs::from_name(Some("page")), None, "nothing is guessed");
    }
}
