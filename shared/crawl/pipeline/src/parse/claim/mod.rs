//! Claiming the link targets of a segment's documents.

pub(crate) mod known;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use dragline_domain::definition::Feeds;
use dragline_domain::document::{Disposition, Document};
use dragline_domain::frontier::{
    Claim, Claimable, Claimer, Demand, OriginKey, ParserCounters, RecrawlOrder, SeedDistance, SegmentRow, Sighting,
    Target, Task, TodoEntry, TodoPlace, TodoSource, UrlHistory, Visits, split_into_chunks,
};
use dragline_domain::url::{CrawlUrl, Origin, ShapeKeys, Spelling, UrlShape};
use futures_util::future::join_all;
use jiff::Timestamp;

use self::known::{KnownUrls, UrlHash};
use crate::context::CrawlContext;
use crate::parse::lasting::Omissions;
use crate::parse::read::records::Capture;
use crate::{CALLS_AT_ONCE, World};
use dragline_domain::distance::Distance;
use dragline_ports::clock::Clock;
use dragline_ports::error::PortResult;
use dragline_ports::frontier::{Candidates, ClaimRequest};

/// The result of a segment's claims.
#[derive(Debug, Default)]
pub(crate) struct SegmentClaims {
    /// Its own URLs, and those to which it found a shorter way, to be queued. A pure function of
    /// the documents and of the answers to its claims, which stay the same.
    pub targets: Vec<Target>,
    /// Its own URLs that the definition forbids: one log entry each.
    pub blocked: Vec<BlockedUrl>,
    /// The number of claims that are its own.
    pub found: u64,
    /// The number of these whose links had parameters that were removed.
    pub found_stripped: u64,
    /// The shapes of the pages among them that are of the segment's origin and new, by the page
    /// that led to them.
    pub led_to: HashMap<CrawlUrl, BTreeSet<ShapeKeys>>,
}

/// A URL that a rule of the definition forbids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockedUrl {
    pub url: CrawlUrl,
    pub reason: String,
    pub sighting: Sighting,
    pub at: Timestamp,
    /// What earlier iterations know about it.
    pub known: UrlHistory,
}

impl SegmentClaims {
    /// Returns the counters for this URL.
    pub(crate) fn counters(&self) -> ParserCounters {
        ParserCounters { found: self.found, found_stripped: self.found_stripped, ..ParserCounters::default() }
    }
}

/// A link target of the segment. Of several links to it, it keeps the disposition that allows it,
/// the kind that names it as a sitemap, the smallest depth, and the kind that makes it a page
/// rather than a requisite.
struct LinkTarget<'d> {
    url: &'d CrawlUrl,
    sighting: Sighting,
    redirects: u8,
    spelling: Spelling,
    /// The rule that forbids it; `None` if it is to be queued.
    blocked: Option<&'d str>,
    /// Whether every link to it leaves it behind all others.
    order: Order,
    hash: UrlHash,
    /// The demand that its page passes on; `None` if there is none, or if it does not ask for the
    /// target.
    demand: Option<Box<Demand>>,
}

/// Whether a link target waits behind all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    Usual,
    Last,
}

impl Order {
    const fn place(self, depth: u32) -> TodoPlace {
        match self {
            Self::Usual => TodoPlace::by_depth(depth),
            Self::Last => TodoPlace::behind(depth),
        }
    }
}

