//! `dragline status`: the progress and result of a crawl, or a list of crawls.

mod list;

use std::io::{self, Write};
use std::path::Path;

use dragline_domain::frontier::IterationStatus;
use dragline_domain::ids::CrawlId;
use dragline_local::{Disk, LocalStore, Pulse, SystemClock};
use dragline_ports::clock::Clock as _;
use dragline_ports::reader::Reader;
use jiff::Timestamp;
use serde::Serialize;

use crate::args::{Answer, CrawlSource, StatusArgs};
use crate::crawl_handle::{self, CrawlHandle};
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::location::Directory;
use crate::summary::{self, Age, Summary};
use crate::terminal::{Colour, Shade, Width, bytes, write_json};
use list::List;

/// The line before the summary of a running crawl.
const RUNNING: &str = "A crawl is running here; the figures cover what it has committed so far.";

/// Whether a process is crawling in a data directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProcessState {
    /// One is.
    GoesOn,
    /// None is.
    Over,
}

impl ProcessState {
    /// Returns whether the directory is in use. If the system cannot tell, it counts as not in use:
    /// the figures are right either way.
    fn find(data: &Path) -> Self {
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
    /// The time of the last commit; `None` before the first, for a stack, and for an earlier
    /// iteration.
    last_commit: Option<Timestamp>,
    /// Why no page is requested; `None` if pages are or may be, for a stack, and for an earlier
    /// iteration.
    stands_still: Option<IdleReason>,
    /// Disk usage; `None` for a stack, and for an earlier iteration.
    disk: Option<Disk>,
}

/// Why no page is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "why", rename_all = "snake_case")]
enum IdleReason {
    /// The iteration is over.
    Over,
    /// It is open, and no process crawls: `dragline crawl` resumes it.
    NobodyCrawls,
    /// It is paused.
    Paused,
    /// Every site waits: for its delay, or because it asked for a pause.
    AllSitesWait {
        /// When the first site may be visited.
        until: Timestamp,
    },
}

impl IdleReason {
    fn decide(status: IterationStatus, run: ProcessState, pulse: &Pulse, now: Timestamp) -> Option<Self> {
        match (status, run, pulse.next_ready) {
            (IterationStatus::Closed, ..) => Some(Self::Over),
            (_, ProcessState::Over, _) => Some(Self::NobodyCrawls),
            (IterationStatus::Paused, ..) => Some(Self::Paused),
            (_, ProcessState::GoesOn, Some(until)) if pulse.origins_leased == 0 && until > now => {
                Some(Self::AllSitesWait { until })
            }
            (_, ProcessState::GoesOn, _) => None,
        }
    }
}

/// Prints the summary of an iteration on standard output, or a list of crawls if a data directory
/// has several and none is named.
///
/// # Errors
/// There is no such crawl or iteration, or it cannot be read.
pub(crate) async fn status(args: &StatusArgs) -> Result<Exit, Failure> {
    match args.of.which()? {
        CrawlSource::Directory { data, crawl } => match crawl_handle::crawls(data.path)? {
            crawls if crawls.len() > 1 && crawl.is_none() && args.iteration.is_none() => {
                print_list(args, &List::read(data.path, crawls).await?)
            }
            _ => match crawl_handle::in_directory(data, crawl)? {
                Some(found) => print(args, &found).await,
                None => Err(crawl_handle::no_crawl_error(data)),
            },
        },
        #[cfg(feature = "stack")]
        CrawlSource::Stack { crawl, stack } => print(args, &crate::stack::find(crawl, stack).await?).await,
    }?;
    Ok(Exit::Done)
}

/// Prints the summary of a crawl.
async fn print(args: &StatusArgs, found: &CrawlHandle<impl Reader>) -> Result<(), Failure> {
    let summary = summary::read(found, args.iteration).await?;
    let run = summary.place.directory().map(|directory| ProcessState::find(&directory.path));
    let directory = summary.place.directory().filter(|_| summary.age == Age::Latest);
    let disk = directory.map(|directory| disk(&directory.path, Some(&found.crawl))).transpose()?;
    match args.answer() {
        Answer::Json => {
            let pulse = directory.map(|directory| pulse(&directory.path, &found.crawl)).transpose()?;
            let now = SystemClock::new().now();
            let stands_still =
                pulse.zip(run).and_then(|(pulse, run)| IdleReason::decide(summary.standing.status, run, &pulse, now));
            let (is_running, last_commit) =
                (run.map(ProcessState::is_going_on), pulse.and_then(|pulse| pulse.last_commit));
            let status = Status { is_running, last_commit, stands_still, disk, summary: &summary };
            write_json(io::stdout().lock(), &status)
        }
        Answer::Text => {
            let is_over = run == Some(ProcessState::Over);
            let go_on = summary.place.directory().filter(|_| is_over).map(Directory::command_to_resume);
            let colour = Colour::for_stream(&io::stdout());
            let mut text = summary::text(&summary, go_on.as_deref(), colour);
            if run == Some(ProcessState::GoesOn) && summary.age == Age::Latest {
                text = format!("{RUNNING}\n{text}");
            }
            if let Some(disk) = disk {
                text = format!("{text}\n\n{}", on_disk(&disk, colour));
            }
            writeln!(io::stdout().lock(), "{text}")
        }
    }
    .map_err(while_writing)
}

/// Returns the disk usage of a data directory.
///
/// # Errors
/// It cannot be read.
fn disk(data: &Path, crawl: Option<&CrawlId>) -> Result<Disk, Failure> {
    LocalStore::open_read_only(data)?.disk(crawl).map_err(crawl_handle::cannot_query(data))
}

/// Returns the recent activity of a crawl in a data directory.
///
/// # Errors
/// It cannot be read.
fn pulse(data: &Path, crawl: &CrawlId) -> Result<Pulse, Failure> {
    LocalStore::open_read_only(data)?.pulse(crawl).map_err(crawl_handle::cannot_query(data))
}

/// Returns the disk usage as text, without a final line break.
fn on_disk(disk: &Disk, colour: Colour) -> String {
    let about = if disk.is_estimated { "about " } else { "" };
    let lines = [
        (bytes(disk.warc), "WARC"),
        (format!("{about}{}", bytes(disk.documents)), "documents and text"),
        (format!("{about}{}", bytes(disk.log)), "log"),
        (format!("{about}{}", bytes(disk.frontier)), "frontier"),
        (bytes(disk.free), "free in the database"),
        (bytes(disk.journal), "journal of the database"),
        (bytes(disk.graph), "link graph, which can be made again"),
        (bytes(disk.search), "word index, which can be made again"),
    ];
    let width = lines.iter().map(|(size, _)| size.chars().count()).max().unwrap_or_default().max(11);
    let lines = lines.map(|(size, kind)| format!("{size:>width$}  {kind}"));
    format!("{}\n{}", colour.paint(Shade::Head, "on disk"), lines.join("\n"))
}

/// Prints the crawls of a data directory.
fn print_list(args: &StatusArgs, list: &List<'_>) -> Result<(), Failure> {
    match args.answer() {
        Answer::Json => write_json(io::stdout().lock(), list),
        Answer::Text => {
            let stdout = io::stdout();
            let text = list.text((Width::for_stream(&stdout), Colour::for_stream(&stdout)));
            writeln!(stdout.lock(), "{text}")
        }
    }
    .map_err(while_writing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_says_why_nothing_moves() {
        use IterationStatus::{Closed, Open, Paused};
        let (now, later) = (Timestamp::UNIX_EPOCH, Timestamp::from_second(60).unwrap());
        let pulse = |origins_leased, next_ready| Pulse { last_commit: None, origins_leased, next_ready };
        let waits = Some(IdleReason::AllSitesWait { until: later });
        for (status, run, pulse, expected, why) in [
            (Closed, ProcessState::Over, pulse(0, None), Some(IdleReason::Over), "over"),
            (Closed, ProcessState::GoesOn, pulse(0, None), Some(IdleReason::Over), "another crawl is running here"),
            (Open, ProcessState::Over, pulse(1, Some(later)), Some(IdleReason::NobodyCrawls), "its process died"),
            (Paused, ProcessState::GoesOn, pulse(0, Some(now)), Some(IdleReason::Paused), "nothing is requested"),
            (Open, ProcessState::GoesOn, pulse(1, Some(later)), None, "a site is being visited"),
            (Open, ProcessState::GoesOn, pulse(0, Some(now)), None, "one may be visited now"),
            (Open, ProcessState::GoesOn, pulse(0, Some(later)), waits, "they all wait"),
            (Open, ProcessState::GoesOn, pulse(0, None), None, "all is being parsed"),
        ] {
            assert_eq!(IdleReason::decide(status, run, &pulse, now), expected, "{why}");
        }
    }

    #[test]
    fn disk_usage_is_shown_by_kind() {
        let disk = Disk {
            warc: 3 << 30,
            documents: 40 << 20,
            log: 5 << 20,
            frontier: 600 << 10,
            free: 0,
            journal: 0,
            graph: 7 << 20,
            search: 1 << 20,
            is_estimated: false,
        };
        insta::assert_snapshot!(on_disk(&disk, Colour::Off), @r"
        on disk
           3.00 GiB  WARC
          40.00 MiB  documents and text
           5.00 MiB  log
         600.00 KiB  frontier
                0 B  free in the database
                0 B  journal of the database
           7.00 MiB  link graph, which can be made again
           1.00 MiB  word index, which can be made again
        ");
        let estimated = on_disk(&Disk { is_estimated: true, ..disk }, Colour::Off);
        assert!(estimated.contains("about 40.00 MiB  documents and text"), "{estimated}");
    }
}
