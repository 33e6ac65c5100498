//! `dragline get`: prints the stored body of a URL.

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
use dragline_formats::warc::ReadLimits;
use dragline_local::DirectoryArchive;
use dragline_ports::archive::Archive;
use dragline_ports::reader::Reader;

use crate::args::{Coding, CrawlSource, GetArgs, Parts, shell_word};
use crate::crawl_handle::{self, CrawlHandle};
use crate::definition_source::parse_url;
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::terminal::{Console, safe, safe_text, unless_closed};
use crate::url_visits;
use article::ArticleText;
use choose::{ChosenAnswer, VisitQuery, choose, describe_outcome};
use content::{Content, content};

/// The longest body that is loaded into memory, in its content coding. A longer one is streamed.
const HELD_BYTES_MAX: u64 = 32 << 20;

/// Prints a stored body on standard output.
///
/// # Errors
/// The URL is not valid, the crawl does not know it or cannot be read, or there is no printable
/// body.
pub(crate) async fn get(args: &GetArgs, console: &Console) -> Result<Exit, Failure> {
    // Reports a mistake in the URL before reading anything.
    parse_url(&args.url)?;
    match args.of.which()? {
        CrawlSource::Directory { data, crawl } => match crawl_handle::in_directory(data, crawl)? {
            Some(found) => print(args, &found, &DirectoryArchive::new(data.path), console).await,
            None => Err(crawl_handle::no_crawl_error(data)),
        },
        #[cfg(feature = "stack")]
        CrawlSource::Stack { crawl, stack } => {
            let (found, archive) = crate::stack::find_with_archive(crawl, stack).await?;
            print(args, &found, &archive, console).await
        }
    }?;
    Ok(Exit::Done)
}

async fn print(
    args: &GetArgs,
    found: &CrawlHandle<impl Reader>,
    archive: &impl Archive,
    console: &Console,
) -> Result<(), Failure> {
    // Reports an iteration that does not exist or was pruned.
    found.whole_iteration(args.iteration).await?;
    let url = &url_visits::resolve_url(found, &args.url).await?;
    let mut visits = url_visits::read_visits(found, url).await?;
    // A reparse makes no request.
    visits.retain(|visit| visit.crawl_type != CrawlType::Reparse);
    let history =
        format!("dragline history {}{}", shell_word(Path::new(url.as_str())), found.place.flags(&found.crawl));
    let wanted = VisitQuery { url: url.clone(), iteration: args.iteration, history };
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
    let (text, missing) = match args.form {
        Some(form) => {
            let ArticleText { text, missing } = article::print(url, &content, form, args.extent())?;
            (Some(if io::stdout().is_terminal() { safe_text(&text).into_owned() } else { text }), missing)
        }
        None if io::stdout().is_terminal() => (Some(for_people(&content, args.parts())?), Vec::new()),
        None => (None, Vec::new()),
    };
    for remark in remarks(&chosen, &content).into_iter().chain(missing) {
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