/// Claims every link target that is to be queued or logged as forbidden, by origin, several origins
/// at once.
///
/// Targets that others are known to have claimed are left out; the segment's own never are, however
/// often it is parsed.
pub(crate) async fn claim(
    world: &impl World,
    context: &CrawlContext,
    task: &Task,
    known: &KnownUrls,
    segment: &SegmentRow,
    (captures, documents): (&[Capture], &[Document]),
    omissions: &mut Omissions,
) -> PortResult<SegmentClaims> {
    let usual = match task.recrawl_order(&context.definition.budget) {
        Some(RecrawlOrder::ByWait) => Claimable::New,
        // The segment's own time: a repeated parse must make the same claims.
        Some(RecrawlOrder::ByPath | RecrawlOrder::Documents) | None => Claimable::Due(segment.committed_at),
    };
    let shorter_ways = context.shorter_ways(task);
    let mut claimed = SegmentClaims::default();
    let recrawl = Claimer::recrawl();
    let claimer = Claimer::segment(&segment.id);
    let mut entries: BTreeMap<Origin, BTreeMap<TodoPlace, Vec<TodoEntry>>> = BTreeMap::new();
    let request = |(origin, visits), found: &[LinkTarget<'_>]| {
        let claimable = match visits {
            Visits::Due => usual,
            Visits::All => Claimable::All,
        };
        ClaimRequest {
            origin: OriginKey { crawl: segment.id.origin.crawl.clone(), origin },
            iteration: segment.iteration,
            claimer: claimer.clone(),
            claimable,
            shorter_ways,
            now: world.clock().now(),
            urls: found.iter().map(|f| (f.url.path_and_query().to_owned(), f.sighting.clone())).collect(),
        }
    };
    let mut found = link_targets(known, &claimer, segment, context.definition.feeds, (captures, documents)).into_iter();
    loop {
        let together = found.by_ref().take(CALLS_AT_ONCE);
        let asked: Vec<_> = together.map(|(of, found)| (request(of, &found), found)).collect();
        if asked.is_empty() {
            break;
        }
        let answers = join_all(asked.iter().map(|(request, _)| world.frontier().claim(request))).await;
        for ((request, found), claims) in asked.into_iter().zip(answers) {
            let Some(claims) = omissions.bear(claims)? else { continue };
            let claimable = request.claimable;
            known.remember(found.iter().zip(&claims).filter_map(|(found, claim)| {
                let (by, found_at) = match claim {
                    Claim::Own { .. } => (&claimer, Some(found.sighting.seed_distance())),
                    Claim::Taken { by, found_at } => (by, *found_at),
                    // The recrawl visits known URLs in this iteration.
                    Claim::NotDue if claimable == Claimable::New => (&recrawl, Some(SeedDistance::SEED)),
                    Claim::Nearer { .. } | Claim::NotDue => return None,
                };
                Some((found.hash, by, shorter_ways.remembered(found_at)?))
            }));
            let is_own_origin = request.origin.origin == segment.id.origin.origin;
            let by_place = entries.entry(request.origin.origin).or_default();
            for (found, claim) in found.into_iter().zip(claims) {
                let known = match claim {
                    Claim::Own { known } => {
                        claimed.found += 1;
                        claimed.found_stripped += u64::from(!found.spelling.is_whole());
                        known
                    }
                    // The owner of the claim has logged it.
                    Claim::Nearer { .. } if found.blocked.is_some() => continue,
                    Claim::Nearer { known } => known,
                    Claim::Taken { .. } | Claim::NotDue => continue,
                };
                if let Some(reason) = found.blocked {
                    let (url, reason) = (found.url.clone(), reason.to_owned());
                    let at = segment.committed_at;
                    claimed.blocked.push(BlockedUrl { url, reason, sighting: found.sighting, at, known });
                    continue;
                }
                if is_own_origin
                    && known.is_empty()
                    && found.sighting.requisite_steps == 0
                    && found.sighting.read_as.is_typed()
                    && let Some(via) = &found.sighting.via
                {
                    let shape = UrlShape::new(found.url.path_and_query()).keys();
                    claimed.led_to.entry(via.clone()).or_default().insert(shape);
                }
                by_place.entry(found.order.place(found.sighting.depth)).or_default().push(TodoEntry {
                    path_and_query: found.url.path_and_query().to_owned(),
                    via: found.sighting.via,
                    redirects: found.redirects,
                    requisite_steps: found.sighting.requisite_steps,
                    read_as: found.sighting.read_as,
                    known,
                    demand: found.demand,
                    follow_up: None,
                });
            }
        }
    }
    let source = TodoSource::segment(&segment.id, segment.committed_at);
    for (origin, by_place) in entries {
        let chunks: Vec<_> = by_place
            .into_iter()
            .flat_map(|(place, entries)| split_into_chunks(segment.iteration, place, &source, entries))
            .collect();
        if !chunks.is_empty() {
            let origin = OriginKey { crawl: segment.id.origin.crawl.clone(), origin };
            claimed.targets.push(Target { origin, chunks });
        }
    }
    Ok(claimed)
}

