//! The progress of an iteration, by its counts.

use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::frontier::Progress;

use crate::db::{Db, StoreError};

pub(crate) fn progress(db: &Db, crawl: &CrawlId, iteration: Iteration) -> Result<Progress, StoreError> {
    let (Some(id), Some(row)) = (db.crawl_id(crawl)?, db.iteration(crawl, iteration)?) else {
        return Ok(Progress::default());
    };
    Ok(Progress::from_counts(&row, &db.counts(id, iteration)?))
}
