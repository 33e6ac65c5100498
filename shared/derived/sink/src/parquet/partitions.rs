//! A directory of Parquet files by crawl and iteration, as query engines read it:
//! `pages/crawl=docs/iteration=1/part-00000.parquet`.
//!
//! An iteration is written once it is over. Its parts are written under names that readers skip,
//! renamed, and then a stamp says of which state they are. Killed before the stamp, the next run
//! writes them again, with the same names.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::future::Future;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::error::PortResult;
use dragline_ports::reader::{Batch, Cursor, DocumentRow, Filter, LinkRow, LogRow, Reader, SeenPageRow, each_row};
use dragline_ports::row::Row;
use dragline_report::ItemRow;

use super::kinds::{ItemColumns, item_cells};
use super::partition::{Partition, names, remove_partition};
use crate::error::SinkError;
use crate::follow::{Event, Totals};
use crate::names::item_table;
use crate::source::{IterationState, Source};

/// The version of the files' format. Those of another one are written again.
const FORMAT: u32 = 1;

/// The number of rows per read.
const BATCH_ROWS: usize = 500;

/// The maximum number of types of items in an iteration that have their own partitions. Items of
/// further ones are of the type `other`, as pages can name any number of types.
const TYPES_MAX: usize = 200;

/// The type of items whose types are beyond [`TYPES_MAX`].
const OTHER: &str = "other";

/// The maximum number of buffered bytes of all types together.
const BUFFERED_BYTES_MAX: usize = 64 << 20;

/// The folder of stamps and locks. Programs that read partitions skip such names.
const OWN: &str = "_dragline";

// The folders with partitions. Those of items are divided by type.
const PAGES: &str = "pages";
const LINKS: &str = "links";
const LOG: &str = "log";
const ITEMS: &str = "items";

/// Writes the iterations of a crawl that are over and not yet written to a directory, and removes
/// those that are no longer stored. What was written stays as it is; only an iteration that was
/// pruned, or from which URLs were forgotten, is written again.
///
/// # Errors
/// The crawl cannot be read, the directory cannot be written, or another process writes the same
/// crawl there.
pub async fn write_parquet(
    reader: &impl Reader,
    crawl: &CrawlId,
    directory: &Path,
    watch: &impl Fn(Event),
) -> Result<Totals, SinkError> {
    let source = Source::read(reader).await?;
    let stamps = directory.join(OWN).join(crawl.as_str());
    fs::create_dir_all(&stamps).map_err(SinkError::file(&stamps))?;
    let _lock = lock(&stamps.join("lock"))?;
    let mut totals = Totals::default();
    let over = || source.iterations.iter().filter(|state| state.row.closed_at.is_some());
    for state in over() {
        let stamp = stamps.join(state.row.number.to_string());
        let text = format!("{FORMAT} {}", state.log);
        if fs::read_to_string(&stamp).is_ok_and(|known| known == text) {
            continue;
        }
        let written = IterationFiles { reader, crawl, directory, number: state.row.number }.write(watch).await?;
        put(&stamp, &text)?;
        totals.rows += written;
        totals.changed += written;
    }
    let stored: Vec<String> = over().map(|state: &IterationState| state.row.number.to_string()).collect();
    for name in names(&stamps)?.into_iter().filter(|name| name.parse::<u32>().is_ok() && !stored.contains(name)) {
        for table in [PAGES, LINKS, LOG, ITEMS] {
            let folder = partition_folder(directory, table, crawl, &name);
            for inner in names(&folder)?.iter().filter(|name| name.starts_with("type=")) {
                remove_partition(&folder.join(inner))?;
            }
            if folder.exists() {
                remove_partition(&folder)?;
            }
        }
        let stamp = stamps.join(name);
        fs::remove_file(&stamp).map_err(SinkError::file(&stamp))?;
    }
    Ok(totals)
}

/// Takes the lock of a crawl, which is released when the file is closed, however the process ends.
fn lock(path: &Path) -> Result<File, SinkError> {
    let file = File::options().create(true).truncate(false).write(true).open(path).map_err(SinkError::file(path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(SinkError::Busy),
        Err(TryLockError::Error(error)) => Err(SinkError::file(path)(error)),
    }
}

/// Writes a small file, which is there at once.
fn put(path: &Path, text: &str) -> Result<(), SinkError> {
    let unfinished = path.with_extension("new");
    let write = || -> io::Result<()> {
        let mut file = File::create(&unfinished)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&unfinished, path)
    };
    write().map_err(SinkError::file(path))
}

fn partition_folder(directory: &Path, table: &str, crawl: &CrawlId, iteration: &str) -> PathBuf {
    directory.join(table).join(format!("crawl={crawl}")).join(format!("iteration={iteration}"))
}

/// Returns the name of an item's type for a folder: that of its table in a database, which is cut
/// if it is too long.
fn type_name(item: &ItemRow) -> String {
    let table = item_table(item.table());
    table.strip_prefix("item_").map(str::to_owned).unwrap_or(table)
}

