//! `dragline export --to`: everything to a database or to Parquet files, and later what is new.

use dragline_domain::shown;
use dragline_ports::reader::Reader;
use dragline_sink::{Destination, Target};

use crate::args::DatabaseArgs;
use crate::crawl_handle::CrawlHandle;
use crate::error::Failure;
use crate::sink::{SinkProgress, parse_place, sink_failure};
use crate::terminal::Console;

/// Writes a crawl to the place that the argument names, until it equals the crawl.
///
/// # Errors
/// The place is not valid, the crawl cannot be read, or it cannot be written there.
pub(super) async fn write(
    found: &CrawlHandle<impl Reader>,
    to: &str,
    args: &DatabaseArgs,
    console: &Console,
) -> Result<(), Failure> {
    let destination = match parse_place(to, "--to")? {
        Destination::Database(target) => Destination::Database(Box::new(Target {
            schema: args.schema.clone().unwrap_or_default(),
            reader: args.reader.clone(),
            start: args.start(),
            patience: args.patience(),
            ..*target
        })),
        Destination::Directory(_) if args.are_given() => {
            let message = format!(
                "`{to}` is a directory, and `--schema`, `--reader`, `--from-start` and `--wait` are for databases"
            );
            return Err(Failure::new(message).with_hint("leave them out"));
        }
        directory => directory,
    };
    let progress = SinkProgress::new(console);
    let written = destination.write(&found.reader, &found.crawl, &|event| progress.show(&event)).await;
    let totals = written.map_err(|error| sink_failure(error, |error| found.read_error(error)))?;
    console.say(&format!(
        "{} is up to date in {destination}: {} written, {} removed, {} unchanged",
        found.crawl,
        shown::plural(totals.changed, "row"),
        shown::count(totals.removed),
        shown::count(totals.rows - totals.changed)
    ));
    let latest = found.iteration(None).await?;
    if let (Destination::Directory(_), None) = (&destination, latest.closed_at) {
        console.say(&format!("iteration {} is not over, and is written once it is", latest.number));
    }
    Ok(())
}
