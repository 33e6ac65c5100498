//! A crawl's definition made ready for use: compiled once, again when it changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use dragline_domain::definition::Definition;
use dragline_domain::ids::CrawlId;
use dragline_domain::policy::{AllowedOrigins, Policy};
use dragline_domain::politeness::Pace;
use dragline_domain::url::Origin;

use crate::ports::error::{PortError, PortErrorKind, PortResult};
use crate::ports::fetcher::FetchLimits;
use crate::ports::frontier::{CrawlRow, Frontier};

/// A crawl's definition, its rules compiled.
#[derive(Debug)]
pub struct CrawlContext {
    /// The definition.
    pub definition: Definition,
    /// Its rules.
    pub policy: Policy,
    /// The origins in scope, those that joined included.
    pub allowed: AllowedOrigins,
    version: u32,
    joined: Vec<Origin>,
}

impl CrawlContext {
    /// Compiles a crawl's row.
    ///
    /// # Errors
    /// The rules do not compile, which a checked definition's always do.
    pub fn new(row: CrawlRow) -> PortResult<Self> {
        let policy = Policy::compile(&row.definition)
            .map_err(|error| PortError::new(PortErrorKind::Corrupt, "compile policy", &row.definition.name, error))?;
        let allowed = AllowedOrigins::of(&row.definition).and(row.joined.iter().cloned());
        Ok(Self { policy, allowed, version: row.version, joined: row.joined, definition: row.definition })
    }

    /// The pace of an origin that is new to an iteration.
    #[must_use]
    pub fn pace(&self) -> Pace {
        Pace::new(self.definition.politeness.delay)
    }

    /// The limits of each request.
    #[must_use]
    pub fn limits(&self) -> FetchLimits {
        let fetch = &self.definition.fetch;
        FetchLimits {
            connect_timeout: fetch.connect_timeout,
            first_byte_timeout: fetch.first_byte_timeout,
            total_timeout: fetch.timeout,
            header_bytes_max: fetch.header_bytes_max,
            body_bytes_max: fetch.body_bytes_max,
            decoded_bytes_max: fetch.decoded_bytes_max,
        }
    }
}

/// The contexts of the crawls that this process works on; a warm process keeps them.
#[derive(Debug, Default)]
pub struct Contexts {
    by_crawl: Mutex<HashMap<CrawlId, Arc<CrawlContext>>>,
    /// Held by each parse of this process: shared, or alone by one whose segment some parse did not survive, so that nobody else dies with it
    /// and is blamed.
    #[cfg(feature = "parse")]
    pub(crate) parses: tokio::sync::RwLock<()>,
}

impl Contexts {
    /// More crawls than this are not kept at once.
    const KEPT_MAX: usize = 64;

    /// A crawl's context as it is stored now, compiled anew only if it changed.
    ///
    /// # Errors
    /// The frontier's, or there is no such crawl.
    pub async fn get(&self, frontier: &impl Frontier, crawl: &CrawlId) -> PortResult<Arc<CrawlContext>> {
        let Some(row) = frontier.load_crawl(crawl).await? else {
            return Err(PortError::new(PortErrorKind::Other, "load crawl", crawl, "there is no such crawl"));
        };
        let mut kept = self.by_crawl.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = kept.get(crawl)
            && context.version == row.version
            && context.joined == row.joined
        {
            return Ok(Arc::clone(context));
        }
        let context = Arc::new(CrawlContext::new(row)?);
        if kept.len() >= Self::KEPT_MAX {
            kept.clear();
        }
        kept.insert(crawl.clone(), Arc::clone(&context));
        Ok(context)
    }
}
