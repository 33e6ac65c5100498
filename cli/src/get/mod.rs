//! `dragline get`: prints the body of a URL, as it is stored or as its site answers now.

mod long;
mod people;

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use dragline_domain::definition::Draft;
use dragline_domain::url::CrawlUrl;
use dragline_formats::warc::{ReadLimits, http_response_head};
use dragline_local::{DATABASE, DirectoryArchive};
use dragline_ports::archive::Archive;
use dragline_ports::reader::{LogRow, Reader};
use dragline_service::BodyForm;
use dragline_service::stored::{
    self, ArticleText, ChosenAnswer, Coding, Content, DECODED_BYTES_MAX, StoredError, VisitQuery, choose, content,
    content_in, content_of_dom, describe_outcome, load_dom, load_screenshot, load_with_body, with_requests,
};

use crate::args::{ArticleForm, CrawlSource, GetArgs, Parts, shell_word};
use crate::bare_host;
use crate::crawl_handle::{self, CrawlHandle};
use crate::definition_source::parse_url;
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::live::{LiveAnswer, LiveFetcher};
use crate::network::Network;
use crate::terminal::{Console, safe, safe_text, unless_closed};
use crate::url_visits;

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
                stored::error_line(text, &failure.message)
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
    client: Option<LiveFetcher>,
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
        let LiveAnswer { url, response, .. } = client.follow(asked.clone()).await?;
        if url != asked {
            self.console.say(&safe(&format!("{asked} leads to {url}")));
        }
        let body = response.readable_body();
        let head = http_response_head(response.status, &response.reason, &response.headers, body.len() as u64);
        Ok((url, [&head[..], &body].concat()))
    }
}

async fn live_line(args: &GetArgs, text: &str, sites: &mut Sites<'_>) -> Result<String, Failure> {
    let (url, block) = sites.ask(text).await?;
    Ok(stored::line(&url, &content_in(&block, None, Coding::Kept)?, (args.extent(), DECODED_BYTES_MAX))?)
}

async fn stored_line(
    args: &GetArgs,
    text: &str,
    found: &CrawlHandle<impl Reader>,
    archive: &impl Archive,
) -> Result<String, Failure> {
    let (wanted, visits) = read_visits(args, text, found).await?;
    let line = async {
        let chosen = choose(&visits, &wanted)?;
        let loaded = load_with_body(archive, (&wanted.url, ReadLimits::default()), &chosen).await?;
        let extent = (args.extent(), DECODED_BYTES_MAX);
        if !args.is_as_served()
            && let Some(dom) = load_dom(&loaded, &wanted.url, &chosen, Some(BodyForm::Json))?
        {
            return stored::line(&wanted.url, &content_of_dom(&dom), extent);
        }
        if !loaded.record.is_whole() {
            return Err(StoredError::TooLong);
        }
        stored::line(&wanted.url, &content(&loaded.record, Coding::Kept)?, extent)
    };
    line.await.map_err(|error| stored_failure(found, &wanted.url, error))
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
    let visits = with_requests(url_visits::read_visits(found, &url).await?);
    Ok((VisitQuery { url, iteration: args.iteration }, visits))
}

/// Returns the failure of an answer that cannot be shown, with what to do about it.
fn stored_failure(found: &CrawlHandle<impl Reader>, url: &CrawlUrl, error: StoredError) -> Failure {
    match error {
        StoredError::Port(error) => found.object_error(error),
        StoredError::NotVisited { .. } | StoredError::NotAnswered { .. } | StoredError::NotStored { .. } => {
            let (url, flags) = (shell_word(Path::new(url.as_str())), found.place.flags(&found.crawl));
            Failure::from_error(&error).with_hint(format!("to list its visits: `dragline history {url}{flags}`"))
        }
        error => error.into(),
    }
}

impl From<StoredError> for Failure {
    fn from(error: StoredError) -> Self {
        let hint = match &error {
            StoredError::Coding(_) | StoredError::Undecodable(_) => "to print it as it was received: add `--raw`",
            StoredError::NotText => "write it to a file: add `> FILE`",
            StoredError::NoMain(_) => "to print all of it: leave out `--as`",
            StoredError::TooLong => "write it to a file: add `> FILE`, without `--as`",
            StoredError::NoScreenshot => {
                "pages are pictured while they are rendered: `render: { when: always, screenshot: page }`"
            }
            StoredError::Port(_)
            | StoredError::NotVisited { .. }
            | StoredError::NotAnswered { .. }
            | StoredError::NotStored { .. }
            | StoredError::Missing(_)
            | StoredError::Record { .. }
            | StoredError::Response(_) => return Self::from_error(&error),
        };
        Self::from_error(&error).with_hint(hint)
    }
}

impl From<ArticleForm> for BodyForm {
    fn from(form: ArticleForm) -> Self {
        match form {
            ArticleForm::Text => Self::Text,
            ArticleForm::Markdown => Self::Markdown,
            ArticleForm::Html => Self::Html,
            ArticleForm::Json => Self::Json,
        }
    }
}

async fn print(
    args: &GetArgs,
    text: &str,
    found: &CrawlHandle<impl Reader>,
    archive: &impl Archive,
    console: &Console,
) -> Result<(), Failure> {
    let (wanted, visits) = read_visits(args, text, found).await?;
    let failed = |error| stored_failure(found, &wanted.url, error);
    let chosen = choose(&visits, &wanted).map_err(failed)?;
    let held = if args.form.is_some() { ReadLimits::default() } else { ReadLimits::holding(HELD_BYTES_MAX) };
    let loaded = load_with_body(archive, (&wanted.url, held), &chosen).await.map_err(failed)?;
    if args.screenshot {
        let picture = load_screenshot(&loaded, &wanted.url, &chosen).map_err(failed)?;
        if io::stdout().is_terminal() {
            return Err(StoredError::NotText.into());
        }
        return unless_closed(write(&[&picture])).map_err(while_writing);
    }
    if !args.is_as_served()
        && let Some(dom) = load_dom(&loaded, &wanted.url, &chosen, args.form.map(Into::into)).map_err(failed)?
    {
        let content = content_of_dom(&dom);
        return print_content(args, &wanted.url, &content, remarks(&chosen, &content), console);
    }
    let record = &loaded.record;
    if !record.is_whole() {
        // Only the beginning is in memory.
        let content = content(record, Coding::Kept)?;
        if args.form.is_some() {
            return Err(StoredError::TooLong.into());
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
            let ArticleText { text, missing } =
                stored::text(url, content, form.into(), (args.extent(), DECODED_BYTES_MAX))?;
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
    let body = people::body(content)?;
    Ok(match parts {
        Parts::Body => body,
        Parts::All => people::head(content) + &body,
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
