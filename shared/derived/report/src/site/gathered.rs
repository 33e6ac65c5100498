//! What a report tells of documents and of the log, row by row. It can be stored between two rows, and gone on with.

use std::convert::Infallible;
use std::ops::ControlFlow;

use crate::Tally;
use dragline_domain::document::Document;
use dragline_domain::frontier::IterationRow;
use dragline_domain::item::Item;
use dragline_domain::scripted;
use dragline_ports::error::PortResult;
use dragline_ports::reader::{Cursor, Filter, LogRow, Reader, WalkEnd, each_row, each_row_until};
use foldhash::HashMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::log::{Visits, number};
use super::rows::Rows;
use super::shape::{Cell, Column, Listing, Unit};

/// The number of rows in one read.
const BATCH_ROWS: usize = 500;

/// The most types of items that are counted.
const TYPES_MAX: usize = 1000;

const SCRIPTED: &[Column] = &[
    Column { id: "url", title: "URL", unit: Unit::Url },
    Column { id: "element", title: "Element that scripts fill", unit: Unit::Text },
];

/// What was gathered so far. Its size does not depend on the number of URLs.
#[derive(Debug, Serialize, Deserialize)]
pub struct Gathered {
    pub(crate) visits: Visits,
    pub(crate) tally: Tally,
    /// Items and pages by type, of the site as it is now.
    pub(crate) types: HashMap<String, [u64; 2]>,
    /// Pages that show next to nothing without scripts.
    pub(crate) scripted: Rows,
    /// What was not looked at, in words.
    pub(crate) notes: Vec<String>,
    /// After which row of the log it goes on.
    after: Option<Cursor>,
}

impl Gathered {
    /// Begins, for an iteration that began at this time.
    #[must_use]
    pub fn new(began_at: Timestamp) -> Self {
        let (visits, scripted) = (Visits::since(began_at), Rows::new(SCRIPTED));
        Self { visits, tally: Tally::default(), types: HashMap::default(), scripted, notes: Vec::new(), after: None }
    }

    /// Goes on with what was stored.
    #[must_use]
    pub fn restored(self) -> Self {
        Self { visits: self.visits.restored(), scripted: self.scripted.under(SCRIPTED), ..self }
    }

    /// Says that something was not looked at.
    pub fn note(&mut self, what: String) {
        self.notes.push(what);
    }

    /// Adds a document of the site as it is now.
    pub fn add_document(&mut self, document: &Document) {
        if let Some(element) = document.detail.as_deref().and_then(scripted::element_of_detail) {
            self.scripted.add(vec![Cell::Text(document.url.to_string()), Cell::Text(element.to_owned())]);
        }
        let mut of_page: Vec<String> =
            document.content.iter().flat_map(|content| &content.items).map(Item::table).collect();
        of_page.sort();
        for alike in of_page.chunk_by(|a, b| a == b) {
            let has_room = self.types.len() < TYPES_MAX;
            let Some(name) = alike.first().filter(|name| has_room || self.types.contains_key(*name)) else {
                continue;
            };
            let [items, pages] = self.types.entry(name.clone()).or_default();
            *items += alike.len() as u64;
            *pages += 1;
        }
    }

    /// Adds all documents of the site as it is now.
    pub(crate) async fn add_documents(&mut self, reader: &impl Reader) -> PortResult<()> {
        let all = &Filter::default();
        let read = |after: Option<Cursor>| async move { reader.shown_documents(all, after.as_ref(), BATCH_ROWS).await };
        each_row(read, |row| {
            self.add_document(&row.document);
            ControlFlow::Continue(())
        })
        .await
    }

    /// Adds the log of an iteration from where it stopped, until `rest` breaks: it is asked after each batch. Breaks if there is more.
    ///
    /// # Errors
    /// The crawl cannot be read.
    pub async fn add_log(
        &mut self,
        reader: &impl Reader,
        iteration: &IterationRow,
        rest: impl Fn() -> ControlFlow<()>,
    ) -> PortResult<ControlFlow<()>> {
        let filter = &Filter::of_iteration(iteration.number);
        let read = |after: Option<Cursor>| async move { reader.log(filter, after.as_ref(), BATCH_ROWS).await };
        let add = |row: LogRow| -> ControlFlow<Infallible> {
            self.visits.add(&row);
            self.tally.add(row);
            ControlFlow::Continue(())
        };
        Ok(match each_row_until(read, self.after.clone(), add, rest).await? {
            WalkEnd::Through => ControlFlow::Continue(()),
            WalkEnd::Rested(cursor) => {
                self.after = Some(cursor);
                ControlFlow::Break(())
            }
        })
    }
}

/// Returns the tables of what documents tell.
pub(crate) fn tables(types: HashMap<String, [u64; 2]>, scripted: Rows) -> [Listing; 2] {
    const COLUMNS: &[Column] = &[
        Column { id: "type", title: "Type", unit: Unit::Text },
        Column { id: "items", title: "Items", unit: Unit::Count },
        Column { id: "pages", title: "Pages", unit: Unit::Count },
    ];
    let mut types: Vec<_> = types.into_iter().collect();
    types.sort_by(|(a_name, a), (b_name, b)| b.cmp(a).then_with(|| a_name.cmp(b_name)));
    let mut rows = Rows::new(COLUMNS);
    for (name, [items, pages]) in types {
        rows.add(vec![Cell::Text(name), number(Some(items)), number(Some(pages))]);
    }
    let items = Listing {
        id: "items",
        title: "Structured data",
        about: "The items that pages describe for machines, by type. They are read at `content: items` and above.",
        table: rows.finish_whole(),
    };
    let scripted = Listing {
        id: "scripted",
        title: "Pages that need JavaScript",
        about: "Next to nothing is in these pages until a browser has run their scripts, so neither the crawl nor many search engines see their text and links. Let the server make them.",
        table: scripted.finish_whole(),
    };
    [items, scripted]
}
