//! Items as lines of JSON, by type.
//!
//! A closed iteration always has the same parts, wherever its publication is interrupted: a part
//! ends by the documents read for it, never by time. So a repeated publication writes the same
//! objects again.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::publications::{ItemsPart, Publications, PublishPlace};
use dragline_ports::reader::{Filter, Reader, Rest};
use dragline_report::ItemRow;
use serde::Serialize;

/// The number of documents per read.
const BATCH_ROWS: usize = 500;

/// The limits of a part. It ends with the batch that reaches one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartLimits {
    /// The number of documents read.
    pub documents: u64,
    /// The size of its items before compression, in bytes.
    pub bytes: usize,
}

/// A part must fit into the time and memory of one invocation of a function.
impl Default for PartLimits {
    fn default() -> Self {
        Self { documents: 10_000, bytes: 32 << 20 }
    }
}

/// The items to publish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publication {
    /// The crawl.
    pub crawl: CrawlId,
    /// The iteration.
    pub iteration: Iteration,
    /// The limits of a part.
    pub limits: PartLimits,
}

/// The maximum number of types per part that get their own objects without being in the definition.
/// Further types are stored as `other`, as pages can name any number of types.
const TABLES_MAX: usize = 200;

/// The table of items whose types are beyond [`TABLES_MAX`].
const OTHER: &str = "other";

/// The totals of a publication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ItemTotals {
    /// Documents that were read.
    pub documents: u64,
    /// Items.
    pub items: u64,
    /// Objects.
    pub objects: u64,
}

/// Publishes the items of the documents that an iteration stored, in place of those published
/// before, until `rest` breaks, which is called after each part. Returns the totals, and where to
/// continue; `None` if everything is published.
///
/// Effects in order: at the beginning, existing objects are deleted; then the parts are put, one
/// after another. If two processes publish at the same time, all parts exist once both are done, as
/// each puts its parts after its deletion. If URLs are forgotten meanwhile, the publication starts
/// over: forgetting first increments a counter and then deletes the existing items, so a
/// publication that puts items later sees the new count.
///
/// # Errors
/// Returns the ports' errors.
pub async fn publish_items(
    reader: &impl Reader,
    publications: &impl Publications,
    publication: &Publication,
    from: Option<PublishPlace>,
    rest: impl Fn() -> ControlFlow<()> + Send,
) -> PortResult<(ItemTotals, Option<PublishPlace>)> {
    let Publication { crawl, iteration, limits } = publication;
    let (filter, iteration) = (Filter::by_iteration(*iteration), *iteration);
    let (mut after, mut number) = match from {
        Some(PublishPlace { after, part }) => (Some(after), part),
        None => {
            publications.clear_items(crawl, iteration).await?;
            (None, 0)
        }
    };
    let mut published = ItemTotals::default();
    let mut forgotten = reader.times_forgotten().await?;
    loop {
        let mut part = Part::default();
        let left = loop {
            let batch = reader.documents(&filter, after.as_ref(), BATCH_ROWS).await?;
            for row in &batch.rows {
                part.documents += 1;
                for item in ItemRow::rows_of_document(crawl, row, |_| true) {
                    part.add(&item).map_err(|e| PortError::new(PortErrorKind::Other, "publish items", crawl, e))?;
                }
            }
            after = batch.cursor;
            if batch.rest == Rest::Nothing || part.is_full(limits) {
                break batch.rest;
            }
        };
        published.documents += part.documents;
        published.items += part.items;
        for (table, lines) in part.tables {
            let part = ItemsPart { crawl: crawl.clone(), iteration, table, number };
            publications.put_items(&part, lines).await?;
            published.objects += 1;
        }
        number += 1;
        let times = reader.times_forgotten().await?;
        if times != forgotten {
            publications.clear_items(crawl, iteration).await?;
            (forgotten, after, number, published) = (times, None, 0, ItemTotals::default());
            continue;
        }
        match after.take() {
            Some(cursor) if left == Rest::More => {
                if rest().is_break() {
                    return Ok((published, Some(PublishPlace { after: cursor, part: number })));
                }
                after = Some(cursor);
            }
            _ => return Ok((published, None)),
        }
    }
}

/// The part being filled.
#[derive(Default)]
struct Part {
    documents: u64,
    items: u64,
    bytes: usize,
    /// Lines by table name.
    tables: BTreeMap<String, Vec<u8>>,
}

impl Part {
    fn add(&mut self, item: &ItemRow) -> serde_json::Result<()> {
        let has_room =
            item.is_of_definition() || self.tables.contains_key(item.table()) || self.tables.len() < TABLES_MAX;
        let lines = self.tables.entry(if has_room { item.table() } else { OTHER }.to_owned()).or_default();
        let before = lines.len();
        serde_json::to_writer(&mut *lines, &Line::from_item(item))?;
        lines.push(b'\n');
        self.bytes += lines.len() - before;
        self.items += 1;
        Ok(())
    }

    const fn is_full(&self, limits: &PartLimits) -> bool {
        self.bytes >= limits.bytes || self.documents >= limits.documents
    }
}

/// An item as a line: the keys that all items have, and the values of its type as texts in
/// `fields`, as one table has items of all types. The table `items` in `infra/template.yaml` has
/// these columns.
#[derive(Debug, Serialize)]
struct Line {
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    n: u64,
    types: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    item_id: Option<String>,
    fields: BTreeMap<String, String>,
}

impl Line {
    fn from_item(item: &ItemRow) -> Self {
        let fields = item.cells().map(|(name, cell)| (name.to_owned(), cell.to_string())).collect();
        Self {
            url: item.url().to_owned(),
            at: item.at().map(str::to_owned),
            n: item.n().into(),
            types: item.types().to_owned(),
            item_id: item.item_id().map(str::to_owned),
            fields,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_table_has_these_columns() {
        let template: Value = serde_saphyr::from_str(include_str!("../../../../infra/template.yaml")).unwrap();
        let table = &template["Resources"]["ItemsTable"]["Properties"]["TableInput"];
        let names = |list: &Value| -> Vec<String> {
            list.as_array().unwrap().iter().map(|column| column["Name"].as_str().unwrap().to_owned()).collect()
        };
        let line = Line {
            url: "https://a.example/".to_owned(),
            at: Some(String::new()),
            n: 0,
            types: "Product".to_owned(),
            item_id: Some(String::new()),
            fields: BTreeMap::new(),
        };
        let mut keys: Vec<String> = serde_json::to_value(&line).unwrap().as_object().unwrap().keys().cloned().collect();
        let mut columns = names(&table["StorageDescriptor"]["Columns"]);
        keys.sort();
        columns.sort();
        assert_eq!(columns, keys);
        assert_eq!(names(&table["PartitionKeys"]), ["crawl", "iteration", "type"], "as the parts of the keys");
    }
}
