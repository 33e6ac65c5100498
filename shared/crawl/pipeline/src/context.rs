//! A crawl's definition made ready for use: read and compiled once, and again when it changes.
//! Origins that join are added to it.

mod digest;

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dragline_domain::conclusion::LinkRules;
use dragline_domain::definition::{Definition, ExternalLinks, Requisites};
use dragline_domain::frontier::{CrawlStamp, ReadAs, RulesDigest, ShapeStanding, ShorterWays, Task, WatchedShapes};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::policy::{AllowedOrigins, Decision, Policy};
use dragline_domain::politeness::Pace;
use dragline_domain::recrawl::RecrawlRules;
use dragline_domain::url::{CrawlUrl, Origin, UrlShape};
use dragline_extract::MainRules;
use dragline_extract::typed::Types;
use jiff::Timestamp;

use self::digest::RulesHasher;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::fetcher::FetchLimits;
use dragline_ports::frontier::{CrawlRow, Frontier};

/// A crawl's definition with its rules compiled.
#[derive(Clone, Debug)]
pub struct CrawlContext {
    /// The definition.
    pub definition: Arc<Definition>,
    /// Its rules.
    pub policy: Arc<Policy>,
    /// The rules for when known URLs are due again.
    pub recrawl: Arc<RecrawlRules>,
    /// Its types of items.
    pub types: Arc<Types>,
    /// Its rules for the main parts of pages.
    pub main: Arc<MainRules>,
    /// The origins in scope, including those that joined.
    pub allowed: AllowedOrigins,
    /// The digest of everything that decides about links. A document whose links were decided under
    /// another digest is decided again.
    pub rules: RulesDigest,
    versions: Versions,
    joined: u64,
    hasher: RulesHasher,
}

/// The versions of the definition that a context is built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Versions {
    /// The version that says which URLs to crawl.
    which_urls: u32,
    /// The version that says how to crawl them.
    how: u32,
}

impl Versions {
    /// Returns versions that are both this one.
    const fn same(version: u32) -> Self {
        Self { which_urls: version, how: version }
    }
}

impl CrawlContext {
    /// Returns the version of the definition that says which URLs to crawl.
    #[must_use]
    pub const fn version(&self) -> u32 {
        self.versions.which_urls
    }

    /// Returns the version of the definition that says how to crawl, and how to read pages.
    #[must_use]
    pub const fn how_version(&self) -> u32 {
        self.versions.how
    }

    /// Returns the number of origins that had joined when the context was built.
    #[must_use]
    pub const fn joined(&self) -> u64 {
        self.joined
    }

    /// Compiles a crawl's row, as if no origin had joined.
    ///
    /// # Errors
    /// Fails if the rules do not compile. Those of a checked definition always do.
    pub fn new(row: CrawlRow) -> PortResult<Self> {
        Self::compile(Arc::new(row.definition), Versions::same(row.version))
    }

    fn compile(definition: Arc<Definition>, versions: Versions) -> PortResult<Self> {
        let corrupt = |doing, error: Box<dyn std::error::Error + Send + Sync>| {
            PortError::new(PortErrorKind::Corrupt, doing, &definition.name, error)
        };
        let policy = Policy::compile(&definition).map_err(|error| corrupt("compile policy", error.into()))?;
        let hasher = RulesHasher::new(&definition).map_err(|error| corrupt("digest rules", error.into()))?;
        let types = Types::new(&definition.items).map_err(|error| corrupt("compile types of items", error.into()))?;
        let main = MainRules::new(&definition.main)
            .map_err(|error| corrupt("compile selectors of main parts", error.into()))?;
        Ok(Self {
            types: Arc::new(types),
            main: Arc::new(main),
            policy: Arc::new(policy),
            recrawl: Arc::new(RecrawlRules::new(&definition)),
            allowed: AllowedOrigins::from_definition(&definition),
            rules: hasher.digest(),
            versions,
            joined: 0,
            hasher,
            definition,
        })
    }

    /// Returns the context with further origins that joined.
    fn with_joined(&self, origins: Vec<Origin>) -> Self {
        let mut hasher = self.hasher.clone();
        origins.iter().for_each(|origin| hasher.add(origin));
        let (rules, joined) = (hasher.digest(), self.joined + origins.len() as u64);
        Self { allowed: self.allowed.clone().and(origins), rules, joined, hasher, ..self.clone() }
    }

