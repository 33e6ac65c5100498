//! Dates and durations, in all usual spellings.

use jiff::Span;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::fmt::temporal::{Pieces, PiecesOffset};

/// Longer texts are not dates.
const TEXT_BYTES_MAX: usize = 80;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Converts a date to ISO 8601, with its time and offset if the text has them: `2021-03-03`,
/// `2021-03-03T10:00:00`, `2021-03-03T10:00:00+01:00`. `None` if it is not one, or is ambiguous:
/// `03/04/2021` is a day in March or in April.
pub(crate) fn date(text: &str) -> Option<String> {
    let text = text.trim();
    // A year alone, or a product number, is not a date, though ISO 8601 has dates without
    // separators.
    if text.len() > TEXT_BYTES_MAX || !text.contains(|c: char| !c.is_ascii_digit()) {
        return None;
    }
    iso(text).or_else(|| rfc_2822(text)).or_else(|| parse_spelled_date(text))
}

/// Reads an ISO 8601 duration in seconds; `None` if it is not one, or has months, whose length
/// differs.
pub(super) fn duration_s(text: &str) -> Option<i64> {
    let text = text.trim();
    if text.len() > TEXT_BYTES_MAX || !text.starts_with(['P', 'p']) {
        return None;
    }
    let span: Span = text.parse().ok()?;
    if span.get_years() != 0 || span.get_months() != 0 {
        return None;
    }
    let days = i64::from(span.get_weeks()) * 7 + i64::from(span.get_days());
    let hours = days * 24 + i64::from(span.get_hours());
    hours.checked_mul(60)?.checked_add(span.get_minutes())?.checked_mul(60)?.checked_add(span.get_seconds())
}

fn iso(text: &str) -> Option<String> {
    let text = text.replace('/', "-");
    let pieces = Pieces::parse(&text).ok()?;
    let (date, Some(time)) = (pieces.date(), pieces.time()) else { return Some(pieces.date().to_string()) };
    Some(match pieces.offset() {
        None => date.to_datetime(time).to_string(),
        Some(PiecesOffset::Zulu) => format!("{}Z", date.to_datetime(time)),
        Some(_) => with_offset(date.to_datetime(time), pieces.to_numeric_offset()?.seconds()),
    })
}

fn rfc_2822(text: &str) -> Option<String> {
    // A wrong weekday is no reason to doubt the date.
    let zoned = DateTimeParser::new().relaxed_weekday(true).parse_zoned(text).ok()?;
    Some(with_offset(zoned.datetime(), zoned.offset().seconds()))
}

fn with_offset(datetime: DateTime, offset_s: i32) -> String {
    let minutes = offset_s.abs() / 60;
    format!("{datetime}{}{:02}:{:02}", if offset_s < 0 { '-' } else { '+' }, minutes / 60, minutes % 60)
}

/// Reads a date with the month as a word, or with separators that identify the numbers.
fn parse_spelled_date(text: &str) -> Option<String> {
    let text = text.to_lowercase();
    let mut numbers: Vec<(i16, usize)> = Vec::new();
    let (mut month, mut month_at, mut time) = (None, 0, None);
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')' | '|' | '–' | '—'));
    for word in words.map(|word| word.trim_matches(['.', '-'])).filter(|word| !word.is_empty()) {
        if let Some(found) = parse_month(word) {
            if month.replace(found).is_some() {
                return None;
            }
            month_at = numbers.len();
        } else if word.contains(':') {
            if time.replace(clock(word)?).is_some() {
                return None;
            }
        } else if matches!(word, "am" | "pm" | "a.m" | "p.m") {
            time = Some(half_of_day(time?, word.starts_with('p'))?);
        } else if word.contains(['/', '.', '-']) {
            if !numbers.is_empty() || month.is_some() {
                return None;
            }
            return finish(parse_separated_date(word)?, rest_time(&text, word));
        } else if let Some(number) = number(word) {
            numbers.push((number, word.len()));
        } else if !is_filler(word) {
            return None;
        }
    }
    let month = month?;
    let (day, year) = match numbers.as_slice() {
        // 3 March 2021; March 3, 2021.
        [(day, _), (year, 4)] if month_at <= 1 => (*day, *year),
        // 2021 March 3.
        [(year, 4), (day, _)] if month_at == 1 => (*day, *year),
        _ => return None,
    };
    finish(Date::new(year, month, i8::try_from(day).ok()?).ok()?, time)
}

fn finish(date: Date, time: Option<Time>) -> Option<String> {
    Some(match time {
        Some(time) => date.to_datetime(time).to_string(),
        None => date.to_string(),
    })
}

/// Reads the time after a date; `None` if there is anything else.
fn rest_time(text: &str, date: &str) -> Option<Time> {
    let behind = text.split(date).nth(1)?.trim_matches(|c: char| c.is_whitespace() || c == ',');
    let mut words = behind.split_whitespace().filter(|word| !is_filler(word));
    let time = clock(words.next()?)?;
    match words.next() {
        None => Some(time),
        Some(half @ ("am" | "pm")) => half_of_day(time, half == "pm"),
        Some(_) => None,
    }
}

