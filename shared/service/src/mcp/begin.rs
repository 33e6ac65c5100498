//! The tool that begins crawls.

use dragline_domain::ids::CrawlId;
use dragline_domain::url::{CrawlUrl, UrlRules};
use serde_json::{Value, json};

use super::allowance::{Breach, CrawlAllowance, Crawling};
use super::answer::{Answer, ToolError};
use super::api::{Calls, Target};
use super::arguments::{CrawlArguments, UrlText};

/// What makes a crawl one that agents may begin.
const HINT: &str =
    "the owner decides, with `--allow-host` and `--pages-max`, which hosts agents may crawl and how much";

/// Begins a crawl of a URL, or the next iteration of an existing crawl.
pub(super) async fn crawl(
    calls: Calls<'_>,
    crawling: &Crawling,
    arguments: CrawlArguments,
) -> Result<Answer, ToolError> {
    let Crawling::Allowed(allowance) = crawling else {
        return Err(ToolError::new("agents may not begin crawls").with_hint(HINT));
    };
    let name = match (arguments.url, arguments.crawl, arguments.pages) {
        (Some(url), name, pages) => {
            let pages = pages.map_or(allowance.pages_max, |pages| pages.number() as u64);
            add(calls, allowance, (&url, name.map(|name| name.0)), pages).await?
        }
        (None, Some(name), None) => {
            check(calls, allowance, &name.0).await?;
            name.0
        }
        (None, Some(_), Some(_)) => {
            let error = ToolError::new("`pages` is for new crawls: an existing one has it in its definition");
            return Err(error.with_hint("leave `pages` out"));
        }
        (None, None, _) => {
            let error = ToolError::new("there is neither a `url` nor a `crawl`");
            return Err(error.with_hint("give a `url` for a new crawl, or the name of an existing `crawl`"));
        }
    };
    let begun = calls.post(Target::new(format!("/crawls/{name}/iterations")), &json!({})).await?;
    let summary =
        format!("`{name}`: iteration {} is {}", begun["iteration"], begun["status"].as_str().unwrap_or("unknown"));
    Ok(Answer::new(summary).with("iteration", begun).with_note("`crawl_status` shows how far it is"))
}

/// Adds a crawl of a URL, and returns its name.
async fn add(
    calls: Calls<'_>,
    allowance: &CrawlAllowance,
    (url, name): (&UrlText, Option<CrawlId>),
    pages: u64,
) -> Result<CrawlId, ToolError> {
    let url = CrawlUrl::parse(url.as_str(), &UrlRules::default())
        .map_err(|error| ToolError::new(format!("the URL is not valid: {error}")).with_hint(allowance.to_string()))?;
    if !allowance.allows(&url) {
        return Err(refuse(&Breach::Host(url.host().to_owned()), allowance));
    }
    if pages > allowance.pages_max {
        let error = ToolError::new(format!("{pages} pages are more than are allowed: {}", allowance.pages_max));
        return Err(error.with_hint(HINT));
    }
    let name = name.unwrap_or_else(|| CrawlId::for_origin(&url.origin()));
    match calls.read(Target::new(format!("/crawls/{name}"))).await {
        // The call that adds a crawl would change the definition of one that is there.
        Ok(_) => {
            let error = ToolError::new(format!("there is a crawl `{name}` already"));
            return Err(
                error.with_hint("leave `url` out to begin its next iteration, or name the new one with `crawl`")
            );
        }
        Err(error) if error.is_not_found() => {}
        Err(error) => return Err(error),
    }
    let body = json!({
        "name": name,
        "domain_names": [url.as_str()],
        "definition": { "budget": { "pages": pages }, "content": "full", "do_not_crawl": [allowance.rule()] },
    });
    calls.post(Target::new("/crawls"), &body).await?;
    Ok(name)
}

/// Checks that the next iteration of a crawl stays within the limits.
async fn check(calls: Calls<'_>, allowance: &CrawlAllowance, name: &CrawlId) -> Result<(), ToolError> {
    let text = calls.read_text(Target::new(format!("/crawls/{name}/definition"))).await?;
    let definition = dragline_definition::parse(&text, "definition").map_err(|errors| {
        ToolError::new(format!("the definition of `{name}` cannot be read: {}", errors.one_line()))
    })?;
    allowance.check(&definition).map_err(|breach| refuse(&breach, allowance))
}

fn refuse(breach: &Breach, allowance: &CrawlAllowance) -> ToolError {
    let error = ToolError::new(format!("this crawl may not be begun: {breach}"));
    match breach {
        Breach::Host(_) => error.with_hint(allowance.to_string()).with_hint(HINT),
        Breach::Pages(_) => error.with_hint("the owner can set `budget.pages` in its definition").with_hint(HINT),
        Breach::Scope => {
            let rule = Value::from(vec![allowance.rule()]);
            error.with_hint(format!(
                "the owner can keep it there, by this key of its definition: `do_not_crawl: {rule}`"
            ))
        }
    }
}
