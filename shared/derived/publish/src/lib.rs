//! Publishes data derived from a closed iteration, for others to read: its items as objects by
//! type, the word index of the crawl, and a report.
//!
//! It is derived through the [`Reader`](dragline_ports::reader::Reader) alone, after the crawl, so
//! that no step of a crawl waits for it. You can delete it; it will be rebuilt.

mod again;
mod draft;
mod items;
mod site;

pub use again::publish_again;
pub use items::{ItemTotals, PartLimits, Publication, publish_items};
pub use site::{
    PublishedReport, SiteEnd, SiteError, SiteLimits, SitePublication, SiteResult, publish_site, publish_site_from,
};
