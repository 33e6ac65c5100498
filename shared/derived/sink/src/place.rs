//! How far the rows of each kind are written.

use dragline_domain::ids::Iteration;
use dragline_ports::reader::Cursor;
use tokio_postgres::{GenericClient, Transaction};

use crate::error::{Failed, SinkError};
use crate::session::Session;

/// The version of the rows' format. Rows of another one are written again.
pub(crate) const FORMAT: i32 = 1;

/// What is written in one pass through a stream of the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Page,
    Link,
    Item,
    Log(Iteration),
}

impl Kind {
    /// Returns the name under which its progress is stored.
    pub(crate) fn stored_name(self) -> String {
        match self {
            Self::Page => "page".to_owned(),
            Self::Link => "link".to_owned(),
            Self::Item => "item".to_owned(),
            Self::Log(iteration) => format!("log/{}", iteration.number()),
        }
    }

    /// Returns its name for people, in the plural.
    pub(crate) const fn plural(self) -> &'static str {
        match self {
            Self::Page => "pages",
            Self::Link => "links",
            Self::Item => "items",
            Self::Log(_) => "visits",
        }
    }
}

/// How far a pass is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nothing is written of this state of the crawl.
    Start,
    /// The rows up to the cursor are written.
    Within(Cursor),
    /// All rows are written.
    Finished,
}

/// A pass: what is written, and of which state of the crawl.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass<'s> {
    pub(crate) kind: Kind,
    pub(crate) source: &'s str,
}

/// A pass that was begun, of whichever state of the crawl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Begun {
    /// The stored name of its kind.
    pub(crate) kind: String,
    pub(crate) source: String,
    pub(crate) end: PassEnd,
}

/// Whether a pass has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PassEnd {
    Open,
    Reached,
}

impl Session {
    /// Returns the passes that were begun: the open ones, then the others, the longest ago first.
    pub(crate) async fn begun(&self) -> Result<Vec<Begun>, Failed> {
        let sql = format!(
            "SELECT kind, source, finished_at IS NOT NULL FROM {}.sink_progress WHERE crawl = $1 AND format = $2
             ORDER BY finished_at NULLS FIRST, kind",
            self.schema.quoted()
        );
        let rows = self.client.query(&sql, &[&self.crawl.as_str(), &FORMAT]).await?;
        let begun = |row: tokio_postgres::Row| Begun {
            kind: row.get(0),
            source: row.get(1),
            end: if row.get(2) { PassEnd::Reached } else { PassEnd::Open },
        };
        Ok(rows.into_iter().map(begun).collect())
    }

    /// Returns how far a pass is.
    pub(crate) async fn place(&self, pass: Pass<'_>) -> Result<Place, Failed> {
        let sql = format!(
            "SELECT cursor, finished_at IS NOT NULL FROM {}.sink_progress
             WHERE crawl = $1 AND kind = $2 AND source = $3 AND format = $4 AND NOT (again AND finished_at IS NOT NULL)",
            self.schema.quoted()
        );
        let kind = pass.kind.stored_name();
        let row = self.client.query_opt(&sql, &[&self.crawl.as_str(), &kind, &pass.source, &FORMAT]).await?;
        Ok(row.map_or(Place::Start, |row| match (row.get::<_, Option<String>>(0), row.get(1)) {
            (_, true) => Place::Finished,
            (Some(cursor), false) => Place::Within(Cursor::new(cursor)),
            (None, false) => Place::Start,
        }))
    }

    /// Lets everything of this crawl be written again.
    pub(crate) async fn forget_places(&mut self) -> Result<(), Failed> {
        let schema = self.schema.quoted();
        let transaction = self.client.transaction().await?;
        for table in ["sink_progress", "sink_seen"] {
            let sql = format!("DELETE FROM {schema}.{table} WHERE crawl = $1");
            transaction.execute(&sql, &[&self.crawl.as_str()]).await?;
        }
        transaction.commit().await?;
        Ok(())
    }
}

/// The place of a pass within a transaction.
pub(crate) struct PlaceWriter<'t, 'c> {
    pub(crate) transaction: &'t Transaction<'c>,
    pub(crate) schema: &'t str,
    pub(crate) crawl: &'t str,
}

