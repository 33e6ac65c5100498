//! Date formats of feeds and sitemaps.

use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{Timestamp, civil};

/// RFC 822 as amended by RFC 2822, in which years have four digits. The weekday is redundant and
/// not checked.
pub(super) const RFC_822: (&str, fn(&str) -> bool) = ("RFC 822", is_rfc_822);

/// RFC 3339, with the capital letters that Atom requires.
pub(super) const RFC_3339: (&str, fn(&str) -> bool) = ("RFC 3339", is_rfc_3339);

/// The W3C profile of ISO 8601: a year, a month, a day, or a time with its zone.
pub(super) const W3C: (&str, fn(&str) -> bool) = ("W3C Datetime", is_w3c);

fn is_rfc_822(text: &str) -> bool {
    static PARSER: DateTimeParser = DateTimeParser::new().relaxed_weekday(true);
    PARSER.parse_timestamp(text).is_ok()
}

fn is_rfc_3339(text: &str) -> bool {
    let Some((date, time)) = text.split_once('T') else { return false };
    is_date(date) && is_time(time, Seconds::Required)
}

fn is_w3c(text: &str) -> bool {
    match text.split_once('T') {
        Some((date, time)) => is_date(date) && is_time(time, Seconds::Optional),
        None => match text.len() {
            4 => number(text, 4).is_some(),
            7 => is_date(&format!("{text}-01")),
            _ => is_date(text),
        },
    }
}

/// Returns the instant of a W3C Datetime, midnight in UTC for a day; `None` if it is less exact
/// than a day, or no such date.
pub(crate) fn w3c_instant(text: &str) -> Option<Timestamp> {
    match text.split_once('T') {
        Some(_) => is_w3c(text).then(|| text.parse().ok()).flatten(),
        None => is_date(text).then(|| format!("{text}T00:00:00Z").parse().ok()).flatten(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seconds {
    Required,
    Optional,
}

/// Reads a number of exactly this many digits.
fn number(text: &str, digits: usize) -> Option<i16> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut next = |digits| parts.next().and_then(|part| number(part, digits));
    let (Some(year), Some(month), Some(day)) = (next(4), next(2), next(2)) else { return false };
    let (Ok(month), Ok(day)) = (i8::try_from(month), i8::try_from(day)) else { return false };
    parts.next().is_none() && civil::Date::new(year, month, day).is_ok()
}

/// Whether this is a time with an offset.
fn is_time(text: &str, seconds: Seconds) -> bool {
    let offset_at = text.find(['Z', '+', '-']).unwrap_or(text.len());
    let (time, offset) = text.split_at(offset_at);
    let is_offset = offset == "Z" || offset.get(1..).is_some_and(is_clock);
    let Some((clock, second)) = time.split_at_checked(5) else { return false };
    let is_second = match second.strip_prefix(':') {
        None => second.is_empty() && seconds == Seconds::Optional,
        Some(second) => {
            let (whole, fraction) = second.split_once('.').unwrap_or((second, "0"));
            let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
            // A leap second.
            is_fraction && number(whole, 2).is_some_and(|second| second <= 60)
        }
    };
    is_offset && is_clock(clock) && is_second
}

/// Whether this is a time like `23:59`.
fn is_clock(text: &str) -> bool {
    let Some((hour, minute)) = text.split_once(':') else { return false };
    number(hour, 2).is_some_and(|hour| hour < 24) && number(minute, 2).is_some_and(|minute| minute < 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_have_their_forms() {
        for (text, expected, why) in [
            ("Mon, 23 Nov 2026 10:00:00 GMT", "rfc_822", "as feeds have it"),
            ("23 Nov 2026 10:00 +0100", "rfc_822", "without day and seconds"),
            ("Sun, 23 Nov 2026 10:00:00 EST", "rfc_822", "another day of the week"),
            ("23 Nov 26 10:00:00 UT", "rfc_822", "two digits"),
            ("Mon, 31 Nov 2026 10:00:00 GMT", "", "no such day"),
            ("Montag, 23 Nov 2026", "", "another language"),
            ("2026-11-23T10:00:00Z", "rfc_3339 w3c", "as Atom has it"),
            ("2026-11-23T10:00:00.123+01:00", "rfc_3339 w3c", "with a fraction and an offset"),
            ("2026-11-23T10:00Z", "w3c", "without seconds"),
            ("2026-11-23T10:00:00", "", "without a zone"),
            ("2026-11-23 10:00:00Z", "", "with a space"),
            ("2026-11-23T10:00:00+0100", "", "an offset in another form"),
            ("2026-11-23T24:00:00Z", "", "no such hour"),
            ("2026-11-23", "w3c", "a day"),
            ("2026-02-30", "", "no such day"),
            ("2026-11", "w3c", "a month"),
            ("2026", "w3c", "a year"),
            ("23.11.2026", "", "another form"),
            ("", "", "nothing"),
            ("éééé", "", "not digits"),
            ("2026-11-23Téé:éé", "", "not digits"),
        ] {
            let forms = [("rfc_822", is_rfc_822(text)), ("rfc_3339", is_rfc_3339(text)), ("w3c", is_w3c(text))];
            let found: Vec<_> = forms.iter().filter(|(_, is)| *is).map(|(form, _)| *form).collect();
            assert_eq!(found.join(" "), expected, "{text}: {why}");
        }
    }
}
