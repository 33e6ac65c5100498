//! Which part of a page is its main part, where the user knows it better.

use serde::{Deserialize, Serialize};

use super::Condition;

/// What is known of the main part of some pages, by CSS selectors. All rules whose condition holds apply together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MainRule {
    /// On which pages; `None`: on all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// The elements that are the main part. Empty: it is found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// The elements that are no part of it, wherever they stand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// The elements in it whose text may differ without the page being another one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
}

impl MainRule {
    /// All its selectors.
    pub fn selectors(&self) -> impl Iterator<Item = &str> {
        self.include.iter().chain(&self.exclude).chain(&self.ignore).map(String::as_str)
    }
}
