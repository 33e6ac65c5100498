//! `dragline prune`: deletes the data of old iterations that nothing refers to.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

use dragline_domain::ids::{CrawlId, Iteration};
use dragline_local::{Compaction, CompactionResult, LocalStore, SystemClock};
use dragline_pipeline::retention::{PruneTotals, Stores, prune as prune_crawl};
use dragline_ports::clock::Clock;
use dragline_ports::queue::Nobody;
use dragline_ports::retention::PruneMode;
use serde::Serialize;

use crate::args::{Answer, PruneArgs};
use crate::crawl_handle;
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::terminal::{Console, bytes, count, plural, write_json};

/// The result. The field names are those of `--json`.
#[derive(Debug, Serialize)]
struct Report<'a> {
    data: &'a Path,
    crawl: CrawlId,
    is_dry_run: bool,
    /// The newest pruned iteration; `None` if all are kept.
    pruned_up_to: Option<Iteration>,
    /// How many iterations were newly pruned.
    iterations: u64,
    visits: u64,
    documents: u64,
    warc_objects: u64,
    warc_bytes: u64,
    visits_kept: u64,
    /// By how many bytes the database shrank; `None` in a dry run.
    database_bytes: Option<u64>,
    /// The free space in the database, in bytes; `None` in a dry run.
    database_free_bytes: Option<u64>,
    #[serde(skip)]
    was_full: bool,
}

/// Prunes a crawl of a data directory, and prints the freed amounts on standard output.
///
/// # Errors
/// There is no such crawl, the directory is in use, or something cannot be deleted.
pub(crate) async fn prune(args: &PruneArgs, console: &Console) -> Result<Exit, Failure> {
    let data = args.stored.data();
    let Some(crawl) = crawl_handle::choose(data, &crawl_handle::crawls(data)?, args.stored.crawl())? else {
        return Err(crawl_handle::no_crawl_error(data));
    };
    let (now, effect) = (SystemClock::new().now(), args.effect());
    let pruned = {
        let store = args.waiting.open(data, console).await?;
        let (retained, origins, archive) = (store.retained(), store.frontier(), store.archive());
        let stores = Stores { retained: &retained, origins: &origins, archive: &archive, queue: &Nobody };
        let go_on = || ControlFlow::Continue(());
        prune_crawl(&stores, &crawl, args.retention(), effect, now, None, go_on).await?.0
    };
    let released = match effect {
        PruneMode::Delete => {
            Some(args.waiting.when_free(console, || LocalStore::compact(data, Compaction::IfWorthIt)).await?)
        }
        PruneMode::Count => None,
    };
    print(args.answer(), &Report::new(data, crawl, &pruned, released)).map_err(while_writing)?;
    Ok(Exit::Done)
}

fn print(answer: Answer, report: &Report<'_>) -> io::Result<()> {
    match answer {
        Answer::Json => write_json(io::stdout().lock(), report),
        Answer::Text => writeln!(io::stdout().lock(), "{}", report.text()),
    }
}

impl<'a> Report<'a> {
    fn new(data: &'a Path, crawl: CrawlId, pruned: &PruneTotals, released: Option<CompactionResult>) -> Self {
        Self {
            data,
            crawl,
            is_dry_run: released.is_none(),
            pruned_up_to: pruned.cut,
            iterations: pruned.iterations,
            visits: pruned.visits,
            documents: pruned.documents,
            warc_objects: pruned.objects,
            warc_bytes: pruned.object_bytes,
            visits_kept: pruned.kept,
            database_bytes: released.map(|released| released.bytes),
            database_free_bytes: released.map(|released| released.free_bytes),
            was_full: released.is_some_and(|released| released.was_full),
        }
    }

    /// Returns the report as text, without a final line break.
    fn text(&self) -> String {
        let Some(up_to) = self.pruned_up_to else {
            return format!("{}: every iteration is kept, so there is nothing to delete", self.crawl);
        };
        let which =
            if up_to == Iteration::FIRST { "iteration 1".to_owned() } else { format!("iterations 1 to {up_to}") };
        let (verb, deleted) = if self.is_dry_run { ("would be pruned", "to delete") } else { ("pruned", "deleted") };
        let mut lines = vec![
            format!("{}: {which} {verb}", self.crawl),
            format!("  log        {} {deleted}", plural(self.visits, "visit")),
            format!("  documents  {} {deleted}", count(self.documents)),
            format!("  WARC       {} {deleted}, {}", plural(self.warc_objects, "object"), bytes(self.warc_bytes)),
        ];
        if let (Some(shrunk), Some(free)) = (self.database_bytes, self.database_free_bytes) {
            let shrunk = if shrunk == 0 { String::new() } else { format!("{} smaller, ", bytes(shrunk)) };
            lines.push(format!("  database   {shrunk}{} free for what comes next", bytes(free)));
        }
        if self.was_full {
            lines.push("             the disk has too little room to make it smaller".to_owned());
        }
        if self.visits_kept > 0 {
            lines.push(format!(
                "  kept       {} of these iterations, because something refers to {}",
                plural(self.visits_kept, "visit"),
                if self.visits_kept == 1 { "it" } else { "them" }
            ));
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_amounts_are_shown_by_kind() {
        let pruned = PruneTotals {
            cut: Iteration::new(3),
            iterations: 2,
            visits: 12_345,
            documents: 1,
            objects: 246,
            object_bytes: 35 << 20,
            kept: 678,
        };
        let text = |pruned: &PruneTotals, released| {
            Report::new(Path::new("d"), "docs".parse().unwrap(), pruned, released).text()
        };
        let released = CompactionResult { bytes: 9 << 20, free_bytes: 4_096, was_full: false };
        insta::assert_snapshot!(text(&pruned, Some(released)), @r"
        docs: iterations 1 to 3 pruned
          log        12,345 visits deleted
          documents  1 deleted
          WARC       246 objects deleted, 35.00 MiB
          database   9.00 MiB smaller, 4.00 KiB free for what comes next
          kept       678 visits of these iterations, because something refers to them
        ");
        let one = PruneTotals { cut: Some(Iteration::FIRST), objects: 1, kept: 1, ..pruned.clone() };
        let full = CompactionResult { bytes: 0, was_full: true, ..released };
        insta::assert_snapshot!(text(&one, Some(full)), @r"
        docs: iteration 1 pruned
          log        12,345 visits deleted
          documents  1 deleted
          WARC       1 object deleted, 35.00 MiB
          database   4.00 KiB free for what comes next
                     the disk has too little room to make it smaller
          kept       1 visit of these iterations, because something refers to it
        ");
        insta::assert_snapshot!(text(&PruneTotals { kept: 0, ..pruned }, None), @r"
        docs: iterations 1 to 3 would be pruned
          log        12,345 visits to delete
          documents  1 to delete
          WARC       246 objects to delete, 35.00 MiB
        ");
        insta::assert_snapshot!(text(&PruneTotals::default(), None), @"docs: every iteration is kept, so there is nothing to delete");
    }
}
