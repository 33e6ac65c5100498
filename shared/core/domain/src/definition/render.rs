//! Which pages are rendered: run in a browser, as their scripts make what they show.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Line, UrlPattern};
use crate::rendering::PageMethod;
use crate::url::{CrawlUrl, Origin};

/// Which pages are rendered, and what that may cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Render {
    /// [`Key::RenderWhen`](super::Key::RenderWhen).
    pub when: RenderWhen,
    /// [`Key::RenderPaths`](super::Key::RenderPaths).
    pub paths: Vec<UrlPattern>,
    /// [`Key::RenderWaitFor`](super::Key::RenderWaitFor).
    pub wait_for: Option<Line>,
    /// [`Key::RenderPageTime`](super::Key::RenderPageTime).
    pub page_time: Duration,
    /// [`Key::RenderTimeout`](super::Key::RenderTimeout).
    pub timeout: Duration,
    /// [`Key::RenderRequestsMax`](super::Key::RenderRequestsMax).
    pub requests_max: u32,
    /// [`Key::RenderOtherHosts`](super::Key::RenderOtherHosts).
    pub other_hosts: OtherHosts,
    /// [`Key::RenderPost`](super::Key::RenderPost).
    pub post: Vec<UrlPattern>,
    /// [`Key::RenderScreenshot`](super::Key::RenderScreenshot).
    pub screenshot: Screenshot,
}

impl Render {
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether any page is rendered.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.when != RenderWhen::Never
    }

    /// Whether a page of `own` may ask for this, as far as these keys go.
    #[must_use]
    pub fn allows(&self, own: &Origin, asked: &CrawlUrl, method: PageMethod) -> bool {
        let may_be_sent = match method {
            PageMethod::Get => true,
            PageMethod::Post => self.post.iter().any(|pattern| pattern.is_match(asked.as_str())),
        };
        may_be_sent && self.other_hosts.include(own, &asked.origin())
    }

    /// Whether these keys are for a page of this URL.
    #[must_use]
    pub fn is_for(&self, url: &CrawlUrl) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|pattern| pattern.is_match(url.as_str()))
    }
}

impl Default for Render {
    fn default() -> Self {
        Self {
            when: RenderWhen::default(),
            paths: Vec::new(),
            wait_for: None,
            page_time: Duration::from_secs(5),
            timeout: Duration::from_secs(30),
            requests_max: 50,
            other_hosts: OtherHosts::default(),
            post: Vec::new(),
            screenshot: Screenshot::default(),
        }
    }
}

/// Which pages are rendered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RenderWhen {
    /// None.
    #[default]
    Never,
    /// Those that say next to nothing until their scripts have run.
    Auto,
    /// All.
    Always,
}

impl RenderWhen {
    /// Returns its word in a definition.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Auto => "auto",
            Self::Always => "always",
        }
    }
}

impl fmt::Display for RenderWhen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is pictured of a page that is rendered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Screenshot {
    /// Nothing.
    #[default]
    None,
    /// Its first screen.
    View,
    /// All of it, down to a limit.
    Page,
}

impl Screenshot {
    /// Returns its word in a definition.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::View => "view",
            Self::Page => "page",
        }
    }
}

impl fmt::Display for Screenshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which hosts but its own a page that is rendered may ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OtherHosts {
    /// None.
    None,
    /// Those of the same registered domain.
    #[default]
    Domain,
    /// Any.
    All,
}

impl OtherHosts {
    /// Whether a page of `own` may ask an origin.
    #[must_use]
    pub fn include(self, own: &Origin, other: &Origin) -> bool {
        match self {
            _ if own.host() == other.host() => true,
            Self::None => false,
            Self::Domain => own.registrable_domain().is_some_and(|domain| other.registrable_domain() == Some(domain)),
            Self::All => true,
        }
    }

    /// Returns its word in a definition.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Domain => "domain",
            Self::All => "all",
        }
    }
}

impl fmt::Display for OtherHosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_asks_its_own_host_and_those_that_are_allowed() {
        let origin = |text: &str| -> Origin { text.parse().unwrap() };
        for (other, none, domain, why) in [
            ("https://app.example.org", true, true, "its own"),
            ("http://app.example.org:8080", true, true, "its own host, at another port"),
            ("https://api.example.org", false, true, "of the same domain"),
            ("https://example.com", false, false, "of another one"),
            ("https://192.0.2.1", false, false, "an address has no domain"),
        ] {
            let include = |which: OtherHosts| which.include(&origin("https://app.example.org"), &origin(other));
            let read = [OtherHosts::None, OtherHosts::Domain, OtherHosts::All].map(include);
            assert_eq!(read, [none, domain, true], "{other}: {why}");
        }
    }
}
