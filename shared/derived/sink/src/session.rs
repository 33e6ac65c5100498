//! A connection that writes one crawl to one schema, and the preparation of the schema.

use dragline_domain::ids::CrawlId;
use futures_util::TryFutureExt as _;
use tokio_postgres::{Client, GenericClient, IsolationLevel, NoTls, Transaction};

use crate::address::Address;
use crate::catalog::{Catalog, Changes, Needed};
use crate::error::{Failed, SinkError};
use crate::follow::{Start, Target};
use crate::names::{RoleName, SchemaName};
use crate::{tables, tls};

/// The statements that bring a schema from each version to the next. The last one is current.
const MIGRATIONS: [&str; 1] = [include_str!("bookkeeping.sql")];

/// The first key of advisory locks, which tells ours from those of other programs.
const LOCK_CLASS: i32 = 0x6472_6167;

/// How a transaction uses the tables' columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SchemaUse {
    /// It adds or changes some, and waits until nobody else uses them.
    Changing,
    /// It writes rows.
    Writing,
}

/// A connection with the lock of its crawl.
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) schema: SchemaName,
    pub(crate) crawl: CrawlId,
    pub(crate) catalog: Catalog,
    /// The revision of the catalog.
    revision: i64,
}

impl Session {
    /// Connects, and takes the lock of the crawl, which PostgreSQL releases when the connection
    /// ends, however it ends: within a minute, if this machine is gone without a word.
    pub(crate) async fn connect(target: &Target, crawl: &CrawlId) -> Result<Self, Failed> {
        let client = open(&target.address).await?;
        client
            .batch_execute(
                "SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET client_min_messages = warning; SET standard_conforming_strings = on;
                 SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET synchronous_commit = on;
                 SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3;",
            )
            .await?;
        let name = format!("{} {}", target.schema, crawl);
        let locked = client.query_one("SELECT pg_try_advisory_lock($1, hashtext($2))", &[&LOCK_CLASS, &name]).await?;
        if !locked.get::<_, bool>(0) {
            return Err(Failed::Busy);
        }
        let (schema, crawl) = (target.schema.clone(), crawl.clone());
        Ok(Self { client, schema, crawl, catalog: Catalog::default(), revision: 0 })
    }

    /// Creates or migrates the schema, and checks that its tables are as they were made. At the
    /// beginning of a start from scratch, missing tables and columns are made again.
    pub(crate) async fn prepare(&mut self, start: Start, reader: Option<&RoleName>) -> Result<(), Failed> {
        self.migrate().await?;
        self.load_catalog().await?;
        while let Err(error) = self.catalog.check(&self.client, &self.schema).await {
            let Failed::Lasting(error) = error else { return Err(error) };
            let forget = Catalog::forget_sql(&self.schema, &error).filter(|_| start == Start::FromStart);
            let Some(forget) = forget else { return Err(error.into()) };
            // Rows of other crawls were there, too.
            let progress = format!("{}.sink_progress", self.schema.quoted());
            self.client.batch_execute(&format!("BEGIN; {forget}; DELETE FROM {progress}; COMMIT;")).await?;
            self.load_catalog().await?;
        }
        self.ensure(&tables::fixed()).await?;
        let (schema, columns) = (self.schema.quoted(), tables::CHANGE_COLUMNS);
        let view = format!(
            "CREATE OR REPLACE VIEW {schema}.change AS SELECT {columns} FROM {schema}.log WHERE change <> 'unchanged'"
        );
        if !self.has_relation("change").await? {
            self.client.batch_execute(&view).await?;
        }
        match reader {
            Some(role) => self.grant(role).await,
            None => Ok(()),
        }
    }

