//! Items as rows: each with its page, and the columns of its type.

use std::collections::BTreeMap;

use dragline_domain::ids::CrawlId;
use dragline_domain::item::{COMMON, Cell, Item};
use dragline_ports::reader::DocumentRow;
use serde::{Serialize, Serializer};

/// An item with its page.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemRow {
    crawl: String,
    iteration: u32,
    url: String,
    at: Option<String>,
    n: u32,
    types: String,
    item_id: Option<String>,
    table: String,
    is_of_definition: bool,
    cells: BTreeMap<String, Cell>,
}

impl ItemRow {
    /// Returns the rows of the requested items in a document, in the order of the page.
    pub fn rows_of_document<'d>(
        crawl: &'d CrawlId,
        row: &'d DocumentRow,
        is_wanted: impl Fn(&Item) -> bool + 'd,
    ) -> impl Iterator<Item = Self> + 'd {
        let DocumentRow { iteration, document } = row;
        let items = document.content.iter().flat_map(|content| &content.items);
        let at = document.body.as_ref().map(|body| format!("{:.3}", body.at));
        (0..).zip(items).filter(move |(_, item)| is_wanted(item)).map(move |(n, item)| Self {
            crawl: crawl.to_string(),
            iteration: iteration.number(),
            url: document.url.to_string(),
            at: at.clone(),
            n,
            types: item.types.join(" "),
            item_id: item.id.clone(),
            table: item.table(),
            is_of_definition: item.is_of_definition(),
            cells: item.columns(),
        })
    }

    /// Returns the values of [`COMMON`], in that order.
    #[must_use]
    pub fn common(&self) -> [Option<Cell>; COMMON.len()] {
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

    /// Returns the URL of the page.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns when the page was requested, ISO 8601 in UTC; `None` if that is not known.
    #[must_use]
    pub fn at(&self) -> Option<&str> {
        self.at.as_deref()
    }

    /// Returns its number among the items of the page, from 0.
    #[must_use]
    pub const fn n(&self) -> u32 {
        self.n
    }

    /// Returns all its types, separated by spaces, the most specific first.
    #[must_use]
    pub fn types(&self) -> &str {
        &self.types
    }

    /// Returns its identifier in the page; `None` if it has none.
    #[must_use]
    pub fn item_id(&self) -> Option<&str> {
        self.item_id.as_deref()
    }

    /// Returns its most specific type.
    #[must_use]
    pub fn first_type(&self) -> Option<&str> {
        self.types.split(' ').next()
    }

    /// Returns the name of its type's table ([`Item::table`]).
    #[must_use]
    pub fn table(&self) -> &str {
        &self.table
    }

    /// Returns whether its type comes from the crawl's definition.
    #[must_use]
    pub const fn is_of_definition(&self) -> bool {
        self.is_of_definition
    }

    /// Returns its values in the columns of its type, by name.
    pub fn cells(&self) -> impl Iterator<Item = (&str, &Cell)> {
        self.cells.iter().map(|(name, cell)| (name.as_str(), cell))
    }

    /// Returns its value in a column of its type.
    #[must_use]
    pub fn cell(&self, column: &str) -> Option<&Cell> {
        self.cells.get(column)
    }
}

/// As in the other formats, without missing values.
impl Serialize for ItemRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let common = COMMON.into_iter().zip(self.common());
        let of_type = self.cells().map(|(name, cell)| (name, Some(cell.clone())));
        serializer.collect_map(common.chain(of_type).filter_map(|(name, cell)| Some((name, cell?))))
    }
}
