//! The four tables of DynamoDB: their names, keys and indexes. `docs/frontier-dynamodb.md` says what rows they hold.

use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection, ProjectionType,
    ScalarAttributeType,
};
use aws_sdk_dynamodb::{Client, error::BuildError};

use crate::errors::StoreError;

/// The partition key of every table.
pub(crate) const PARTITION: &str = "pk";

/// The sort key of every table.
pub(crate) const SORT: &str = "sk";

/// The sparse index of overdue work, on [`Table::Frontier`].
pub(crate) const OVERDUE: &str = "overdue";

/// The index's partition key: a shard of a crawl. An item has it while something is owed.
pub(crate) const DUE_SHARD: &str = "due_shard";

/// The index's sort key: when it is to be looked at, in milliseconds since 1970.
pub(crate) const DUE: &str = "due";

/// What the index holds beside the keys.
pub(crate) const ITERATION: &str = "iteration";

/// A table, by what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Table {
    /// Definitions, iterations, triggers, leftovers, and the list of origins.
    Crawls,
    /// Leases, inboxes, robots.txt, todo and segments.
    Frontier,
    /// Every URL that was ever claimed.
    Candidates,
    /// How every URL ended.
    Log,
}

impl Table {
    /// Every table there is.
    pub const ALL: [Self; 4] = [Self::Crawls, Self::Frontier, Self::Candidates, Self::Log];

    /// As it is called after the stack's prefix.
    const fn suffix(self) -> &'static str {
        match self {
            Self::Crawls => "crawls",
            Self::Frontier => "frontier",
            Self::Candidates => "candidates",
            Self::Log => "log",
        }
    }
}

/// The names of a stack's tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableNames {
    names: [String; 4],
}

impl TableNames {
    /// Tables that are called `PREFIX-crawls` and so on.
    #[must_use]
    pub fn with_prefix(prefix: &str) -> Self {
        Self { names: Table::ALL.map(|table| format!("{prefix}-{}", table.suffix())) }
    }

    /// The name of a table.
    #[must_use]
    pub fn of(&self, table: Table) -> &str {
        let [crawls, frontier, candidates, log] = &self.names;
        match table {
            Table::Crawls => crawls,
            Table::Frontier => frontier,
            Table::Candidates => candidates,
            Table::Log => log,
        }
    }

    /// The table of a name.
    pub(crate) fn named(&self, name: &str) -> Option<Table> {
        Table::ALL.into_iter().find(|&table| self.of(table) == name)
    }
}

/// Why tables were not made.
#[derive(Debug, thiserror::Error)]
#[error("table {table} was not made: {source}")]
pub struct TableError {
    table: String,
    source: Box<dyn std::error::Error + Send + Sync>,
}

/// Makes the tables in an emulator. A stack's come from its template.
///
/// # Errors
/// [`TableError`], also if one is there already.
pub async fn create_tables(client: &Client, names: &TableNames) -> Result<(), TableError> {
    for table in Table::ALL {
        let name = names.of(table);
        create(client, table, name).await.map_err(|source| TableError { table: name.to_owned(), source })?;
    }
    Ok(())
}

async fn create(client: &Client, table: Table, name: &str) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut request = client
        .create_table()
        .table_name(name)
        .billing_mode(BillingMode::PayPerRequest)
        .attribute_definitions(attribute(PARTITION, ScalarAttributeType::S)?)
        .attribute_definitions(attribute(SORT, ScalarAttributeType::S)?)
        .key_schema(key(PARTITION, KeyType::Hash)?)
        .key_schema(key(SORT, KeyType::Range)?);
    if table == Table::Frontier {
        request = request
            .attribute_definitions(attribute(DUE_SHARD, ScalarAttributeType::S)?)
            .attribute_definitions(attribute(DUE, ScalarAttributeType::N)?)
            .global_secondary_indexes(overdue_index()?);
    }
    request.send().await.map_err(|error| StoreError::request("CreateTable", error))?;
    Ok(())
}

fn overdue_index() -> Result<GlobalSecondaryIndex, BuildError> {
    let projection =
        Projection::builder().projection_type(ProjectionType::Include).non_key_attributes(ITERATION).build();
    GlobalSecondaryIndex::builder()
        .index_name(OVERDUE)
        .key_schema(key(DUE_SHARD, KeyType::Hash)?)
        .key_schema(key(DUE, KeyType::Range)?)
        .projection(projection)
        .build()
}

fn attribute(name: &str, kind: ScalarAttributeType) -> Result<AttributeDefinition, BuildError> {
    AttributeDefinition::builder().attribute_name(name).attribute_type(kind).build()
}

fn key(name: &str, kind: KeyType) -> Result<KeySchemaElement, BuildError> {
    KeySchemaElement::builder().attribute_name(name).key_type(kind).build()
}
