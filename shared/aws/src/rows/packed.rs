//! JSON, deflated: what is read and written whole.

use aws_sdk_dynamodb::types::AttributeValue;
use libdeflater::{CompressionLvl, Compressor, Decompressor};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::dynamo::{Fields, blob, number};
use crate::errors::StoreError;

/// The most that a packed value may come to.
const JSON_BYTES_MAX: usize = 4 << 20;

/// A value as its deflated JSON, and its length, as attributes.
pub(crate) fn pack(value: &impl Serialize) -> Result<(AttributeValue, AttributeValue), StoreError> {
    let (packed, json_bytes) = pack_bytes(value)?;
    Ok((blob(packed), json_bytes))
}

/// The same, with the bytes as they are.
pub(crate) fn pack_bytes(value: &impl Serialize) -> Result<(Vec<u8>, AttributeValue), StoreError> {
    let json = serde_json::to_vec(value)?;
    let size = u64::try_from(json.len()).unwrap_or(u64::MAX);
    let too_large = || StoreError::TooLarge { what: "a value's JSON", size, size_max: JSON_BYTES_MAX as u64 };
    if json.len() > JSON_BYTES_MAX {
        return Err(too_large());
    }
    let mut compressor = Compressor::new(CompressionLvl::default());
    let mut deflated = vec![0; compressor.deflate_compress_bound(json.len())];
    let length = compressor.deflate_compress(&json, &mut deflated).map_err(|_| too_large())?;
    deflated.truncate(length);
    Ok((deflated, number(size)))
}

/// The value that was packed into these two attributes.
pub(crate) fn unpack<T: DeserializeOwned>(fields: Fields<'_>, name: &str, length: &str) -> Result<T, StoreError> {
    inflate(fields.blob(name)?, fields.number(length)?)
}

/// The value of deflated JSON of this length.
pub(crate) fn inflate<T: DeserializeOwned>(deflated: &[u8], json_bytes: usize) -> Result<T, StoreError> {
    let damaged = || StoreError::Damaged("a deflated value is damaged".to_owned());
    if json_bytes > JSON_BYTES_MAX {
        return Err(damaged());
    }
    let mut json = vec![0; json_bytes];
    let length = Decompressor::new().deflate_decompress(deflated, &mut json).map_err(|_| damaged())?;
    if length == json_bytes { Ok(serde_json::from_slice(&json)?) } else { Err(damaged()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamo::Item;

    #[test]
    fn what_was_packed_comes_back_and_damage_is_told() {
        let (packed, length) = pack(&["/a", "/b"]).unwrap();
        let item = Item::from([("x".to_owned(), packed.clone()), ("x_bytes".to_owned(), length)]);
        assert_eq!(unpack::<Vec<String>>(Fields(&item), "x", "x_bytes").unwrap(), ["/a", "/b"]);
        let deflated = packed.as_b().unwrap().as_ref();
        for (bytes, length, why) in [
            (deflated, 12, "longer than what is there"),
            (deflated, 10, "shorter"),
            (&deflated[1..], 11, "cut"),
            (deflated, JSON_BYTES_MAX + 1, "beyond what may be"),
        ] {
            assert!(inflate::<Vec<String>>(bytes, length).is_err(), "{why}");
        }
    }
}
