//! HTML: the parse errors of the standard, and a few of its rules for documents.
//!
//! html5gum splits the page and reports what is wrong with tags and characters, with places.
//! html5ever's tree builder, which has no places and few names for errors, gets these tags and
//! reports which of them are nested wrongly.

mod document;
mod nesting;
mod page;
mod tokens;

use dragline_domain::validity::ValidationType;

use self::tokens::Tokens;
use super::flaws::Flaws;

/// Checks a page.
pub(super) fn check(text: &str, flaws: &mut Flaws) -> ValidationType {
    // html5gum counts both characters of a line break as one, so that places behind it would be
    // wrong.
    if text.contains('\r') {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        Tokens::read(&text, flaws);
    } else {
        Tokens::read(text, flaws);
    }
    ValidationType::Html
}

#[cfg(test)]
mod tests;
