//! The main part of a stored page, or the text of a stored file, ready to print.

use dragline_domain::content::ContentLevel;
use dragline_domain::definition::Noindex;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_extract::typed::Types;
use dragline_extract::{Article, Extent, MainRules, Settings, Source, article};
use serde::Serialize;

use super::content::{Content, DECODED_BYTES_MAX};
use crate::args::ArticleForm;
use crate::error::Failure;

/// An article in JSON.
#[derive(Serialize)]
struct Record<'a> {
    url: &'a CrawlUrl,
    #[serde(flatten)]
    article: &'a Article,
}

/// What is printed of a URL among several that has no article.
#[derive(Serialize)]
struct FailedRecord<'a> {
    url: &'a str,
    error: &'a str,
}

/// The text of a body, ready to print.
#[derive(Debug)]
pub(super) struct ArticleText {
    /// It ends with a line break.
    pub(super) text: String,
    /// What the text lacks, and why.
    pub(super) missing: Vec<String>,
}

/// Returns the main part of a page, or the text of a file. `content` has the body as received.
///
/// # Errors
/// The page has none.
pub(super) fn print(
    url: &CrawlUrl,
    content: &Content<'_>,
    form: ArticleForm,
    extent: Extent,
) -> Result<ArticleText, Failure> {
    if form == ArticleForm::Html {
        return Ok(ArticleText { text: content.decoded_text()?, missing: Vec::new() });
    }
    let article = extract(url, content, extent)?;
    let missing = article.gaps.iter().map(|gap| format!("some of its text is missing: {}", gap.reason())).collect();
    let text = match form {
        ArticleForm::Text => article.text + "\n",
        ArticleForm::Markdown => article.markdown + "\n",
        ArticleForm::Json | ArticleForm::Html => {
            let json = serde_json::to_string_pretty(&Record { url, article: &article });
            json.expect("it is made of texts and numbers") + "\n"
        }
    };
    Ok(ArticleText { text, missing })
}

/// Returns an article as one line of JSON.
///
/// # Errors
/// The page has none.
pub(super) fn line(url: &CrawlUrl, content: &Content<'_>, extent: Extent) -> Result<String, Failure> {
    let article = extract(url, content, extent)?;
    Ok(json_line(&Record { url, article: &article }))
}

/// Returns the error of a URL as one line of JSON.
pub(super) fn error_line(url: &str, error: &str) -> String {
    json_line(&FailedRecord { url, error })
}

fn json_line(record: &impl Serialize) -> String {
    serde_json::to_string(record).expect("it is made of texts and numbers") + "\n"
}

fn extract(url: &CrawlUrl, content: &Content<'_>, extent: Extent) -> Result<Article, Failure> {
    let source = Source { url, headers: &content.headers, body: &content.body };
    // The page's rules for crawlers and its links are not needed.
    let (product_token, url_rules) = ("", &UrlRules::default());
    let settings = Settings {
        product_token,
        url_rules,
        decoded_bytes_max: DECODED_BYTES_MAX,
        noindex: Noindex::Obey,
        content: ContentLevel::Text,
        types: Types::NONE,
        main: MainRules::NONE,
    };
    let not_found = |error| {
        Failure::new(format!("the main part of the page cannot be found: {error}"))
            .with_hint("to print all of it: leave out `--as`")
    };
    article(&source, &settings, extent).map_err(not_found)
}
