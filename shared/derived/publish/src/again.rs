//! Publishes the derived data of a crawl again after its documents were rebuilt.

use std::ops::ControlFlow;
use std::path::Path;

use dragline_domain::ids::{CrawlId, Iteration};
use dragline_ports::archive::PutResult;
use dragline_ports::editions::{Editions, StoredEdition};
use dragline_ports::error::PortError;
use dragline_ports::publications::Publications;
use dragline_ports::reader::Reader;
use dragline_report::site::ReportStamp;
use jiff::Timestamp;

use crate::items::{PartLimits, Publication, publish_items};
use crate::site::{SiteError, SiteLimits, SitePublication, publish_site};

/// Publishes the items of all iterations again, and, if the crawl has a word index, the index and
/// the report on the newest iteration. `folder` is an empty folder for the index. Reports on
/// earlier iterations stay: they state what was known then.
///
/// Effects in order: the items are put, iteration by iteration; the index is withdrawn, as it would
/// count as up to date; then it is published. A repetition starts over, with the same result.
///
/// # Errors
/// The crawl cannot be read, or something cannot be written.
pub async fn publish_again(
    reader: &impl Reader,
    editions: &impl Editions,
    publications: &impl Publications,
    crawl: &CrawlId,
    (folder, making): (&Path, ReportStamp),
) -> Result<(), SiteError> {
    let Some(latest) = reader.latest_iteration().await? else { return Ok(()) };
    for number in 1..=latest.number.number() {
        let Some(iteration) = Iteration::new(number) else { continue };
        if reader.load_iteration(iteration).await?.is_some() {
            let publication = Publication { crawl: crawl.clone(), iteration, limits: PartLimits::default() };
            publish_items(reader, publications, &publication, None, || ControlFlow::Continue(())).await?;
        }
    }
    if withdraw(editions, crawl).await? == Withdrawal::Nothing {
        return Ok(());
    }
    let publication =
        SitePublication { iteration: latest, folder: folder.to_owned(), making, limits: SiteLimits::default() };
    publish_site(reader, editions, publications, publication).await.map(drop)
}

/// Whether an index was withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Withdrawal {
    Index,
    Nothing,
}

/// Withdraws the published word index.
async fn withdraw(editions: &impl Editions, crawl: &CrawlId) -> Result<Withdrawal, PortError> {
    loop {
        let Some(newest) = editions.newest_edition(crawl).await? else { return Ok(Withdrawal::Nothing) };
        if newest.text.is_empty() {
            return Ok(Withdrawal::Index);
        }
        let number = newest.number.saturating_add(1);
        let none = StoredEdition { number, text: Vec::new().into() };
        if editions.put_edition(crawl, none).await? == PutResult::Stored {
            editions.delete_superseded(crawl, number, &[], Timestamp::MAX).await?;
            return Ok(Withdrawal::Index);
        }
    }
}
