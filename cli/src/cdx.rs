//! `dragline cdx`: the index of the WARC files as they are stored.

use std::io::{self, BufWriter, Write};

use dragline_local::DirectoryArchive;
use dragline_ports::archive::Archive;
use dragline_ports::reader::Reader;
use dragline_wacz::{ArchiveError, write_index};

use crate::args::{CdxArgs, CrawlSource};
use crate::crawl_handle::{self, CrawlHandle};
use crate::error::{Failure, while_writing};
use crate::exit::Exit;
use crate::terminal::{Console, plural};

/// Writes the index until all is written or the reader closes the pipe.
///
/// # Errors
/// The crawl does not exist or cannot be read, or the lines cannot be written.
pub(crate) async fn cdx(args: &CdxArgs, console: &Console) -> Result<Exit, Failure> {
    match args.of.which()? {
        CrawlSource::Directory { data, crawl } => match crawl_handle::in_directory(data, crawl)? {
            Some(found) => Box::pin(write(&found, &DirectoryArchive::new(data.path), console)).await,
            None => Err(crawl_handle::no_crawl_error(data)),
        },
        #[cfg(feature = "stack")]
        CrawlSource::Stack { crawl, stack } => {
            let (found, archive) = crate::stack::find_with_archive(crawl, stack).await?;
            Box::pin(write(&found, &archive, console)).await
        }
    }
}

async fn write(found: &CrawlHandle<impl Reader>, archive: &impl Archive, console: &Console) -> Result<Exit, Failure> {
    // Fails with a hint if nothing was crawled yet.
    found.iteration(None).await?;
    let mut out = BufWriter::new(io::stdout());
    let written = write_index((&found.reader, archive), |line| Ok(out.write_all(line.as_bytes())?)).await;
    let lines = written.map_err(|error| match error {
        ArchiveError::Port(error) => found.object_error(error),
        ArchiveError::Io(error) => while_writing(error),
        error => error.into(),
    })?;
    out.flush().map_err(while_writing)?;
    console.say(&format!("indexed {}", plural(lines, "answer")));
    Ok(Exit::Done)
}
