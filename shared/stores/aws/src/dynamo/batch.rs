//! Batches. AWS may postpone parts of them, which are requested again.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{
    AttributeValue, BatchStatementErrorCodeEnum as Code, BatchStatementRequest, DeleteRequest, KeysAndAttributes,
    WriteRequest,
};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::{Dynamo, Fields, Item, Key};
use crate::backoff::Backoff;
use crate::errors::StoreError;
use crate::meter::capacity::{ReadKind, ReadUnits, WriteUnits, item_bytes};
use crate::tables::{PARTITION, SORT, Table};

/// The most keys of a `BatchGetItem`.
const GETS_MAX: usize = 100;

/// The most concurrent batches. Summing the rows of hundreds of thousands of origins is mostly
/// waiting for answers.
const BATCHES_AT_ONCE: usize = 8;

/// The most deletes of a `BatchWriteItem`.
const DELETES_MAX: usize = 25;

/// The most statements of a `BatchExecuteStatement`.
const STATEMENTS_MAX: usize = 25;

/// One `PartiQL` statement on one item.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    /// The item's table.
    pub(crate) table: Table,
    pub(crate) text: String,
    pub(crate) parameters: Vec<AttributeValue>,
    /// The approximate size of the item afterwards.
    pub(crate) bytes: u64,
}

/// Why a statement had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rejection {
    /// An item with this key exists already.
    Duplicate,
    /// The item does not meet the condition.
    Condition,
}

impl Dynamo {
    /// Returns items by their keys, without missing ones. Several batches are requested
    /// concurrently.
    pub(crate) async fn get_all(&self, keys: Vec<Key>, kind: ReadKind) -> Result<HashMap<Key, Item>, StoreError> {
        let mut found = HashMap::new();
        let batches: Vec<Vec<Key>> = keys.chunks(GETS_MAX).map(<[Key]>::to_vec).collect();
        let mut batches =
            stream::iter(batches).map(|keys| self.get_batch(keys, kind)).buffer_unordered(BATCHES_AT_ONCE);
        while let Some(items) = batches.try_next().await? {
            found.extend(items);
        }
        Ok(found)
    }

    async fn get_batch(&self, keys: Vec<Key>, kind: ReadKind) -> Result<HashMap<Key, Item>, StoreError> {
        let mut found = HashMap::new();
        let mut backoff = Backoff::new(&self.rng);
        let mut wanted = self.wanted(&keys, kind)?;
        while !wanted.is_empty() {
            let request = self.client.batch_get_item().set_request_items(Some(wanted));
            let output = request.send().await.map_err(|e| StoreError::request("BatchGetItem", e))?;
            for (name, items) in output.responses.unwrap_or_default() {
                let table = self.tables.find(&name).ok_or_else(|| StoreError::Damaged(name))?;
                for item in items {
                    let fields = Fields(&item);
                    let (partition, sort) = (fields.text(PARTITION)?.to_owned(), fields.text(SORT)?.to_owned());
                    found.insert(Key { table, partition, sort }, item);
                }
            }
            wanted = output.unprocessed_keys.unwrap_or_default();
            if !wanted.is_empty() {
                let left = wanted.values().map(|keys| keys.keys().len()).sum();
                let put_off = StoreError::PutOff { request: "BatchGetItem", left };
                backoff.wait().await.map_err(|_| put_off)?;
            }
        }
        for key in &keys {
            self.meter.add_reads(key.table, ReadUnits::for_bytes(found.get(key).map_or(0, item_bytes), kind));
        }
        Ok(found)
    }

    fn wanted(&self, keys: &[Key], kind: ReadKind) -> Result<HashMap<String, KeysAndAttributes>, StoreError> {
        let mut by_table: HashMap<String, Vec<Item>> = HashMap::new();
        for key in keys {
            by_table.entry(self.table(key.table).to_owned()).or_default().push(key.item());
        }
        let wanted = by_table.into_iter().map(|(table, keys)| {
            let is_consistent = kind != ReadKind::Eventual;
            let keys = KeysAndAttributes::builder().set_keys(Some(keys)).consistent_read(is_consistent).build()?;
            Ok((table, keys))
        });
        let wanted: Result<_, aws_sdk_dynamodb::error::BuildError> = wanted.collect();
        wanted.map_err(|e| StoreError::Damaged(e.to_string()))
    }

