//! Reads the rules for main parts.

use crate::selectors::Css;
use dragline_domain::definition::{Condition, Key, KeyPlace, Line, MainRule, limits};
use serde::Deserialize;
use serde_saphyr::Spanned;

use super::{Diagnostic, Location, Notes, Text};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMainRule {
    when: Option<Condition>,
    #[serde(default)]
    include: Vec<Text>,
    #[serde(default)]
    exclude: Vec<Text>,
    #[serde(default)]
    ignore: Vec<Text>,
}

impl Notes {
    /// Reads the rules of `main`. An invalid selector is left out, and reported at its location.
    pub(super) fn main_rules(
        &mut self,
        key: Key,
        raw: Option<Spanned<Vec<Spanned<RawMainRule>>>>,
    ) -> Option<Vec<MainRule>> {
        let raw = raw?;
        self.locate(key, &raw);
        let rule = |(entry, raw): (usize, Spanned<RawMainRule>)| {
            self.locate(KeyPlace::entry(key, entry), &raw);
            let RawMainRule { when, include, exclude, ignore } = raw.value;
            let mut read = |selectors: Vec<Text>| selectors.into_iter().filter_map(|text| self.css(text)).collect();
            MainRule { when, include: read(include), exclude: read(exclude), ignore: read(ignore) }
        };
        Some(raw.value.into_iter().enumerate().map(rule).collect())
    }

    fn css(&mut self, text: Text) -> Option<String> {
        match check_css(&text.value) {
            Ok(()) => Some(text.value),
            Err(diagnostic) => {
                self.diagnostics.push((Location::from(text.referenced), diagnostic));
                None
            }
        }
    }
}

fn check_css(text: &str) -> Result<(), Diagnostic> {
    if text.len() > limits::SELECTOR_BYTES_MAX {
        return Err(Diagnostic::new(format!("longer than {} bytes", limits::SELECTOR_BYTES_MAX)));
    }
    match Css::parse(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(Diagnostic::new(error.to_string()).hint(error.hint)),
    }
}

/// Reads a selector that stands alone.
pub(super) fn selector(text: &str) -> Result<Line, Diagnostic> {
    check_css(text)?;
    super::plainly(text)
}
