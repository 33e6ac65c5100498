//! The input of a report from documents and the log, gathered row by row. It can be stored between
//! two rows, and continued.

use std::convert::Infallible;
use std::ops::ControlFlow;

use crate::Tally;
use dragline_domain::document::Document;
use dragline_domain::frontier::IterationRow;
use dragline_domain::item::Item;
use dragline_domain::rendering::PageGist;
use dragline_domain::scripted;
use dragline_domain::url::CrawlUrl;
use dragline_ports::error::PortResult;
use dragline_ports::reader::{Cursor, Filter, LogRow, Reader, WalkEnd, each_row, each_row_until};
use foldhash::HashMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::log::{Visits, number};
use super::rows::Rows;
use super::shape::{Cell, Column, Listing, Unit};

/// The number of rows per read.
const BATCH_ROWS: usize = 500;

/// The maximum number of item types that are counted.
const TYPES_MAX: usize = 1000;

const SCRIPTED: &[Column] = &[
    Column { id: "url", title: "URL", unit: Unit::Url },
    Column { id: "element", title: "Element that scripts fill", unit: Unit::Text },
];

const RENDERED: &[Column] = &[
    Column { id: "url", title: "URL", unit: Unit::Url },
    Column { id: "title_sent", title: "Title as sent", unit: Unit::Text },
    Column { id: "title", title: "Title in a browser", unit: Unit::Text },
    Column { id: "canonical_sent", title: "Canonical URL as sent", unit: Unit::Text },
    Column { id: "canonical", title: "Canonical URL in a browser", unit: Unit::Text },
    Column { id: "words_sent", title: "Words as sent", unit: Unit::Count },
    Column { id: "words", title: "Words in a browser", unit: Unit::Count },
    Column { id: "links_sent", title: "Links as sent", unit: Unit::Count },
    Column { id: "links", title: "Links in a browser", unit: Unit::Count },
    Column { id: "noindex_sent", title: "noindex as sent", unit: Unit::Text },
    Column { id: "noindex", title: "noindex in a browser", unit: Unit::Text },
];

/// The gathered totals. Their size does not depend on the number of URLs.
#[derive(Debug, Serialize, Deserialize)]
pub struct ReportTotals {
    pub(crate) visits: Visits,
    pub(crate) tally: Tally,
    /// The numbers of items and pages by type, of the current site.
    pub(crate) types: HashMap<String, [u64; 2]>,
    /// Pages that are nearly empty without scripts.
    pub(crate) scripted: Rows,
    /// Pages that scripts change, as far as they were rendered.
    #[serde(default = "new_rendered_rows")]
    pub(crate) rendered: Rows,
    /// Notes on what was not checked.
    pub(crate) notes: Vec<String>,
    /// The last row of the log.
    after: Option<Cursor>,
}

impl ReportTotals {
    /// Returns empty totals for an iteration that began at this time.
    #[must_use]
    pub fn new(began_at: Timestamp) -> Self {
        let (visits, scripted) = (Visits::starting_at(began_at), Rows::new(SCRIPTED));
        let (tally, types) = (Tally::default(), HashMap::default());
        Self { visits, tally, types, scripted, rendered: new_rendered_rows(), notes: Vec::new(), after: None }
    }

    /// Restores stored totals.
    #[must_use]
    pub fn restore(self) -> Self {
        let (scripted, rendered) = (self.scripted.with_columns(SCRIPTED), self.rendered.with_columns(RENDERED));
        Self { visits: self.visits.restore(), scripted, rendered, ..self }
    }

    /// Notes that something was not checked.
    pub fn note(&mut self, what: String) {
        self.notes.push(what);
    }

    /// Adds a document of the current site.
    pub fn add_document(&mut self, document: &Document) {
        if let Some(element) = document.detail.as_deref().and_then(scripted::element_from_detail) {
            self.scripted.add(vec![Cell::Text(document.url.to_string()), Cell::Text(element.to_owned())]);
        }
        if let Some(row) = compare_rendered(document) {
            self.rendered.add(row);
        }
        let mut on_page: Vec<String> =
            document.content.iter().flat_map(|content| &content.items).map(Item::table).collect();
        on_page.sort();
        for alike in on_page.chunk_by(|a, b| a == b) {
            let has_room = self.types.len() < TYPES_MAX;
            let Some(name) = alike.first().filter(|name| has_room || self.types.contains_key(*name)) else {
                continue;
            };
            let [items, pages] = self.types.entry(name.clone()).or_default();
            *items += alike.len() as u64;
            *pages += 1;
        }
    }

    /// Adds all documents of the current site.
    pub(crate) async fn add_documents(&mut self, reader: &impl Reader) -> PortResult<()> {
        let all = &Filter::default();
        let read = |after: Option<Cursor>| async move { reader.shown_documents(all, after.as_ref(), BATCH_ROWS).await };
        each_row(read, |row| {
            self.add_document(&row.document);
            ControlFlow::Continue(())
        })
        .await
    }

    /// Adds the log of an iteration from where it stopped, until `rest` breaks, which is called
    /// after each batch. Breaks if there is more.
    ///
    /// # Errors
    /// The crawl cannot be read.
    pub async fn add_log(
        &mut self,
        reader: &impl Reader,
        iteration: &IterationRow,
        rest: impl Fn() -> ControlFlow<()>,
    ) -> PortResult<ControlFlow<()>> {
        let filter = &Filter::by_iteration(iteration.number);
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

fn new_rendered_rows() -> Rows {
    Rows::new(RENDERED)
}

/// Returns what scripts change of a page; `None` if that is nothing, or it was not rendered.
fn compare_rendered(document: &Document) -> Option<Vec<Cell>> {
    let sent = document.content.as_ref()?.rendering.as_ref()?.served.as_ref()?;
    let shown = PageGist::new(document.page.as_ref()?, document.links.iter().map(|link| link.kind));
    let text = |text: Option<&str>| Cell::Text(text.unwrap_or_default().to_owned());
    let canonical = |gist: &PageGist| text(gist.canonical.as_ref().map(CrawlUrl::as_str));
    let count = |count: u32| number(Some(count.into()));
    let noindex = |gist: &PageGist| text(Some(if gist.noindex { "yes" } else { "no" }));
    (*sent != shown).then(|| {
        vec![
            Cell::Text(document.url.to_string()),
            text(sent.title.as_deref()),
            text(shown.title.as_deref()),
            canonical(sent),
            canonical(&shown),
            count(sent.words),
            count(shown.words),
            count(sent.links),
            count(shown.links),
            noindex(sent),
            noindex(&shown),
        ]
    })
}

/// Returns the tables derived from documents.
pub(crate) fn tables(types: HashMap<String, [u64; 2]>, scripted: Rows, rendered: Rows) -> [Listing; 3] {
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
        about: "Next to nothing is in these pages until a browser has run their scripts, so many search engines see neither their text nor their links: let the server make them. `dragline crawl --render auto` shows what a browser makes of them.",
        table: scripted.finish_whole(),
    };
    let rendered = Listing {
        id: "rendered",
        title: "What scripts change",
        about: "These pages were rendered, and say something else then than what their servers send: programs that run no scripts see only that.",
        table: rendered.finish_whole(),
    };
    [items, scripted, rendered]
}
