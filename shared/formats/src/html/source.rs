//! Where a page is from, and how it is written.

use url::Url;

/// A page before it is read: all that its text does not say itself.
#[derive(Clone, Copy, Debug)]
pub struct PageSource<'a> {
    /// Where it was fetched from, of http or https: what its links are relative to.
    pub url: &'a Url,
    /// The encoding that its bytes were in, by its name as in [`Decoded`](crate::charset::Decoded): the queries of its
    /// links are in it, too. An unknown one counts as UTF-8.
    pub encoding: &'a str,
    /// By which rules it is read.
    pub syntax: Syntax,
}

impl<'a> PageSource<'a> {
    /// HTML in UTF-8, as most pages are.
    #[must_use]
    pub const fn html(url: &'a Url) -> Self {
        Self { url, encoding: "UTF-8", syntax: Syntax::Html }
    }
}

/// The two ways to write a page. The same text can be either; which it is, its media type says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// `text/html`: what `/` at the end of a tag says depends on the element.
    Html,
    /// `application/xhtml+xml`: a tag that ends in `/>` is a whole element, and CDATA sections are text. What is not
    /// well-formed, and stops a browser, is read on as HTML.
    Xhtml,
}
