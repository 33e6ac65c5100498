//! Tables of the results of each element and attribute.

mod encodings;
mod hidden;
mod hostile;
mod links;
mod markup;
mod metadata;
mod text;
mod tokenizer;
mod xhtml;

use url::Url;

use super::{HtmlLimits, Page, PageSource, Syntax, extract};

const PAGE: &str = "https://example.org/dir/page";

fn url(text: &str) -> Url {
    Url::parse(text).expect("the tests' URLs are good")
}

fn page(html: &str) -> Page {
    extract(html, &PageSource::html(&url(PAGE)), &HtmlLimits::default())
}

fn xhtml(text: &str) -> Page {
    extract(text, &PageSource { syntax: Syntax::Xhtml, ..PageSource::html(&url(PAGE)) }, &HtmlLimits::default())
}
