//! The page to extract: a file, or the answer to one request.

use std::path::Path;

use dragline_domain::definition::Draft;
use dragline_domain::url::CrawlUrl;
use dragline_formats::http_fields::Headers;
use dragline_local::SystemClock;
use dragline_ports::clock::Clock as _;
use dragline_ports::fetcher::FetchedResponse;
use jiff::Timestamp;

use crate::args::ExtractArgs;
use crate::bare_host;
use crate::definition_source::{parse_url, read_at_most};
use crate::error::Failure;
use crate::live::{LiveError, LiveFetcher};
use crate::network::Network;
use crate::terminal::Console;

/// A page with its URL.
pub(super) struct ReadPage {
    pub(super) url: CrawlUrl,
    pub(super) headers: Headers,
    pub(super) body: Vec<u8>,
    /// How it was asked for; `None` if it is a file.
    pub(super) asked: Option<AskedPage>,
}

/// A page that was asked for.
pub(super) struct AskedPage {
    /// Who asked.
    pub(super) client: LiveFetcher,
    pub(super) at: Timestamp,
    pub(super) response: FetchedResponse,
}

/// Reads the file that the arguments name, or requests the URL.
///
/// # Errors
/// The file cannot be read, the URL does not answer, or robots.txt forbids it.
pub(super) async fn read(args: &ExtractArgs, draft: &Draft, console: &Console) -> Result<ReadPage, Failure> {
    let path = Path::new(&args.target);
    if !path.is_file() {
        return fetch(args, draft, console).await;
    }
    let url = match (&args.url, draft.seeds.first()) {
        (Some(text), _) => parse_url(text)?,
        (None, Some(seed)) => seed.clone(),
        (None, None) => parse_url("https://example.org/")?,
    };
    let body = read_at_most(path, draft.fetch.body_bytes_max)?;
    // A saved page may have any name, so the type is sniffed from its first bytes.
    Ok(ReadPage { url, headers: Headers::default(), body, asked: None })
}

async fn fetch(args: &ExtractArgs, draft: &Draft, console: &Console) -> Result<ReadPage, Failure> {
    let url = parse_url(&bare_host::complete_url(&args.target, &args.network, console).await?)?;
    let network = Network::from_args(&args.network)?;
    let draft = &args.network.change_for(std::slice::from_ref(&url), draft.clone());
    let mut client = LiveFetcher::connect(&network, draft, console).await?;
    let answer = client.fetch(&url).await;
    let at = SystemClock::new().now();
    let answer = answer.map_err(|error| match error {
        LiveError::Forbidden { .. } => {
            Failure::from(error).with_hint("save the page by hand, and give the file with `--url`")
        }
        _ => error.into(),
    })?;
    match &answer.redirects_to {
        _ if answer.is_page() => {
            let response = answer.response;
            let (headers, body) = (response.headers.clone(), response.readable_body().to_vec());
            Ok(ReadPage { url, headers, body, asked: Some(AskedPage { client, at, response }) })
        }
        Some(to) => {
            let message = format!("{}, which leads to {to}", answer.status_error());
            Err(Failure::new(message).with_hint(format!("to look at that page: `dragline extract '{to}'`")))
        }
        None => Err(answer.status_error().into()),
    }
}
