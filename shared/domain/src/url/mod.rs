//! URLs as the crawler knows them: normalised, absolute, of http or https.

mod crawl_url;
mod origin;

pub use crawl_url::{CrawlUrl, UrlError, UrlRules};
pub use origin::{Origin, OriginError, Scheme};
