//! `dragline get`: prints the body of a URL, as it is stored or as its site answers now.

mod article;
mod choose;
mod content;
mod long;
mod record;
#[cfg(test)]
mod samples;

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use dragline_domain::capture::CrawlType;
use dragline_domain::definition::Draft;
use dragline_domain::url::CrawlUrl;
use dragline_formats::warc::{ReadLimits, http_response_head};
use dragline_local::{DATABASE, DirectoryArchive};
use dragline_ports::archive::Archive;
use dragline_ports::reader::{LogRow, Reader};

use crate::args::{Coding, CrawlSource, GetArgs, Parts, shell_word};
use crate::bare_host;
use crate::crawl_handle::{self, CrawlHandle};
use crate::definition_source::parse_url;
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::live::{LiveAnswer, LiveFetcher};
use crate::network::Network;
use crate::terminal::{Console, safe, safe_text, unless_closed};
use crate::url_visits;
use article::ArticleText;
use choose::{ChosenAnswer, VisitQuery, choose, describe_outcome};
use content::{Content, content, content_in};

/// The longest body that is loaded into memory, in its content coding. A longer one is streamed.
const HELD_BYTES_MAX: u64 = 32 << 20;

/// Prints pages on standard output: those of a crawl as they are stored, others as their sites
/// answer now.
///
/// # Errors
/// A URL is not valid, the crawl cannot be read, or there is no printable body. Of several URLs,
/// each is printed with its own error.
pub(crate) async fn get(args: &GetArgs, console: &Console) -> Result<Exit, Failure> {
    let urls = if args.is_stored() {
        args.urls.clone()
    } else {
        bare_host::complete_urls(&args.urls, &args.network, console).await?
    };
    // Reports a mistake in a URL before reading anything.
    urls.iter().try_for_each(|url| parse_url(url).map(drop))?;
    match args.of.which()? {
        CrawlSource::Directory { data, crawl } => {
            let is_wanted = !args.live && (args.is_stored() || data.path.join(DATABASE).is_file());
            let stored = if is_wanted { crawl_handle::in_directory(data, crawl)? } else { None };
            if stored.is_none() && args.is_stored() {
                return Err(crawl_handle::no_crawl_error(data));
            }
            print_all(args, &urls, stored.map(|found| (found, DirectoryArchive::new(data.path))), console).await
        }
        #[cfg(feature = "stack")]
        CrawlSource::Stack { crawl, stack } => {
            print_all(args, &urls, Some(crate::stack::find_with_archive(crawl, stack).await?), console).await
        }
    }
}

async fn print_all(
    args: &GetArgs,
    urls: &[String],
    stored: Option<(CrawlHandle<impl Reader>, impl Archive)>,
    console: &Console,
) -> Result<Exit, Failure> {
    let asked: Vec<CrawlUrl> = urls.iter().filter_map(|text| parse_url(text).ok()).collect();
    let draft = args.network.change_for(&asked, Draft::for_seeds(Vec::new()));
    let mut sites = Sites { args, draft: &draft, console, client: None };
    let mut exit = Exit::Done;
    for text in urls {
        let known = match &stored {
            Some((found, archive)) if args.is_stored() || url_visits::is_visited(found, text).await? => {
                Some((found, archive))
            }
            Some((found, _)) => {
                console.say(&safe(&format!("the crawl `{}` does not know {text}: asking its site", found.crawl)));
                None
            }
            None => None,
        };
        let [_] = urls else {
            let line = match known {
                Some((found, archive)) => stored_line(args, text, found, archive).await,
                None => live_line(args, text, &mut sites).await,
            };
            let line = line.unwrap_or_else(|failure| {
                exit = Exit::NotAllWell;
                article::error_line(text, &failure.message)
            });
            unless_closed(write(&[line.as_bytes()])).map_err(while_writing)?;
            continue;
        };
        match known {
            Some((found, archive)) => print(args, text, found, archive, console).await?,
            None => {
                let (url, block) = sites.ask(text).await?;
                print_content(args, &url, &content_in(&block, None, args.coding())?, Vec::new(), console)?;
            }
        }
    }
    Ok(exit)
}

/// The sites that are asked. A client is set up for the first one, as certificates are read for it.
struct Sites<'a> {
    args: &'a GetArgs,
    draft: &'a Draft,
    console: &'a Console,
    client: Option<LiveFetcher<'a>>,
}

impl Sites<'_> {
    /// Asks a site for a page. Returns its URL, and the answer as it would be stored.
    async fn ask(&mut self, text: &str) -> Result<(CrawlUrl, Vec<u8>), Failure> {
        let client = match &mut self.client {
            Some(client) => client,
            none => {
                let network = Network::from_args(&self.args.network)?;
                none.insert(LiveFetcher::connect(&network, self.draft, self.console).await?)
            }
        };
        let asked = parse_url(text)?;
        let LiveAnswer { url, status, reason, headers, body, .. } = client.follow(asked.clone()).await?;
        if url != asked {
            self.console.say(&safe(&format!("{asked} leads to {url}")));
        }
        let head = http_response_head(status, &reason, &headers, body.len() as u64);
        Ok((url, [head, body].concat()))
    }
}

