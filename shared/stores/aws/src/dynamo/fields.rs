//! Item attributes: written in one form, and checked when read.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Item;
use crate::errors::StoreError;

pub(crate) fn text(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

pub(crate) fn texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> AttributeValue {
    AttributeValue::L(texts.into_iter().map(text).collect())
}

pub(crate) fn number(number: impl Into<i128>) -> AttributeValue {
    AttributeValue::N(number.into().to_string())
}

pub(crate) const fn flag(flag: bool) -> AttributeValue {
    AttributeValue::Bool(flag)
}

pub(crate) fn blob(bytes: Vec<u8>) -> AttributeValue {
    AttributeValue::B(Blob::new(bytes))
}

/// Returns a time as milliseconds since 1970, which conditions can compare.
pub(crate) fn instant(at: Timestamp) -> AttributeValue {
    number(at.as_millisecond())
}

pub(crate) fn json(value: &impl Serialize) -> Result<AttributeValue, StoreError> {
    Ok(text(serde_json::to_string(value)?))
}

/// The attributes of an item that is being read.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'i>(pub(crate) &'i Item);

impl<'i> Fields<'i> {
    pub(crate) fn has(self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(crate) fn text(self, name: &str) -> Result<&'i str, StoreError> {
        match self.0.get(name) {
            Some(AttributeValue::S(text)) => Ok(text),
            _ => Err(damaged(name)),
        }
    }

    pub(crate) fn texts(self, name: &str) -> Result<Vec<&'i str>, StoreError> {
        let Some(AttributeValue::L(values)) = self.0.get(name) else { return Err(damaged(name)) };
        values.iter().map(|value| value.as_s().map(String::as_str).map_err(|_| damaged(name))).collect()
    }

    pub(crate) fn number<T: TryFrom<i128>>(self, name: &str) -> Result<T, StoreError> {
        let Some(AttributeValue::N(digits)) = self.0.get(name) else { return Err(damaged(name)) };
        digits.parse::<i128>().ok().and_then(|number| T::try_from(number).ok()).ok_or_else(|| damaged(name))
    }

    pub(crate) fn maybe_number<T: TryFrom<i128>>(self, name: &str) -> Result<Option<T>, StoreError> {
        self.maybe(name, Self::number)
    }

    pub(crate) fn flag(self, name: &str) -> Result<bool, StoreError> {
        match self.0.get(name) {
            Some(AttributeValue::Bool(flag)) => Ok(*flag),
            _ => Err(damaged(name)),
        }
    }

    pub(crate) fn blob(self, name: &str) -> Result<&'i [u8], StoreError> {
        match self.0.get(name) {
            Some(AttributeValue::B(blob)) => Ok(blob.as_ref()),
            _ => Err(damaged(name)),
        }
    }

    pub(crate) fn instant(self, name: &str) -> Result<Timestamp, StoreError> {
        Timestamp::from_millisecond(self.number(name)?).map_err(|_| damaged(name))
    }

    pub(crate) fn maybe_instant(self, name: &str) -> Result<Option<Timestamp>, StoreError> {
        self.maybe(name, Self::instant)
    }

    pub(crate) fn json<T: DeserializeOwned>(self, name: &str) -> Result<T, StoreError> {
        Ok(serde_json::from_str(self.text(name)?)?)
    }

    /// Parses a value that is stored as text.
    pub(crate) fn parsed<T: TryFrom<String>>(self, name: &str) -> Result<T, StoreError> {
        T::try_from(self.text(name)?.to_owned()).map_err(|_| damaged(name))
    }

    pub(crate) fn maybe<T>(
        self,
        name: &str,
        read: impl FnOnce(Self, &str) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        if self.has(name) { read(self, name).map(Some) } else { Ok(None) }
    }
}

fn damaged(name: &str) -> StoreError {
    StoreError::Damaged(format!("attribute `{name}` is missing or of another type"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_back_and_damage_is_reported() {
        let at = Timestamp::from_millisecond(1_795_000_000_123).unwrap();
        let item = Item::from([
            ("text".to_owned(), text("a")),
            ("texts".to_owned(), texts(["a", "b"])),
            ("number".to_owned(), number(u64::MAX)),
            ("flag".to_owned(), flag(true)),
            ("at".to_owned(), instant(at)),
            ("blob".to_owned(), blob(vec![1, 2])),
        ]);
        let fields = Fields(&item);
        assert_eq!(fields.text("text").unwrap(), "a");
        assert_eq!(fields.texts("texts").unwrap(), ["a", "b"]);
        assert_eq!(fields.number::<u64>("number").unwrap(), u64::MAX);
        assert_eq!(fields.instant("at").unwrap(), at);
        assert_eq!(fields.blob("blob").unwrap(), [1, 2]);
        assert!(fields.flag("flag").unwrap());
        assert_eq!(fields.maybe("none", Fields::text).unwrap(), None);
        for (broken, why) in [
            (fields.text("number").is_err(), "a number is not a text"),
            (fields.number::<u64>("none").is_err(), "a missing value is not a number"),
            (fields.number::<u8>("number").is_err(), "a number that does not fit"),
            (fields.maybe("flag", Fields::text).is_err(), "present, but of another type"),
        ] {
            assert!(broken, "{why}");
        }
    }
}
