//! The origins that joined a crawl: a numbered row for each, and their count in the crawl's row. So
//! a caller that knows the first ones reads only the rest, and the row that every step reads stays
//! small.

use std::ops::Range;

use dragline_domain::frontier::{CrawlStamp, Decided, OriginsJoined, join_origins};
use dragline_domain::ids::CrawlId;
use dragline_domain::url::Origin;
use dragline_ports::frontier::JoinOrigins;

use super::DynamoFrontier;
use crate::dynamo::{Expression, Fields, Role, Write, number, text};
use crate::errors::StoreError;
use crate::meter::capacity::ReadKind;
use crate::rows::{self, keys};

/// The attribute with their number.
const COUNT: &str = "joined_count";

/// The attribute in which an earlier version of this program listed them. Those come first.
const LISTED: &str = "joined";

const ORIGIN: &str = "origin";

/// The most origins of one call: they and the crawl's row fit a transaction.
const AT_ONCE_MAX: usize = 99;

impl DynamoFrontier {
    /// Returns the origins with these numbers.
    pub(super) async fn joined(&self, crawl: &CrawlId, places: Range<u64>) -> Result<Vec<Origin>, StoreError> {
        let Some(item) = self.db.get(&keys::crawl(crawl)).await? else { return Ok(Vec::new()) };
        let fields = rows::fields(&item)?;
        let listed = listed(fields)?;
        let end = places.end.min(count(fields)?);
        let place_of = |place: usize| u64::try_from(place).unwrap_or(u64::MAX);
        let of_list = (0..).map(place_of).zip(&listed).filter(|(place, _)| (places.start..end).contains(place));
        let mut origins: Vec<_> = of_list.map(|(_, text)| origin(text)).collect::<Result<_, _>>()?;
        let keys: Vec<_> =
            (places.start.max(place_of(listed.len()))..end).map(|place| keys::joined(crawl, place)).collect();
        let stored = self.db.get_all(keys.clone(), ReadKind::Consistent).await?;
        for key in &keys {
            let row = stored.get(key).ok_or_else(|| StoreError::Damaged(format!("`{}` is missing", key.sort)))?;
            origins.push(rows::fields(row)?.parsed(ORIGIN)?);
        }
        Ok(origins)
    }

    pub(super) async fn join(&self, join: &JoinOrigins) -> Result<OriginsJoined, StoreError> {
        StoreError::check_size("origins that join at once", join.origins.len(), AT_ONCE_MAX)?;
        let key = keys::crawl(&join.crawl);
        let Some(item) = self.db.get(&key).await? else { return Ok(OriginsJoined::Changed) };
        let Some(stamp) = stamp(rows::fields(&item)?)? else { return Ok(OriginsJoined::Changed) };
        if let Decided::Leave(outcome) = join_origins(stamp, join.seen) {
            return Ok(outcome);
        }
        let joined: Vec<_> = (stamp.joined..).zip(&join.origins).collect();
        let update = Expression::new(format!("SET #v = :v, #{COUNT} = :count"));
        let update = update.with(":count", number(stamp.joined + joined.len() as u64));
        let as_read = if item.contains_key(COUNT) {
            Expression::new(format!("#{COUNT} = :seen")).with(":seen", number(stamp.joined))
        } else {
            Expression::new(format!("attribute_not_exists(#{COUNT})"))
        };
        let mut writes = vec![Write::update(Role::Crawl, &key, rows::versioned(update), &item).when(as_read)];
        writes.extend(joined.into_iter().map(|(place, origin)| {
            let key = keys::joined(&join.crawl, place);
            Write::put(Role::Other, &key, rows::row(&key, [(ORIGIN, text(origin.as_str()))])).if_absent()
        }));
        let written = self.db.transact(&writes).await?;
        // Refused: others joined since the row was read, or these by an earlier try.
        Ok(written.map_or(OriginsJoined::Changed, |()| OriginsJoined::Joined))
    }
}

/// Returns the summary of a crawl's row; `None` if it has no definition.
pub(super) fn stamp(fields: Fields<'_>) -> Result<Option<CrawlStamp>, StoreError> {
    let Some(version) = fields.maybe_number("version")? else { return Ok(None) };
    Ok(Some(CrawlStamp { version, joined: count(fields)? }))
}

fn count(fields: Fields<'_>) -> Result<u64, StoreError> {
    match fields.maybe_number(COUNT)? {
        Some(count) => Ok(count),
        None => Ok(listed(fields)?.len() as u64),
    }
}

fn listed(fields: Fields<'_>) -> Result<Vec<&str>, StoreError> {
    Ok(fields.maybe(LISTED, Fields::texts)?.unwrap_or_default())
}

fn origin(text: &str) -> Result<Origin, StoreError> {
    text.parse().map_err(|_| StoreError::Damaged(format!("`{text}` is not an origin")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamo::{Item, texts};

    #[test]
    fn origins_listed_by_an_earlier_version_come_first() {
        let row = |attributes: &[(&str, aws_sdk_dynamodb::types::AttributeValue)]| -> Item {
            rows::row(&keys::crawl(&"docs".parse().unwrap()), attributes.iter().cloned())
        };
        let list = || (LISTED, texts(["https://a.example", "https://b.example"]));
        for (attributes, expected, why) in [
            (vec![("version", number(3))], Some(0), "none"),
            (vec![("version", number(3)), list()], Some(2), "listed"),
            (vec![("version", number(3)), list(), (COUNT, number(5))], Some(5), "and three that joined since"),
            (vec![list()], None, "joined a crawl that has no definition"),
        ] {
            let row = row(&attributes);
            let stamp = stamp(rows::fields(&row).unwrap()).unwrap();
            assert_eq!(stamp, expected.map(|joined| CrawlStamp { version: 3, joined }), "{why}");
        }
    }
}