async fn live_line(args: &GetArgs, text: &str, sites: &mut Sites<'_>) -> Result<String, Failure> {
    let (url, block) = sites.ask(text).await?;
    article::line(&url, &content_in(&block, None, Coding::Kept)?, args.extent())
}

async fn stored_line(
    args: &GetArgs,
    text: &str,
    found: &CrawlHandle<impl Reader>,
    archive: &impl Archive,
) -> Result<String, Failure> {
    let (wanted, visits) = read_visits(args, text, found).await?;
    let loaded =
        record::load_with_body(found, archive, (&wanted, ReadLimits::default()), &choose(&visits, &wanted)?).await?;
    if !loaded.record.is_whole() {
        return Err(long::too_long());
    }
    article::line(&wanted.url, &content(&loaded.record, Coding::Kept)?, args.extent())
}

/// Returns the visits of a URL, and which of them is wanted.
async fn read_visits(
    args: &GetArgs,
    text: &str,
    found: &CrawlHandle<impl Reader>,
) -> Result<(VisitQuery, Vec<LogRow>), Failure> {
    // Reports an iteration that does not exist or was pruned.
    found.whole_iteration(args.iteration).await?;
    let url = url_visits::resolve_url(found, text).await?;
    let mut visits = url_visits::read_visits(found, &url).await?;
    // A reparse makes no request.
    visits.retain(|visit| visit.crawl_type != CrawlType::Reparse);
    let history =
        format!("dragline history {}{}", shell_word(Path::new(url.as_str())), found.place.flags(&found.crawl));
    Ok((VisitQuery { url, iteration: args.iteration, history }, visits))
}

async fn print(
    args: &GetArgs,
    text: &str,
    found: &CrawlHandle<impl Reader>,
    archive: &impl Archive,
    console: &Console,
) -> Result<(), Failure> {
    let (wanted, visits) = read_visits(args, text, found).await?;
    let chosen = choose(&visits, &wanted)?;
    let held = if args.form.is_some() { ReadLimits::default() } else { ReadLimits::holding(HELD_BYTES_MAX) };
    let loaded = record::load_with_body(found, archive, (&wanted, held), &chosen).await?;
    let record = &loaded.record;
    if !record.is_whole() {
        // Only the beginning is in memory.
        let content = content(record, Coding::Kept)?;
        if args.form.is_some() {
            return Err(long::too_long());
        }
        let written = long::print(&loaded, &content, args.parts(), args.coding())?;
        remarks(&chosen, &content).iter().for_each(|remark| console.say(&safe(remark)));
        return unless_closed(written).map_err(while_writing);
    }
    let content = content(record, args.coding())?;
    let remarks = remarks(&chosen, &content);
    print_content(args, &wanted.url, &content, remarks, console)
}

fn print_content(
    args: &GetArgs,
    url: &CrawlUrl,
    content: &Content<'_>,
    remarks: Vec<String>,
    console: &Console,
) -> Result<(), Failure> {
    let (text, missing) = match args.form {
        Some(form) => {
            let ArticleText { text, missing } = article::print(url, content, form, args.extent())?;
            (Some(if io::stdout().is_terminal() { safe_text(&text).into_owned() } else { text }), missing)
        }
        None if io::stdout().is_terminal() => (Some(for_people(content, args.parts())?), Vec::new()),
        None => (None, Vec::new()),
    };
    for remark in remarks.into_iter().chain(missing) {
        console.say(&safe(&remark));
    }
    let written = match text {
        Some(text) => write(&[text.as_bytes()]),
        None => match args.parts() {
            Parts::Body => write(&[&content.body]),
            Parts::All => write(&[content.head, &content.body]),
        },
    };
    unless_closed(written).map_err(while_writing)
}

/// Returns the text for a terminal.
fn for_people(content: &Content<'_>, parts: Parts) -> Result<String, Failure> {
    let body = content.body_for_people()?;
    Ok(match parts {
        Parts::Body => body,
        Parts::All => content.head_for_people() + &body,
    })
}

fn write(parts: &[&[u8]]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    parts.iter().try_for_each(|part| out.write_all(part))?;
    out.flush()
}

/// Returns notes for the reader: that a later visit was not answered, that the body is an error
/// page, or that it is incomplete.
fn remarks(chosen: &ChosenAnswer<'_>, content: &Content<'_>) -> Vec<String> {
    let iteration = chosen.answer.visit.iteration;
    let unanswered = chosen.unanswered.map(|visit| {
        let ended = describe_outcome(visit);
        format!("there was no answer in iteration {} ({ended}); this is from iteration {iteration}", visit.iteration)
    });
    let is_good = (200..300).contains(&content.status);
    let name = chosen.answer.visit.outcome.name();
    let status =
        (!is_good).then(|| format!("the answer in iteration {iteration} had status {} ({name})", content.status));
    [unanswered, status, content.cut.clone()].into_iter().flatten().collect()
}