    /// Deletes items, whether or not they exist.
    pub(crate) async fn delete_all(&self, items: &[(Key, u64)]) -> Result<(), StoreError> {
        for items in items.chunks(DELETES_MAX) {
            let mut backoff = Backoff::new(&self.rng);
            let mut wanted: HashMap<String, Vec<WriteRequest>> = HashMap::new();
            for (key, _) in items {
                let delete = DeleteRequest::builder().set_key(Some(key.item())).build();
                let delete = delete.map_err(|e| StoreError::Damaged(e.to_string()))?;
                let request = WriteRequest::builder().delete_request(delete).build();
                wanted.entry(self.table(key.table).to_owned()).or_default().push(request);
            }
            while !wanted.is_empty() {
                let request = self.client.batch_write_item().set_request_items(Some(wanted));
                let output = request.send().await.map_err(|e| StoreError::request("BatchWriteItem", e))?;
                wanted = output.unprocessed_items.unwrap_or_default();
                if !wanted.is_empty() {
                    let left = wanted.values().map(Vec::len).sum();
                    let put_off = StoreError::PutOff { request: "BatchWriteItem", left };
                    backoff.wait().await.map_err(|_| put_off)?;
                }
            }
            for (key, bytes) in items {
                self.meter.add_writes(key.table, WriteUnits::for_bytes(*bytes));
            }
        }
        Ok(())
    }

    /// Executes statements, each by itself, no two on one item. Returns the answers in the same
    /// order.
    pub(crate) async fn execute_all(&self, statements: &[Statement]) -> Result<Vec<Result<(), Rejection>>, StoreError> {
        let mut answers = Vec::with_capacity(statements.len());
        for batch in statements.chunks(STATEMENTS_MAX) {
            answers.extend(self.execute_batch(batch).await?);
        }
        Ok(answers)
    }

    async fn execute_batch(&self, batch: &[Statement]) -> Result<Vec<Result<(), Rejection>>, StoreError> {
        let mut backoff = Backoff::new(&self.rng);
        let mut answers: Vec<Option<Result<(), Rejection>>> = vec![None; batch.len()];
        loop {
            let open: Vec<usize> = (0..batch.len()).filter(|&n| answers[n].is_none()).collect();
            if open.is_empty() {
                break;
            }
            let requests = open.iter().map(|&n| {
                let Statement { text, parameters, .. } = &batch[n];
                BatchStatementRequest::builder().statement(text).set_parameters(Some(parameters.clone())).build()
            });
            let requests: Result<Vec<_>, aws_sdk_dynamodb::error::BuildError> = requests.collect();
            let requests = requests.map_err(|e| StoreError::Damaged(e.to_string()))?;
            let request = self.client.batch_execute_statement().set_statements(Some(requests));
            let output = request.send().await.map_err(|e| StoreError::request("BatchExecuteStatement", e))?;
            for (&n, response) in open.iter().zip(output.responses()) {
                answers[n] = match response.error() {
                    None => Some(Ok(())),
                    Some(error) => match error.code() {
                        Some(Code::DuplicateItem) => Some(Err(Rejection::Duplicate)),
                        Some(Code::ConditionalCheckFailed) => Some(Err(Rejection::Condition)),
                        Some(code) if is_passing(code) => None,
                        _ => return Err(StoreError::Damaged(format!("a statement was refused: {error:?}"))),
                    },
                };
            }
            let left = answers.iter().filter(|answer| answer.is_none()).count();
            if left > 0 {
                let put_off = StoreError::PutOff { request: "BatchExecuteStatement", left };
                backoff.wait().await.map_err(|_| put_off)?;
            }
        }
        for statement in batch {
            self.meter.add_writes(statement.table, WriteUnits::for_bytes(statement.bytes));
        }
        Ok(answers.into_iter().flatten().collect())
    }
}

const fn is_passing(code: &Code) -> bool {
    matches!(
        code,
        Code::InternalServerError
            | Code::ProvisionedThroughputExceeded
            | Code::RequestLimitExceeded
            | Code::ThrottlingError
            | Code::TransactionConflict
    )
}
