//! `dragline explain`: whether a URL would be crawled and which rule decides, or what an outcome means.

mod outcome;
#[cfg(test)]
mod tests;
mod verdict;

use std::io::{self, Write};

use dragline_domain::definition::{Definition, Draft};
use dragline_domain::url::CrawlUrl;
use dragline_formats::robots::{BODY_BYTES_MAX, RobotsFetch, RobotsRecord};
use dragline_pipeline::context::CrawlContext;
use dragline_pipeline::crawl::{BrokenOff, RefusedAddress, fetch_robots};
use dragline_ports::frontier::CrawlRow;

use crate::args::{Answer, ExplainArgs};
use crate::error::{CliError, while_doing};
use crate::exit::Exit;
use crate::network::Network;
use crate::source::{parse_url, read_at_most, read_definition};
use crate::terminal::write_json;
use verdict::Explanation;

/// Prints the answer on standard output, and returns it as the exit code.
///
/// # Errors
/// The URL, the definition or a file is not valid.
pub(crate) async fn explain(args: &ExplainArgs) -> Result<Exit, CliError> {
    let Some(text) = args.url.as_deref() else { return explain_outcome(args) };
    let (definition, url) = definition_and_url(args, text)?;
    // Stored state is not looked at: a running crawl may have been joined by other origins.
    let context = CrawlContext::new(CrawlRow::first(definition))?;
    let verdict = match verdict::before_robots(&context, &url, args.network.address_policy()) {
        Some(blocked) => blocked,
        None => {
            let robots = site_robots(args, &context, &url).await?;
            verdict::by_robots(&robots, context.definition.user_agent.product_token(), &url)
        }
    };
    let exit = if verdict.is_allowed() { Exit::Done } else { Exit::NotAllWell };
    let explanation = Explanation::new(text, &url, verdict, context.definition.scope.max_depth);
    print(&explanation, args.answer()).map_err(while_doing("writing to standard output"))?;
    Ok(exit)
}

/// Explains the outcome that was given instead of a URL.
fn explain_outcome(args: &ExplainArgs) -> Result<Exit, CliError> {
    if let Some(outcome) = args.outcome {
        outcome::print(io::stdout().lock(), outcome, args.answer())
            .map_err(while_doing("writing to standard output"))?;
    }
    Ok(Exit::Done)
}

/// Returns the definition whose rules apply, and the URL as that crawl would normalise it.
fn definition_and_url(args: &ExplainArgs, text: &str) -> Result<(Definition, CrawlUrl), CliError> {
    let plain = parse_url(text)?;
    let draft = match &args.spec {
        Some(path) => read_definition(path)?,
        // The seed is the site's first page, as some rules do not apply to seeds themselves.
        None => Draft::for_seeds(vec![plain.origin().url_at("/").unwrap_or(plain)]),
    };
    let draft = args.network.change(draft);
    let url = CrawlUrl::parse(text, &draft.strip_query_parameters)
        .map_err(|source| CliError::Url { text: text.to_owned(), source })?;
    Ok((Definition::new(draft)?, url))
}

/// A site's robots.txt, or why it must not be fetched.
type SiteRobots = Result<RobotsRecord, RefusedAddress>;

async fn site_robots(args: &ExplainArgs, context: &CrawlContext, url: &CrawlUrl) -> Result<SiteRobots, CliError> {
    match &args.robots_file {
        Some(path) => {
            // A site's robots.txt is not read past the limit either.
            let body = read_at_most(path, BODY_BYTES_MAX + 1)?;
            Ok(Ok(RobotsRecord::of(&RobotsFetch::Answered { status: 200, body: &body })))
        }
        None => {
            let fetcher = Network::of(&args.network)?.fetcher(&context.definition)?;
            Ok(fetch_robots(&fetcher, context.limits(), &url.origin(), BrokenOff::IsFailure).await)
        }
    }
}

fn print(explanation: &Explanation, answer: Answer) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match answer {
        Answer::Text => out.write_all(explanation.text().as_bytes()),
        Answer::Json => write_json(out, explanation),
    }
}
