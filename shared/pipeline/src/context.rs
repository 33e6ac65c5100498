//! A crawl's definition made ready for use: compiled once, and again when it changes.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dragline_domain::definition::{Definition, Draft, Requisites};
use dragline_domain::frontier::{ReadAs, RulesDigest, ShorterWays, Task};
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::policy::{AllowedOrigins, Decision, Policy};
use dragline_domain::politeness::Pace;
use dragline_domain::recrawl::RecrawlRules;
use dragline_domain::url::{CrawlUrl, Origin};
#[cfg(feature = "parse")]
use dragline_extract::MainRules;
#[cfg(feature = "parse")]
use dragline_extract::typed::Types;
use dragline_formats::warc::Sha1Digest;
use jiff::Timestamp;

use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::fetcher::FetchLimits;
use dragline_ports::frontier::{CrawlRow, Frontier};

/// A crawl's definition with its rules compiled.
#[derive(Debug)]
pub struct CrawlContext {
    /// The definition.
    pub definition: Definition,
    /// Its rules.
    pub policy: Policy,
    /// When known URLs are due again.
    pub recrawl: RecrawlRules,
    /// Its types of items.
    #[cfg(feature = "parse")]
    pub types: Types,
    /// What it says of main parts.
    #[cfg(feature = "parse")]
    pub main: MainRules,
    /// The origins in scope, including those that joined.
    pub allowed: AllowedOrigins,
    /// The digest of all that decides about links: documents whose links were decided under another are decided on again.
    pub rules: RulesDigest,
    versions: Versions,
    joined: Vec<Origin>,
}

/// The versions of the definition that a context is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Versions {
    /// The one that says which URLs to crawl.
    which_urls: u32,
    /// The one that says how to crawl them.
    how: u32,
}

impl Versions {
    /// Returns versions where one says both.
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

    /// Returns the version of the definition that says how to crawl, and what to make of pages.
    #[must_use]
    pub const fn how_version(&self) -> u32 {
        self.versions.how
    }

    /// Compiles a crawl's row.
    ///
    /// # Errors
    /// Fails if the rules do not compile. Those of a checked definition always do.
    pub fn new(row: CrawlRow) -> PortResult<Self> {
        let versions = Versions::same(row.version);
        Self::of_versions(row, versions)
    }

    fn of_versions(row: CrawlRow, versions: Versions) -> PortResult<Self> {
        let policy = Policy::compile(&row.definition)
            .map_err(|error| PortError::new(PortErrorKind::Corrupt, "compile policy", &row.definition.name, error))?;
        let allowed = AllowedOrigins::of(&row.definition).and(row.joined.iter().cloned());
        let rules = rules_digest(&row)
            .map_err(|error| PortError::new(PortErrorKind::Corrupt, "digest rules", &row.definition.name, error))?;
        let recrawl = RecrawlRules::new(&row.definition);
        #[cfg(feature = "parse")]
        let types = Types::new(&row.definition.items).map_err(|error| {
            PortError::new(PortErrorKind::Corrupt, "compile types of items", &row.definition.name, error)
        })?;
        #[cfg(feature = "parse")]
        let main = MainRules::new(&row.definition.main).map_err(|error| {
            PortError::new(PortErrorKind::Corrupt, "compile selectors of main parts", &row.definition.name, error)
        })?;
        Ok(Self {
            #[cfg(feature = "parse")]
            types,
            #[cfg(feature = "parse")]
            main,
            policy,
            recrawl,
            allowed,
            rules,
            versions,
            joined: row.joined,
            definition: row.definition,
        })
    }

    /// Decides whether to visit a URL that was found at this depth, after so many requisites in a row, to be read so.
    #[must_use]
    pub fn decide(&self, url: &CrawlUrl, depth: u32, requisite_steps: u8, read_as: ReadAs) -> Decision<'_> {
        match (requisite_steps, read_as) {
            (0, ReadAs::Typed) => self.policy.decide(url, depth, &self.allowed),
            (0, ReadAs::Sitemap | ReadAs::Robots) => self.policy.decide_sitemap(url, depth, &self.allowed),
            (steps, _) => self.policy.decide_requisite(url, steps),
        }
    }

    /// Whether any URL of an origin may be visited.
    #[must_use]
    pub fn may_visit(&self, origin: &Origin) -> bool {
        self.definition.requisites == Requisites::Fetch || self.allowed.contains_origin(origin)
    }

    /// Returns what becomes of shorter ways to known URLs: without a limit they change nothing but a number, and cost writes. A demand has its own.
    #[must_use]
    pub fn shorter_ways(&self, task: &Task) -> ShorterWays {
        match task {
            Task::Crawl if self.definition.scope.max_depth.is_some() => ShorterWays::PassedOn,
            Task::Crawl | Task::Demand | Task::Reparse(_) => ShorterWays::Ignored,
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
        FetchLimits::of(&self.definition.fetch)
    }
}

