//! The four tables of DynamoDB: their names, keys and indexes.
//! `docs/internals/frontier-dynamodb.md` lists the rows in them.

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

/// The index's partition key: a shard of a crawl. An item has it only while something is owed.
pub(crate) const DUE_SHARD: &str = "due_shard";

/// The index's sort key: about when to look at the item, never later, in milliseconds since 1970.
pub(crate) const DUE_SLOT: &str = "due_slot";

/// When to look at it, in milliseconds since 1970.
pub(crate) const DUE: &str = "due";

/// The iteration of a row.
pub(crate) const ITERATION: &str = "iteration";

/// The partition key of the index of crawls: the kind of attention needed. A row has it only while
/// it needs some.
pub(crate) const AGENDA: &str = "agenda";

/// The sort key of that index: since when, or from when on, in milliseconds since 1970.
pub(crate) const AGENDA_AT: &str = "agenda_at";

/// When a row may be deleted, in seconds since 1970. A row without it is kept forever.
pub(crate) const EXPIRES: &str = "expires";

/// A sparse index: it contains the rows that have its keys, and only their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    /// The table that it is on.
    pub table: Table,
    /// Its name.
    pub name: &'static str,
    /// Its partition key, a text.
    pub partition: &'static str,
    /// Its sort key, a number.
    pub sort: &'static str,
}

impl Index {
    /// Overdue work.
    pub const OVERDUE: Self = Self { table: Table::Frontier, name: "overdue", partition: DUE_SHARD, sort: DUE_SLOT };

    /// Crawls with a schedule, and iterations that are not closed.
    pub const AGENDA: Self = Self { table: Table::Crawls, name: "agenda", partition: AGENDA, sort: AGENDA_AT };

    /// All indexes.
    pub const ALL: [Self; 2] = [Self::OVERDUE, Self::AGENDA];
}

/// A table, by its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Table {
    /// Definitions, iterations, triggers, leftovers, and the list of origins.
    Crawls,
    /// Leases, inboxes, marks of seedings, robots.txt, todo and segments.
    Frontier,
    /// Every URL that was ever claimed.
    Candidates,
    /// The endings of all URLs.
    Log,
}

impl Table {
    /// All tables.
    pub const ALL: [Self; 4] = [Self::Crawls, Self::Frontier, Self::Candidates, Self::Log];

    /// Whether its rows may expire.
    #[must_use]
    pub const fn forgets(self) -> bool {
        match self {
            Self::Crawls | Self::Frontier | Self::Log => true,
            Self::Candidates => false,
        }
    }

    /// Returns its name after the stack's prefix.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
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
    /// Returns the names of tables called `PREFIX-crawls` and so on.
    #[must_use]
    pub fn with_prefix(prefix: &str) -> Self {
        Self { names: Table::ALL.map(|table| format!("{prefix}-{}", table.suffix())) }
    }

    /// Returns the name of a table.
    #[must_use]
    pub fn get(&self, table: Table) -> &str {
        let [crawls, frontier, candidates, log] = &self.names;
        match table {
            Table::Crawls => crawls,
            Table::Frontier => frontier,
            Table::Candidates => candidates,
            Table::Log => log,
        }
    }

    /// Finds the table of this name.
    pub(crate) fn find(&self, name: &str) -> Option<Table> {
        Table::ALL.into_iter().find(|&table| self.get(table) == name)
    }
}

/// Why a table could not be created.
#[derive(Debug, thiserror::Error)]
#[error("table {table} was not made: {source}")]
pub struct TableError {
    table: String,
    source: Box<dyn std::error::Error + Send + Sync>,
}

/// Creates the tables in an emulator. A stack's tables come from its template.
///
/// # Errors
/// Returns a [`TableError`], also if a table exists already.
pub async fn create_tables(client: &Client, names: &TableNames) -> Result<(), TableError> {
    for table in Table::ALL {
        let name = names.get(table);
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
    for index in Index::ALL.iter().filter(|index| index.table == table) {
        request = request
            .attribute_definitions(attribute(index.partition, ScalarAttributeType::S)?)
            .attribute_definitions(attribute(index.sort, ScalarAttributeType::N)?)
            .global_secondary_indexes(index_definition(index)?);
    }
    request.send().await.map_err(|error| StoreError::request("CreateTable", error))?;
    Ok(())
}

fn index_definition(index: &Index) -> Result<GlobalSecondaryIndex, BuildError> {
    GlobalSecondaryIndex::builder()
        .index_name(index.name)
        .key_schema(key(index.partition, KeyType::Hash)?)
        .key_schema(key(index.sort, KeyType::Range)?)
        .projection(Projection::builder().projection_type(ProjectionType::KeysOnly).build())
        .build()
}

fn attribute(name: &str, kind: ScalarAttributeType) -> Result<AttributeDefinition, BuildError> {
    AttributeDefinition::builder().attribute_name(name).attribute_type(kind).build()
}

fn key(name: &str, kind: KeyType) -> Result<KeySchemaElement, BuildError> {
    KeySchemaElement::builder().attribute_name(name).key_type(kind).build()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    const TEMPLATE: &str = include_str!("../../../../infra/template.yaml");

    /// Returns a table as written in the template, from its recovery specification on.
    fn template_text(table: Table) -> String {
        let indexes: Vec<Index> = Index::ALL.into_iter().filter(|index| index.table == table).collect();
        let mut text = String::from("      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true }\n");
        if table.forgets() {
            writeln!(text, "      TimeToLiveSpecification: {{ AttributeName: {EXPIRES}, Enabled: true }}").unwrap();
        }
        writeln!(text, "      TableName: !Sub ${{AWS::StackName}}-{}\n      AttributeDefinitions:", table.suffix())
            .unwrap();
        let keys = |partition, sort| [(partition, "HASH"), (sort, "RANGE")];
        for (name, kind) in [(PARTITION, "S"), (SORT, "S")] {
            writeln!(text, "        - {{ AttributeName: {name}, AttributeType: {kind} }}").unwrap();
        }
        for index in &indexes {
            for (name, kind) in [(index.partition, "S"), (index.sort, "N")] {
                writeln!(text, "        - {{ AttributeName: {name}, AttributeType: {kind} }}").unwrap();
            }
        }
        text.push_str("      KeySchema:\n");
        for (name, kind) in keys(PARTITION, SORT) {
            writeln!(text, "        - {{ AttributeName: {name}, KeyType: {kind} }}").unwrap();
        }
        for index in &indexes {
            writeln!(text, "      GlobalSecondaryIndexes:\n        - IndexName: {}\n          KeySchema:", index.name)
                .unwrap();
            for (name, kind) in keys(index.partition, index.sort) {
                writeln!(text, "            - {{ AttributeName: {name}, KeyType: {kind} }}").unwrap();
            }
            text.push_str("          Projection: { ProjectionType: KEYS_ONLY }\n");
        }
        text
    }

    #[test]
    fn the_template_has_these_tables() {
        for table in Table::ALL {
            let wanted = template_text(table);
            assert!(TEMPLATE.contains(&wanted), "infra/template.yaml lacks:\n{wanted}");
        }
        let count = TEMPLATE.matches("Type: AWS::DynamoDB::Table\n").count();
        assert_eq!(count, Table::ALL.len(), "unused tables");
    }
}
