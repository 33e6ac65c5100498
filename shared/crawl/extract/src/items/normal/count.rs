//! Counts, in all usual spellings.

use dragline_domain::item::Value;
use serde_json::Number;

use super::money::{is_in_number, plain};

/// Longer texts are not just counts.
const TEXT_BYTES_MAX: usize = 100;

/// The largest integer up to which an `f64` is exact.
const WHOLE_MAX: f64 = 9_007_199_254_740_991.0;

/// Reads a whole number, whatever separator groups its digits: `1.234` and `1,234` are the same.
/// `None` if the value is not one number, or has a fraction.
pub(super) fn count(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => whole(number),
        Value::Text(text) => parse_count(text),
        _ => None,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number within the bounds that are checked"
)]
fn whole(number: &Number) -> Option<Number> {
    if let Some(number) = number.as_u64() {
        return Some(number.into());
    }
    let number = number.as_f64()?;
    (number.fract() == 0.0 && (0.0..=WHOLE_MAX).contains(&number)).then(|| (number as u64).into())
}

fn parse_count(text: &str) -> Option<Number> {
    if text.len() > TEXT_BYTES_MAX {
        return None;
    }
    let begins = text.find(|c: char| c.is_ascii_digit())?;
    let (before, rest) = text.split_at(begins);
    let run = &rest[..rest.find(|c| !is_in_number(c)).unwrap_or(rest.len())];
    let (number, behind) = rest.split_at(run.trim_end_matches(|c: char| !c.is_ascii_digit()).len());
    // `.5`, `-5`, `4.5/5`, `5%`, `1.2k`.
    let is_other = before.ends_with(['.', ',', '-', '−', '–'])
        || behind.starts_with(|c: char| matches!(c, '/' | '%') || c.is_alphabetic())
        || behind.contains(|c: char| c.is_ascii_digit());
    if is_other {
        return None;
    }
    let digits = plain(number, 3)?;
    let (whole, decimals) = digits.split_once('.').unwrap_or((&digits, ""));
    decimals.bytes().all(|digit| digit == b'0').then(|| whole.parse::<u64>().ok())?.map(Number::from)
}