impl PlaceWriter<'_, '_> {
    /// Moves a pass from one place to the next.
    ///
    /// # Errors
    /// The pass is somewhere else: another process has moved it.
    pub(crate) async fn advance(&self, pass: Pass<'_>, from: &Place, to: &Place) -> Result<(), Failed> {
        let table = format!("{}.sink_progress", self.schema);
        let kind = pass.kind.stored_name();
        let (cursor, is_finished) = match to {
            Place::Start => (None, false),
            Place::Within(cursor) => (Some(cursor.as_str()), false),
            Place::Finished => (None, true),
        };
        let moved = match from {
            Place::Within(before) => {
                let sql = format!(
                    "UPDATE {table} SET cursor = $5, finished_at = CASE WHEN $6 THEN now() END, updated_at = now()
                     WHERE crawl = $1 AND kind = $2 AND source = $3 AND format = $4 AND finished_at IS NULL AND cursor = $7"
                );
                let values: [&(dyn tokio_postgres::types::ToSql + Sync); 7] =
                    [&self.crawl, &kind, &pass.source, &FORMAT, &cursor, &is_finished, &before.as_str()];
                self.transaction.execute(&sql, &values).await?
            }
            Place::Start | Place::Finished => {
                let sql = format!(
                    "INSERT INTO {table} (crawl, kind, source, format, cursor, finished_at)
                     VALUES ($1, $2, $3, $4, $5, CASE WHEN $6 THEN now() END)
                     ON CONFLICT (crawl, kind) DO UPDATE SET source = $3, format = $4, cursor = $5,
                         again = false, finished_at = EXCLUDED.finished_at, updated_at = now()"
                );
                let values: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
                    [&self.crawl, &kind, &pass.source, &FORMAT, &cursor, &is_finished];
                self.transaction.execute(&sql, &values).await?
            }
        };
        if moved == 1 { Ok(()) } else { Err(SinkError::Busy.into()) }
    }

    /// Returns whether a pass has to be repeated, as columns have changed since it began.
    pub(crate) async fn is_again(&self, kind: Kind) -> Result<bool, Failed> {
        let sql = format!("SELECT again FROM {}.sink_progress WHERE crawl = $1 AND kind = $2", self.schema);
        let row = self.transaction.query_opt(&sql, &[&self.crawl, &kind.stored_name()]).await?;
        Ok(row.is_some_and(|row| row.get(0)))
    }

    /// Lets a pass begin again.
    pub(crate) async fn forget(&self, kind: Kind) -> Result<(), Failed> {
        let sql = format!("DELETE FROM {}.sink_progress WHERE crawl = $1 AND kind = $2", self.schema);
        self.transaction.execute(&sql, &[&self.crawl, &kind.stored_name()]).await?;
        Ok(())
    }

    /// Forgets what a pass has written so far.
    pub(crate) async fn clear_seen(&self, kind: Kind) -> Result<(), Failed> {
        let sql = format!("DELETE FROM {}.sink_seen WHERE crawl = $1 AND kind = $2", self.schema);
        self.transaction.execute(&sql, &[&self.crawl, &kind.stored_name()]).await?;
        Ok(())
    }

    /// Returns how many rows of each key a pass has written; keys without rows are left out.
    pub(crate) async fn seen(&self, kind: Kind, keys: &[String]) -> Result<Vec<(String, i64)>, Failed> {
        let sql =
            format!("SELECT key, rows FROM {}.sink_seen WHERE crawl = $1 AND kind = $2 AND key = ANY($3)", self.schema);
        let rows = self.transaction.query(&sql, &[&self.crawl, &kind.stored_name(), &keys]).await?;
        Ok(rows.into_iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    /// Records how many rows of each key a pass has written.
    pub(crate) async fn put_seen(&self, kind: Kind, keys: &[String], rows: &[i64]) -> Result<(), Failed> {
        let sql = format!(
            "INSERT INTO {}.sink_seen (crawl, kind, key, rows)
             SELECT $1, $2, key, rows FROM unnest($3::text[], $4::bigint[]) AS seen (key, rows)
             ON CONFLICT (crawl, kind, key) DO UPDATE SET rows = EXCLUDED.rows",
            self.schema
        );
        self.transaction.execute(&sql, &[&self.crawl, &kind.stored_name(), &keys, &rows]).await?;
        Ok(())
    }
}

/// Reads the iterations whose logs are written, or begun.
pub(crate) async fn stored_logs(client: &impl GenericClient, schema: &str, crawl: &str) -> Result<Vec<u32>, Failed> {
    let sql = format!("SELECT kind FROM {schema}.sink_progress WHERE crawl = $1 AND kind LIKE 'log/%'");
    let rows = client.query(&sql, &[&crawl]).await?;
    let number = |row: tokio_postgres::Row| row.get::<_, String>(0).strip_prefix("log/")?.parse().ok();
    Ok(rows.into_iter().filter_map(number).collect())
}