/// Reads numbers with separators. With points, as in `3.4.2021`, the day comes first; with slashes,
/// the day must not be a possible month.
fn parse_separated_date(word: &str) -> Option<Date> {
    let separator = word.chars().find(|c| !c.is_ascii_digit())?;
    let parts: Vec<&str> = word.split(separator).collect();
    let [first, second, third] = parts.as_slice() else { return None };
    let small = |part: &str| (part.len() <= 2).then(|| part.parse::<i8>().ok()).flatten();
    let year = |part: &str| (part.len() == 4).then(|| part.parse::<i16>().ok()).flatten();
    if let Some(year) = year(first) {
        return Date::new(year, small(second)?, small(third)?).ok();
    }
    let (first, second, year) = (small(first)?, small(second)?, year(third)?);
    let (day, month) = match separator {
        '.' => (first, second),
        _ if first > 12 || first == second => (first, second),
        _ if second > 12 => (second, first),
        _ => return None,
    };
    Date::new(year, month, day).ok()
}

fn parse_month(word: &str) -> Option<i8> {
    let at = MONTHS
        .iter()
        .position(|month| *month == word || *month == "september" && word == "sept" || month[..3] == *word);
    at.and_then(|at| i8::try_from(at + 1).ok())
}

/// Reads a number, perhaps with an ordinal suffix.
fn number(word: &str) -> Option<i16> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    matches!(&word[digits.len()..], "" | "st" | "nd" | "rd" | "th").then(|| digits.parse().ok()).flatten()
}

fn is_filler(word: &str) -> bool {
    matches!(word, "at" | "of" | "on" | "the")
        || WEEKDAYS.iter().any(|day| *day == word || word.len() >= 3 && day.starts_with(word))
}

/// Reads a time of day: `10:30`, `10:30:15`, `10:30pm`.
fn clock(word: &str) -> Option<Time> {
    let (digits, half) = word.split_at(word.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(word.len()));
    let mut parts = digits.split(':').map(|part| part.parse::<i8>().ok());
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = match parts.next() {
        Some(second) => second?,
        None => 0,
    };
    let time = Time::new(hour, minute, second, 0).ok().filter(|_| parts.next().is_none())?;
    match half {
        "" => Some(time),
        "am" | "pm" => half_of_day(time, half == "pm"),
        _ => None,
    }
}

fn half_of_day(time: Time, is_afternoon: bool) -> Option<Time> {
    let hour = match (time.hour(), is_afternoon) {
        (12, false) => 0,
        (hour @ 1..=11, true) => hour + 12,
        (hour @ 1..=12, _) => hour,
        _ => return None,
    };
    Time::new(hour, time.minute(), time.second(), 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_every_usual_spelling() {
        for (text, expected, why) in [
            ("2021-03-03", Some("2021-03-03"), "ISO 8601"),
            ("2021-03-03T10:00:00+01:00", Some("2021-03-03T10:00:00+01:00"), "its offset is kept"),
            ("2021-03-03T10:00:00Z", Some("2021-03-03T10:00:00Z"), "so is Z"),
            ("2017-06-10T19:30:00-0400", Some("2017-06-10T19:30:00-04:00"), "an offset without a colon"),
            ("2021-03-03T10:00", Some("2021-03-03T10:00:00"), "no seconds, no offset"),
            ("2021-03-03 10:00:00", Some("2021-03-03T10:00:00"), "a space for the T"),
            ("2021/03/03", Some("2021-03-03"), "slashes, the year first"),
            ("2021/3/3", Some("2021-03-03"), "without noughts"),
            ("March 3, 2021", Some("2021-03-03"), "American"),
            ("3 March 2021", Some("2021-03-03"), "British"),
            ("3rd of March 2021", Some("2021-03-03"), "spoken"),
            ("Wednesday, Mar. 3, 2021 at 4:05 pm", Some("2021-03-03T16:05:00"), "with a time"),
            ("Mar 3 2021 12:05am", Some("2021-03-03T00:05:00"), "after midnight"),
            ("Wed, 03 Mar 2021 10:00:00 +0100", Some("2021-03-03T10:00:00+01:00"), "RFC 2822"),
            ("Wed, 03 Mar 2021 10:00:00 GMT", Some("2021-03-03T10:00:00+00:00"), "HTTP"),
            ("3.4.2021", Some("2021-04-03"), "with points, the day comes first"),
            ("25/04/2021", Some("2021-04-25"), "there are no 25 months"),
            ("04/25/2021 10:30", Some("2021-04-25T10:30:00"), "either way"),
            ("03/04/2021", None, "a day in March or in April"),
            ("2021", None, "a year"),
            ("20210303", None, "any number"),
            ("31 February 2021", None, "no such day"),
            ("March 2021", None, "no day"),
            ("3 March 4 April 2021", None, "two dates"),
            ("yesterday", None, "depends on today"),
            ("", None, "nothing"),
            ("3 März 2021", None, "other languages are not read"),
        ] {
            assert_eq!(date(text).as_deref(), expected, "{text}: {why}");
        }
    }

    #[test]
    fn durations_are_read_in_seconds() {
        for (text, expected, why) in [
            ("PT1H30M", Some(5_400), "ISO 8601"),
            ("P1DT1S", Some(86_401), "a day has 24 hours"),
            ("P1W", Some(604_800), "a week"),
            ("P1M", None, "months differ"),
            ("90", None, "of what?"),
            ("1:30", None, "not ISO 8601"),
            ("", None, "nothing"),
        ] {
            assert_eq!(duration_s(text), expected, "{text}: {why}");
        }
    }
}
