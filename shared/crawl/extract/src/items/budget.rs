//! The limits on reading a page's markup.

use dragline_domain::item::{Record, Value};

/// The most things of a page that become items.
pub(super) const ITEMS_MAX: usize = 1_000;

/// The most properties kept of one thing.
pub(super) const FIELDS_MAX: usize = 256;

/// The longest text of one value, in bytes.
const TEXT_BYTES_MAX: usize = 32 << 10;

/// The most bytes of all values in one notation: shared things are repeated in each of their
/// referrers.
const ALL_TEXT_BYTES_MAX: usize = 4 << 20;

/// The most values of one notation.
const VALUES_MAX: usize = 50_000;

/// The most tree nodes visited for one notation: shared nodes are visited once for each referrer.
const STEPS_MAX: usize = 2_000_000;

/// The maximum nesting of things.
pub(super) const NESTING_MAX: usize = 24;

/// The remaining budget for one notation of a page.
#[derive(Debug)]
pub(super) struct Budget {
    values: usize,
    text_bytes: usize,
    steps: usize,
    /// Whether something was left out.
    pub(super) is_cut: bool,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { values: VALUES_MAX, text_bytes: ALL_TEXT_BYTES_MAX, steps: STEPS_MAX, is_cut: false }
    }

    /// Counts a visit to a node; `false` if there were too many.
    pub(super) fn step(&mut self) -> bool {
        spend(&mut self.steps, 1, &mut self.is_cut)
    }

    /// Counts several visits; `false` if there were too many.
    pub(super) fn steps(&mut self, amount: usize) -> bool {
        spend(&mut self.steps, amount, &mut self.is_cut)
    }

    /// Counts a value that is not a text; `false` if there were too many.
    pub(super) fn value(&mut self) -> bool {
        spend(&mut self.values, 1, &mut self.is_cut)
    }

    /// Returns a trimmed text, cut at the limit; `None` if it is empty, or the budget is exhausted.
    pub(super) fn text(&mut self, text: &str) -> Option<String> {
        let text = text.trim();
        if text.is_empty() || !self.value() {
            return None;
        }
        let kept = self.clipped(text);
        spend(&mut self.text_bytes, kept.len(), &mut self.is_cut).then(|| kept.to_owned())
    }

    /// Returns the beginning of a text, cut at the limit of a value.
    pub(super) fn clipped<'v>(&mut self, text: &'v str) -> &'v str {
        let kept = &text[..text.floor_char_boundary(TEXT_BYTES_MAX.min(text.len()))];
        self.is_cut |= kept.len() < text.len();
        kept
    }

    /// Like [`Self::text`], as a value of an item.
    pub(super) fn text_value(&mut self, text: &str) -> Option<Value> {
        self.text(text).map(Value::Text)
    }

    /// Counts the texts of a copied thing; `false` if there were too many.
    pub(super) fn copies(&mut self, record: &Record) -> bool {
        spend(&mut self.text_bytes, record_bytes(record), &mut self.is_cut)
    }

    /// Counts the texts of a copied value; `false` if there were too many.
    pub(super) fn copies_value(&mut self, value: &Value) -> bool {
        spend(&mut self.text_bytes, bytes_of_value(value), &mut self.is_cut)
    }

    /// Whether things may be nested to this depth; if not, the page counts as cut.
    pub(super) fn may_nest(&mut self, depth: usize) -> bool {
        self.is_cut |= depth >= NESTING_MAX;
        depth < NESTING_MAX
    }
}

/// Estimates the bytes of a thing, including nested things.
fn record_bytes(record: &Record) -> usize {
    let fields =
        record.fields.iter().map(|(name, values)| name.len() + values.iter().map(bytes_of_value).sum::<usize>());
    size_of::<Record>() + record.types.iter().map(String::len).sum::<usize>() + fields.sum::<usize>()
}

fn bytes_of_value(value: &Value) -> usize {
    match value {
        Value::Text(text) => size_of::<Value>() + text.len(),
        Value::Record(record) => record_bytes(record),
        Value::Bool(_) | Value::Number(_) | Value::Money(_) => size_of::<Value>(),
    }
}

fn spend(left: &mut usize, amount: usize, is_cut: &mut bool) -> bool {
    match left.checked_sub(amount) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => {
            *is_cut = true;
            false
        }
    }
}
