//! Counts of an iteration, over some of its origins: an attribute for each number, as many origins
//! add to it concurrently.

use dragline_domain::frontier::{Counts, OriginKey};
use dragline_domain::ids::{CrawlId, Iteration};
use sha2::{Digest as _, Sha256};

use super::{VERSION_NAME, fields, keys, row, versioned};
use crate::dynamo::{Expression, Item, Key, Role, Write, number};
use crate::errors::StoreError;
use crate::tables::{PARTITION, SORT};

/// The number of rows for the counts of an iteration: with a single one, commits would obstruct
/// each other.
const SHARDS: u8 = 16;

/// Returns the keys of all count rows of an iteration.
pub(crate) fn all_keys(crawl: &CrawlId, iteration: Iteration) -> impl Iterator<Item = Key> {
    (0..SHARDS).map(move |shard| keys::counts(crawl, iteration, shard))
}

/// Adds the counts of an origin's commit, including those for other origins; `None` if there are
/// none. It needs no condition: the transaction of that commit takes effect once.
pub(crate) fn add(origin: &OriginKey, iteration: Iteration, more: &Counts) -> Option<Write> {
    if more.is_empty() {
        return None;
    }
    let numbers: Vec<(&str, i64)> = more.numbers().collect();
    let adds: Vec<String> = numbers.iter().map(|(name, _)| format!("#{name} :{name}")).collect();
    let update = Expression::new(format!("SET #v = :v ADD {}", adds.join(", ")));
    let update = numbers
        .iter()
        .fold(versioned(update), |update, (name, count)| update.with(&format!(":{name}"), number(i128::from(*count))));
    let key = keys::counts(&origin.crawl, iteration, count_shard(origin));
    let attributes = numbers.iter().map(|(name, count)| (*name, number(i128::from(*count))));
    Some(Write::update(Role::Counts, &key, update, &row(&key, attributes)))
}

/// Reads a row.
pub(crate) fn read(item: &Item) -> Result<Counts, StoreError> {
    let fields = fields(item)?;
    let is_number = |name: &&String| !matches!(name.as_str(), PARTITION | SORT | VERSION_NAME);
    let names = item.keys().filter(is_number);
    names.map(|name| Ok((name.clone(), fields.number(name)?))).collect()
}

/// Returns the row for an origin. It uses another byte than [`super::shard_of`], whose distribution
/// is independent.
fn count_shard(origin: &OriginKey) -> u8 {
    Sha256::digest(origin.origin.as_str())[1] % SHARDS
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::AttributeValue;

    use super::*;

    fn origin() -> OriginKey {
        OriginKey { crawl: "docs".parse().unwrap(), origin: "https://a.example".parse().unwrap() }
    }

    #[test]
    fn empty_changes_are_not_written() {
        assert!(add(&origin(), Iteration::FIRST, &Counts::default()).is_none());
    }

    #[test]
    fn counts_are_read_back() {
        let counts: Counts = [("added".to_owned(), 3), ("retries_waiting".to_owned(), -2)].into_iter().collect();
        let key = keys::counts(&origin().crawl, Iteration::FIRST, 7);
        let attributes: Vec<(&str, AttributeValue)> =
            counts.numbers().map(|(name, count)| (name, number(i128::from(count)))).collect();
        assert_eq!(read(&row(&key, attributes)).unwrap(), counts);
        assert_eq!(all_keys(&origin().crawl, Iteration::FIRST).count(), usize::from(SHARDS));
    }
}
