//! Visits pages, and sitemaps of an index, before they are due if the sitemap that lists them says
//! that they have changed, and tells the truth.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use dragline_domain::capture::Finality;
use dragline_domain::document::{Disposition, Document, Link, LinkKind};
use dragline_domain::frontier::{OriginKey, SegmentRow};
use dragline_domain::ids::Iteration;
use dragline_domain::lastmod::{Agreement, LastMod, Truth};
use dragline_domain::recrawl::RecrawlPolicy;
use dragline_domain::url::{CrawlUrl, Origin};
use dragline_extract::{Source, sitemap_changes};

use super::document::settings;
use crate::World;
use crate::context::CrawlContext;
use crate::parse::read::records::Capture;
use dragline_ports::error::{PortError, PortErrorKind, PortResult};
use dragline_ports::frontier::Candidates;

/// How many pages are looked up at once.
const PAGES_AT_ONCE: usize = 1_000;

/// Marks the links of sitemaps to what has changed since it was visited. This is decided
/// before the documents are put, so that a repeated parse claims the same URLs.
pub(crate) async fn visit_what_changed(
    world: &impl World,
    context: &Arc<CrawlContext>,
    segment: &SegmentRow,
    captures: &Arc<Vec<Capture>>,
    documents: &mut [Document],
) -> PortResult<()> {
    if segment.iteration == Iteration::FIRST {
        return Ok(());
    }
    for (n, document) in documents.iter_mut().enumerate() {
        let visit = &captures[n].visit;
        let is_read = visit.sighting.read_as.is_sitemap() && visit.finality == Finality::Final;
        if !is_read || !document.links.iter().any(is_followed_entry) {
            continue;
        }
        let (own, all) = (Arc::clone(context), Arc::clone(captures));
        let read = tokio::task::spawn_blocking(move || changes(&own, &all[n])).await;
        let changes =
            read.map_err(|error| PortError::new(PortErrorKind::Other, "parse", &segment.id, error.to_string()))?;
        let (truth, news) = compare(world, segment, changes).await?;
        if truth.is_unknown() {
            continue;
        }
        document.content.get_or_insert_default().lastmod = Some(truth);
        if truth.is_proved() {
            let links = document.links.iter_mut().filter(|link| is_followed_entry(link));
            for link in links.filter(|link| news.contains(&link.target)) {
                link.disposition = Disposition::Changed;
            }
        }
    }
    Ok(())
}

fn is_followed_entry(link: &Link) -> bool {
    matches!(link.kind, LinkKind::Sitemap | LinkKind::SitemapFile) && link.disposition == Disposition::Follow
}

/// Returns when the entries of a sitemap changed; none if all are due in each iteration anyway.
fn changes(context: &CrawlContext, capture: &Capture) -> Vec<(CrawlUrl, LastMod)> {
    let Some(response) = &capture.response else { return Vec::new() };
    let source = Source { url: &capture.url, headers: &response.headers, body: &response.body };
    let changes = sitemap_changes(&source, &settings(context));
    let is_due =
        |(url, _): &(CrawlUrl, LastMod)| matches!(context.recrawl.policy_for(url), RecrawlPolicy::Always { .. });
    if changes.iter().all(is_due) { Vec::new() } else { changes }
}

/// Compares what a sitemap says with what visits saw. Returns how often it was right, and what has
/// changed since it was visited.
async fn compare(
    world: &impl World,
    segment: &SegmentRow,
    changes: Vec<(CrawlUrl, LastMod)>,
) -> PortResult<(Truth, HashSet<CrawlUrl>)> {
    let (mut truth, mut news) = (Truth::default(), HashSet::new());
    let mut by_origin: BTreeMap<Origin, Vec<(CrawlUrl, LastMod)>> = BTreeMap::new();
    for (url, lastmod) in changes {
        by_origin.entry(url.origin()).or_default().push((url, lastmod));
    }
    for (origin, changes) in by_origin {
        let origin = OriginKey { crawl: segment.id.origin.crawl.clone(), origin };
        for changes in changes.chunks(PAGES_AT_ONCE) {
            let paths: Vec<String> = changes.iter().map(|(url, _)| url.path_and_query().to_owned()).collect();
            let times = world.frontier().page_times(&origin, &paths).await?;
            for ((url, lastmod), page) in changes.iter().zip(times) {
                let Some(page) = page else { continue };
                let agreement = lastmod.compare(&page);
                truth.count(agreement);
                if agreement == Agreement::News {
                    news.insert(url.clone());
                }
            }
        }
    }
    Ok((truth, news))
}
