//! Sizes of items and their capacity units, by AWS's rules ("Amazon DynamoDB item sizes and
//! formats", "DynamoDB on-demand mode").

use std::collections::HashMap;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};

use aws_sdk_dynamodb::types::AttributeValue;

/// An item as sent and received.
pub(crate) type Item = HashMap<String, AttributeValue>;

/// Write request units: one for each 1 KB begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WriteUnits(pub u64);

/// Read request units, in halves: one unit for each 4 KB begun of a consistent read, half a unit
/// for an eventually consistent one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReadUnits {
    /// Twice the number of units.
    pub halves: u64,
}

/// How a read is billed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadKind {
    /// It may lag.
    Eventual,
    /// It shows every write that was answered before.
    Consistent,
}

impl WriteUnits {
    /// Returns the units for writing an item of this size: the larger one of before and after.
    pub(crate) const fn for_bytes(item_bytes: u64) -> Self {
        Self(units(item_bytes, 1_024))
    }
}

impl ReadUnits {
    /// Returns the units for reading this size: an item's, or the total read by a query. A missing
    /// item costs as much as the smallest one.
    pub(crate) const fn for_bytes(bytes: u64, kind: ReadKind) -> Self {
        let halves_per_unit = match kind {
            ReadKind::Eventual => 1,
            ReadKind::Consistent => 2,
        };
        Self { halves: units(bytes, 4_096) * halves_per_unit }
    }
}

const fn units(bytes: u64, unit_bytes: u64) -> u64 {
    let begun = bytes.div_ceil(unit_bytes);
    if begun == 0 { 1 } else { begun }
}

impl Add for WriteUnits {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self(self.0 + more.0)
    }
}

impl Sub for WriteUnits {
    type Output = Self;

    fn sub(self, less: Self) -> Self {
        Self(self.0 - less.0)
    }
}

impl AddAssign for WriteUnits {
    fn add_assign(&mut self, more: Self) {
        self.0 += more.0;
    }
}

impl Mul<u64> for WriteUnits {
    type Output = Self;

    fn mul(self, times: u64) -> Self {
        Self(self.0 * times)
    }
}

impl Sum for WriteUnits {
    fn sum<I: Iterator<Item = Self>>(units: I) -> Self {
        units.fold(Self::default(), Add::add)
    }
}

impl Sub for ReadUnits {
    type Output = Self;

    fn sub(self, less: Self) -> Self {
        Self { halves: self.halves - less.halves }
    }
}

impl AddAssign for ReadUnits {
    fn add_assign(&mut self, more: Self) {
        self.halves += more.halves;
    }
}

impl Sum for ReadUnits {
    fn sum<I: Iterator<Item = Self>>(units: I) -> Self {
        Self { halves: units.map(|units| units.halves).sum() }
    }
}

/// Returns the size of an item: its attributes' names and values.
pub(crate) fn item_bytes(item: &Item) -> u64 {
    item.iter().map(|(name, value)| len(name) + value_bytes(value)).sum()
}

fn value_bytes(value: &AttributeValue) -> u64 {
    /// The overhead of a list or map besides its content, and of each element.
    const NESTED: u64 = 3;
    match value {
        AttributeValue::S(text) => len(text),
        AttributeValue::N(number) => number_bytes(number),
        AttributeValue::B(blob) => u64::try_from(blob.as_ref().len()).unwrap_or(u64::MAX),
        AttributeValue::Ss(texts) => texts.iter().map(|text| len(text)).sum(),
        AttributeValue::L(values) => NESTED + values.iter().map(|value| 1 + value_bytes(value)).sum::<u64>(),
        AttributeValue::M(values) => {
            NESTED + values.iter().map(|(name, value)| 1 + len(name) + value_bytes(value)).sum::<u64>()
        }
        _ => 1,
    }
}

/// Returns about one byte for two significant digits, plus one; leading and trailing zeros do not
/// count.
fn number_bytes(number: &str) -> u64 {
    let is_negative = number.starts_with('-');
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    let significant = len(digits.trim_start_matches('0').trim_end_matches('0'));
    significant.div_ceil(2) + 1 + u64::from(is_negative)
}

fn len(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::primitives::Blob;

    use super::*;

    #[test]
    fn sizes_count_names_and_values() {
        let s = |text: &str| AttributeValue::S(text.into());
        let n = |number: &str| AttributeValue::N(number.into());
        for (value, bytes, why) in [
            (s("abc"), 3, "a text's octets"),
            (s("ü"), 2, "as UTF-8"),
            (n("0"), 1, "no significant digit"),
            (n("7"), 2, "one digit"),
            (n("1795000000123"), 8, "thirteen digits"),
            (n("1795000000000"), 3, "four of them significant"),
            (n("-12"), 3, "a sign"),
            (AttributeValue::Bool(true), 1, "a flag"),
            (AttributeValue::B(Blob::new([0; 9])), 9, "a blob's octets"),
            (AttributeValue::L(vec![s("ab"), s("c")]), 8, "three, and one for each element"),
            (
                AttributeValue::M(HashMap::from([("k".into(), s("ab"))])),
                7,
                "three, one for the pair, its name and value",
            ),
        ] {
            let item = Item::from([("name".to_owned(), value)]);
            assert_eq!(item_bytes(&item), 4 + bytes, "{why}");
        }
    }

    #[test]
    fn writes_are_billed_by_the_kilobyte_begun() {
        for (bytes, units, why) in [
            (0, 1, "a delete of nothing"),
            (1, 1, "begun"),
            (1_024, 1, "just one"),
            (1_025, 2, "a byte more"),
            (65_536, 64, "a large chunk"),
        ] {
            assert_eq!(WriteUnits::for_bytes(bytes), WriteUnits(units), "{why}");
        }
    }

    #[test]
    fn reads_are_billed_by_four_kilobytes_and_by_how_sure_they_are() {
        for (bytes, kind, halves, why) in [
            (0, ReadKind::Eventual, 1, "a missing item costs the minimum"),
            (4_096, ReadKind::Eventual, 1, "half a unit"),
            (4_096, ReadKind::Consistent, 2, "a unit"),
            (4_097, ReadKind::Consistent, 4, "a byte more"),
        ] {
            assert_eq!(ReadUnits::for_bytes(bytes, kind), ReadUnits { halves }, "{why}");
        }
    }
}
