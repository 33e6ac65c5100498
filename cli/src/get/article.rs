//! The main part of a stored page, as it is printed.

use dragline_domain::content::ContentLevel;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_extract::typed::Types;
use dragline_extract::{Article, Settings, Source, article};
use serde::Serialize;

use super::content::{Content, DECODED_BYTES_MAX};
use super::error::GetError;
use crate::args::ArticleForm;

/// An article in JSON.
#[derive(Serialize)]
struct Record<'a> {
    url: &'a CrawlUrl,
    #[serde(flatten)]
    article: &'a Article,
}

/// Returns the main part of a page whose body is as it was received. It ends with the end of a line.
///
/// # Errors
/// The page has none.
pub(super) fn of(url: &CrawlUrl, content: &Content<'_>, form: ArticleForm) -> Result<String, GetError> {
    let source = Source { url, headers: &content.headers, body: &content.body };
    // Neither what the page says to crawlers nor its links are asked for.
    let (product_token, url_rules) = ("", &UrlRules::default());
    let settings = Settings {
        product_token,
        url_rules,
        decoded_bytes_max: DECODED_BYTES_MAX,
        content: ContentLevel::Text,
        types: Types::NONE,
    };
    let article = article(&source, &settings)?;
    Ok(match form {
        ArticleForm::Text => article.text + "\n",
        ArticleForm::Markdown => article.markdown + "\n",
        ArticleForm::Json => {
            let json = serde_json::to_string_pretty(&Record { url, article: &article });
            json.expect("it is made of texts and numbers") + "\n"
        }
    })
}