/// Returns the demand that a page passes on to the target of one of its links.
fn passed_on(capture: &Capture, target: &CrawlUrl, sighting: &Sighting) -> Option<Box<Demand>> {
    let demand = capture.visit.demand.as_ref()?;
    let stands_for_it = sighting.depth == capture.visit.sighting.depth;
    (stands_for_it || demand.covers(target, sighting.depth)).then(|| demand.clone())
}

/// Returns the link targets of the documents, by origin and by which known URLs are claimed, each
/// URL once. Those that others are known to have claimed from no farther away are left out.
fn link_targets<'d>(
    known: &KnownUrls,
    claimer: &Claimer,
    segment: &SegmentRow,
    feeds: Feeds,
    (captures, documents): (&[Capture], &'d [Document]),
) -> BTreeMap<(Origin, Visits), Vec<LinkTarget<'d>>> {
    let mut by_origin: BTreeMap<(Origin, Visits), Vec<LinkTarget<'d>>> = BTreeMap::new();
    // Each URL not known to be claimed by others, with its list and its place there.
    let mut places: HashMap<UrlHash, (Visits, usize)> = HashMap::new();
    let known = known.view(&segment.id.origin.crawl, segment.iteration, claimer);
    let links = || documents.iter().flat_map(|document| &document.links);
    let changed: HashSet<&CrawlUrl> =
        links().filter(|link| link.disposition == Disposition::Changed).map(|link| &link.target).collect();
    for (capture, document) in captures.iter().zip(documents) {
        for link in &document.links {
            let to_target = || Distance::to_target(&capture.visit, link.kind, feeds);
            let (distance, blocked) = match &link.disposition {
                Disposition::Follow | Disposition::Last | Disposition::Changed => (to_target(), None),
                Disposition::Blocked(reason) => (to_target(), Some(reason.as_str())),
                Disposition::Check => (Distance::to_checked(&capture.visit), None),
                Disposition::Framed => (Distance::to_framed(&capture.visit), None),
                Disposition::NotAPage
                | Disposition::NoFollow
                | Disposition::OutOfScope
                | Disposition::TooDeep
                | Disposition::BeyondBudget
                | Disposition::Later => continue,
            };
            let order = if link.disposition == Disposition::Last { Order::Last } else { Order::Usual };
            let url = &link.target;
            // Most links lead to known URLs.
            let hash = known.hash(url);
            let Distance { depth, requisite_steps, read_as, redirects } = distance;
            let has_changed = changed.contains(url);
            if !has_changed && known.is_taken(hash, SeedDistance { depth, requisite_steps }) {
                continue;
            }
            let origin = url.origin();
            let sighting = Sighting { depth, via: Some(document.url.clone()), requisite_steps, read_as };
            if let Some((visits, place)) = places.get(&hash).copied() {
                let earlier = by_origin.get_mut(&(origin, visits)).and_then(|found| found.get_mut(place));
                let Some(earlier) = earlier else { continue };
                earlier.order = earlier.order.min(order);
                let rank = |blocked: Option<_>, found: &Sighting| {
                    let at = found.seed_distance();
                    (at.is_check(), blocked.is_some(), found.read_as.is_typed(), at)
                };
                if rank(blocked, &sighting) < rank(earlier.blocked, &earlier.sighting) {
                    (earlier.sighting, earlier.redirects, earlier.blocked) = (sighting, redirects, blocked);
                }
                continue;
            }
            let demand = passed_on(capture, url, &sighting);
            let usual = if has_changed { Visits::All } else { Visits::Due };
            let visits = demand.as_ref().map_or(usual, |demand| demand.visits);
            let found = by_origin.entry((origin, visits)).or_default();
            places.insert(hash, (visits, found.len()));
            let spelling = link.spelling;
            found.push(LinkTarget { url, sighting, redirects, spelling, blocked, order, hash, demand });
        }
    }
    by_origin
}
