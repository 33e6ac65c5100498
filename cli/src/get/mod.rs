//! `dragline get`: the body of a URL as it is stored.

mod article;
mod choose;
mod content;
mod error;
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
use crate::error::{CliError, WRITING, while_doing};
use crate::exit::Exit;
use crate::source::parse_url;
use crate::terminal::{Console, safe, safe_text, unless_closed};
use crate::visits;
use article::Printed;
use choose::{Chosen, VisitQuery, choose, ending};
use content::{Content, content};
pub(crate) use error::GetError;

/// The longest body that is held in memory to be printed, in its content coding. A longer one is copied.
const HELD_BYTES_MAX: u64 = 32 << 20;

/// Prints a stored body on standard output.
///
/// # Errors
/// The URL is not valid, the crawl does not know it or cannot be read, or there is no body that can be printed.
pub(crate) async fn get(args: &GetArgs, console: &Console) -> Result<Exit, CliError> {
    // A mistake in it is told before anything is read.
    parse_url(&args.url)?;
    match args.of.which()? {
        CrawlSource::Directory { data, crawl } => match crawl_handle::in_directory(data, crawl)? {
            Some(found) => print(args, &found, &DirectoryArchive::new(data.path), console).await,
            None => Err(crawl_handle::nothing_begun(data)),
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
) -> Result<(), CliError> {
    // Reports an iteration that does not exist, or is not whole.
    found.whole_iteration(args.iteration).await?;
    let url = &visits::url_of(found, &args.url).await?;
    let mut visits = visits::read_visits(found, url).await?;
    // What was made again of the archive was not requested.
    visits.retain(|visit| visit.crawl_type != CrawlType::Reparse.name());
    let history =
        format!("dragline history {}{}", shell_word(Path::new(url.as_str())), found.place.flags(&found.crawl));
    let wanted = VisitQuery { url: url.clone(), iteration: args.iteration, history };
    let chosen = choose(&visits, &wanted)?;
    let held = if args.form.is_some() { ReadLimits::default() } else { ReadLimits::holding(HELD_BYTES_MAX) };
    let loaded = record::with_body(found, archive, (&wanted, held), &chosen).await?;
    let record = &loaded.record;
    if !record.is_whole() {
        // What is held is only its beginning.
        let content = content(record, Coding::Kept)?;
        if args.form.is_some() {
            return Err(GetError::TooLong.into());
        }
        let written = long::print(&loaded, &content, args.parts(), args.coding())?;
        remarks(&chosen, &content).iter().for_each(|remark| console.say(&safe(remark)));
        return unless_closed(written).map_err(while_doing(WRITING));
    }
    let content = content(record, args.coding())?;
    let (text, missing) = match args.form {
        Some(form) => {
            let Printed { text, missing } = article::print(url, &content, form, args.extent())?;
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
    unless_closed(written).map_err(while_doing(WRITING))
}

/// Returns what a terminal is shown.
fn for_people(content: &Content<'_>, parts: Parts) -> Result<String, GetError> {
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

/// Returns what somebody who reads the body should know: that a later visit was not answered, that it is the text of an error, or not whole.
fn remarks(chosen: &Chosen<'_>, content: &Content<'_>) -> Vec<String> {
    let iteration = chosen.answer.visit.iteration;
    let unanswered = chosen.unanswered.map(|visit| {
        let ended = ending(visit);
        format!("there was no answer in iteration {} ({ended}); this is from iteration {iteration}", visit.iteration)
    });
    let is_good = (200..300).contains(&content.status);
    let name = &chosen.answer.visit.outcome_name;
    let status =
        (!is_good).then(|| format!("the answer in iteration {iteration} had status {} ({name})", content.status));
    [unanswered, status, content.cut.clone()].into_iter().flatten().collect()
}
