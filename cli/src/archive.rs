//! `dragline archive`: exports a crawl as archive files for other programs.

use std::fs;

use dragline_local::{DirectoryArchive, SystemClock};
use dragline_ports::archive::Archive;
use dragline_ports::clock::Clock as _;
use dragline_ports::reader::Reader;
use dragline_wacz::{About, ArchiveError, CopyTotals, Plan, Selection, write_wacz, write_warc};

use crate::args::{ArchiveArgs, CrawlSource};
use crate::crawl_handle::{self, CrawlHandle};
use crate::derived_files;
use crate::error::Failure;
use crate::exit::Exit;
use crate::output_file::{self, cannot_write};
use crate::terminal::{Console, bytes, plural};

/// Writes the archive of a crawl.
///
/// # Errors
/// The crawl does not exist or cannot be read, or a file cannot be written.
pub(crate) async fn archive(args: &ArchiveArgs, console: &Console) -> Result<Exit, Failure> {
    match args.of.which()? {
        CrawlSource::Directory { data, crawl } => match crawl_handle::in_directory(data, crawl)? {
            Some(found) => Box::pin(write(args, &found, &DirectoryArchive::new(data.path), console)).await,
            None => Err(crawl_handle::no_crawl_error(data)),
        },
        #[cfg(feature = "stack")]
        CrawlSource::Stack { crawl, stack } => {
            let (found, archive) = crate::stack::find_with_archive(crawl, stack).await?;
            Box::pin(write(args, &found, &archive, console)).await
        }
    }
}

async fn write(
    args: &ArchiveArgs,
    found: &CrawlHandle<impl Reader>,
    archive: &impl Archive,
    console: &Console,
) -> Result<Exit, Failure> {
    // Fails with a hint if nothing was crawled yet.
    found.iteration(args.iteration).await?;
    let failed = |error| match error {
        ArchiveError::Port(error) => found.object_error(error),
        error => error.into(),
    };
    let path = &args.output;
    let software = concat!("Dragline/", env!("CARGO_PKG_VERSION"));
    let selection = Selection { iteration: args.iteration, since: args.since, condition: args.condition.clone() };
    let about = About { crawl: &found.crawl, created: SystemClock::new().now(), software };
    let plan = Plan { about, selection, file_bytes_max: args.file_size };
    let CopyTotals { captures, bodies_shared, files, .. } = if args.warc {
        write_warc((&found.reader, archive), &plan, path).await.map_err(failed)?
    } else {
        if path.is_dir() {
            let file = path.join("site.wacz");
            let hint = format!("name a file: `-o {}`; or add --warc for WARC files in the folder", file.display());
            return Err(Failure::new(format!("{} is a folder", path.display())).with_hint(hint));
        }
        let file = output_file::beside(path).map_err(cannot_write(path))?;
        let to = file.as_file().try_clone().map_err(cannot_write(path))?;
        let forgotten = derived_files::times_forgotten(found).await?;
        let copied = write_wacz((&found.reader, archive), &plan, to).await.map_err(failed)?;
        derived_files::check_forgotten(found, forgotten).await?;
        file.persist(path).map_err(|error| cannot_write(path)(error.error))?;
        copied
    };
    let shared = match bodies_shared {
        0 => String::new(),
        shared => format!(", {} with the body of another one", plural(shared, "answer")),
    };
    let written = if args.warc {
        format!("{} in {}", plural(u64::from(files), "WARC file"), path.display())
    } else {
        let size = fs::metadata(path).map_or(0, |file| file.len());
        format!("{}, {}", path.display(), bytes(size))
    };
    console.say(&format!("wrote {written}: {}{shared}", plural(captures, "answer")));
    if !args.warc {
        console.hint("open it at https://replayweb.page, which reads it on this machine alone");
    }
    Ok(Exit::Done)
}

impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Self {
        let is_lost = matches!(error, ArchiveError::Missing(_) | ArchiveError::Damaged { .. });
        let hint = is_lost.then_some("it was deleted or damaged after the crawl; restore it from a backup");
        Self::from_error(&error).with_hints(hint)
    }
}
