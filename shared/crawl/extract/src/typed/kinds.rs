//! Converting texts to values.

use dragline_domain::definition::ScalarKind;
use dragline_domain::item::Value;
use serde_json::Number;
use url::Url;

use super::text::collapse;
use crate::items::{date, money};

/// Longer texts are not numbers, dates or the like.
const SHORT_BYTES_MAX: usize = 200;

/// Converts a text to a value; `None` if it is not of that kind.
pub(crate) fn value(kind: ScalarKind, raw: &str, base: &Url) -> Option<Value> {
    let text = collapse(raw);
    let is_short = text.len() <= SHORT_BYTES_MAX;
    match kind {
        ScalarKind::Text => Some(Value::Text(text)),
        ScalarKind::Url => url(&text, base).map(Value::Text),
        _ if !is_short => None,
        ScalarKind::Number => number(&text).map(Value::Number),
        ScalarKind::Money => money(&text).map(Value::Money),
        ScalarKind::Date => date(&text).map(Value::Text),
        ScalarKind::Boolean => boolean(&text).map(Value::Bool),
    }
}

fn url(text: &str, base: &Url) -> Option<String> {
    let url = base.join(text).ok()?;
    matches!(url.scheme(), "http" | "https").then(|| url.into())
}

fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" | "on" => Some(true),
        "false" | "no" | "0" | "off" => Some(false),
        _ => None,
    }
}

/// Reads a number in usual spellings; `12 %` is 12.
pub(super) fn number(text: &str) -> Option<Number> {
    let text = text.trim().trim_end_matches('%').trim_end();
    let (sign, digits) = match text.strip_prefix(['-', '−', '+']) {
        Some(digits) => (if text.starts_with('+') { "" } else { "-" }, digits.trim_start()),
        None => ("", text),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let plain = format!("{sign}{}", plain(digits)?);
    match plain.parse::<i64>() {
        Ok(whole) => Some(whole.into()),
        Err(_) => Number::from_f64(plain.parse().ok()?),
    }
}

/// Returns a number without thousands separators, and with a dot before its fraction.
fn plain(digits: &str) -> Option<String> {
    const GROUPING: [char; 6] = [' ', '\u{a0}', '\u{202f}', '\u{2009}', '\'', '’'];
    let (whole, fraction) = match (digits.rfind('.'), digits.rfind(',')) {
        (Some(dot), Some(comma)) => split(digits, dot.max(comma)),
        (Some(dot), None) if digits.matches('.').count() == 1 => split(digits, dot),
        (None, Some(comma)) if digits.matches(',').count() == 1 && !is_grouped(digits, ',') => split(digits, comma),
        _ => (digits, ""),
    };
    let is_exponent = fraction.contains(['e', 'E']) || whole.contains(['e', 'E']);
    if is_exponent {
        return digits.bytes().all(|byte| byte.is_ascii_digit() || b"eE.+-".contains(&byte)).then(|| digits.to_owned());
    }
    let separators: Vec<char> = whole.chars().filter(|c| !c.is_ascii_digit()).collect();
    let joined = match separators.as_slice() {
        [] => whole.to_owned(),
        [separator, others @ ..] => {
            let is_one = others.iter().all(|other| other == separator);
            let may_group = matches!(separator, '.' | ',') || GROUPING.contains(separator);
            if !is_one || !may_group || !is_grouped(whole, *separator) {
                return None;
            }
            whole.replace(*separator, "")
        }
    };
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let joined = if joined.is_empty() { "0".to_owned() } else { joined };
    Some(if fraction.is_empty() { joined } else { format!("{joined}.{fraction}") })
}

fn split(digits: &str, at: usize) -> (&str, &str) {
    // Both separators are one byte.
    (&digits[..at], &digits[at + 1..])
}

/// Whether a separator precedes every three digits: `1,234,567`.
fn is_grouped(whole: &str, separator: char) -> bool {
    let mut groups = whole.split(separator);
    let first = groups.next().unwrap_or_default();
    (1..=3).contains(&first.len()) && first != "0" && groups.all(|group| group.len() == 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, expected, why) in [
            ("12", "12", "digits"),
            ("-3", "-3", "a sign"),
            ("−3,5", "-3.5", "the sign of typesetters"),
            ("1,234.5", "1234.5", "as in English"),
            ("1.234,5", "1234.5", "as in German"),
            ("1 234 567,25", "1234567.25", "as in French"),
            ("1'234'567", "1234567", "as in Switzerland"),
            ("1,234", "1234", "three digits after a comma are thousands"),
            ("1.234", "1.234", "a dot alone begins a fraction"),
            ("0,125", "0.125", "no thousands begin with 0"),
            ("12,5", "12.5", "one digit is a fraction"),
            ("1.234.567", "1234567", "two dots are not fractions"),
            ("12 %", "12", "a share"),
            ("1e3", "1000.0", "as in programs"),
            (".5", "0.5", "without a digit before"),
            ("", "", "nothing"),
            ("many", "", "a word"),
            ("12 apples", "", "more than a number"),
            ("1,23,4", "", "neither thousands nor a fraction"),
            ("1-2", "", "a range"),
            ("1.2.3", "", "a version"),
            ("1e999", "", "too large"),
        ] {
            let read = number(text).map(|number| number.to_string()).unwrap_or_default();
            assert_eq!(read, expected, "{text}: {why}");
        }
    }

    #[test]
    fn other_kinds_are_read() {
        let base = Url::parse("https://a.example/b/").unwrap();
        for (kind, text, expected, why) in [
            (ScalarKind::Text, " a \n b ", r#""a b""#, "white space is one space"),
            (ScalarKind::Money, "€ 1.234,50", r#"{"amount":1234.5,"currency":"EUR"}"#, "a sign before it"),
            (ScalarKind::Money, "20 CHF", r#"{"amount":20,"currency":"CHF"}"#, "a code after it"),
            (ScalarKind::Money, "7", r#"{"amount":7,"currency":null}"#, "no currency"),
            (ScalarKind::Money, "free", "", "no amount"),
            (ScalarKind::Date, "2024-05-01", r#""2024-05-01""#, "a day"),
            (ScalarKind::Date, "2024-05-01T10:00:00Z", r#""2024-05-01T10:00:00Z""#, "a time"),
            (ScalarKind::Date, "Wed, 01 May 2024 10:00:00 +0200", r#""2024-05-01T10:00:00+02:00""#, "as in mails"),
            (ScalarKind::Date, "2024-02-30", "", "no such day"),
            (ScalarKind::Date, "soon", "", "a word"),
            (ScalarKind::Url, "c?d", r#""https://a.example/b/c?d""#, "relative to the base"),
            (ScalarKind::Url, "javascript:a()", "", "not one that can be fetched"),
            (ScalarKind::Boolean, "Yes", "true", "a word for it"),
            (ScalarKind::Boolean, "maybe", "", "neither"),
        ] {
            let read = value(kind, text, &base).map(|value| serde_json::to_string(&value).unwrap()).unwrap_or_default();
            assert_eq!(read, expected, "{text}: {why}");
        }
    }
}
