//! `dragline export --what items`: a row for each item, with the columns of its type.
//!
//! Formats that name their columns first take two readings: one for the columns, one for the rows.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use dragline_domain::ids::CrawlId;
use dragline_domain::item::{COMMON, Cell, Item};
use dragline_ports::error::PortResult;
use dragline_ports::reader::{Cursor, DocumentRow, Filter, Reader, each_row};
use serde::{Serialize, Serializer};

use super::BATCH_ROWS;

/// The most columns that an export has besides [`COMMON`].
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

/// An item with the page that it is on.
pub(crate) struct ItemRow {
    crawl: String,
    iteration: u32,
    url: String,
    at: Option<String>,
    n: u32,
    types: String,
    item_id: Option<String>,
    cells: BTreeMap<String, Cell>,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Number,
    Text,
}

/// The columns of a type beyond [`COMMON`], by name.
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
            for (name, cell) in &row.cells {
                let kind = Kind::of(cell);
                if let Some(known) = columns.get_mut(name) {
                    *known = known.and(kind);
                } else if columns.len() < COLUMNS_MAX {
                    columns.insert(name.clone(), kind);
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
            types.extend(row.types.split(' ').next().map(str::to_owned));
            if types.len() < TYPES_NAMED_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .await?;
        Ok(types)
    }

    fn rows<'d>(&'d self, row: &'d DocumentRow) -> impl Iterator<Item = ItemRow> + 'd {
        let DocumentRow { iteration, document } = row;
        let items = document.content.iter().flat_map(|content| &content.items);
        let at = document.body.as_ref().map(|body| format!("{:.3}", body.at));
        (0..).zip(items).filter(|(_, item)| self.is_wanted(item)).map(move |(n, item)| ItemRow {
            crawl: self.crawl.to_string(),
            iteration: iteration.number(),
            url: document.url.to_string(),
            at: at.clone(),
            n,
            types: item.types.join(" "),
            item_id: item.id.clone(),
            cells: item.columns(),
        })
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

impl ItemRow {
    /// Returns the values of [`COMMON`], in that order.
    pub(super) fn common(&self) -> [Option<Cell>; COMMON.len()] {
        let text = |text: &str| Some(Cell::Text(text.to_owned()));
        [
            text(&self.crawl),
            Some(Cell::Number(self.iteration.into())),
            text(&self.url),
            self.at.as_deref().and_then(text),
            Some(Cell::Number(self.n.into())),
            text(&self.types),
            self.item_id.as_deref().and_then(text),
        ]
    }

    /// Returns its value in a column of its type.
    pub(super) fn cell(&self, column: &str) -> Option<&Cell> {
        self.cells.get(column)
    }

    /// Returns its values as texts: those of [`COMMON`], then those of these columns. What it lacks is empty.
    pub(super) fn texts(&self, columns: &Columns) -> Vec<String> {
        let common = self.common().into_iter().map(|cell| cell.as_ref().map(Cell::to_string).unwrap_or_default());
        common.chain(columns.keys().map(|column| self.cell(column).map(Cell::to_string).unwrap_or_default())).collect()
    }
}

/// As in the other formats, with the values that it has.
impl Serialize for ItemRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let common = COMMON.into_iter().zip(self.common());
        let of_type = self.cells.iter().map(|(name, cell)| (name.as_str(), Some(cell.clone())));
        serializer.collect_map(common.chain(of_type).filter_map(|(name, cell)| Some((name, cell?))))
    }
}
