//! The page to extract: a file, or the answer to one request.

use std::path::Path;

use dragline_domain::definition::Draft;
use dragline_domain::url::CrawlUrl;
use dragline_formats::http_fields::{Headers, location};
use dragline_pipeline::crawl::{BrokenOffPolicy, RefusedAddress, fetch_robots};
use dragline_ports::fetcher::{FetchLimits, FetchRequest, FetchedResponse, Fetcher};

use crate::args::ExtractArgs;
use crate::definition_source::{parse_url, read_at_most};
use crate::error::Failure;
use crate::network::Network;

/// A page with its URL.
pub(super) struct ReadPage {
    pub(super) url: CrawlUrl,
    pub(super) headers: Headers,
    pub(super) body: Vec<u8>,
}

/// Reads the file that the arguments name, or requests the URL.
///
/// # Errors
/// The file cannot be read, the URL does not answer, or robots.txt forbids it.
pub(super) async fn read(args: &ExtractArgs, draft: &Draft) -> Result<ReadPage, Failure> {
    let path = Path::new(&args.target);
    if !path.is_file() {
        return fetch(args, draft).await;
    }
    let url = match (&args.url, draft.seeds.first()) {
        (Some(text), _) => parse_url(text)?,
        (None, Some(seed)) => seed.clone(),
        (None, None) => parse_url("https://example.org/")?,
    };
    let body = read_at_most(path, draft.fetch.body_bytes_max)?;
    // A saved page may have any name, so the type is sniffed from its first bytes.
    Ok(ReadPage { url, headers: Headers::default(), body })
}

async fn fetch(args: &ExtractArgs, draft: &Draft) -> Result<ReadPage, Failure> {
    let url = parse_url(&args.target)?;
    let fetcher = Network::from_args(&args.network)?.fetcher(draft)?;
    let limits = FetchLimits::from_fetch(&draft.fetch).reading_all();
    let robots = match fetch_robots(&fetcher, limits, &url.origin(), BrokenOffPolicy::IsFailure).await {
        Ok(record) => record,
        Err(RefusedAddress(detail)) => return Err(not_answered(&url, &detail)),
    };
    let policy = robots.policy(draft.user_agent.product_token());
    let verdict = policy.verdict(url.path_and_query());
    if !verdict.is_allowed() {
        return Err(Failure::new(format!("{url} may not be requested, by robots.txt: {verdict}"))
            .with_hint("save the page by hand, and give the file with `--url`"));
    }
    let request = FetchRequest::new(url.clone(), limits);
    match fetcher.fetch(request).await.result {
        Ok(FetchedResponse { status: 200..=299, headers, body, .. }) => {
            Ok(ReadPage { url, headers, body: body.in_memory().map_or_else(Vec::new, |bytes| bytes.to_vec()) })
        }
        Ok(FetchedResponse { status, headers, .. }) => {
            let written = headers.get("location").map(|value| location(value).into_owned());
            let to = written.and_then(|written| url.join_spelled(&written, &draft.strip_query_parameters).ok());
            let message = format!("{url} was answered with status {status}");
            Err(match to {
                Some((to, _)) => Failure::new(format!("{message}, which leads to {to}"))
                    .with_hint(format!("to look at that page: `dragline extract '{to}'`")),
                None => Failure::new(message),
            })
        }
        Err(failure) => Err(not_answered(&url, &failure.detail)),
    }
}

fn not_answered(url: &CrawlUrl, detail: &str) -> Failure {
    Failure::new(format!("{url} was not answered: {detail}"))
}
