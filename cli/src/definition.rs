//! `dragline definition`: prints the stored definition of a crawl.

use std::io::{self, Write as _};

use dragline_domain::definition::Definition;
use dragline_domain::ids::CrawlId;
use dragline_local::LocalStore;
use dragline_ports::frontier::CrawlRow;
#[cfg(feature = "stack")]
use dragline_ports::frontier::Crawls as _;
use dragline_ports::reader::Reader;

use crate::args::{CrawlSource, DefinitionArgs};
use crate::crawl_handle::{self, CrawlHandle};
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::terminal::unless_closed;

/// Prints the requested version of a definition on standard output.
///
/// # Errors
/// There is no such crawl, iteration or version, or it cannot be read.
pub(crate) async fn definition(args: &DefinitionArgs) -> Result<Exit, Failure> {
    let (version, definition) = match args.of.which()? {
        CrawlSource::Directory { data, crawl } => {
            let Some(found) = crawl_handle::in_directory(data, crawl)? else {
                return Err(crawl_handle::no_crawl_error(data));
            };
            let reading = LocalStore::open_read_only(data.path)?;
            let failed = |error| found.read_error(error);
            let row =
                reading.load_crawl(&found.crawl).map_err(failed)?.ok_or_else(|| crawl_handle::no_crawl_error(data))?;
            let version = choose_version(args, &found, &row).await?;
            let stored = reading.load_definition(&found.crawl, version).map_err(failed)?;
            (version, or_unknown(stored, &found.crawl, version, &row)?)
        }
        #[cfg(feature = "stack")]
        CrawlSource::Stack { crawl, stack } => {
            let (found, frontier, row) = crate::stack::find_with_definition(crawl, stack).await?;
            let version = choose_version(args, &found, &row).await?;
            let stored = frontier.load_definition(&found.crawl, version).await;
            (version, or_unknown(stored.map_err(|error| found.read_error(error))?, &found.crawl, version, &row)?)
        }
    };
    let text = format!("# Version {version}\n{}", dragline_definition::write(&definition));
    unless_closed(io::stdout().write_all(text.as_bytes())).map_err(while_writing)?;
    Ok(Exit::Done)
}

/// Returns the version to print.
async fn choose_version(
    args: &DefinitionArgs,
    found: &CrawlHandle<impl Reader>,
    row: &CrawlRow,
) -> Result<u32, Failure> {
    Ok(match (args.version, args.iteration) {
        (Some(version), _) => version,
        // Rows of older programs do not name a version; use the stored one.
        (None, Some(iteration)) => found.iteration(Some(iteration)).await?.version.unwrap_or(row.version),
        (None, None) => row.version,
    })
}

fn or_unknown(stored: Option<Definition>, crawl: &CrawlId, wanted: u32, row: &CrawlRow) -> Result<Definition, Failure> {
    let newest = row.version;
    let message = || format!("the definition of `{crawl}` has no version {wanted}; the newest is {newest}");
    stored.ok_or_else(|| Failure::new(message()))
}
