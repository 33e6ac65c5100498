//! Writing under conditions: a single row, or several in one transaction.

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::delete_item::DeleteItemError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    CancellationReason, ConditionCheck, Delete, Put, ReturnValue, ReturnValuesOnConditionCheckFailure as OnFailure,
    TransactWriteItem, Update,
};
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use aws_smithy_types::error::operation::BuildError;

use super::expression::{names, values};
use super::write::{Action, RefusedWrite, Role, Write};
use super::{Dynamo, Item};
use crate::backoff::Backoff;
use crate::errors::StoreError;
use crate::meter::capacity::{WriteUnits, item_bytes};

/// How one try of a write ended.
enum WriteAttempt {
    Written(Option<Item>),
    Refused(RefusedWrite),
    /// It conflicted with another transaction, or was throttled: worth another try.
    Conflict(StoreError),
}

impl Dynamo {
    /// Writes a single row. Returns the row after an update.
    pub(crate) async fn write(&self, write: &Write) -> Result<Result<Option<Item>, RefusedWrite>, StoreError> {
        let mut backoff = Backoff::new(&self.rng);
        loop {
            match self.try_one(write).await? {
                WriteAttempt::Written(item) => {
                    let bytes = item.as_ref().map_or(write.bytes, item_bytes);
                    self.meter.add_writes(write.key.table, WriteUnits::for_bytes(bytes) + write.index_units());
                    return Ok(Ok(item));
                }
                WriteAttempt::Refused(refused) => {
                    self.meter.add_writes(write.key.table, WriteUnits::for_bytes(write.bytes));
                    return Ok(Err(refused));
                }
                WriteAttempt::Conflict(error) => backoff.wait().await.map_err(|_| error)?,
            }
        }
    }

    /// Writes all rows or none. A single one is written without a transaction, which costs half.
    pub(crate) async fn transact(&self, writes: &[Write]) -> Result<Result<(), RefusedWrite>, StoreError> {
        if let [one] = writes {
            return Ok(self.write(one).await?.map(|_| ()));
        }
        let mut backoff = Backoff::new(&self.rng);
        let twice = |write: &Write| WriteUnits::for_bytes(write.bytes) * 2;
        loop {
            match self.try_all(writes).await? {
                WriteAttempt::Written(_) => {
                    for write in writes {
                        self.meter.add_writes(write.key.table, twice(write) + write.index_units());
                    }
                    return Ok(Ok(()));
                }
                WriteAttempt::Refused(refused) => {
                    for write in writes {
                        self.meter.add_writes(write.key.table, twice(write));
                    }
                    return Ok(Err(refused));
                }
                WriteAttempt::Conflict(error) => backoff.wait().await.map_err(|_| error)?,
            }
        }
    }

    async fn try_one(&self, write: &Write) -> Result<WriteAttempt, StoreError> {
        let (table, condition) = (self.table(write.key.table), write.condition.as_ref());
        let condition_text = condition.map(|condition| condition.text().to_owned());
        let expressions = || [write.update_expression(), condition];
        macro_rules! conditions {
            ($request:expr) => {
                $request
                    .table_name(table)
                    .set_condition_expression(condition_text)
                    .set_expression_attribute_names(names(expressions()))
                    .set_expression_attribute_values(values(expressions()))
                    .return_values_on_condition_check_failure(OnFailure::AllOld)
            };
        }
        match &write.action {
            Action::Put(item) => {
                let request = conditions!(self.client.put_item()).set_item(Some(item.clone()));
                let result = request.send().await.map(|_| None);
                one_tried("PutItem", write.role, result, |error| match error {
                    PutItemError::ConditionalCheckFailedException(failed) => Some(failed.item.clone()),
                    _ => None,
                })
            }
            Action::Update(update) => {
                let request = conditions!(self.client.update_item())
                    .set_key(Some(write.key.item()))
                    .update_expression(update.text())
                    .return_values(ReturnValue::AllNew);
                let result = request.send().await.map(|output| output.attributes);
                one_tried("UpdateItem", write.role, result, |error| match error {
                    UpdateItemError::ConditionalCheckFailedException(failed) => Some(failed.item.clone()),
                    _ => None,
                })
            }
            Action::Delete => {
                let request = conditions!(self.client.delete_item()).set_key(Some(write.key.item()));
                let result = request.send().await.map(|_| None);
                one_tried("DeleteItem", write.role, result, |error| match error {
                    DeleteItemError::ConditionalCheckFailedException(failed) => Some(failed.item.clone()),
                    _ => None,
                })
            }
            // A check needs writes beside it.
            Action::Check => self.try_all(std::slice::from_ref(write)).await,
        }
    }

