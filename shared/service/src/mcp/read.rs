//! The tools that read.

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::answer::{Answer, ToolError};
use super::api::{Calls, Lines, Target};
use super::arguments::{
    DiffArguments, Direction, ExplainArguments, HistoryArguments, ItemsArguments, Limit, LinksArguments, Name, Nothing,
    Number, PageArguments, PageFormat, SearchArguments, StatusArguments,
};

/// What the API says of a page besides its text: what it is cited and read again by.
const PAGE_FIELDS: [&str; 7] = ["iteration", "at", "status", "last_checked", "last_changed", "outcome_name", "object"];

/// What a page and its server say about it.
const ABOUT_FIELDS: [&str; 4] = ["title", "description", "language", "content_type"];

fn target(crawl: &Name, what: &str) -> Target {
    Target::new(format!("/crawls/{crawl}/{what}"))
}

/// Lists the crawls.
pub(super) async fn list_crawls(calls: Calls<'_>, _: Nothing) -> Result<Answer, ToolError> {
    let answer = calls.read(Target::new("/crawls")).await?;
    let crawls = answer["crawls"].as_array().cloned().unwrap_or_default();
    let mut summary = match crawls.len() {
        0 => "there are no crawls".to_owned(),
        1 => "1 crawl:".to_owned(),
        many => format!("{many} crawls:"),
    };
    for crawl in &crawls {
        summary += &format!("\n{crawl}");
    }
    Ok(Answer::new(summary).with("crawls", crawls))
}

/// Shows the progress of an iteration.
pub(super) async fn crawl_status(calls: Calls<'_>, arguments: StatusArguments) -> Result<Answer, ToolError> {
    let StatusArguments { crawl, iteration } = arguments;
    let progress = calls.read(target(&crawl, "progress").with("iteration", iteration)).await?;
    Ok(Answer::new(format!("`{crawl}`: {progress}")).with("progress", progress))
}

/// Searches the pages of a crawl.
pub(super) async fn search(calls: Calls<'_>, arguments: SearchArguments) -> Result<Answer, ToolError> {
    let SearchArguments { crawl, query, page, limit } = arguments;
    let page = page.map_or(1, Limit::number);
    let target = target(&crawl, "search")
        .with("q", Some(&query))
        .with("page", Some(page))
        .with("per_page", Some(limit.number()));
    let mut found = calls.read(target).await?;
    let total = found["total"].as_u64().unwrap_or_default();
    let mut hits = found["results"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let (shown, has_hits) = (page.saturating_mul(limit.number()) as u64, !hits.is_empty());
    if found["corrections"].as_array().is_some_and(|corrections| !corrections.is_empty()) {
        // The words are those of pages.
        hits.push(json!({ "corrections": found["corrections"] }));
    }
    let mut answer = Answer::new(format!("`{crawl}`: {total} pages match, of {} in the index", found["pages_indexed"]))
        .with("crawl", crawl.to_string())
        .with("total", total)
        .with("page", page);
    if shown < total && has_hits {
        answer = answer.with_note(format!("there are more: `page` {}", page + 1));
    }
    answer.with_rows(&hits)
}

/// A text of a page, and what it is cited by.
pub(super) struct PageText {
    pub(super) text: String,
    /// What the API says of it; empty for an answer that is not a page.
    pub(super) fields: Map<String, Value>,
    pub(super) about: Map<String, Value>,
}

/// Reads a text of a page: that of an iteration, or that of the site as it is now.
///
/// # Errors
/// There is no such answer, or it has no main part.
pub(super) async fn read_page(
    calls: Calls<'_>,
    crawl: &Name,
    url: &str,
    (iteration, format): (Option<Number>, PageFormat),
) -> Result<PageText, ToolError> {
    let query = target(crawl, "pages").with("url", Some(url)).with("iteration", iteration).with("limit", Some(1));
    let row = calls.read(query).await?.pointer_mut("/rows/0").map(Value::take).unwrap_or_default();
    let pick = |names: &[&str]| {
        let fields = names.iter().filter_map(|name| Some(((*name).to_owned(), row.get(*name)?.clone())));
        fields.filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>()
    };
    let (mut fields, about) = (pick(&PAGE_FIELDS), pick(&ABOUT_FIELDS));
    for name in ["offset", "length"] {
        if let Some(value) = row.get(name) {
            fields.insert(format!("record_{name}"), value.clone());
        }
    }
    // The text is that of the answer whose time is said, even if another one comes meanwhile.
    let iteration = fields.get("iteration").map(ToString::to_string).or_else(|| iteration.map(|n| n.to_string()));
    let body =
        target(crawl, "body").with("url", Some(url)).with("iteration", iteration).with("as", Some(format.name()));
    let text = calls.read_text(body).await?;
    Ok(PageText { text, fields, about })
}

/// Reads a page.
pub(super) async fn get_page(calls: Calls<'_>, arguments: PageArguments) -> Result<Answer, ToolError> {
    let PageArguments { crawl, url, iteration, format, offset, limit } = arguments;
    let read = read_page(calls, &crawl, url.as_str(), (iteration, format)).await;
    let PageText { text, fields, about } = read.map_err(|error| match format {
        PageFormat::Html => error,
        PageFormat::Markdown | PageFormat::Text => {
            error.with_hint("if it is there but has no main part, `format` \"html\" reads the whole page")
        }
    })?;
    let chars = text.chars().count();
    let part: String = text.chars().skip(offset.number()).take(limit.number()).collect();
    let end = offset.number().saturating_add(limit.number());
    let at = fields.get("at").and_then(Value::as_str).map_or_else(String::new, |at| format!(", requested at {at}"));
    let of_iteration = fields.get("iteration").map_or_else(String::new, |number| format!(" in iteration {number}"));
    let summary = format!("{url}{of_iteration} of `{crawl}`{at}: {} of {chars} characters", part.chars().count());
    let mut answer = Answer::new(summary)
        .with("crawl", crawl.to_string())
        .with("url", url.as_str())
        .with("format", format.name())
        .with("digest", digest(&text))
        .with("chars", chars)
        .with("offset", offset.number());
    if fields.is_empty() {
        answer = answer.with_note("the site as it is now has no such page: this is the latest answer of the URL");
    }
    for (name, value) in fields {
        answer = answer.with(&name, value);
    }
    if end < chars {
        answer = answer.with("next", end).with_note(format!("there is more: `offset` {end}"));
    }
    Ok(answer.with_text(about, part))
}

/// Returns the digest of a text, as a citation has it.
fn digest(text: &str) -> String {
    format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(text.as_bytes())))
}

