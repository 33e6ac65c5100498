//! Deflated JSON, for values read and written as a whole.

use aws_sdk_dynamodb::types::AttributeValue;
use dragline_formats::deflated::{self, CompressionGoal, deflate};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::dynamo::{Fields, blob, number};
use crate::errors::StoreError;

/// The maximum size of a packed value.
const JSON_BYTES_MAX: usize = 4 << 20;

/// Packs a value into two attributes: its deflated JSON, and the length of the JSON.
pub(crate) fn pack(value: &impl Serialize) -> Result<(AttributeValue, AttributeValue), StoreError> {
    let (packed, json_bytes) = pack_bytes(value)?;
    Ok((blob(packed), json_bytes))
}

/// Like [`pack`], with the raw bytes.
pub(crate) fn pack_bytes(value: &impl Serialize) -> Result<(Vec<u8>, AttributeValue), StoreError> {
    let json = serde_json::to_vec(value)?;
    StoreError::check_size("a value's JSON", json.len(), JSON_BYTES_MAX)?;
    Ok((deflate(&json, CompressionGoal::Bytes), number(json.len() as u64)))
}

/// Unpacks a value from these two attributes.
pub(crate) fn unpack<T: DeserializeOwned>(fields: Fields<'_>, name: &str, length: &str) -> Result<T, StoreError> {
    inflate(fields.blob(name)?, fields.number(length)?)
}

/// Inflates and parses JSON of this length.
pub(crate) fn inflate<T: DeserializeOwned>(deflated: &[u8], json_bytes: usize) -> Result<T, StoreError> {
    let json = if json_bytes > JSON_BYTES_MAX { None } else { deflated::inflate(deflated, json_bytes) };
    let json = json.ok_or_else(|| StoreError::Damaged("a deflated value is damaged".to_owned()))?;
    Ok(serde_json::from_slice(&json)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamo::Item;

    #[test]
    fn packed_values_are_read_back_and_damage_is_reported() {
        let (packed, length) = pack(&["/a", "/b"]).unwrap();
        let item = Item::from([("x".to_owned(), packed.clone()), ("x_bytes".to_owned(), length)]);
        assert_eq!(unpack::<Vec<String>>(Fields(&item), "x", "x_bytes").unwrap(), ["/a", "/b"]);
        let deflated = packed.as_b().unwrap().as_ref();
        for (bytes, length, why) in [
            (deflated, 12, "longer than what is there"),
            (deflated, 10, "shorter"),
            (&deflated[1..], 11, "cut"),
            (deflated, JSON_BYTES_MAX + 1, "over the maximum"),
        ] {
            assert!(inflate::<Vec<String>>(bytes, length).is_err(), "{why}");
        }
    }
}