    async fn migrate(&mut self) -> Result<(), Failed> {
        let schema = self.schema.quoted();
        let lock = format!("SELECT pg_advisory_xact_lock({LOCK_CLASS}, hashtext($1))");
        let transaction = self.client.transaction().await?;
        transaction.query_one(&lock, &[&self.schema.as_str()]).await?;
        let there = "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)";
        // `CREATE SCHEMA IF NOT EXISTS` needs the right to create one even where it exists.
        if !transaction.query_one(there, &[&self.schema.as_str()]).await?.get::<_, bool>(0) {
            transaction.batch_execute(&format!("CREATE SCHEMA {schema}")).await?;
        }
        let version = match has_relation(&transaction, &self.schema, "sink_version").await? {
            true => transaction.query_one(&format!("SELECT version FROM {schema}.sink_version"), &[]).await?.get(0),
            false => {
                for Needed { table, .. } in tables::fixed() {
                    if has_relation(&transaction, &self.schema, &table).await? {
                        return Err(SinkError::NotOurs(self.schema.to_string()).into());
                    }
                }
                0_i32
            }
        };
        let steps = usize::try_from(version).ok().and_then(|version| MIGRATIONS.get(version..));
        let Some(steps) = steps else {
            return Err(SinkError::TooNew { schema: self.schema.to_string(), version }.into());
        };
        if !steps.is_empty() {
            transaction.batch_execute(&format!("SET LOCAL search_path = {schema}")).await?;
            for step in steps {
                transaction.batch_execute(step).await?;
            }
            let current = MIGRATIONS.len();
            transaction.batch_execute(&format!("UPDATE {schema}.sink_version SET version = {current}")).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    async fn grant(&self, role: &RoleName) -> Result<(), Failed> {
        let there = "SELECT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = $1)";
        if !self.client.query_one(there, &[&role.as_str()]).await?.get::<_, bool>(0) {
            return Err(SinkError::NoRole(role.to_string()).into());
        }
        let (schema, role) = (self.schema.quoted(), role.quoted());
        let sql = format!(
            "GRANT USAGE ON SCHEMA {schema} TO {role};
             GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role};
             ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT SELECT ON TABLES TO {role};"
        );
        Ok(self.client.batch_execute(&sql).await?)
    }

    /// Reads the record of tables and columns.
    pub(crate) async fn load_catalog(&mut self) -> Result<(), Failed> {
        let transaction =
            self.client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).start().await?;
        self.revision = revision(&transaction, &self.schema).await?;
        self.catalog = Catalog::load(&transaction, &self.schema).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Returns what has to be done so that the needed tables and columns are there.
    pub(crate) fn missing(&self, needed: &[Needed]) -> Changes {
        self.catalog.changes(&self.schema, needed)
    }

    /// Sees to it that the needed tables and columns are there, and returns what was done. If
    /// values lost their form, all crawls' items will be written again.
    pub(crate) async fn ensure(&mut self, needed: &[Needed]) -> Result<Changes, Failed> {
        if self.missing(needed).is_empty() {
            return Ok(Changes::default());
        }
        let schema = self.schema.clone();
        let transaction = self.client.transaction().await?;
        lock(&transaction, &schema, SchemaUse::Changing).await?;
        // Another process may have made them meanwhile.
        let mut catalog = Catalog::load(&transaction, &schema).await?;
        let changes = catalog.changes(&schema, needed);
        if !changes.is_empty() {
            transaction.batch_execute(&changes.sql).await?;
            if changes.is_lossy() {
                let sql = format!("UPDATE {}.sink_progress SET again = true WHERE kind = 'item'", schema.quoted());
                transaction.batch_execute(&sql).await?;
            }
            let sql = format!("UPDATE {}.sink_version SET revision = revision + 1", schema.quoted());
            transaction.batch_execute(&sql).await?;
            catalog = Catalog::load(&transaction, &schema).await?;
        }
        let revision = revision(&transaction, &schema).await?;
        transaction.commit().await?;
        (self.catalog, self.revision) = (catalog, revision);
        Ok(changes)
    }

    /// Begins a transaction that writes rows; `None` if another process has changed columns since
    /// the catalog was read.
    pub(crate) async fn begin(&mut self) -> Result<Option<Transaction<'_>>, Failed> {
        let transaction = self.client.transaction().await?;
        lock(&transaction, &self.schema, SchemaUse::Writing).await?;
        let is_current = revision(&transaction, &self.schema).await? == self.revision;
        Ok(is_current.then_some(transaction))
    }

    async fn has_relation(&self, name: &str) -> Result<bool, Failed> {
        has_relation(&self.client, &self.schema, name).await
    }
}

/// Connects, and leaves the connection to a task, which ends with the client. Errors of the
/// connection reach whoever waits for an answer.
async fn open(address: &Address) -> Result<Client, Failed> {
    // The client has no name to verify where there is only a socket.
    if address.is_socket() {
        let (client, connection) = address.config().connect(NoTls).await?;
        tokio::spawn(connection.unwrap_or_else(drop));
        return Ok(client);
    }
    let (client, connection) = address.config().connect(tls::connector(address.authorities())?).await?;
    tokio::spawn(connection.unwrap_or_else(drop));
    Ok(client)
}

async fn has_relation(client: &impl GenericClient, schema: &SchemaName, name: &str) -> Result<bool, Failed> {
    let sql = "SELECT EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                              WHERE n.nspname = $1 AND c.relname = $2)";
    Ok(client.query_one(sql, &[&schema.as_str(), &name]).await?.get(0))
}

/// Locks the columns of all tables until the end of the transaction.
async fn lock(transaction: &Transaction<'_>, schema: &SchemaName, what_for: SchemaUse) -> Result<(), Failed> {
    let function = match what_for {
        SchemaUse::Changing => "pg_advisory_xact_lock",
        SchemaUse::Writing => "pg_advisory_xact_lock_shared",
    };
    let sql = format!("SELECT {function}({LOCK_CLASS}, hashtext($1))");
    transaction.query_one(&sql, &[&schema.as_str()]).await?;
    Ok(())
}

async fn revision(client: &impl GenericClient, schema: &SchemaName) -> Result<i64, Failed> {
    let sql = format!("SELECT revision FROM {}.sink_version", schema.quoted());
    Ok(client.query_one(&sql, &[]).await?.get(0))
}
