//! What decides how a body is read.

use serde::{Deserialize, Serialize};

/// What decides how the body of a URL is read: the type that the server names, or how the URL was found, whatever that type is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadAs {
    /// Its type, as of nearly all.
    #[default]
    Typed,
    /// It was named as a sitemap: by robots.txt, or by an index of sitemaps.
    Sitemap,
    /// It is robots.txt, or where that redirects to.
    Robots,
}

impl ReadAs {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Typed, Self::Sitemap, Self::Robots];

    /// The name that is stored; `None` for what is left out.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Typed => None,
            Self::Sitemap => Some("sitemap"),
            Self::Robots => Some("robots"),
        }
    }

    /// Returns what has this name; `None` if nothing has.
    #[must_use]
    pub fn named(name: Option<&str>) -> Option<Self> {
        Self::ALL.into_iter().find(|read_as| read_as.name() == name)
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
    fn what_is_stored_comes_back() {
        for read_as in ReadAs::ALL {
            assert_eq!(ReadAs::named(read_as.name()), Some(read_as));
            let json = serde_json::to_value(read_as).unwrap();
            assert_eq!(json.as_str(), Some(read_as.name().unwrap_or("typed")));
        }
        assert_eq!(ReadAs::named(Some("page")), None, "nothing is guessed");
    }
}
