//! The main part of a page, or the text of a file, in one of its forms.

use dragline_domain::content::ContentLevel;
use dragline_domain::definition::Noindex;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_extract::typed::Types;
use dragline_extract::{Article, Extent, MainRules, Settings, Source, article};
use serde::Serialize;

use super::content::Content;
use super::error::StoredError;
use crate::printouts::BodyForm;

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

/// The text of a body.
#[derive(Debug)]
pub struct ArticleText {
    /// It ends with a line break.
    pub text: String,
    /// What the text lacks, and why.
    pub missing: Vec<String>,
}

/// Returns the main part of a page, or the text of a file. `content` has the body as received.
///
/// # Errors
/// The page has none.
pub fn text(
    url: &CrawlUrl,
    content: &Content<'_>,
    form: BodyForm,
    (extent, decoded_bytes_max): (Extent, u64),
) -> Result<ArticleText, StoredError> {
    if form == BodyForm::Html {
        return Ok(ArticleText { text: content.decoded_text()?, missing: Vec::new() });
    }
    let article = extract(url, content, (extent, decoded_bytes_max))?;
    let missing = article.gaps.iter().map(|gap| format!("some of its text is missing: {}", gap.reason())).collect();
    let text = match form {
        BodyForm::Text => article.text + "\n",
        BodyForm::Markdown => article.markdown + "\n",
        BodyForm::Json | BodyForm::Html => {
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
pub fn line(url: &CrawlUrl, content: &Content<'_>, limits: (Extent, u64)) -> Result<String, StoredError> {
    let article = extract(url, content, limits)?;
    Ok(json_line(&Record { url, article: &article }))
}

/// Returns the error of a URL as one line of JSON.
#[must_use]
pub fn error_line(url: &str, error: &str) -> String {
    json_line(&FailedRecord { url, error })
}

fn json_line(record: &impl Serialize) -> String {
    serde_json::to_string(record).expect("it is made of texts and numbers") + "\n"
}

fn extract(
    url: &CrawlUrl,
    content: &Content<'_>,
    (extent, decoded_bytes_max): (Extent, u64),
) -> Result<Article, StoredError> {
    let source = Source { url, headers: &content.headers, body: &content.body };
    // The page's rules for crawlers and its links are not needed.
    let (product_token, url_rules) = ("", &UrlRules::default());
    let settings = Settings {
        product_token,
        url_rules,
        decoded_bytes_max,
        noindex: Noindex::Obey,
        content: ContentLevel::Text,
        types: Types::NONE,
        main: MainRules::NONE,
    };
    article(&source, &settings, extent).map_err(StoredError::NoMain)
}
