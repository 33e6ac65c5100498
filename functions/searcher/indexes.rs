//! A cache of open indexes that lives as long as the process: a search only reads new blocks from
//! S3.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dragline_domain::ids::CrawlId;
use dragline_lambda::RunError;
use dragline_ports::editions::Editions;
use dragline_search::{Blocks, Edition, Index};
use dragline_service::Freshness;
use lru::LruCache;

/// The maximum number of open indexes.
const OPENED_MAX: NonZeroUsize = NonZeroUsize::new(8).unwrap();

/// How long an edition counts as the newest without a check, which costs more than a search.
const RECENT: Duration = Duration::from_secs(30);

/// Open indexes.
pub(crate) struct OpenIndexes<E> {
    editions: E,
    blocks: Arc<Blocks>,
    indexes: Mutex<LruCache<CrawlId, CachedIndex>>,
}

#[derive(Clone)]
struct CachedIndex {
    edition: u32,
    index: Arc<Index>,
    /// When it was last known to be the newest, as the time since the process began.
    asked_at: Duration,
}

impl<E: Editions> OpenIndexes<E> {
    /// Returns an empty cache, with up to this many bytes for blocks.
    pub(crate) fn new(editions: E, bytes_max: u64) -> Self {
        Self { editions, blocks: Arc::new(Blocks::new(bytes_max)), indexes: Mutex::new(LruCache::new(OPENED_MAX)) }
    }

    fn indexes(&self) -> MutexGuard<'_, LruCache<CrawlId, CachedIndex>> {
        self.indexes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the index of a crawl; `None` if it has none.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) async fn index(
        &self,
        crawl: &CrawlId,
        freshness: Freshness,
        now: Duration,
    ) -> Result<Option<Arc<Index>>, RunError> {
        let kept = self.indexes().get(crawl).cloned();
        let is_recent =
            |kept: &&CachedIndex| freshness == Freshness::Recent && now.saturating_sub(kept.asked_at) < RECENT;
        if let Some(kept) = kept.as_ref().filter(is_recent) {
            return Ok(Some(Arc::clone(&kept.index)));
        }
        let Some(stored) = self.editions.newest_edition(crawl).await? else { return Ok(None) };
        let Some(edition) = Edition::from_json(&stored.text) else {
            self.indexes().pop(crawl);
            return Ok(None);
        };
        let index = match kept.filter(|kept| kept.edition == stored.number) {
            Some(kept) => kept.index,
            None => {
                let blocks = Arc::clone(&self.blocks);
                Arc::new(Index::open_published(&self.editions, crawl, edition, blocks).await?)
            }
        };
        let kept = CachedIndex { edition: stored.number, index: Arc::clone(&index), asked_at: now };
        self.indexes().put(crawl.clone(), kept);
        Ok(Some(index))
    }
}