    /// Returns the rules by which the links of a page are decided.
    pub(crate) fn link_rules(&self) -> LinkRules {
        LinkRules { canonical: self.definition.canonical, digest: self.rules }
    }

    /// Decides whether to visit a URL found at this depth, after this many requisites in a row, to
    /// be read as `read_as`.
    #[must_use]
    pub fn decide(&self, url: &CrawlUrl, depth: u32, requisite_steps: u8, read_as: ReadAs) -> Decision<'_> {
        match (requisite_steps, read_as) {
            (_, ReadAs::Check) => self.policy.decide_check(url, depth),
            (0, ReadAs::Sitemap | ReadAs::SitemapTrial | ReadAs::Robots) => {
                self.policy.decide_sitemap(url, depth, &self.allowed)
            }
            (0, ReadAs::Feed) if self.definition.feeds.are_followed() => {
                self.policy.decide_feed(url, depth, &self.allowed)
            }
            // A feed that is not followed was found when the definition followed feeds.
            (0, ReadAs::Typed | ReadAs::Feed) => self.policy.decide(url, depth, &self.allowed),
            (steps, _) => self.policy.decide_requisite(url, steps),
        }
    }

    /// Returns the rule by which a URL is left alone that was found before the definition changed;
    /// `None` if there is none, or nothing has changed since the iteration began.
    #[must_use]
    pub fn excluded_since(&self, url: &CrawlUrl) -> Option<Decision<'_>> {
        let has_changed = self.versions.which_urls != self.versions.how;
        has_changed.then(|| self.policy.exclusion(url)).flatten()
    }

    /// Whether a rule leaves this URL alone, wherever it was found.
    #[must_use]
    pub fn excludes(&self, url: &CrawlUrl) -> bool {
        self.policy.exclusion(url).is_some()
    }

    /// Whether a rule of `access` says that a site's cookies are kept for this URL.
    #[must_use]
    pub fn keeps_session(&self, url: &CrawlUrl) -> bool {
        self.definition.access.iter().any(|rule| rule.keeps_session() && rule.matches(url))
    }

    /// Returns what is to be done with a URL that was never visited, by the shapes that are watched
    /// at its origin.
    #[must_use]
    pub fn shape_standing(&self, shapes: &WatchedShapes, url: &CrawlUrl) -> ShapeStanding {
        if shapes.is_empty() || self.policy.is_free_of_traps(url) {
            return ShapeStanding::InOrder;
        }
        let keys = UrlShape::new(url.path_and_query()).keys();
        shapes.standing(&keys, self.definition.traps.fruitless_pages_max)
    }

    /// Whether any URL of an origin may be visited.
    #[must_use]
    pub fn may_visit(&self, origin: &Origin) -> bool {
        self.definition.requisites == Requisites::Fetch || self.checks_links() || self.allowed.contains_origin(origin)
    }

    /// Whether links that lead out of the crawl are checked.
    #[must_use]
    pub fn checks_links(&self) -> bool {
        self.definition.links.external == ExternalLinks::Check
    }

    /// Whether nothing of an origin is visited, and only checks may lead there.
    #[must_use]
    pub fn only_checks(&self, origin: &Origin) -> bool {
        let is_read = self.definition.requisites == Requisites::Fetch || self.allowed.contains_origin(origin);
        self.checks_links() && !is_read
    }

    /// Returns what to do with shorter ways to known URLs. Without a depth limit they change only a
    /// number and cost writes, so they are ignored, except that a URL may be visited that was to be
    /// checked; a demand has its own limit.
    #[must_use]
    pub fn shorter_ways(&self, task: &Task) -> ShorterWays {
        match task {
            Task::Crawl if self.definition.depth_max().is_some() => ShorterWays::PassedOn,
            Task::Crawl if self.checks_links() => ShorterWays::OverChecks,
            Task::Crawl | Task::Demand | Task::Import | Task::Reparse(_) => ShorterWays::Ignored,
        }
    }

    /// Returns the pace of an origin that is new to an iteration.
    #[must_use]
    pub fn pace(&self) -> Pace {
        Pace::new(self.definition.politeness.delay)
    }

    /// Returns the limits of each request.
    #[must_use]
    pub fn limits(&self) -> FetchLimits {
        FetchLimits::from_fetch(&self.definition.fetch)
    }

    /// Returns how long a visit may take: its request, including the time to store the largest
    /// body, and the rendering of its page, with the last request of that.
    #[must_use]
    pub fn longest_exchange(&self) -> Duration {
        let (fetch, render) = (&self.definition.fetch, &self.definition.render);
        let bytes_max = fetch.file_bytes_max.max(fetch.body_bytes_max as u64);
        let rendering = if render.is_on() { render.timeout + fetch.timeout } else { Duration::ZERO };
        rendering
            + fetch.timeout
            + Duration::from_millis(bytes_max.saturating_sub(STORED_AT_ONCE_BYTES) / STORED_BYTES_A_MS)
    }

    /// Returns the limits of a request. A URL named as a sitemap or a feed is read whatever its
    /// media type.
    #[must_use]
    pub fn limits_for(&self, read_as: ReadAs) -> FetchLimits {
        match read_as {
            ReadAs::Typed => self.limits(),
            ReadAs::Sitemap | ReadAs::SitemapTrial | ReadAs::Robots | ReadAs::Feed => self.limits().reading_all(),
            ReadAs::Check => self.limits().reading_at_most(CHECKED_BODY_BYTES),
        }
    }
}

