//! Writing the rows of one batch, together with the new place, in one transaction.

use std::collections::HashMap;
use std::pin::pin;

use bytes::Bytes;
use dragline_ports::reader::{LinkRow, LogRow, PageRow};
use dragline_ports::row::Row;
use futures_util::SinkExt as _;
use tokio_postgres::Transaction;

use crate::copy::CopyText;
use crate::error::Failed;
use crate::items::ItemBatch;
use crate::kind::SqlKind;
use crate::names::{quoted, quoted_list};
use crate::place::{Kind, Pass, Place, PlaceWriter};
use crate::session::Session;
use crate::tables;

/// The temporary table into which rows are copied.
const STAGE: &str = "pg_temp.dragline_stage";

/// Rows of one kind.
#[derive(Debug)]
pub(crate) enum Rows {
    Pages(Vec<PageRow>),
    Links(Vec<LinkRow>),
    Log(Vec<LogRow>),
    Items(ItemBatch),
}

/// Encoded rows of a table.
#[derive(Debug)]
pub(crate) struct Staged {
    pub(crate) table: String,
    /// The columns of the rows, in order.
    pub(crate) columns: Vec<(String, SqlKind)>,
    pub(crate) text: CopyText,
}

/// How many rows each key has after a batch.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    keys: Vec<String>,
    rows: Vec<i64>,
    places: HashMap<String, usize>,
}

impl Seen {
    /// Starts with what was written before.
    fn continued(before: Vec<(String, i64)>) -> Self {
        let mut seen = Self::default();
        for (key, rows) in before {
            let place = seen.place(&key);
            seen.rows[place] = rows;
        }
        seen
    }

    /// Counts a row of a key, and returns its number among them, from 0.
    pub(crate) fn count(&mut self, key: &str) -> i64 {
        let place = self.place(key);
        self.rows[place] += 1;
        self.rows[place] - 1
    }

    fn place(&mut self, key: &str) -> usize {
        if let Some(place) = self.places.get(key) {
            return *place;
        }
        self.places.insert(key.to_owned(), self.keys.len());
        self.keys.push(key.to_owned());
        self.rows.push(0);
        self.keys.len() - 1
    }
}

/// The rows that a transaction wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    /// Rows of the crawl.
    pub(crate) rows: u64,
    /// Those of them that were new in the database, or different.
    pub(crate) changed: u64,
    /// Rows that are gone from the crawl.
    pub(crate) removed: u64,
}

/// Whether a transaction was carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was committed.
    Committed(Written),
    /// It was committed, and the pass has to be repeated, as columns have changed since it began.
    Repeat(Written),
    /// Another process has changed columns meanwhile: read the catalog, and try again.
    Outdated,
}

impl Session {
    /// Writes a batch and the new place, at the beginning of a pass instead of what the last one
    /// had seen.
    pub(crate) async fn write(
        &mut self,
        pass: Pass<'_>,
        from: &Place,
        to: &Place,
        rows: &Rows,
    ) -> Result<Outcome, Failed> {
        let (schema, crawl, catalog) = (self.schema.quoted(), self.crawl.to_string(), self.catalog.clone());
        let Some(transaction) = self.begin().await? else { return Ok(Outcome::Outdated) };
        let place = PlaceWriter { transaction: &transaction, schema: &schema, crawl: &crawl };
        if *from == Place::Start {
            place.clear_seen(pass.kind).await?;
        }
        let (staged, seen) = match rows {
            Rows::Pages(rows) => stage_pages(rows),
            Rows::Links(rows) => stage_numbered(tables::LINK, &place, pass.kind, rows, |row| &row.from_url).await?,
            Rows::Log(rows) => stage_numbered(tables::LOG, &place, pass.kind, rows, |row| &row.url).await?,
            Rows::Items(batch) => batch.stage(&catalog),
        };
        let mut written = Written::default();
        for staged in staged {
            written.rows += staged.text.rows();
            written.changed += merge(&transaction, &schema, staged).await?;
        }
        if !seen.keys.is_empty() {
            place.put_seen(pass.kind, &seen.keys, &seen.rows).await?;
        }
        place.advance(pass, from, to).await?;
        transaction.commit().await?;
        Ok(Outcome::Committed(written))
    }

