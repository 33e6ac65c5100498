//! `dragline export --what items`: a row for each item, with the columns of its type.
//!
//! Formats with a header read the items twice: for the columns, then for the rows.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use dragline_domain::ids::CrawlId;
use dragline_domain::item::Item;
use dragline_ports::error::PortResult;
use dragline_ports::reader::{Batch, Cursor, DocumentRow, Filter, Reader, each_row};
use dragline_report::ItemRow;
use dragline_sink::parquet::ItemColumns;

use super::BATCH_ROWS;
use super::sorted::{SortedError, each_sorted, keep_document};

/// The maximum number of types in a hint.
const TYPES_NAMED_MAX: usize = 20;

/// The maximum number of types to compare with an unknown one.
const TYPES_COMPARED_MAX: usize = 10_000;

/// Which items to write.
pub(super) struct Items<'r, R> {
    pub(super) crawl: &'r CrawlId,
    pub(super) reader: &'r R,
    /// The items of its iteration, or the current ones.
    pub(super) filter: Filter,
    /// The type; `None` for all.
    pub(super) item_type: Option<&'r str>,
}

/// What all stored items say about a type, including those of earlier iterations and removed pages.
#[derive(Debug, Default)]
pub(super) struct TypeInfo {
    /// Its columns; `None` if no item has or had the type.
    pub(super) columns: Option<ItemColumns>,
    /// The existing types, or some of them.
    pub(super) types: BTreeSet<String>,
}

impl<R: Reader> Items<'_, R> {
    /// Reads the items in the order of their URLs, until `take` stops. Returns how many it took.
    pub(super) async fn each_sorted(
        &self,
        mut take: impl FnMut(ItemRow) -> ControlFlow<()>,
    ) -> Result<u64, SortedError> {
        let mut taken = 0;
        let mut take = |row: ItemRow| {
            taken += 1;
            take(row)
        };
        let read = |after: Option<Cursor>| async move { self.documents(after.as_ref()).await };
        each_sorted(read, keep_document, |row: DocumentRow| self.rows(&row).try_for_each(&mut take)).await?;
        Ok(taken)
    }

    /// The same in the order of the store, which costs less.
    async fn each(&self, mut take: impl FnMut(ItemRow) -> ControlFlow<()>) -> PortResult<()> {
        let read = |after: Option<Cursor>| async move { self.documents(after.as_ref()).await };
        each_row(read, |row: DocumentRow| self.rows(&row).try_for_each(&mut take)).await
    }

    async fn documents(&self, after: Option<&Cursor>) -> PortResult<Batch<DocumentRow>> {
        match self.filter.iteration {
            None => self.reader.shown_documents(&self.filter, after, BATCH_ROWS).await,
            Some(_) => self.reader.documents(&self.filter, after, BATCH_ROWS).await,
        }
    }

    /// Returns what is stored about the type. Columns that it once had remain, even if no current
    /// item has them.
    pub(super) async fn type_info(&self) -> PortResult<TypeInfo> {
        let mut known = TypeInfo::default();
        let all = &Filter::default();
        let read = |after: Option<Cursor>| async move { self.reader.documents(all, after.as_ref(), BATCH_ROWS).await };
        let take = |row: DocumentRow| {
            known.learn(&row, self);
            ControlFlow::Continue(())
        };
        each_row(read, take).await?;
        if let Some(columns) = &mut known.columns {
            columns.keep_fractions();
        }
        Ok(known)
    }

    /// Returns the names of the existing types; only some if they are many.
    pub(super) async fn types(&self) -> PortResult<BTreeSet<String>> {
        let mut types = BTreeSet::new();
        self.each(|row| {
            types.extend(row.first_type().map(str::to_owned));
            if types.len() < TYPES_NAMED_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .await?;
        Ok(types)
    }

    fn rows<'d>(&'d self, row: &'d DocumentRow) -> impl Iterator<Item = ItemRow> + 'd {
        ItemRow::rows_of_document(self.crawl, row, |item| self.is_wanted(item))
    }

    fn is_wanted(&self, item: &Item) -> bool {
        self.item_type.is_none_or(|wanted| item.types.iter().any(|name| name == wanted) || item.table() == wanted)
    }
}

impl TypeInfo {
    fn learn<R: Reader>(&mut self, row: &DocumentRow, items: &Items<'_, R>) {
        let types = row.document.content.iter().flat_map(|content| &content.items).flat_map(|item| &item.types);
        for name in types {
            if self.types.len() < TYPES_COMPARED_MAX && !self.types.contains(name) {
                self.types.insert(name.clone());
            }
        }
        for item in items.rows(row) {
            self.columns.get_or_insert_default().learn(&item);
        }
    }
}
