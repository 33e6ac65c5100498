//! The host and its domain: each as one JSON text, which conditions compare with the one that was
//! read.

use aws_sdk_dynamodb::types::AttributeValue;
use dragline_domain::frontier::{DomainRow, HostRow};
use dragline_domain::url::{DomainKey, HostKey};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{fields, keys, row};
use crate::dynamo::{Expression, Item, Key, Role, Write, json};
use crate::errors::StoreError;

const RECORD: &str = "record";

/// A row, with its raw form for conditions.
#[derive(Clone, Debug)]
pub(crate) struct StoredRow<R> {
    pub(crate) row: R,
    record: AttributeValue,
}

pub(crate) fn read<R: DeserializeOwned>(item: &Item) -> Result<StoredRow<R>, StoreError> {
    let fields = fields(item)?;
    let record = AttributeValue::S(fields.text(RECORD)?.to_owned());
    Ok(StoredRow { row: fields.json(RECORD)?, record })
}

/// Replaces a host's row if it is as it was read.
pub(crate) fn replace(
    host: &HostKey,
    before: Option<&StoredRow<HostRow>>,
    after: &HostRow,
) -> Result<Write, StoreError> {
    put(Role::Host, &keys::host(host), before, after)
}

/// Replaces a domain's row if it is as it was read.
pub(crate) fn replace_domain(
    domain: &DomainKey,
    before: Option<&StoredRow<DomainRow>>,
    after: &DomainRow,
) -> Result<Write, StoreError> {
    put(Role::Domain, &keys::domain(domain), before, after)
}

fn put<R: Serialize>(role: Role, key: &Key, before: Option<&StoredRow<R>>, after: &R) -> Result<Write, StoreError> {
    let put = Write::put(role, key, row(key, [(RECORD, json(after)?)]));
    Ok(match before {
        None => put.if_absent(),
        Some(before) => put.when(Expression::new("#record = :was_record").with(":was_record", before.record.clone())),
    })
}
