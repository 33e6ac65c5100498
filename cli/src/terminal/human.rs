//! Numbers formatted for people.

use std::time::Duration;

pub(crate) use dragline_domain::shown::{count, plural};
use indicatif::BinaryBytes;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// Formats a size in bytes: `512 B`, `1.21 KiB`.
pub(crate) fn bytes(number: u64) -> String {
    BinaryBytes(number).to_string()
}

/// Formats a duration: with milliseconds below ten seconds (`850ms`), in whole seconds above (`1m
/// 20s`).
pub(crate) fn duration(duration: Duration) -> String {
    let shown = if duration < Duration::from_secs(10) {
        Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    } else {
        Duration::from_secs(duration.as_secs())
    };
    SignedDuration::try_from(shown).map_or_else(|_| format!("{}s", shown.as_secs()), |shown| format!("{shown:#}"))
}

/// Formats the time of day: `23:59:59`.
pub(crate) fn time_of_day(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_get_coarser_as_they_grow() {
        for (millis, expected) in [
            (0, "0s"),
            (850, "850ms"),
            (1_500, "1s 500ms"),
            (10_999, "10s"),
            (80_000, "1m 20s"),
            (90_061_000, "25h 1m 1s"),
        ] {
            assert_eq!(duration(Duration::from_millis(millis)), expected);
        }
        assert_eq!(duration(Duration::MAX), format!("{}s", u64::MAX), "too long for the other format");
    }

    #[test]
    fn sizes_are_binary() {
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(1 << 20), "1.00 MiB");
    }
}
