//! Pages that show next to nothing until a browser has run their scripts, as the log says it.

const BEFORE: &str = "needs JavaScript: next to nothing is in the page, and scripts fill its element `";

const AFTER: char = '`';

/// A page with fewer visible words, and an empty element that scripts fill, shows next to nothing without these.
pub const WORDS_MAX: usize = 50;

/// Returns what is logged of a page whose scripts fill this element.
#[must_use]
pub fn detail(element: &str) -> String {
    format!("{BEFORE}{element}{AFTER}")
}

/// Returns the element that scripts fill, of what [`detail`] wrote. `None` if it is something else.
#[must_use]
pub fn element_of_detail(detail: &str) -> Option<&str> {
    detail.strip_prefix(BEFORE)?.strip_suffix(AFTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detail_names_the_element() {
        assert_eq!(element_of_detail(&detail("root")), Some("root"));
        assert_eq!(element_of_detail("the same body as last time"), None, "another detail");
    }
}