    /// Ends a pass: removes what it has not seen.
    pub(crate) async fn finish(&mut self, pass: Pass<'_>, from: &Place) -> Result<Outcome, Failed> {
        let (schema, crawl) = (self.schema.quoted(), self.crawl.to_string());
        let item_tables: Vec<String> = self.catalog.item_tables().map(str::to_owned).collect();
        let Some(transaction) = self.begin().await? else { return Ok(Outcome::Outdated) };
        let place = PlaceWriter { transaction: &transaction, schema: &schema, crawl: &crawl };
        if *from == Place::Start {
            place.clear_seen(pass.kind).await?;
        }
        // What a row is seen by: conditions on `s`, the seen key, and `t`, the row.
        let swept: Vec<(String, String)> = match pass.kind {
            Kind::Page => vec![(tables::PAGE.to_owned(), "s.key = t.url".to_owned())],
            Kind::Link => vec![(tables::LINK.to_owned(), "s.key = t.from_url AND s.rows > t.n".to_owned())],
            Kind::Log(_) => vec![(tables::LOG.to_owned(), "s.key = t.url AND s.rows > t.n".to_owned())],
            Kind::Item => {
                let by = |table: String| (format!("s.key = t.n || ' {table} ' || t.url"), table);
                item_tables.into_iter().map(by).map(|(by, table)| (table, by)).collect()
            }
        };
        let among = match pass.kind {
            Kind::Log(iteration) => format!("AND t.iteration = {}", iteration.number()),
            Kind::Page | Kind::Link | Kind::Item => String::new(),
        };
        let mut written = Written::default();
        // Nobody has analysed tables that were filled just now, and PostgreSQL would compare each
        // row with every key.
        transaction.batch_execute("SET LOCAL enable_nestloop = off").await?;
        for (table, by) in swept {
            let sql = format!(
                "DELETE FROM {schema}.{} t WHERE t.crawl = $1 {among}
                 AND NOT EXISTS (SELECT 1 FROM {schema}.sink_seen s WHERE s.crawl = $1 AND s.kind = $2 AND {by})",
                quoted(&table)
            );
            written.removed += transaction.execute(&sql, &[&crawl, &pass.kind.stored_name()]).await?;
        }
        place.clear_seen(pass.kind).await?;
        // At the start nothing was written before the columns were changed.
        let is_again = *from != Place::Start && place.is_again(pass.kind).await?;
        if is_again {
            place.forget(pass.kind).await?;
        } else {
            place.advance(pass, from, &Place::Finished).await?;
        }
        transaction.commit().await?;
        Ok(if is_again { Outcome::Repeat(written) } else { Outcome::Committed(written) })
    }
}

/// Encodes pages. If a page comes twice, the last one counts.
fn stage_pages(rows: &[PageRow]) -> (Vec<Staged>, Seen) {
    let mut seen = Seen::default();
    let last: HashMap<&str, usize> = rows.iter().enumerate().map(|(place, row)| (row.url.as_str(), place)).collect();
    let columns = tables::columns::<PageRow>();
    let mut text = CopyText::default();
    for (place, row) in rows.iter().enumerate() {
        if last.get(row.url.as_str()) == Some(&place) {
            seen.count(&row.url);
            put_cells(&mut text, &columns, row);
            text.end_row();
        }
    }
    (vec![Staged { table: tables::PAGE.to_owned(), columns, text }], seen)
}

/// Encodes rows that are numbered among those of the same key.
async fn stage_numbered<R: Row + Clone>(
    table: &str,
    place: &PlaceWriter<'_, '_>,
    kind: Kind,
    rows: &[R],
    key: impl Fn(&R) -> &String,
) -> Result<(Vec<Staged>, Seen), Failed> {
    let mut keys: Vec<String> = rows.iter().map(|row| key(row).clone()).collect();
    keys.dedup();
    let mut seen = Seen::continued(place.seen(kind, &keys).await?);
    let mut columns = tables::columns::<R>();
    let mut text = CopyText::default();
    for row in rows {
        let number = seen.count(key(row));
        put_cells(&mut text, &columns, row);
        text.put_integer(number);
        text.end_row();
    }
    columns.push((tables::NUMBER.to_owned(), SqlKind::Integer));
    Ok((vec![Staged { table: table.to_owned(), columns, text }], seen))
}

fn put_cells<R: Row + Clone>(text: &mut CopyText, columns: &[(String, SqlKind)], row: &R) {
    for ((_, kind), cell) in columns.iter().zip(row.cells()) {
        text.put(cell.as_ref(), *kind);
    }
}

/// Copies rows, and merges them into their table: new ones are inserted, different ones replaced,
/// and equal ones left alone. Returns how many were new or different.
pub(crate) async fn merge(transaction: &Transaction<'_>, schema: &str, staged: Staged) -> Result<u64, Failed> {
    let Staged { table, columns, text } = staged;
    if text.rows() == 0 {
        return Ok(0);
    }
    let (key, table) = (tables::key(&table), format!("{schema}.{}", quoted(&table)));
    let names = quoted_list(columns.iter().map(|(name, _)| name.as_str()));
    let create =
        format!("CREATE TEMPORARY TABLE dragline_stage ON COMMIT DROP AS SELECT {names} FROM {table} WITH NO DATA");
    transaction.batch_execute(&create).await?;
    let sink = transaction.copy_in::<_, Bytes>(&format!("COPY {STAGE} ({names}) FROM STDIN")).await?;
    let mut sink = pin!(sink);
    for piece in text.into_pieces() {
        sink.feed(piece).await?;
    }
    sink.finish().await?;
    let others: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).filter(|name| !key.contains(name)).collect();
    let set: Vec<String> = others.iter().map(|name| format!("{0} = EXCLUDED.{0}", quoted(name))).collect();
    let row = |of: &str| others.iter().map(|name| format!("{of}.{}", quoted(name))).collect::<Vec<_>>().join(", ");
    let sql = format!(
        "INSERT INTO {table} AS t ({names}) SELECT {names} FROM {STAGE} ON CONFLICT ({}) DO UPDATE SET {}
         WHERE ROW({}) IS DISTINCT FROM ROW({})",
        quoted_list(key.iter().copied()),
        set.join(", "),
        row("t"),
        row("EXCLUDED"),
    );
    let changed = transaction.execute(&sql, &[]).await?;
    transaction.batch_execute(&format!("DROP TABLE {STAGE}")).await?;
    Ok(changed)
}
