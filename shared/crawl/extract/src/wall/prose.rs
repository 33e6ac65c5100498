//! What a page says by itself, apart from what surrounds it.

use dragline_domain::words::count_words;

use super::PAGE_BYTES_MAX;
use super::outline::Depths;
use super::tokens::{Token, Tokens};

/// The title and the text of a page, as far as it is looked at, in the order of the page and with references as they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prose {
    /// The title; empty if it has none.
    pub title: String,
    /// The text outside of header, menus and footer, without what is shown only where there are no scripts. Texts of links are in it.
    pub text: String,
    /// The words of that which are not in links.
    pub words: usize,
    /// How many scripts the page has.
    pub scripts: usize,
}

impl Prose {
    /// Reads a page's text.
    #[must_use]
    pub fn measure(text: &str) -> Self {
        let read = text.get(..text.floor_char_boundary(PAGE_BYTES_MAX)).unwrap_or_default();
        let (mut prose, mut at) = (Self::default(), Depths::default());
        for token in Tokens::new(read) {
            match token {
                Token::Text(text) if at.is_own() => {
                    prose.text.push_str(text);
                    prose.text.push(' ');
                    prose.words += if at.is_link() { 0 } else { count_words(text) };
                }
                Token::Raw { name, text } if name.eq_ignore_ascii_case("title") && prose.title.is_empty() => {
                    text.clone_into(&mut prose.title);
                }
                Token::Text(_) | Token::Raw { .. } => {}
                Token::Start { name, .. } => {
                    prose.scripts += usize::from(name.eq_ignore_ascii_case("script"));
                    at.step(name, |depth| depth.saturating_add(1));
                }
                Token::End(name) => at.step(name, |depth| depth.saturating_sub(1)),
            }
        }
        prose
    }
}
