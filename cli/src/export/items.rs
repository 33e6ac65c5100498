//! `dragline export --what items`: a row for each item, with the columns of its type.
//!
//! Formats that name their columns first take two readings: one for the columns, one for the rows.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use dragline_domain::ids::CrawlId;
use dragline_domain::item::{Cell, Item};
use dragline_ports::error::PortResult;
use dragline_ports::reader::{Cursor, DocumentRow, Filter, Reader, each_row};
use dragline_report::ItemRow;

use super::BATCH_ROWS;

/// The most columns that an export has besides [`COMMON`](dragline_domain::item::COMMON).
const COLUMNS_MAX: usize = 2_000;

/// The most types that a hint names.
const TYPES_NAMED_MAX: usize = 20;

/// Which items to write.
pub(super) struct Items<'r, R> {
    pub(super) crawl: &'r CrawlId,
    pub(super) reader: &'r R,
    /// The items of the iteration that it names, or those that the site has now.
    pub(super) filter: Filter,
    /// The type; `None` for all.
    pub(super) item_type: Option<&'r str>,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Integer,
    Number,
    Text,
}

/// The columns of a type beyond [`COMMON`](dragline_domain::item::COMMON), by name.
pub(super) type Columns = BTreeMap<String, Kind>;

impl<R: Reader> Items<'_, R> {
    /// Reads the items one after another, until `take` has enough.
    pub(super) async fn each(&self, mut take: impl FnMut(ItemRow) -> ControlFlow<()>) -> PortResult<()> {
        let is_now = self.filter.iteration.is_none();
        let read = |after: Option<Cursor>| async move {
            match is_now {
                true => self.reader.shown_documents(&self.filter, after.as_ref(), BATCH_ROWS).await,
                false => self.reader.documents(&self.filter, after.as_ref(), BATCH_ROWS).await,
            }
        };
        let take = |row: DocumentRow| self.rows(&row).try_for_each(&mut take);
        each_row(read, take).await
    }

    /// Returns the columns of the items, with what they hold.
    pub(super) async fn columns(&self) -> PortResult<Columns> {
        let mut columns = Columns::new();
        self.each(|row| {
            for (name, cell) in row.cells() {
                let kind = Kind::of(cell);
                if let Some(known) = columns.get_mut(name) {
                    *known = known.and(kind);
                } else if columns.len() < COLUMNS_MAX {
                    columns.insert(name.to_owned(), kind);
                }
            }
            ControlFlow::Continue(())
        })
        .await?;
        Ok(columns)
    }

    /// Returns the names of the types that there are, some of them if they are many.
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
        ItemRow::of_document(self.crawl, row, |item| self.is_wanted(item))
    }

    fn is_wanted(&self, item: &Item) -> bool {
        self.item_type.is_none_or(|wanted| item.types.iter().any(|name| name == wanted) || item.table() == wanted)
    }
}

impl Kind {
    const fn of(cell: &Cell) -> Self {
        match cell {
            Cell::Bool(_) => Self::Bool,
            Cell::Number(_) => Self::Number,
            Cell::Text(_) => Self::Text,
        }
    }

    /// Returns the kind that holds the values of both.
    fn and(self, other: Self) -> Self {
        if self == other { self } else { Self::Text }
    }
}