/// Returns the digest of everything that decides whether a URL is crawled, and which URL a link means. Stored with documents, so it must not depend
/// on the program's version.
fn rules_digest(row: &CrawlRow) -> serde_json::Result<RulesDigest> {
    let Draft { seeds, requisites, scope, do_not_crawl, url_query_parameters, strip_query_parameters, traps, .. } =
        &*row.definition;
    let rules = (seeds, scope, do_not_crawl, url_query_parameters, strip_query_parameters, traps, &row.joined);
    // What is usual is not in the digest, which is older than that key.
    let rules = match requisites {
        Requisites::Ignore => serde_json::to_vec(&rules)?,
        Requisites::Fetch => serde_json::to_vec(&(rules, requisites))?,
    };
    let [a, b, c, d, ..] = *Sha1Digest::of(&rules).as_bytes();
    Ok(RulesDigest(u32::from_be_bytes([a, b, c, d]).max(1)))
}

/// What never changes of an iteration.
#[derive(Clone, Debug)]
pub struct Pinned {
    /// The version of the definition that it uses; `None` for the stored one.
    pub version: Option<u32>,
    /// When it began.
    pub began: Timestamp,
    /// What it does.
    pub task: Arc<Task>,
}

/// The contexts of the crawls that this process works on. A warm process keeps them.
#[derive(Debug, Default)]
pub struct Contexts {
    by_versions: Mutex<HashMap<(CrawlId, Versions), Arc<CrawlContext>>>,
    pinned: Mutex<HashMap<(CrawlId, Iteration), Pinned>>,
    /// Held by each parse of this process: shared, or exclusively by one whose segment an earlier parse did not survive, so that no other parse
    /// dies with it and is blamed.
    #[cfg(feature = "parse")]
    pub(crate) parses: tokio::sync::RwLock<()>,
}

impl Contexts {
    /// The most contexts and definitions that are kept, each.
    const KEPT_MAX: usize = 64;

    /// Returns a crawl's context as stored now, which its next iteration will use.
    ///
    /// # Errors
    /// Returns the frontier's errors, or one if there is no such crawl.
    pub async fn current(&self, frontier: &impl Frontier, crawl: &CrawlId) -> PortResult<Arc<CrawlContext>> {
        let row = load(frontier, crawl).await?;
        let versions = Versions::same(row.version);
        match self.kept(crawl, versions, &row.joined) {
            Some(kept) => Ok(kept),
            None => self.compiled(row, versions),
        }
    }

    /// Returns the context that an iteration uses. Which URLs to crawl comes from the definition that it began with; how, from the current one. Its
    /// origins are those that have joined until now.
    ///
    /// # Errors
    /// Returns the frontier's errors, or one if there is no such crawl.
    pub async fn of_iteration(
        &self,
        frontier: &impl Frontier,
        crawl: &CrawlId,
        iteration: Iteration,
    ) -> PortResult<Arc<CrawlContext>> {
        let pinned = self.pinned(frontier, crawl, iteration).await?.and_then(|pinned| pinned.version);
        let row = load(frontier, crawl).await?;
        let versions = Versions { which_urls: pinned.unwrap_or(row.version), how: row.version };
        if let Some(kept) = self.kept(crawl, versions, &row.joined) {
            return Ok(kept);
        }
        if versions.which_urls == versions.how {
            return self.compiled(row, versions);
        }
        let Some(begun_with) = frontier.load_definition(crawl, versions.which_urls).await? else {
            let why = format!(
                "version {} of its definition, which iteration {iteration} uses, is missing",
                versions.which_urls
            );
            return Err(PortError::new(PortErrorKind::Corrupt, "load definition", crawl, why));
        };
        let definition = begun_with.in_the_manner_of(&row.definition);
        self.compiled(CrawlRow { definition, ..row }, versions)
    }

    /// Returns what never changes of an iteration; `None` if there is no such iteration.
    ///
    /// # Errors
    /// Returns the frontier's errors.
    pub async fn pinned(
        &self,
        frontier: &impl Frontier,
        crawl: &CrawlId,
        iteration: Iteration,
    ) -> PortResult<Option<Pinned>> {
        let key = (crawl.clone(), iteration);
        if let Some(known) = lock(&self.pinned).get(&key) {
            return Ok(Some(known.clone()));
        }
        // There may be no such iteration: whoever asks for a turn or a segment of it finds out.
        let Some(row) = frontier.load_iteration(crawl, iteration).await? else { return Ok(None) };
        let pinned = Pinned { version: row.version, began: row.started_at, task: Arc::new(row.task) };
        keep(&mut lock(&self.pinned), key, pinned.clone());
        Ok(Some(pinned))
    }

    fn kept(&self, crawl: &CrawlId, versions: Versions, joined: &[Origin]) -> Option<Arc<CrawlContext>> {
        let kept = lock(&self.by_versions);
        kept.get(&(crawl.clone(), versions)).filter(|context| context.joined == joined).map(Arc::clone)
    }

    fn compiled(&self, row: CrawlRow, versions: Versions) -> PortResult<Arc<CrawlContext>> {
        let key = (row.definition.name.clone(), versions);
        let context = Arc::new(CrawlContext::of_versions(row, versions)?);
        keep(&mut lock(&self.by_versions), key, Arc::clone(&context));
        Ok(context)
    }
}

async fn load(frontier: &impl Frontier, crawl: &CrawlId) -> PortResult<CrawlRow> {
    let row = frontier.load_crawl(crawl).await?;
    row.ok_or_else(|| PortError::new(PortErrorKind::Other, "load crawl", crawl, "there is no such crawl"))
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
