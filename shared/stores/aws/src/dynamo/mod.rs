//! DynamoDB as the frontier uses it: typed items, expressions, and requests with safe retries.

mod batch;
mod expression;
mod fields;
mod read;
mod transact;
mod write;

use std::sync::Arc;

use aws_sdk_dynamodb::types::AttributeValue;
use dragline_ports::clock::Rng;

use crate::backoff::Rounds;
use crate::meter::Meter;
use crate::tables::{PARTITION, SORT, Table, TableNames};

pub(crate) use self::batch::Statement;
pub(crate) use self::expression::Expression;
pub(crate) use self::fields::{Fields, blob, flag, instant, json, number, text, texts};
pub(crate) use self::read::{Order, Range};
pub(crate) use self::write::{IndexWrites, Role, Write};
pub(crate) use crate::meter::capacity::Item;

/// A client for a stack's tables.
#[derive(Clone)]
pub(crate) struct Dynamo {
    client: aws_sdk_dynamodb::Client,
    tables: Arc<TableNames>,
    meter: Meter,
    rng: Arc<dyn Rng>,
}

impl Dynamo {
    pub(crate) fn new(client: aws_sdk_dynamodb::Client, tables: TableNames, meter: Meter, rng: Arc<dyn Rng>) -> Self {
        Self { client, tables: Arc::new(tables), meter, rng }
    }

    pub(crate) fn table(&self, table: Table) -> &str {
        self.tables.get(table)
    }

    /// Returns the rounds of an operation that decides again if another writer was faster.
    pub(crate) fn rounds(&self) -> Rounds {
        Rounds::new(&self.rng)
    }
}

/// The key of an item.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) table: Table,
    pub(crate) partition: String,
    pub(crate) sort: String,
}

impl Key {
    /// Returns only the key, as an item.
    pub(crate) fn item(&self) -> Item {
        Item::from([(PARTITION.to_owned(), text(&self.partition)), (SORT.to_owned(), text(&self.sort))])
    }

    /// Returns an item with this key and these attributes.
    pub(crate) fn with<'a>(&self, attributes: impl IntoIterator<Item = (&'a str, AttributeValue)>) -> Item {
        let mut item = self.item();
        item.extend(attributes.into_iter().map(|(name, value)| (name.to_owned(), value)));
        item
    }
}
