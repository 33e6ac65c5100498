//! `dragline status`: how far a crawl is and how it went, or which crawls there are.

mod list;

use std::io::{self, Write};
use std::path::Path;

use dragline_domain::ids::CrawlId;
use dragline_local::{Disk, LocalStore};
use dragline_ports::reader::Reader;
use serde::Serialize;

use crate::args::{Answer, Of, StatusArgs};
use crate::error::{CliError, while_doing};
use crate::exit::Exit;
use crate::found::{self, Found};
use crate::place::Directory;
use crate::summary::{self, Age, Summary};
use crate::terminal::{Colour, Shade, bytes, write_json};
use list::List;

/// The line before the summary of a running crawl.
const RUNNING: &str = "A crawl is running here; the figures cover what it has committed so far.";

/// Whether a process is crawling into a data directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    /// A process is.
    GoesOn,
    /// No process is.
    Over,
}

impl Run {
    /// Returns whether the directory is in use. If the system cannot tell, it counts as not in use: the figures are right either way.
    fn of(data: &Path) -> Self {
        if LocalStore::is_in_use(data).unwrap_or(false) { Self::GoesOn } else { Self::Over }
    }

    fn is_going_on(self) -> bool {
        self == Self::GoesOn
    }
}

/// The output of `--json`.
#[derive(Serialize)]
struct Status<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    /// `None` for a stack, which runs on its own.
    is_running: Option<bool>,
    /// What the disk holds; `None` for a stack, and for an earlier iteration.
    disk: Option<Disk>,
}

/// Prints the summary of an iteration on standard output; or, if a data directory holds several crawls and none is named, which these are.
///
/// # Errors
/// There is no such crawl or iteration, or it cannot be read.
pub(crate) async fn status(args: &StatusArgs) -> Result<Exit, CliError> {
    match args.of.which()? {
        Of::Directory { data, crawl } => match found::crawls(data)? {
            crawls if crawls.len() > 1 && crawl.is_none() && args.iteration.is_none() => {
                print_list(args, &List::read(data, crawls).await?)
            }
            _ => match found::in_directory(data, crawl)? {
                Some(found) => print(args, &found).await,
                None => Err(found::nothing_begun(data)),
            },
        },
        #[cfg(feature = "stack")]
        Of::Stack { crawl, stack } => print(args, &crate::stack::find(crawl, stack).await?).await,
    }?;
    Ok(Exit::Done)
}

/// Prints the summary of a crawl.
async fn print(args: &StatusArgs, found: &Found<impl Reader>) -> Result<(), CliError> {
    let summary = summary::read(found, args.iteration).await?;
    let run = summary.place.directory().map(|directory| Run::of(&directory.path));
    let disk = match summary.place.directory() {
        Some(directory) if summary.age == Age::Latest => Some(disk(&directory.path, Some(&found.crawl))?),
        Some(_) | None => None,
    };
    match args.answer() {
        Answer::Json => {
            write_json(io::stdout().lock(), &Status { is_running: run.map(Run::is_going_on), disk, summary: &summary })
        }
        Answer::Text => {
            let is_over = run == Some(Run::Over);
            let go_on = summary.place.directory().filter(|_| is_over).map(Directory::command_to_resume);
            let colour = Colour::of_stream(&io::stdout());
            let mut text = summary::text(&summary, go_on.as_deref(), colour);
            if run == Some(Run::GoesOn) && summary.age == Age::Latest {
                text = format!("{RUNNING}\n{text}");
            }
            if let Some(disk) = disk {
                text = format!("{text}\n\n{}", on_disk(&disk, colour));
            }
            writeln!(io::stdout().lock(), "{text}")
        }
    }
    .map_err(while_doing("writing to standard output"))
}

/// Returns what a data directory takes of the disk.
///
/// # Errors
/// It cannot be read.
fn disk(data: &Path, crawl: Option<&CrawlId>) -> Result<Disk, CliError> {
    let measured = LocalStore::open_read_only(data)?.disk(crawl);
    measured.map_err(|source| CliError::Query { data: data.to_owned(), source })
}

/// Returns what the disk holds as text, without a final line break.
fn on_disk(disk: &Disk, colour: Colour) -> String {
    let about = if disk.is_estimated { "about " } else { "" };
    let lines = [
        (bytes(disk.warc), "WARC"),
        (format!("{about}{}", bytes(disk.documents)), "documents and text"),
        (format!("{about}{}", bytes(disk.log)), "log"),
        (format!("{about}{}", bytes(disk.frontier)), "frontier"),
        (bytes(disk.free), "free in the database"),
    ];
    let width = lines.iter().map(|(size, _)| size.chars().count()).max().unwrap_or_default().max(11);
    let lines = lines.map(|(size, kind)| format!("{size:>width$}  {kind}"));
    format!("{}\n{}", colour.paint(Shade::Head, "on disk"), lines.join("\n"))
}

/// Prints which crawls a data directory holds.
fn print_list(args: &StatusArgs, list: &List<'_>) -> Result<(), CliError> {
    match args.answer() {
        Answer::Json => write_json(io::stdout().lock(), list),
        Answer::Text => writeln!(io::stdout().lock(), "{}", list.text(Colour::of_stream(&io::stdout()))),
    }
    .map_err(while_doing("writing to standard output"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_told_what_the_disk_holds_by_kind() {
        let disk = Disk {
            warc: 3 << 30,
            documents: 40 << 20,
            log: 5 << 20,
            frontier: 600 << 10,
            free: 0,
            is_estimated: false,
        };
        insta::assert_snapshot!(on_disk(&disk, Colour::Off), @r"
        on disk
           3.00 GiB  WARC
          40.00 MiB  documents and text
           5.00 MiB  log
         600.00 KiB  frontier
                0 B  free in the database
        ");
        let estimated = on_disk(&Disk { is_estimated: true, ..disk }, Colour::Off);
        assert!(estimated.contains("about 40.00 MiB  documents and text"), "{estimated}");
    }
}
