//! What each element and attribute gives, by tables.

mod hostile;
mod links;
mod metadata;
mod text;

use url::Url;

use super::{HtmlLimits, Page, extract};

const PAGE: &str = "https://example.org/dir/page";

fn url(text: &str) -> Url {
    Url::parse(text).expect("the tests' URLs are good")
}

fn page(html: &str) -> Page {
    extract(html, &url(PAGE), &HtmlLimits::default())
}
