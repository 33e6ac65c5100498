//! CSS selectors.

use dom_query::Matcher;

use crate::selectors::scan::{brackets_depth, without_quoted};
use crate::selectors::{SelectorError, check_length};

/// The limit on the nesting of `:not(:is(…))`.
const DEPTH_MAX: usize = 8;
/// The limit on `~` and `:has(…)` in a selector, each of which visits many elements.
const DEAR_MAX: usize = 4;

const HINT: &str = "write a CSS selector such as `h1.title`, `#price` or `ul.tags > li`, in quotes";

/// A compiled CSS selector.
#[derive(Clone, Debug)]
pub struct Css {
    matcher: Matcher,
    cost: Cost,
}

/// The cost of matching a selector against an element, by the element's place in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Constant.
    Element,
    /// Grows with its depth: its ancestors are visited.
    Ancestors,
    /// Grows with its earlier siblings and those of its ancestors.
    Siblings,
}

impl Css {
    /// Compiles a selector.
    ///
    /// # Errors
    /// Fails, with a hint, if the selector does not parse or is not supported.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        check_length(text)?;
        if text.trim().is_empty() {
            return Err(SelectorError::new("the selector is empty", HINT));
        }
        let plain = without_quoted(text).to_ascii_lowercase();
        refuse(&plain)?;
        let matcher = Matcher::new(text)
            .map_err(|_| SelectorError::new(format!("`{text}` is not a valid CSS selector"), hint(&plain)))?;
        Ok(Self { matcher, cost: cost(&plain) })
    }

    /// Returns the matcher for elements.
    #[must_use]
    pub const fn matcher(&self) -> &Matcher {
        &self.matcher
    }

    /// Returns the cost of matching an element.
    #[must_use]
    pub const fn cost(&self) -> Cost {
        self.cost
    }
}

/// Refuses selectors that parse, but take too long or mean nothing for a page without a viewer.
fn refuse(plain: &str) -> Result<(), SelectorError> {
    if brackets_depth(plain) > DEPTH_MAX {
        return Err(SelectorError::new(format!("brackets are nested more than {DEPTH_MAX} deep"), HINT));
    }
    for text in [":contains(", ":has-text("] {
        if plain.contains(text) {
            let message = format!("`{text}…)` is not part of CSS, and not supported");
            return Err(SelectorError::new(message, "write a path: `path: //h2[contains(., 'Price')]`"));
        }
    }
    for (at, _) in plain.match_indices(":has(") {
        let within = within_brackets(&plain[at + ":has(".len()..]);
        if within.contains(":has(") || within.contains('~') {
            let message = "`:has(…)` with another one, or with `~`, within it is not supported";
            return Err(SelectorError::new(message, "write `>`, `+` or a space within it, or a `path`"));
        }
    }
    if siblings(plain) > DEAR_MAX || plain.matches(":has(").count() > DEAR_MAX {
        let message = format!("more than {DEAR_MAX} of `~`, or of `:has(…)`, are not supported");
        return Err(SelectorError::new(message, "select by classes, or by fewer elements around"));
    }
    Ok(())
}

/// Returns a text up to the bracket that closes the one opened before it.
fn within_brackets(text: &str) -> &str {
    let mut depth = 1_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[..at];
        }
    }
    text
}

/// Counts `~`, except in `~=`.
fn siblings(plain: &str) -> usize {
    plain.match_indices('~').filter(|(at, _)| !plain[at + 1..].starts_with('=')).count()
}

fn cost(plain: &str) -> Cost {
    if siblings(plain) > 0 {
        Cost::Siblings
    } else if plain.trim().contains([' ', '\t', '\n', '>', '(']) {
        Cost::Ancestors
    } else {
        Cost::Element
    }
}

fn hint(plain: &str) -> &'static str {
    if plain.contains("::") {
        "pseudo-elements are not part of a page: write `attribute: NAME` for an attribute, and nothing for the text"
    } else if plain.starts_with('/') || plain.contains("/@") {
        "this looks like a path: write `path:` in place of `css:`"
    } else if plain.contains(":eq(") || plain.contains(":first ") || plain.ends_with(":first") {
        "write `:first-child`, `:nth-child(2)` or `:nth-of-type(2)`"
    } else if plain.contains('@') {
        "write `attribute: NAME` beside it for the value of an attribute"
    } else {
        HINT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_refused_with_a_reason() {
        for (text, expected, why) in [
            ("", "the selector is empty", "it selects nothing"),
            ("h1[", "`h1[` is not a valid CSS selector", "a bracket is open"),
            ("a::text", "`a::text` is not a valid CSS selector", "another program's extension"),
            ("//h1", "`//h1` is not a valid CSS selector", "it is a path"),
            (
                "p:contains('a')",
                "`:contains(…)` is not part of CSS, and not supported",
                "it reads all texts again and again",
            ),
            ("a:has(b:has(c))", "`:has(…)` with another one, or with `~`, within it is not supported", "it takes long"),
            ("a:has(~ b)", "`:has(…)` with another one, or with `~`, within it is not supported", "by the square"),
            ("a~b~c~d~e~f", "more than 4 of `~`, or of `:has(…)`, are not supported", "it takes long"),
            (&":not(".repeat(9), "brackets are nested more than 8 deep", "parsing recurses"),
            (&"a".repeat(1_001), "a selector of 1001 bytes, but at most 1000 are allowed", "nobody writes it"),
        ] {
            assert_eq!(Css::parse(text).unwrap_err().message, expected, "{text}: {why}");
        }
    }

    #[test]
    fn the_cost_follows_from_the_combinators() {
        for (text, expected, why) in [
            ("h1.a#b", Cost::Element, "only the element itself"),
            ("[title='a ~ b > c']", Cost::Element, "they are in quotes"),
            ("[class~=a]", Cost::Element, "a word of an attribute"),
            ("ul li", Cost::Ancestors, "any ancestor may be the list"),
            ("ul:has(li)", Cost::Ancestors, "each element is looked at by all above it"),
            ("h1~p", Cost::Siblings, "any earlier sibling may be the heading"),
        ] {
            assert_eq!(Css::parse(text).unwrap().cost(), expected, "{text}: {why}");
        }
    }
}
