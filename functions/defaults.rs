//! The stack's defaults, for what commands leave out.

use dragline_domain::definition::{HostPattern, HostPatternError, StackBrowsers, UserAgent};
use dragline_lambda::SettingError;
use dragline_pipeline::schedule::Defaults;

/// The variable with the stack's contact, a URL or an e-mail address. It is part of the user agent
/// of every crawl that does not set its own.
const CONTACT: &str = "DRAGLINE_CONTACT";

/// The variable with the page budget of a crawl made from a URL alone.
const URL_PAGES_MAX: &str = "DRAGLINE_URL_PAGES_MAX";

/// The variable with the hosts whose robots.txt is not obeyed, separated by commas.
const IGNORE_ROBOTS_HOSTS: &str = "DRAGLINE_IGNORE_ROBOTS_HOSTS";

/// Returns the stack's defaults for commands.
pub(crate) fn stack_defaults(variable: impl Fn(&str) -> Option<String>) -> Result<Defaults, SettingError> {
    let contact = variable(CONTACT).ok_or(SettingError::Missing(CONTACT))?;
    let user_agent: UserAgent = format!("Dragline/{} (+{contact})", env!("CARGO_PKG_VERSION"))
        .parse()
        .map_err(|error: <UserAgent as std::str::FromStr>::Err| wrong(CONTACT, &error))?;
    let pages = variable(URL_PAGES_MAX).ok_or(SettingError::Missing(URL_PAGES_MAX))?;
    let url_pages_max = pages.parse().map_err(|error: std::num::ParseIntError| wrong(URL_PAGES_MAX, &error))?;
    let hosts = variable(IGNORE_ROBOTS_HOSTS).unwrap_or_default();
    let hosts = hosts.split(',').map(str::trim).filter(|host| !host.is_empty());
    let ignore_robots = hosts
        .map(str::parse::<HostPattern>)
        .collect::<Result<_, HostPatternError>>()
        .map_err(|error| wrong(IGNORE_ROBOTS_HOSTS, &error))?;
    Ok(Defaults { user_agent, url_pages_max, ignore_robots })
}

/// The variable with the queue of the tickets of crawls that render pages; empty if the stack has
/// no browsers.
const RENDERS_URL: &str = "DRAGLINE_RENDERS_URL";

/// Returns the URL of the queue of the tickets of crawls that render pages; `None` if the stack has
/// no browsers.
pub(crate) fn renders_url(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    variable(RENDERS_URL).filter(|url| !url.is_empty())
}

/// Returns whether the stack has browsers.
pub(crate) fn stack_browsers(variable: impl Fn(&str) -> Option<String>) -> StackBrowsers {
    renders_url(variable).map_or(StackBrowsers::Missing, |_| StackBrowsers::There)
}

fn wrong(name: &'static str, error: &dyn std::error::Error) -> SettingError {
    SettingError::Wrong { name, why: error.to_string() }
}
