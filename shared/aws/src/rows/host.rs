//! The host: all of it as JSON, which conditions compare as it was read.

use aws_sdk_dynamodb::types::AttributeValue;
use dragline_domain::frontier::HostRow;
use dragline_domain::url::HostKey;

use super::{fields, keys, row};
use crate::dynamo::{Expression, Item, Role, Write, json};
use crate::errors::StoreError;

const RECORD: &str = "record";

/// A host's row, with what stands for it in conditions.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) row: HostRow,
    record: AttributeValue,
}

pub(crate) fn read(item: &Item) -> Result<Stored, StoreError> {
    let fields = fields(item)?;
    let record = AttributeValue::S(fields.text(RECORD)?.to_owned());
    Ok(Stored { row: fields.json(RECORD)?, record })
}

/// Puts the row after one that was read, if that is still as it was.
pub(crate) fn replace(host: &HostKey, before: Option<&Stored>, after: &HostRow) -> Result<Write, StoreError> {
    let key = keys::host(host);
    let put = Write::put(Role::Host, &key, row(&key, [(RECORD, json(after)?)]));
    Ok(match before {
        None => put.if_absent(),
        Some(before) => put.when(Expression::new("#record = :was_record").with(":was_record", before.record.clone())),
    })
}
