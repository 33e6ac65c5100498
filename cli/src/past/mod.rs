//! `dragline reparse --all`: rebuilds the documents of all iterations, without an iteration of its
//! own, in a data directory or a stack.

mod progress;

use std::io::{self, Write};

use dragline_domain::frontier::Selection;
use dragline_domain::ids::CrawlId;
use dragline_domain::remake::{RemakeJob, RemakeTotals};
use dragline_pipeline::World;
use dragline_pipeline::parse::past::{RemakeEnd, remake};
use dragline_ports::remaking::Remaking;
use serde::Serialize;

use self::progress::Progress;
use crate::args::Answer;
use crate::error::Failure;
use crate::exit::Exit;
use crate::location::CrawlLocation;
use crate::terminal::{Console, Verbosity, plural, write_json};

/// The result. The field names are those of `--json`.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// The crawl's location.
    #[serde(flatten)]
    pub(crate) place: CrawlLocation,
    pub(crate) crawl: CrawlId,
    /// The totals since the work began.
    #[serde(flatten)]
    pub(crate) done: RemakeTotals,
}

/// Rebuilds the documents, and shows progress. Returns the job, which the caller ends once all
/// derived data is up to date.
///
/// # Errors
/// An iteration is not over, another process rebuilds them by another definition, or something
/// cannot be read or written.
pub(crate) async fn remake_all(
    world: &impl World,
    remaking: &impl Remaking,
    (crawl, place): (&CrawlId, &CrawlLocation),
    selection: Selection,
    console: &Console,
) -> Result<(RemakeJob, RemakeTotals), Failure> {
    console.say(&format!("{crawl}: making the documents of all kept iterations again"));
    let progress = Progress::for_console(console, crawl);
    let tell = |done: &RemakeTotals| progress.show(done);
    match remake(world, remaking, crawl, selection, env!("CARGO_PKG_VERSION"), tell).await? {
        RemakeEnd::Through(job, done) => Ok((job, done)),
        RemakeEnd::Busy(_) => Err(place.not_over_error(crawl)),
        RemakeEnd::Superseded => Err(Failure::new(format!(
            "somebody else makes the documents of `{crawl}` again since, by another definition, condition or program"
        ))
        .with_hint("the same command begins anew, and stops the other")),
    }
}

impl Report {
    /// Prints the report on standard output.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub(crate) fn print(&self, answer: Answer, console: &Console) -> io::Result<()> {
        match answer {
            Answer::Json => write_json(io::stdout().lock(), self),
            Answer::Text if console.verbosity() == Verbosity::Quiet => Ok(()),
            Answer::Text => writeln!(io::stdout().lock(), "{}", self.text()),
        }
    }

    /// Returns the exit code.
    pub(crate) const fn exit(&self) -> Exit {
        if self.done.kept == 0 && self.done.misfits == 0 { Exit::Done } else { Exit::NotAllWell }
    }

    fn text(&self) -> String {
        let Self { crawl, done: RemakeTotals { misfits, kept, .. }, .. } = self;
        let mut said = format!("{crawl}: {}", amounts(&self.done));
        if *misfits > 0 {
            said.push_str(&format!("; {misfits} do not fit the definition's types"));
        }
        if *kept > 0 {
            said.push_str(&format!("; {kept} stay as they were, as their answers are missing or cannot be read"));
        }
        said
    }
}

/// Returns the totals as text.
fn amounts(done: &RemakeTotals) -> String {
    let RemakeTotals { remade, different, .. } = done;
    format!("{} made again, {different} of them with another content", plural(*remade, "document"))
}
