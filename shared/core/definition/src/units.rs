//! Durations and sizes as people write them.

use std::time::Duration;

use jiff::{Span, SpanRelativeTo};

use super::error::Diagnostic;

const DURATION_HINT: &str = "write a number and its unit, such as `500ms`, `1s`, `30m`, `24h` or `7d`";
const SIZE_HINT: &str = "write a whole number and its unit, such as `64KiB`, `10MiB`, `2GB` or `512B`";

/// Reads a duration such as `500ms`, `1s`, `30m` or `1d 12h`; a day has 24 hours.
///
/// # Errors
/// Fails, with a hint, if it has no unit or is not a valid duration.
pub fn duration(text: &str) -> Result<Duration, Diagnostic> {
    if is_bare_number(text) {
        return Err(
            Diagnostic::new(format!("the duration `{text}` has no unit")).hint(format!("did you mean `{text}s`?"))
        );
    }
    let refused = || Diagnostic::new(format!("`{text}` is not a valid duration")).hint(DURATION_HINT);
    let span: Span = text.parse().map_err(|_| refused())?;
    let length = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| refused())?;
    Duration::try_from(length).map_err(|_| refused())
}

/// Reads a size in bytes such as `512B`, `64KiB` or `10MB`.
///
/// # Errors
/// Fails, with a hint, if it has no unit or is not a valid size.
pub fn size(text: &str) -> Result<u64, Diagnostic> {
    const UNITS: [(&str, u64); 9] = [
        ("B", 1),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
    ];
    if is_bare_number(text) {
        return Err(Diagnostic::new(format!("the size `{text}` has no unit")).hint(format!("did you mean `{text}B`?")));
    }
    let refused = || Diagnostic::new(format!("`{text}` is not a valid size")).hint(SIZE_HINT);
    let digits_end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(digits_end);
    let number: u64 = digits.parse().map_err(|_| refused())?;
    // `mb` and `Mb` are common, and nobody means bits here.
    let known = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim_start()));
    let (_, factor) = known.ok_or_else(refused)?;
    number.checked_mul(*factor).ok_or_else(refused)
}

fn is_bare_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let ms = Duration::from_millis;
        let table = [
            ("0s", Some(ms(0)), "nothing is a duration"),
            ("500ms", Some(ms(500)), "a fraction of a second"),
            ("1s", Some(ms(1_000)), "seconds"),
            ("1.5s", Some(ms(1_500)), "a decimal fraction"),
            ("30m", Some(ms(1_800_000)), "minutes, not months"),
            ("1h30m", Some(ms(5_400_000)), "units may follow each other"),
            ("1h 30m", Some(ms(5_400_000)), "with a space between"),
            ("7d", Some(ms(604_800_000)), "a day has 24 hours"),
            ("2w", Some(ms(1_209_600_000)), "a week has 7 days"),
            ("30 minutes", Some(ms(1_800_000)), "spelled out"),
            ("1", None, "a number has no unit"),
            ("", None, "nothing at all"),
            ("s", None, "no number"),
            ("1 parsec", None, "no unit of time"),
            ("-1s", None, "time runs forward"),
            ("1s ago", None, "time runs forward"),
            ("1mo", None, "a month has no fixed length"),
            ("1y", None, "nor has a year"),
            ("99999999999999999999s", None, "more than can be counted"),
        ];
        for (text, expected, why) in table {
            assert_eq!(duration(text).ok(), expected, "{text}: {why}");
        }
    }

    #[test]
    fn sizes() {
        let table = [
            ("0B", Some(0), "nothing is a size"),
            ("512B", Some(512), "bytes"),
            ("10MB", Some(10_000_000), "decimal"),
            ("10MiB", Some(10_485_760), "binary"),
            ("10 MiB", Some(10_485_760), "with a space"),
            ("10mib", Some(10_485_760), "in any case"),
            ("1TiB", Some(1 << 40), "the largest unit"),
            ("10", None, "no unit"),
            ("1.5MiB", None, "only whole numbers"),
            ("MiB", None, "no number"),
            ("-1MiB", None, "negative"),
            ("10M", None, "which of the two it means is anybody's guess"),
            ("10Mbit", None, "no size of a file"),
            ("99999999TiB", None, "more than can be counted"),
        ];
        for (text, expected, why) in table {
            assert_eq!(size(text).ok(), expected, "{text}: {why}");
        }
    }
}
