//! URLs in the crawler's form: normalised, absolute, http or https.

mod crawl_url;
mod error;
mod host_key;
mod key;
mod origin;
mod percent;
mod plain;
mod reference;
mod respelled;
mod rules;
mod shape;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

pub use crawl_url::{CrawlUrl, Spelling};
pub use error::UrlError;
pub use host_key::{DomainKey, HostKey};
pub use origin::{Origin, OriginError, Scheme};
pub use percent::{is_unreserved, octet_after};
pub use plain::PlainBase;
pub use reference::web_reference;
pub use rules::{UrlRules, UrlRulesError};
pub use shape::{ShapeKey, ShapeKeys, UrlShape};
