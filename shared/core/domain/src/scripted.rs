//! Pages that are nearly empty until a browser has run their scripts, and their log details.

const BEFORE: &str = "needs JavaScript: next to nothing is in the page, and scripts fill its element `";

const AFTER: char = '`';

/// The limit on visible words below which a page with an empty element for scripts is nearly empty
/// without them.
pub const WORDS_MAX: usize = 50;

/// The ids of the elements that frameworks fill: React, Vue, Next.js, Nuxt, Gatsby, Svelte, Quasar
/// and others.
pub const ROOTS: [&str; 11] = [
    "root",
    "app",
    "__next",
    "__nuxt",
    "___gatsby",
    "svelte",
    "react-root",
    "app-root",
    "q-app",
    "main-app",
    "reactroot",
];

/// The most words in an element before a framework fills it, such as "loading".
pub const ROOT_WORDS_MAX: usize = 10;

/// Returns the log's detail for a page whose scripts fill this element.
#[must_use]
pub fn detail(element: &str) -> String {
    format!("{BEFORE}{element}{AFTER}")
}

/// Returns the element in a result of [`detail`], which may be followed by why the page was not
/// rendered; `None` if it is something else.
#[must_use]
pub fn element_from_detail(detail: &str) -> Option<&str> {
    detail.strip_prefix(BEFORE)?.split_once(AFTER).map(|(element, _)| element)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detail_names_the_element() {
        assert_eq!(element_from_detail(&detail("root")), Some("root"));
        let failed = detail("root") + "; not rendered: the page crashed in the browser";
        assert_eq!(element_from_detail(&failed), Some("root"), "and it was tried");
        assert_eq!(element_from_detail("the same body as last time"), None, "another detail");
    }
}