    async fn try_all(&self, writes: &[Write]) -> Result<WriteAttempt, StoreError> {
        let items: Result<Vec<_>, BuildError> = writes.iter().map(|write| self.action(write)).collect();
        let items = items.map_err(|e| StoreError::Damaged(e.to_string()))?;
        let Err(error) = self.client.transact_write_items().set_transact_items(Some(items)).send().await else {
            return Ok(WriteAttempt::Written(None));
        };
        let reasons = match error.as_service_error() {
            Some(TransactWriteItemsError::TransactionCanceledException(canceled)) => canceled.cancellation_reasons(),
            // An earlier try, whose answer was lost, is still under way.
            Some(TransactWriteItemsError::TransactionInProgressException(_)) => {
                return Ok(WriteAttempt::Conflict(StoreError::in_the_way("TransactWriteItems", error)));
            }
            _ => return Err(StoreError::request("TransactWriteItems", error)),
        };
        let has = |code: &str| reasons.iter().any(|reason| reason.code() == Some(code));
        // Checked first: a row that conflicted with another transaction might have refused as well.
        if PASSING.into_iter().any(has) {
            return Ok(WriteAttempt::Conflict(StoreError::in_the_way("TransactWriteItems", error)));
        }
        if has("ConditionalCheckFailed") {
            return Ok(WriteAttempt::Refused(refused(writes, reasons)));
        }
        Err(StoreError::request("TransactWriteItems", error))
    }

    fn action(&self, write: &Write) -> Result<TransactWriteItem, BuildError> {
        let (table, condition) = (self.table(write.key.table), write.condition.as_ref());
        let condition_text = condition.map(|condition| condition.text().to_owned());
        let expressions = || [write.update_expression(), condition];
        macro_rules! conditions {
            ($action:expr) => {
                $action
                    .table_name(table)
                    .set_condition_expression(condition_text)
                    .set_expression_attribute_names(names(expressions()))
                    .set_expression_attribute_values(values(expressions()))
                    .return_values_on_condition_check_failure(OnFailure::AllOld)
            };
        }
        let item = TransactWriteItem::builder();
        let key = || Some(write.key.item());
        Ok(match &write.action {
            Action::Put(row) => item.put(conditions!(Put::builder()).set_item(Some(row.clone())).build()?),
            Action::Update(update) => {
                item.update(conditions!(Update::builder()).set_key(key()).update_expression(update.text()).build()?)
            }
            Action::Delete => item.delete(conditions!(Delete::builder()).set_key(key()).build()?),
            Action::Check => item.condition_check(conditions!(ConditionCheck::builder()).set_key(key()).build()?),
        }
        .build())
    }
}

/// Reasons of a cancelled transaction that go away by themselves.
const PASSING: [&str; 3] = ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"];

fn one_tried<E>(
    request: &'static str,
    role: Role,
    result: Result<Option<Item>, SdkError<E>>,
    failed_condition: impl Fn(&E) -> Option<Option<Item>>,
) -> Result<WriteAttempt, StoreError>
where
    E: std::error::Error + ProvideErrorMetadata + Send + Sync + 'static,
{
    let error = match result {
        Ok(item) => return Ok(WriteAttempt::Written(item)),
        Err(error) => error,
    };
    if let Some(row) = error.as_service_error().and_then(failed_condition) {
        return Ok(WriteAttempt::Refused(RefusedWrite(vec![(role, row)])));
    }
    let is_conflict = error.as_service_error().and_then(|e| e.code()) == Some("TransactionConflictException");
    if is_conflict {
        Ok(WriteAttempt::Conflict(StoreError::in_the_way(request, error)))
    } else {
        Err(StoreError::request(request, error))
    }
}

fn refused(writes: &[Write], reasons: &[CancellationReason]) -> RefusedWrite {
    let failed = writes.iter().zip(reasons).filter(|(_, reason)| reason.code() == Some("ConditionalCheckFailed"));
    RefusedWrite(failed.map(|(write, reason)| (write.role, reason.item.clone())).collect())
}