/// An iteration that is written.
struct IterationFiles<'r, R> {
    reader: &'r R,
    crawl: &'r CrawlId,
    directory: &'r Path,
    number: Iteration,
}

impl<R: Reader> IterationFiles<'_, R> {
    async fn write(&self, watch: &impl Fn(Event)) -> Result<u64, SinkError> {
        let (reader, filter) = (self.reader, &Filter::by_iteration(self.number));
        let pages = |after: Option<Cursor>| async move { reader.seen_pages(filter, after.as_ref(), BATCH_ROWS).await };
        let pages = self.rows::<SeenPageRow, _>(PAGES, pages).await?;
        let links = |after: Option<Cursor>| async move { reader.seen_links(filter, after.as_ref(), BATCH_ROWS).await };
        let links = self.rows::<LinkRow, _>(LINKS, links).await?;
        let log = |after: Option<Cursor>| async move { reader.log(filter, after.as_ref(), BATCH_ROWS).await };
        let log = self.rows::<LogRow, _>(LOG, log).await?;
        let items = self.items().await?;
        let mut rows = 0;
        for (what, partitions) in
            [("pages", vec![pages]), ("links", vec![links]), ("visits", vec![log]), ("items", items)]
        {
            let of_kind: u64 = partitions.iter().map(Partition::rows).sum();
            for partition in partitions {
                partition.publish()?;
            }
            rows += of_kind;
            watch(Event::Committed { what, rows: of_kind });
        }
        Ok(rows)
    }

    fn folder(&self, table: &str) -> PathBuf {
        partition_folder(self.directory, table, self.crawl, &self.number.to_string())
    }

    /// Writes the rows of a stream.
    async fn rows<T: Row, F: Future<Output = PortResult<Batch<T>>>>(
        &self,
        table: &str,
        read: impl Fn(Option<Cursor>) -> F,
    ) -> Result<Partition, SinkError> {
        let mut partition = Partition::begin(self.folder(table), &T::columns())?;
        let mut written = Ok(());
        let write = |row: T| {
            written = partition.write(row.cells());
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        each_row(read, write).await?;
        written?;
        partition.end_part()?;
        Ok(partition)
    }

    /// Writes the items of the iteration's documents, by type. They are read twice: for the
    /// columns, then for the rows.
    async fn items(&self) -> Result<Vec<Partition>, SinkError> {
        let mut types: BTreeMap<String, ItemColumns> = BTreeMap::new();
        let learn = |row: DocumentRow| {
            for item in ItemRow::rows_of_document(self.crawl, &row, |_| true) {
                let name = type_name(&item);
                let is_known = types.contains_key(&name) || types.len() < TYPES_MAX;
                types.entry(if is_known { name } else { OTHER.to_owned() }).or_default().learn(&item);
            }
            ControlFlow::Continue(())
        };
        self.each_document(learn).await?;
        let folder = self.folder(ITEMS);
        for inner in names(&folder)? {
            let is_there = inner.strip_prefix("type=").is_none_or(|name| types.contains_key(name));
            if !is_there {
                remove_partition(&folder.join(inner))?;
            }
        }
        types.values_mut().for_each(ItemColumns::keep_fractions);
        let mut partitions = BTreeMap::new();
        for (name, columns) in &types {
            let columns = columns.all();
            partitions
                .insert(name.as_str(), (Partition::begin(folder.join(format!("type={name}")), &columns)?, columns));
        }
        let mut written = Ok(());
        let write = |row: DocumentRow| {
            written = ItemRow::rows_of_document(self.crawl, &row, |_| true).try_for_each(|item| {
                let name = type_name(&item);
                let name = if partitions.contains_key(name.as_str()) { name.as_str() } else { OTHER };
                match partitions.get_mut(name) {
                    Some((partition, columns)) => partition.write(item_cells(&item, columns)),
                    None => Ok(()),
                }
            });
            if partitions.values().map(|(partition, _)| partition.buffered_bytes()).sum::<usize>() > BUFFERED_BYTES_MAX
            {
                let flushed = partitions.values_mut().try_for_each(|(partition, _)| partition.flush());
                written = std::mem::replace(&mut written, Ok(())).and(flushed);
            }
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        self.each_document(write).await?;
        written?;
        let mut ended: Vec<Partition> = partitions.into_values().map(|(partition, _)| partition).collect();
        ended.iter_mut().try_for_each(Partition::end_part)?;
        Ok(ended)
    }

    async fn each_document(&self, visit: impl FnMut(DocumentRow) -> ControlFlow<()>) -> PortResult<()> {
        let (reader, filter) = (self.reader, &Filter::by_iteration(self.number));
        let read = |after: Option<Cursor>| async move { reader.documents(filter, after.as_ref(), BATCH_ROWS).await };
        each_row(read, visit).await
    }
}
