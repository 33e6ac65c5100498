//! The main part of pages, if the user knows better than the finder.

use serde::{Deserialize, Serialize};

use super::Condition;

/// Rules for the main part of some pages, by CSS selectors. All rules whose condition holds apply
/// together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MainRule {
    /// The condition for its pages; `None`: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// The elements that form the main part. Empty: the finder decides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// The elements that do not belong to it, wherever they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// The elements in it whose text may differ without counting as a change of the page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
}

impl MainRule {
    /// Returns all its selectors.
    pub fn selectors(&self) -> impl Iterator<Item = &str> {
        self.include.iter().chain(&self.exclude).chain(&self.ignore).map(String::as_str)
    }
}
