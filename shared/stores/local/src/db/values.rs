//! How values are stored in columns.

use std::cell::Cell;

use data_encoding::HEXLOWER;
use dragline_domain::outcome::Outcome;
use jiff::Timestamp;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Row, ToSql};
use serde::Serialize;
use serde::de::value::{self, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer as _};

/// An instant as ISO 8601 in UTC with three decimals: `2026-11-21T10:10:35.123Z`. Of fixed width,
/// so that text order is time order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time(pub(crate) Timestamp);

impl ToSql for Time {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(format!("{:.3}", self.0).into())
    }
}

impl FromSql for Time {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str()?.parse().map(Self).map_err(FromSqlError::other)
    }
}

/// An instant as milliseconds since 1970, in tables with a row for each URL or visit. The views
/// show it as [`Time`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Millis(pub(crate) Timestamp);

impl ToSql for Millis {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.as_millisecond().into())
    }
}

impl FromSql for Millis {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Timestamp::from_millisecond(value.as_i64()?).map(Self).map_err(FromSqlError::other)
    }
}

/// The bytes of a SHA-1 digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sha1(pub(crate) [u8; 20]);

impl ToSql for Sha1 {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.as_slice().into())
    }
}

impl FromSql for Sha1 {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_blob()?.try_into().map(Self).map_err(|_| FromSqlError::InvalidBlobSize {
            expected_size: 20,
            blob_size: value.as_blob().map_or(0, <[u8]>::len),
        })
    }
}

/// A digest that is written in hexadecimal, as its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hex<'d>(pub(crate) &'d str);

impl ToSql for Hex<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let bytes = HEXLOWER.decode(self.0.as_bytes());
        Ok(bytes.map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?.into())
    }
}

/// A value as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: Serialize> ToSql for Json<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let text = serde_json::to_string(&self.0).map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?;
        Ok(text.into())
    }
}

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_slice(value.as_bytes()?).map(Self).map_err(FromSqlError::other)
    }
}

/// An outcome as its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) Outcome);

impl ToSql for Code {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.code().into())
    }
}

impl FromSql for Code {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Outcome::try_from(i16::column_result(value)?).map(Self).map_err(FromSqlError::other)
    }
}

/// A type stored as its text, through `FromStr` or `TryFrom<String>` and `as_str`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text<T>(pub(crate) T);

impl<T> FromSql for Text<T>
where
    T: TryFrom<String>,
    T::Error: std::error::Error + Send + Sync + 'static,
{
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        T::try_from(String::column_result(value)?).map(Self).map_err(FromSqlError::other)
    }
}

/// The columns of a row by name. Where they are read in their order, no name is looked up: that
/// would take longer than everything else.
pub(crate) struct NamedColumns<'r> {
    row: &'r Row<'r>,
    next: Cell<usize>,
}

impl<'r> NamedColumns<'r> {
    pub(crate) const fn new(row: &'r Row<'r>) -> Self {
        Self { row, next: Cell::new(0) }
    }

    pub(crate) fn get<T: FromSql>(&self, name: &str) -> rusqlite::Result<T> {
        let (statement, next) = (self.row.as_ref(), self.next.get());
        let is_next = statement.column_name(next).is_ok_and(|known| known == name);
        let column = if is_next { next } else { statement.column_index(name)? };
        self.next.set(column + 1);
        self.row.get(column)
    }
}

/// A variant of an enum as its name in serde.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Named<T>(pub(crate) T);

impl<T: DeserializeOwned> FromSql for Named<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let name: StrDeserializer<'_, value::Error> = value.as_str()?.into_deserializer();
        T::deserialize(name).map(Self).map_err(FromSqlError::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &impl ToSql) -> String {
        match value.to_sql().unwrap() {
            ToSqlOutput::Owned(rusqlite::types::Value::Text(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn instants_have_one_width_and_sort_as_texts() {
        for (millisecond, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_795_000_000_000, "2026-11-18T11:06:40.000Z"),
            (1_795_000_000_120, "2026-11-18T11:06:40.120Z"),
        ] {
            let time = Time(Timestamp::from_millisecond(millisecond).unwrap());
            assert_eq!(text(&time), expected);
            assert_eq!(Time::column_result(ValueRef::Text(expected.as_bytes())).unwrap(), time);
        }
        assert_eq!(text(&Time(Timestamp::MAX)).len(), "1970-01-01T00:00:00.000Z".len(), "however far away");
        assert!(Time::column_result(ValueRef::Text(b"yesterday")).is_err());
    }

    #[test]
    fn a_digest_of_another_length_is_refused() {
        let digest = Sha1([0xab; 20]);
        assert_eq!(digest.to_sql().unwrap(), ToSqlOutput::Borrowed(ValueRef::Blob(&[0xab; 20])));
        for (stored, is_good, why) in [
            (ValueRef::Blob(&[0xab; 20]), true, "twenty octets"),
            (ValueRef::Blob(&[0xab; 19]), false, "one octet short"),
            (ValueRef::Text(b"abababababababababab"), false, "a text of that length"),
        ] {
            assert_eq!(Sha1::column_result(stored).is_ok(), is_good, "{why}");
        }
        assert_eq!(Hex("00ff").to_sql().unwrap(), ToSqlOutput::Owned(vec![0, 0xff].into()));
        assert!(Hex("xy").to_sql().is_err(), "not hexadecimal");
    }

    #[test]
    fn milliseconds_come_back() {
        for millisecond in [0, 1_795_000_000_123, -500] {
            let time = Millis(Timestamp::from_millisecond(millisecond).unwrap());
            assert_eq!(time.to_sql().unwrap(), ToSqlOutput::Owned(millisecond.into()));
            assert_eq!(Millis::column_result(ValueRef::Integer(millisecond)).unwrap(), time);
        }
        assert!(Millis::column_result(ValueRef::Integer(i64::MAX)).is_err(), "after the last year");
    }

    #[test]
    fn a_number_without_an_outcome_is_refused() {
        assert_eq!(Code::column_result(ValueRef::Integer(20)).unwrap(), Code(Outcome::FileIngested));
        assert!(Code::column_result(ValueRef::Integer(21)).is_err());
    }
}
