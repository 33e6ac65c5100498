//! Reading: one item, or a range. `batch.rs` reads several.

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::types::Select;
use jiff::Timestamp;

use super::expression::{names, values};
use super::{Dynamo, Expression, Item, Key, instant, text};
use crate::errors::StoreError;
use crate::meter::capacity::{ReadKind, ReadUnits, item_bytes};
use crate::tables::{Index, SORT, Table};

/// Items of one partition, in the order of their sort keys.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    pub(crate) table: Table,
    pub(crate) partition: String,
    /// The prefix of the sort keys; `None` for all.
    pub(crate) prefix: Option<String>,
    /// The sort key after which to begin, whether or not it exists; `None` for the first.
    pub(crate) after: Option<String>,
}

/// The order of a range's items: ascending by sort key, or descending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Forwards,
    Backwards,
}

/// Part of a range.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) items: Vec<Item>,
    /// The sort key to continue after; `None` if that was all.
    pub(crate) next: Option<String>,
}

impl Dynamo {
    /// Returns one item, read consistently.
    pub(crate) async fn get(&self, key: &Key) -> Result<Option<Item>, StoreError> {
        let request = self.client.get_item().table_name(self.table(key.table)).consistent_read(true);
        let output = request.set_key(Some(key.item())).send().await.map_err(|e| StoreError::request("GetItem", e))?;
        let bytes = output.item.as_ref().map_or(0, item_bytes);
        self.meter.add_reads(key.table, ReadUnits::for_bytes(bytes, ReadKind::Consistent));
        Ok(output.item)
    }

    /// Returns the first items of a range, at most `limit`.
    pub(crate) async fn first(&self, range: &Range, limit: usize, kind: ReadKind) -> Result<Page, StoreError> {
        self.page(range, Order::Forwards, limit, kind).await
    }

    /// Returns items of a range in either order, at most `limit`; backwards, those before the
    /// range's `after`.
    pub(crate) async fn page(
        &self,
        range: &Range,
        order: Order,
        limit: usize,
        kind: ReadKind,
    ) -> Result<Page, StoreError> {
        let start = range.after.as_ref().map(|after| range.key(after).item());
        let request = self
            .query(range.table, &range.condition())
            .consistent_read(kind != ReadKind::Eventual)
            .set_scan_index_forward((order == Order::Backwards).then_some(false))
            .set_exclusive_start_key(start)
            .limit(i32::try_from(limit).unwrap_or(i32::MAX));
        let output = request.send().await.map_err(|e| StoreError::request("Query", e))?;
        let items = output.items.unwrap_or_default();
        self.meter.add_reads(range.table, ReadUnits::for_bytes(items.iter().map(item_bytes).sum(), kind));
        let next = output.last_evaluated_key.as_ref().map(|key| super::Fields(key).text(SORT).map(str::to_owned));
        Ok(Page { items, next: next.transpose()? })
    }

    /// Returns a whole range, for ranges that are always small.
    pub(crate) async fn all(&self, mut range: Range) -> Result<Vec<Item>, StoreError> {
        let mut items = Vec::new();
        loop {
            let page = self.first(&range, PAGE_MAX, ReadKind::Consistent).await?;
            items.extend(page.items);
            match page.next {
                Some(next) => range.after = Some(next),
                None => return Ok(items),
            }
        }
    }

    /// Counts the items of a range that meet a condition, without returning them. The whole range
    /// is read, and billed; `item_bytes` is the approximate size of an item, for the meter. May
    /// lag.
    pub(crate) async fn count(
        &self,
        range: &Range,
        condition: &Expression,
        item_bytes: u64,
    ) -> Result<u64, StoreError> {
        let key = range.condition();
        let (names, values) = (names([Some(&key), Some(condition)]), values([Some(&key), Some(condition)]));
        let mut counted = 0;
        let mut start = None;
        loop {
            let request = self.client.query().table_name(self.table(range.table)).select(Select::Count);
            let request = request
                .key_condition_expression(key.text())
                .filter_expression(condition.text())
                .set_expression_attribute_names(names.clone())
                .set_expression_attribute_values(values.clone())
                .set_exclusive_start_key(start);
            let output = request.send().await.map_err(|e| StoreError::request("Query", e))?;
            let number = |count: i32| u64::try_from(count).unwrap_or(0);
            let bytes = number(output.scanned_count) * item_bytes;
            self.meter.add_reads(range.table, ReadUnits::for_bytes(bytes, ReadKind::Eventual));
            counted += number(output.count);
            start = output.last_evaluated_key;
            if start.is_none() {
                return Ok(counted);
            }
        }
    }

    /// Returns the last item of a range, read consistently.
    pub(crate) async fn last(&self, range: &Range) -> Result<Option<Item>, StoreError> {
        let request = self.query(range.table, &range.condition());
        let request = request.consistent_read(true).scan_index_forward(false).limit(1);
        let output = request.send().await.map_err(|e| StoreError::request("Query", e))?;
        let item = output.items.unwrap_or_default().into_iter().next();
        let bytes = item.as_ref().map_or(0, item_bytes);
        self.meter.add_reads(range.table, ReadUnits::for_bytes(bytes, ReadKind::Consistent));
        Ok(item)
    }

    /// Returns a query with this condition, on a table or one of its indexes.
    fn query(&self, table: Table, condition: &Expression) -> QueryFluentBuilder {
        let query = self.client.query().table_name(self.table(table));
        let query = query.key_condition_expression(condition.text());
        query
            .set_expression_attribute_names(names([Some(condition)]))
            .set_expression_attribute_values(values([Some(condition)]))
    }
}

/// Entries of an index, and the key to continue after.
type Entries = (Vec<Item>, Option<Item>);

impl Dynamo {
    /// Returns entries in a partition of an index up to a time, the earliest first. The index lags.
    pub(crate) async fn indexed(
        &self,
        index: Index,
        partition: &str,
        until: Timestamp,
        limit: usize,
        start: Option<Item>,
    ) -> Result<Entries, StoreError> {
        let condition = Expression::new(format!("#{} = :partition AND #{} <= :until", index.partition, index.sort));
        let condition = condition.with(":partition", text(partition)).with(":until", instant(until));
        let request = self
            .query(index.table, &condition)
            .index_name(index.name)
            .set_exclusive_start_key(start)
            .limit(i32::try_from(limit).unwrap_or(i32::MAX));
        let output = request.send().await.map_err(|e| StoreError::request("Query", e))?;
        let items = output.items.unwrap_or_default();
        self.meter.add_reads(index.table, ReadUnits::for_bytes(items.iter().map(item_bytes).sum(), ReadKind::Eventual));
        Ok((items, output.last_evaluated_key))
    }
}

/// The most items requested at once for a whole range; DynamoDB cuts at 1 MB.
const PAGE_MAX: usize = 1_000;

impl Range {
    pub(crate) fn key(&self, sort: &str) -> Key {
        Key { table: self.table, partition: self.partition.clone(), sort: sort.to_owned() }
    }

    fn condition(&self) -> Expression {
        let partition = text(&self.partition);
        match &self.prefix {
            None => Expression::new("#pk = :pk").with(":pk", partition),
            Some(prefix) => Expression::new("#pk = :pk AND begins_with(#sk, :prefix)")
                .with(":pk", partition)
                .with(":prefix", text(prefix)),
        }
    }
}
