//! Counts durations and sizes in little memory.

use serde::{Deserialize, Serialize};

/// The number of buckets per doubling of the value.
const STEPS: u32 = 8;

/// A histogram of values, each accurate to an eighth.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    values: u64,
}

impl Histogram {
    pub(crate) fn add(&mut self, value: u64) {
        let place = bucket(value);
        if self.counts.len() <= place {
            self.counts.resize(place + 1, 0);
        }
        if let Some(count) = self.counts.get_mut(place) {
            *count += 1;
        }
        self.values += 1;
    }

    /// Returns a quantile, given in thousandths; `None` without values.
    pub(crate) fn quantile(&self, thousandths: u64) -> Option<u64> {
        let rank = (self.values * thousandths).div_ceil(1000).max(1);
        let mut below = 0;
        self.counts.iter().enumerate().find_map(|(place, count)| {
            below += count;
            (below >= rank).then(|| bucket_start(place))
        })
    }

    /// Returns the number of values in each range from one bound up to the next, exclusive; the
    /// last range is open.
    pub(crate) fn between(&self, bounds: &[u64]) -> Vec<u64> {
        let mut counts = vec![0; bounds.len()];
        for (place, count) in self.counts.iter().enumerate() {
            let at = bounds.partition_point(|bound| *bound <= bucket_start(place)).saturating_sub(1);
            if let Some(sum) = counts.get_mut(at) {
                *sum += count;
            }
        }
        counts
    }
}

/// Returns the bucket of a value. Values below sixteen have buckets of their own; above, each
/// doubling has [`STEPS`].
#[expect(clippy::cast_possible_truncation, reason = "what is left of a value is less than sixteen")]
const fn bucket(value: u64) -> usize {
    let bits = u64::BITS - value.leading_zeros();
    if bits <= STEPS.ilog2() + 1 {
        return value as usize;
    }
    let shift = bits - 1 - STEPS.ilog2();
    (shift as usize) * STEPS as usize + (value >> shift) as usize
}

/// Returns the smallest value of a bucket.
const fn bucket_start(place: usize) -> u64 {
    let steps = STEPS as usize;
    if place < 2 * steps {
        return place as u64;
    }
    let shift = place / steps - 1;
    ((place - shift * steps) as u64) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_approximate_their_values() {
        for exact in (0..5000).chain((0..60).map(|bits| (1 << bits) + 1)) {
            let shown = bucket_start(bucket(exact));
            assert!(shown <= exact && exact - shown <= exact / 8, "{exact} is shown as {shown}");
        }
        assert!((0..5000).is_sorted_by_key(bucket), "larger values have larger places");
    }

    #[test]
    fn quantiles_and_ranges() {
        let mut all = Histogram::default();
        assert_eq!(all.quantile(500), None);
        (1..=16).for_each(|value| all.add(value));
        assert_eq!((all.quantile(500), all.quantile(1000), all.quantile(0)), (Some(8), Some(16), Some(1)));
        assert_eq!(all.between(&[0, 4, 16]), [3, 12, 1]);
    }
}