/// How much is read of a body whose URL is only checked, in bytes: enough to recognise a page that
/// asks for proof that a person is asking.
const CHECKED_BODY_BYTES: usize = 16 << 10;

/// The largest body that the reserve for commits leaves time to store.
const STORED_AT_ONCE_BYTES: u64 = 128 << 20;

/// The bytes of a larger body that a slow disk compresses and stores in a millisecond.
const STORED_BYTES_A_MS: u64 = 20 << 10;

/// The immutable part of an iteration.
#[derive(Clone, Debug)]
pub struct PinnedIteration {
    /// The version of the definition that it uses; `None` for the stored one.
    pub version: Option<u32>,
    /// When it began.
    pub began: Timestamp,
    /// Its task.
    pub task: Arc<Task>,
}

/// The contexts of the crawls that this process works on. A warm process keeps them and their
/// definitions, each read once.
#[derive(Debug, Default)]
pub struct Contexts {
    by_versions: Mutex<HashMap<(CrawlId, Versions), Arc<CrawlContext>>>,
    definitions: Mutex<HashMap<(CrawlId, u32), Arc<Definition>>>,
    /// Held while a definition is read or compiled, so that only one of many concurrent callers
    /// does it.
    making: tokio::sync::Mutex<()>,
    pinned: Mutex<HashMap<(CrawlId, Iteration), PinnedIteration>>,
    /// Held by each parse of this process: shared, or exclusively by a parse whose segment crashed
    /// an earlier one, so that no other parse dies with it and is blamed.
    pub(crate) parses: tokio::sync::RwLock<()>,
    /// The notices sent so far, by topic.
    pub(crate) told: crate::parse::SentNotices,
}

impl Contexts {
    /// The most contexts kept, and the most definitions.
    const KEPT_MAX: usize = 64;

    /// Returns a crawl's context as stored now, for its next iteration.
    ///
    /// # Errors
    /// Returns the frontier's errors, or one if there is no such crawl.
    pub async fn current(&self, frontier: &impl Frontier, crawl: &CrawlId) -> PortResult<Arc<CrawlContext>> {
        let stamp = load(frontier, crawl).await?;
        self.build(frontier, crawl, Versions::same(stamp.version), stamp.joined).await
    }

    /// Returns the context of an iteration. Which URLs to crawl comes from the definition that it
    /// began with; how to crawl them, from the current one. It contains all origins that have
    /// joined so far.
    ///
    /// # Errors
    /// Returns the frontier's errors, or one if there is no such crawl.
    pub async fn for_iteration(
        &self,
        frontier: &impl Frontier,
        crawl: &CrawlId,
        iteration: Iteration,
    ) -> PortResult<Arc<CrawlContext>> {
        let pinned = self.pinned(frontier, crawl, iteration).await?.and_then(|pinned| pinned.version);
        let stamp = load(frontier, crawl).await?;
        let versions = Versions { which_urls: pinned.unwrap_or(stamp.version), how: stamp.version };
        self.build(frontier, crawl, versions, stamp.joined).await
    }

