//! What the user asked for: a crawl, as defined in YAML or on the command line.
use std::time::Duration;
/// stub
pub struct Recrawl {
    /// s
    pub interval: Option<Duration>,
    /// s
    pub min: Duration,
    /// s
    pub max: Duration,
}
/// stub
#[derive(Clone, Debug, PartialEq)]
pub struct Definition;
