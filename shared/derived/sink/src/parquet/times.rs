//! Conversions of times from text to Parquet values.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;

/// The length of an ISO 8601 date.
const DAY_BYTES: usize = "2021-03-03".len();

/// Returns whether a text is an ISO 8601 date.
pub(super) fn is_day(text: &str) -> bool {
    text.len() == DAY_BYTES && day(text).is_some()
}

/// Returns whether a text is an ISO 8601 time with an offset.
pub(super) fn is_instant(text: &str) -> bool {
    text.len() > DAY_BYTES && text.parse::<Timestamp>().is_ok()
}

/// Returns the days since 1970; `None` if the text is not a date.
pub(super) fn days(text: &str) -> Option<i32> {
    day(text).map(|day| (day - Date::constant(1970, 1, 1)).get_days())
}

/// Returns the microseconds since 1970; `None` if the text is not a time. A time without an offset
/// is taken as UTC, and a date as midnight.
pub(super) fn micros(text: &str) -> Option<i64> {
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Some(instant.as_microsecond());
    }
    let pieces = Pieces::parse(text)
        .ok()
        .filter(|pieces| pieces.offset().is_none() && pieces.time_zone_annotation().is_none())?;
    let time = pieces.date().to_datetime(pieces.time().unwrap_or_default());
    Offset::UTC.to_timestamp(time).ok().map(Timestamp::as_microsecond)
}

fn day(text: &str) -> Option<Date> {
    // The round trip excludes times with a date, and dates without hyphens.
    text.parse::<Date>().ok().filter(|day| day.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_numbers() {
        for (text, expected, why) in [
            ("1970-01-01T00:00:01Z", Some(1_000_000), "in UTC"),
            ("1970-01-01T01:00:00.5+01:00", Some(500_000), "elsewhere"),
            ("1970-01-02", Some(86_400_000_000), "a day"),
            ("1970-01-01T00:00:01", Some(1_000_000), "nobody says where"),
            ("1969-12-31T23:59:59Z", Some(-1_000_000), "before"),
            ("soon", None, "a word"),
            ("", None, "nothing"),
        ] {
            assert_eq!(micros(text), expected, "{text}: {why}");
        }
        assert_eq!((days("1970-01-02"), days("1969-12-31"), days("x")), (Some(1), Some(-1), None));
        assert!(is_day("2021-03-03") && !is_day("20210303") && !is_day("2021-02-30"));
        assert!(is_instant("2021-03-03T10:00:00Z") && !is_instant("2021-03-03T10:00:00"));
    }
}
