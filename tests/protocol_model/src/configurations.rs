//! What is explored. Each configuration lets one or two kinds of things go wrong.

use crate::config::Config;
use crate::site::Site;

impl Config {
    /// The smallest: a page on each of two origins, nothing goes wrong.
    pub const SMALLEST: Self = Self::of(Site::TWO_PAGES);
}
