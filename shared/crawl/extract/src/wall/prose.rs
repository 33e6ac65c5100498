//! A page's own text, without its surroundings.

use dragline_domain::words::count_words;

use super::PAGE_BYTES_MAX;
use super::outline::Depths;
use super::tokens::{Token, Tokens};

/// The title and own text of a page, up to the limit, in page order and with references undecoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prose {
    /// The title; empty if it has none.
    pub title: String,
    /// The text outside of header, menus and footer, without `<noscript>`. It includes the texts of
    /// links.
    pub text: String,
    /// The number of its words outside of links.
    pub words: usize,
    /// The number of scripts in the page.
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
