//! Numbers as people read them.

use std::time::Duration;

use indicatif::{BinaryBytes, HumanCount};
use jiff::SignedDuration;

/// A count with its thousands set apart: `1,234`.
pub(crate) fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

/// A count of something whose plural ends in `s`: `1 page`, `1,234 pages`.
pub(crate) fn plural(number: u64, one: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {one}{ending}", count(number))
}

/// A size: `512 B`, `1.21 KiB`.
pub(crate) fn bytes(number: u64) -> String {
    BinaryBytes(number).to_string()
}

/// A duration: `850ms` below ten seconds, whole seconds above, `1m 20s`.
pub(crate) fn duration(duration: Duration) -> String {
    let shown = if duration < Duration::from_secs(10) {
        Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    } else {
        Duration::from_secs(duration.as_secs())
    };
    SignedDuration::try_from(shown).map_or_else(|_| format!("{}s", shown.as_secs()), |shown| format!("{shown:#}"))
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
        assert_eq!(duration(Duration::MAX), format!("{}s", u64::MAX), "past what can be written otherwise");
    }

    #[test]
    fn counts_and_sizes() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!([0, 1, 2_000].map(|number| plural(number, "page")), ["0 pages", "1 page", "2,000 pages"]);
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(1 << 20), "1.00 MiB");
    }
}
