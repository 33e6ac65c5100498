//! The arguments of tools. Their schema is what is checked: unknown fields, and values beyond a
//! limit, are refused.

use rmcp::schemars::JsonSchema;
use serde::Deserialize;

pub(super) use super::values::{Limit, Name, Number, Offset, Text, UrlText};

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// Which iteration to show the progress of.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct StatusArguments {
    /// The crawl's name.
    pub(super) crawl: Name,
    /// The iteration; the latest without it.
    pub(super) iteration: Option<Number>,
}

/// What to search for.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct SearchArguments {
    /// The crawl's name.
    pub(super) crawl: Name,
    /// Words that a page must have, all of them, in any form. Also: "a phrase", -word, one OR
    /// other, begin*, title:word, heading:word, url:word, site:example.org, lang:en, type:Product,
    /// after:2026-05, before:2026.
    pub(super) query: Text<1_000>,
    /// Which page of the results, from 1.
    pub(super) page: Option<Limit<1, 1_000>>,
    /// How many results a page has.
    #[serde(default)]
    pub(super) limit: Limit<10, 50>,
}

/// Which page to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct PageArguments {
    /// The crawl's name.
    pub(super) crawl: Name,
    /// The page's URL.
    pub(super) url: UrlText,
    /// The iteration whose answer to read; the latest with an answer without it.
    pub(super) iteration: Option<Number>,
    /// The form of the text.
    #[serde(default)]
    pub(super) format: PageFormat,
    /// How many characters of the text to leave out at its beginning.
    #[serde(default)]
    pub(super) offset: Offset,
    /// How many characters of the text to return.
    #[serde(default)]
    pub(super) limit: Limit<20_000, 100_000>,
}

/// A form of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars", inline)]
#[serde(rename_all = "snake_case")]
pub(super) enum PageFormat {
    /// The main part as Markdown.
    #[default]
    Markdown,
    /// The main part as text.
    Text,
    /// The whole page as HTML, also of pages without a main part.
    Html,
}

impl PageFormat {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Text => "text",
            Self::Html => "html",
        }
    }
}

/// What to look for in passages.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct PassagesArguments {
    /// The crawl's name.
    pub(super) crawl: Name,
    /// A question, or words. Unlike with `search`, a passage need not have all of them.
    pub(super) question: Text<1_000>,
    /// How many passages to return.
    #[serde(default)]
    pub(super) limit: Limit<5, 20>,
}

/// Which links to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct LinksArguments {
    /// The crawl's name.
    pub(super) crawl: Name,
    /// The page's URL.
    pub(super) url: UrlText,
    /// Which of its links.
    pub(super) direction: Direction,
    /// How many links come before those of this answer.
    #[serde(default)]
    pub(super) offset: Offset,
    /// How many links to return.
    #[serde(default)]
    pub(super) limit: Limit<50, 200>,
}

/// Links of a page, or to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars", inline)]
#[serde(rename_all = "snake_case")]
pub(super) enum Direction {
    /// The links that the page has.
    Of,
    /// The links of other pages that lead to it.
    To,
}

/// Which items to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct ItemsArguments {
    /// The crawl's name.
    pub(super) crawl: Name,
    /// The type, such as Product, Article or Event; all without it.
    #[serde(rename = "type")]
    pub(super) item_type: Option<Text<200>>,
    /// Only the items of this page.
    pub(super) url: Option<UrlText>,
    /// The iteration; the site as it is now without it.
    pub(super) iteration: Option<Number>,
    /// `next` of the answer before, to go on.
    pub(super) cursor: Option<Text<4_000>>,
    /// How many pages' items to look through.
    #[serde(default)]
    pub(super) limit: Limit<20, 200>,
}

/// Which differences to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct DiffArguments {
    /// The crawl's name.
    pub(super) crawl: Name,
    /// The earlier iteration; the one before the later without it.
    pub(super) from: Option<Number>,
    /// The later iteration; the latest that is over without it.
    pub(super) to: Option<Number>,
    /// What to compare.
    #[serde(default)]
    pub(super) what: Compared,
    /// How many differences come before those of this answer.
    #[serde(default)]
    pub(super) offset: Offset,
    /// How many differences to return.
    #[serde(default)]
    pub(super) limit: Limit<50, 200>,
}

/// What is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars", inline)]
#[serde(rename_all = "snake_case")]
pub(super) enum Compared {
    /// Pages: new, changed and gone ones.
    #[default]
    Pages,
    /// Items, field by field.
    Items,
    /// Links.
    Links,
}

impl Compared {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Pages => "pages",
            Self::Items => "items",
            Self::Links => "links",
        }
    }
}

/// Whose visits to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct HistoryArguments {
    /// The crawl's name.
    pub(super) crawl: Name,
    /// The URL.
    pub(super) url: UrlText,
    /// How many visits come before those of this answer, from the oldest.
    #[serde(default)]
    pub(super) offset: Offset,
    /// How many visits to return.
    #[serde(default)]
    pub(super) limit: Limit<50, 200>,
}

/// Which URL to explain.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct ExplainArguments {
    /// The crawl's name.
    pub(super) crawl: Name,
    /// The URL.
    pub(super) url: UrlText,
}

/// What to crawl.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct CrawlArguments {
    /// Where a new crawl begins. Leave it out to begin the next iteration of an existing crawl.
    pub(super) url: Option<UrlText>,
    /// The name of the existing crawl or, with `url`, of the new one; that is named by its host
    /// without it.
    pub(super) crawl: Option<Name>,
    /// The most pages that a new crawl fetches; as many as the owner allows without it.
    pub(super) pages: Option<Limit<1, 1_000_000_000>>,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn arguments_beyond_their_limits_are_refused() {
        let long = "x".repeat(2_049);
        for (arguments, expected, why) in [
            (json!({"crawl": "docs", "url": "https://a.example/"}), true, "the least"),
            (json!({"crawl": "docs", "url": "https://a.example/", "limit": 100_000}), true, "the most"),
            (json!({"crawl": "docs", "url": "https://a.example/", "limit": 100_001}), false, "more than that"),
            (json!({"crawl": "docs", "url": "https://a.example/", "limit": 0}), false, "nothing"),
            (json!({"crawl": "docs", "url": "https://a.example/", "limit": -1}), false, "less than nothing"),
            (json!({"crawl": "docs", "url": "https://a.example/", "limit": "5"}), false, "a text"),
            (json!({"crawl": "docs", "url": "https://a.example/", "offset": 1e30}), false, "beyond any text"),
            (json!({"crawl": "docs", "url": "https://a.example/", "iteration": 0}), false, "counted from 1"),
            (json!({"crawl": "docs", "url": "https://a.example/", "format": "pdf"}), false, "no such form"),
            (json!({"crawl": "docs", "url": "https://a.example/", "word": 1}), false, "an unknown field"),
            (json!({"crawl": "../docs", "url": "https://a.example/"}), false, "no name of a crawl"),
            (json!({"crawl": "docs", "url": long}), false, "a long URL"),
            (json!({"crawl": "docs", "url": ""}), false, "no URL"),
            (json!({"crawl": "docs", "url": "https://a.example/\n"}), false, "a line break"),
            (json!({"crawl": "docs"}), false, "a field is missing"),
            (Value::Null, false, "nothing at all"),
        ] {
            let parsed = serde_json::from_value::<PageArguments>(arguments.clone());
            assert_eq!(parsed.is_ok(), expected, "{arguments}: {why}: {parsed:?}");
        }
    }
}
