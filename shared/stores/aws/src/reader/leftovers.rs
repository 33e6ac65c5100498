//! Leftovers of origins: first the URLs that parsers lost, which the origins' inboxes count, then
//! the leftovers at their endings, which have rows of their own.

use dragline_domain::frontier::LeftoverReason;
use dragline_domain::url::Origin;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::frontier::Origins;
use dragline_ports::reader::{Batch, Cursor, Filter, LeftoverRow, Rest};

use super::DynamoReader;
use super::place::no_place;
use crate::frontier::ListedLeftovers;

/// The number of origins and rows read at once: as many as DynamoDB returns in one request.
const ROWS_MAX: usize = 100;

/// The prefix of cursors within lost URLs; the last origin read follows.
const LOST: &str = "lost ";

/// The prefix of cursors within leftovers; the key of the last row read follows, if any.
const LEFT: &str = "left ";

/// Where the stream continues.
#[derive(Clone, Debug, PartialEq, Eq)]
enum LeftoverCursor {
    /// Within lost URLs, after this origin; `None` for the beginning.
    Lost(Option<Origin>),
    /// Within leftovers, after this key; `None` for the beginning.
    Left(Option<String>),
}

impl LeftoverCursor {
    fn read(cursor: &Cursor) -> Option<Self> {
        if let Some(origin) = cursor.as_str().strip_prefix(LOST) {
            return Some(Self::Lost(Some(origin.parse().ok()?)));
        }
        let key = cursor.as_str().strip_prefix(LEFT)?;
        Some(Self::Left(Some(key.to_owned()).filter(|key| !key.is_empty())))
    }

    /// Returns the cursor; `None` at the very beginning.
    fn cursor(&self) -> Option<Cursor> {
        match self {
            Self::Lost(origin) => origin.as_ref().map(|origin| Cursor::new(format!("{LOST}{origin}"))),
            Self::Left(key) => Some(Cursor::new(format!("{LEFT}{}", key.as_deref().unwrap_or_default()))),
        }
    }
}

impl DynamoReader {
    pub(super) async fn list_leftovers(
        &self,
        filter: &Filter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> PortResult<Batch<LeftoverRow>> {
        let of_another = |cursor| PortError::new(PortErrorKind::Other, "read on", cursor, no_place(cursor));
        let mut place = match after {
            None => LeftoverCursor::Lost(None),
            Some(cursor) => LeftoverCursor::read(cursor).ok_or_else(|| of_another(cursor))?,
        };
        let limit = limit.clamp(1, ROWS_MAX);
        let (mut rows, mut rest) = (Vec::new(), Rest::More);
        if let LeftoverCursor::Lost(after) = &place {
            (rows, place) = self.list_lost(filter, after.as_ref(), limit).await?;
        }
        if let (LeftoverCursor::Left(after), Some(limit @ 1..)) = (&mut place, limit.checked_sub(rows.len())) {
            let (iteration, origin) = (filter.iteration, filter.origin());
            let of = (iteration, origin.as_ref());
            let listed = self.frontier.list_leftovers(&self.crawl, of, after.as_deref(), limit).await?;
            let ListedLeftovers { rows: left, last, is_all } = listed;
            rows.extend(left);
            *after = last.or_else(|| after.take());
            rest = if is_all { Rest::Nothing } else { Rest::More };
        }
        self.add_robots_errors(&mut rows).await?;
        Ok(Batch { rows, cursor: place.cursor(), rest })
    }

    /// Returns the numbers of URLs that parsers lost at some origins, and where the stream
    /// continues.
    async fn list_lost(
        &self,
        filter: &Filter,
        after: Option<&Origin>,
        limit: usize,
    ) -> PortResult<(Vec<LeftoverRow>, LeftoverCursor)> {
        let (origins, place) = match filter.origin() {
            Some(wanted) => (vec![wanted], LeftoverCursor::Left(None)),
            None => {
                let origins = self.frontier.list_origins(&self.crawl, after, limit).await?;
                let last = origins.last().filter(|_| origins.len() == limit).cloned();
                (origins, last.map_or(LeftoverCursor::Left(None), |last| LeftoverCursor::Lost(Some(last))))
            }
        };
        let lost = self.frontier.load_lost(&self.crawl, &origins).await?;
        let lost =
            lost.into_iter().filter(|(_, iteration, _)| filter.iteration.is_none_or(|wanted| *iteration == wanted));
        let reason = LeftoverReason::SegmentUnreadable;
        let row = |(origin, iteration, urls)| LeftoverRow { iteration, origin, reason, urls, robots_error: None };
        Ok((lost.map(row).collect(), place))
    }

    async fn add_robots_errors(&self, rows: &mut [LeftoverRow]) -> PortResult<()> {
        let errors = self.frontier.load_robots_errors(&self.crawl, rows.iter().map(|row| &row.origin)).await?;
        for row in rows {
            row.robots_error = errors.get(&row.origin).cloned();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_comes_back_from_its_cursor() {
        let origin: Origin = "https://a.example:8443".parse().unwrap();
        for place in [
            LeftoverCursor::Lost(Some(origin)),
            LeftoverCursor::Left(None),
            LeftoverCursor::Left(Some("leftover#1#a#2".to_owned())),
        ] {
            assert_eq!(LeftoverCursor::read(&place.cursor().unwrap()), Some(place));
        }
        assert_eq!(LeftoverCursor::Lost(None).cursor(), None, "nothing was read");
        for cursor in ["", "lost ", "lost x", "https://a.example"] {
            assert_eq!(LeftoverCursor::read(&Cursor::new(cursor)), None, "{cursor}");
        }
    }
}