/// Lists the links of a page, or to it.
pub(super) async fn links(calls: Calls<'_>, arguments: LinksArguments) -> Result<Answer, ToolError> {
    let LinksArguments { crawl, url, direction, offset, limit } = arguments;
    let (what, said) = match direction {
        Direction::Of => ("links", "links of"),
        Direction::To => ("backlinks", "links to"),
    };
    let list = target(&crawl, what).with("url", Some(&url));
    let lines = calls.read_lines(list, offset.number(), limit.number()).await?;
    Ok(list_answer(&format!("`{crawl}`: {said} {url}"), lines)?
        .with("url", url.as_str())
        .with("crawl", crawl.to_string()))
}

/// Lists items.
pub(super) async fn items(calls: Calls<'_>, arguments: ItemsArguments) -> Result<Answer, ToolError> {
    let ItemsArguments { crawl, item_type, url, iteration, cursor, limit } = arguments;
    let cursor = cursor.map(|cursor| decode_cursor(cursor.as_str())).transpose()?;
    let query = target(&crawl, "items")
        .with("type", item_type)
        .with("url", url)
        .with("iteration", iteration)
        .with("cursor", cursor)
        .with("limit", Some(limit.number()));
    let mut found = calls.read(query).await?;
    let rows = found["rows"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let mut answer = Answer::new(format!("`{crawl}`: {} items", rows.len()));
    if let Some(next) = found["next"].as_str() {
        // It may have a URL of a page in it, which is not to be read outside of the marks.
        let next = BASE64URL_NOPAD.encode(next.as_bytes());
        answer = answer.with("next", next.as_str()).with_note(format!("there may be more: `cursor` {next}"));
    }
    Ok(answer.with_rows(&rows)?.with("crawl", crawl.to_string()))
}

fn decode_cursor(cursor: &str) -> Result<String, ToolError> {
    let decoded = BASE64URL_NOPAD.decode(cursor.as_bytes()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    decoded.ok_or_else(|| ToolError::new("the cursor is not valid").with_hint("give `next` of the answer before"))
}

/// Lists what differs between two iterations.
pub(super) async fn diff(calls: Calls<'_>, arguments: DiffArguments) -> Result<Answer, ToolError> {
    let DiffArguments { crawl, from, to, what, offset, limit } = arguments;
    let list = target(&crawl, "diff").with("from", from).with("to", to).with("what", Some(what.name()));
    let lines = calls.read_lines(list, offset.number(), limit.number()).await?;
    Ok(list_answer(&format!("`{crawl}`: what differs of {}", what.name()), lines)?.with("crawl", crawl.to_string()))
}

/// Lists the visits of a URL.
pub(super) async fn history(calls: Calls<'_>, arguments: HistoryArguments) -> Result<Answer, ToolError> {
    let HistoryArguments { crawl, url, offset, limit } = arguments;
    let list = target(&crawl, "history").with("url", Some(&url));
    let lines = calls.read_lines(list, offset.number(), limit.number()).await?;
    Ok(list_answer(&format!("`{crawl}`: visits of {url}"), lines)?
        .with("url", url.as_str())
        .with("crawl", crawl.to_string()))
}

/// Explains whether a URL is crawled.
pub(super) async fn explain(calls: Calls<'_>, arguments: ExplainArguments) -> Result<Answer, ToolError> {
    let ExplainArguments { crawl, url } = arguments;
    let explanation = calls.read(target(&crawl, "explain").with("url", Some(&url))).await?;
    let verdict = match explanation["allowed"].as_bool() {
        Some(true) => "it may be crawled",
        Some(false) => "it is not crawled",
        None => "that is not known",
    };
    let answer = Answer::new(format!("`{crawl}`: {url}: {verdict}"))
        .with("url", url.as_str())
        .with("allowed", explanation["allowed"].clone())
        .with("blocked_by", explanation["blocked_by"].clone());
    // The rule may be a line of the site's robots.txt.
    Ok(answer.with_rows(&[explanation])?.with("crawl", crawl.to_string()))
}

/// Returns a list, and how it goes on.
fn list_answer(summary: &str, Lines { rows, next }: Lines) -> Result<Answer, ToolError> {
    let mut answer = Answer::new(format!("{summary}: {} rows", rows.len()));
    if let Some(next) = next {
        answer = answer.with("next", next).with_note(format!("there are more: `offset` {next}"));
    }
    answer.with_rows(&rows)
}
