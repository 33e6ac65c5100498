//! `dragline explain`: whether a URL would be crawled and which rule decides, or what an outcome
//! means.

mod outcome;
mod text;

use std::io::{self, Write};

use dragline_domain::definition::{Definition, Draft};
use dragline_domain::frontier::SeedDistance;
use dragline_domain::url::CrawlUrl;
use dragline_formats::robots::{BODY_BYTES_MAX, RobotsFetch, RobotsPolicy, RobotsRecord};
use dragline_local::{Allowance, LocalStore};
use dragline_pipeline::context::CrawlContext;
use dragline_pipeline::crawl::{BrokenOffPolicy, fetch_licence, fetch_robots};
use dragline_ports::frontier::CrawlRow;
use dragline_ports::reader::Reader;
use dragline_service::explained::{self, Explanation, SEED, SiteRobots, StoredUrl};

use crate::args::{Answer, CrawlSource, ExplainArgs, NetworkArgs};
use crate::crawl_handle::{self, CrawlHandle};
use crate::definition_source::{parse_url, parse_url_by, read_at_most, read_definition};
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::network::Network;
use crate::terminal::write_json;

/// Prints the answer on standard output, and returns it as the exit code.
///
/// # Errors
/// The URL, the definition or a file is not valid, or the crawl cannot be read.
pub(crate) async fn explain(args: &ExplainArgs) -> Result<Exit, Failure> {
    let Some(text) = args.url.as_deref() else { return explain_outcome(args) };
    // Reports a mistake in the URL before reading anything.
    parse_url(text)?;
    let rules = match args.which()? {
        None => Rules::new_crawl(args, text)?,
        Some(CrawlSource::Directory { data, crawl }) => match crawl_handle::in_directory(data, crawl)? {
            Some(found) => {
                let reading = LocalStore::open_read_only(data.path)?;
                let failed = |error| found.read_error(error);
                let row = reading.load_crawl(&found.crawl).map_err(failed)?;
                let allowed = reading.allowed(&found.crawl).map_err(failed)?;
                Rules::from_stored_crawl(
                    &found,
                    row.ok_or_else(|| crawl_handle::no_crawl_error(data))?,
                    allowed,
                    args,
                    text,
                )
                .await?
            }
            None => return Err(crawl_handle::no_crawl_error(data)),
        },
        #[cfg(feature = "stack")]
        Some(CrawlSource::Stack { crawl, stack }) => {
            let (found, _, row) = crate::stack::find_with_definition(crawl, stack).await?;
            Rules::from_stored_crawl(&found, row, Vec::new(), args, text).await?
        }
    };
    let Rules { context, url, found_at, network, crawl } = &rules;
    let robots = async || site_robots(args, network, context, url).await;
    let licence = async |policy: &RobotsPolicy, at: &CrawlUrl| {
        // With a robots.txt from a file nothing is requested.
        if args.robots_file.is_some() {
            return Ok(None);
        }
        let fetcher = Network::from_args(network)?.fetcher(&context.definition).await?;
        Ok(Some(fetch_licence(&fetcher, context.limits(), (&url.origin(), policy), at).await))
    };
    let ruling = explained::ruling(context, (url, *found_at), network.address_policy(), robots, licence).await?;
    let exit = if ruling.verdict.is_allowed() { Exit::Done } else { Exit::NotAllWell };
    let explanation = Explanation::new(text, url, ruling, &context.definition);
    print(&explanation.with_crawl(crawl.clone()), args.answer()).map_err(while_writing)?;
    Ok(exit)
}

/// The rules that apply to a URL, and their source.
struct Rules {
    context: CrawlContext,
    /// As the crawl normalises it.
    url: CrawlUrl,
    found_at: SeedDistance,
    network: NetworkArgs,
    /// The URL's state in a stored crawl; `None` in a new one.
    crawl: Option<StoredUrl>,
}

impl Rules {
    /// Returns the rules of a new crawl.
    fn new_crawl(args: &ExplainArgs, text: &str) -> Result<Self, Failure> {
        let (definition, url) = definition_and_url(args, text)?;
        let context = CrawlContext::new(CrawlRow::first(definition))?;
        Ok(Self { context, url, found_at: SEED, network: args.network.clone(), crawl: None })
    }

    /// Returns the rules of a stored crawl, as its next iteration will apply them.
    async fn from_stored_crawl(
        found: &CrawlHandle<impl Reader>,
        row: CrawlRow,
        allowed: Vec<Allowance>,
        args: &ExplainArgs,
        text: &str,
    ) -> Result<Self, Failure> {
        let draft = args.network.change(row.definition.into_draft());
        let url = parse_url_by(text, &draft.strip_query_parameters)?;
        let next_at = row.switch.next();
        let context = CrawlContext::new(CrawlRow { definition: Definition::new(draft)?, ..row })?;
        let network = args.network.with_allowances(&allowed);
        let latest = found.iteration(None).await?;
        let crawl = StoredUrl::read(&found.reader, (&found.crawl, &latest), (&context, &url), network.address_policy());
        let crawl = crawl.await.map_err(|error| found.read_error(error))?.with_next_iteration(next_at);
        let found_at = crawl.found_at(&context, &url);
        Ok(Self { context, url, found_at, network, crawl: Some(crawl) })
    }
}

/// Explains the outcome in the arguments.
fn explain_outcome(args: &ExplainArgs) -> Result<Exit, Failure> {
    if let Some(outcome) = args.outcome {
        outcome::print(io::stdout().lock(), outcome, args.answer()).map_err(while_writing)?;
    }
    Ok(Exit::Done)
}

/// Returns the definition in force, and the URL as its crawl would normalise it.
fn definition_and_url(args: &ExplainArgs, text: &str) -> Result<(Definition, CrawlUrl), Failure> {
    let plain = parse_url(text)?;
    let draft = match &args.definition {
        Some(path) => read_definition(path)?,
        // The seed is the site's first page, as some rules exempt seeds.
        None => Draft::for_seeds(vec![plain.origin().url_at("/").unwrap_or(plain)]),
    };
    let draft = args.network.change(draft);
    let url = parse_url_by(text, &draft.strip_query_parameters)?;
    Ok((Definition::new(draft)?, url))
}

async fn site_robots(
    args: &ExplainArgs,
    network: &NetworkArgs,
    context: &CrawlContext,
    url: &CrawlUrl,
) -> Result<SiteRobots, Failure> {
    match &args.robots_file {
        Some(path) => {
            // A crawl does not read robots.txt past the limit either.
            let body = read_at_most(path, BODY_BYTES_MAX + 1)?;
            Ok(Ok(RobotsRecord::from_fetch(&RobotsFetch::Answered { status: 200, body: &body })))
        }
        None => {
            let fetcher = Network::from_args(network)?.fetcher(&context.definition).await?;
            Ok(fetch_robots(&fetcher, context.limits(), &url.origin(), BrokenOffPolicy::IsFailure).await)
        }
    }
}

fn print(explanation: &Explanation, answer: Answer) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match answer {
        Answer::Text => out.write_all(text::text(explanation).as_bytes()),
        Answer::Json => write_json(out, explanation),
    }
}