    /// Returns this version of a crawl's definition; `None` if it never existed.
    ///
    /// # Errors
    /// Returns the frontier's errors.
    pub async fn definition(
        &self,
        frontier: &impl Frontier,
        crawl: &CrawlId,
        version: u32,
    ) -> PortResult<Option<Arc<Definition>>> {
        let _making = self.making.lock().await;
        self.definition_once(frontier, crawl, version).await
    }

    async fn definition_once(
        &self,
        frontier: &impl Frontier,
        crawl: &CrawlId,
        version: u32,
    ) -> PortResult<Option<Arc<Definition>>> {
        let key = (crawl.clone(), version);
        if let Some(known) = lock(&self.definitions).get(&key) {
            return Ok(Some(Arc::clone(known)));
        }
        let Some(definition) = frontier.load_definition(crawl, version).await?.map(Arc::new) else { return Ok(None) };
        keep(&mut lock(&self.definitions), key, Arc::clone(&definition));
        Ok(Some(definition))
    }

    /// Returns the context of these versions with at least the first `joined` origins that joined.
    async fn build(
        &self,
        frontier: &impl Frontier,
        crawl: &CrawlId,
        versions: Versions,
        joined: u64,
    ) -> PortResult<Arc<CrawlContext>> {
        let key = (crawl.clone(), versions);
        let kept = || lock(&self.by_versions).get(&key).cloned();
        if let Some(kept) = kept().filter(|kept| kept.joined >= joined) {
            return Ok(kept);
        }
        let _making = self.making.lock().await;
        let before = match kept() {
            Some(kept) if kept.joined >= joined => return Ok(kept),
            Some(kept) => kept,
            None => Arc::new(self.compiled(frontier, crawl, versions).await?),
        };
        let context = if before.joined < joined {
            Arc::new(before.with_joined(frontier.load_joined(crawl, before.joined..joined).await?))
        } else {
            before
        };
        keep(&mut lock(&self.by_versions), key.clone(), Arc::clone(&context));
        Ok(context)
    }

    async fn compiled(
        &self,
        frontier: &impl Frontier,
        crawl: &CrawlId,
        versions: Versions,
    ) -> PortResult<CrawlContext> {
        let definition = async |version| {
            let definition = self.definition_once(frontier, crawl, version).await?;
            let missing = || format!("version {version} of its definition, by which it is crawled, is missing");
            definition.ok_or_else(|| PortError::new(PortErrorKind::Corrupt, "load definition", crawl, missing()))
        };
        let begun_with = definition(versions.which_urls).await?;
        if versions.which_urls == versions.how {
            return CrawlContext::compile(begun_with, versions);
        }
        let current = definition(versions.how).await?;
        CrawlContext::compile(Arc::new(begun_with.adopting(&current)), versions)
    }

    /// Returns the immutable part of an iteration; `None` if there is no such iteration.
    ///
    /// # Errors
    /// Returns the frontier's errors.
    pub async fn pinned(
        &self,
        frontier: &impl Frontier,
        crawl: &CrawlId,
        iteration: Iteration,
    ) -> PortResult<Option<PinnedIteration>> {
        let key = (crawl.clone(), iteration);
        if let Some(known) = lock(&self.pinned).get(&key) {
            return Ok(Some(known.clone()));
        }
        // A missing iteration is detected by the caller when it asks for a turn or a segment of it.
        let Some(row) = frontier.load_iteration(crawl, iteration).await? else { return Ok(None) };
        let pinned = PinnedIteration { version: row.version, began: row.started_at, task: Arc::new(row.task) };
        keep(&mut lock(&self.pinned), key, pinned.clone());
        Ok(Some(pinned))
    }
}

async fn load(frontier: &impl Frontier, crawl: &CrawlId) -> PortResult<CrawlStamp> {
    let stamp = frontier.load_stamp(crawl).await?;
    stamp.ok_or_else(|| PortError::new(PortErrorKind::Other, "load crawl", crawl, "there is no such crawl"))
}

fn keep<K: Eq + Hash, V>(kept: &mut HashMap<K, V>, key: K, value: V) {
    if kept.len() >= Contexts::KEPT_MAX {
        kept.clear();
    }
    kept.insert(key, value);
}

fn lock<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}
