//! What is done with the links of a page.

use dragline_domain::capture::{Finality, Visit};
use dragline_domain::definition::{Canonical, Requisites};
use dragline_domain::distance::Distance;
use dragline_domain::document::{Disposition, Document, Link, LinkKind, Page, Rel};
use dragline_domain::frontier::{ReadAs, Sighting, limit_origins_of_page, limit_requisites_of_page};
use dragline_domain::outcome::OutcomeClass;
use dragline_domain::policy::{Decision, ScopeRule};
use dragline_domain::url::{CrawlUrl, Spelling};
use dragline_extract::FoundLink;
use dragline_formats::robots::{ROBOTS_PATH, SITEMAP_PATH};

use crate::context::CrawlContext;
use crate::parse::read::records::Capture;

/// Decides what is done with the links of a page that was read now.
pub(crate) fn decide_found(context: &CrawlContext, capture: &Capture, links: Vec<FoundLink>) -> Vec<Link> {
    decide_links(context, capture, links.into_iter().map(|link| link.with_disposition(Disposition::Follow)))
}

/// Moves the links of a page that a site shows under another of its names to the name by which it
/// belongs to the crawl, if the page itself calls that its canonical URL: else all that it links to
/// would be crawled under both.
pub(crate) fn at_home(
    context: &CrawlContext,
    capture: &Capture,
    page: &Page,
    mut links: Vec<FoundLink>,
) -> Vec<FoundLink> {
    let own = capture.url.origin_str();
    let canonical = page.canonical.as_ref().filter(|canonical| canonical.is_twin_of(&capture.url));
    let Some(home) = canonical.map(CrawlUrl::origin).filter(|home| context.allowed.is_home(home)) else { return links };
    if context.definition.canonical == Canonical::Obey && !context.allowed.is_home(&capture.url.origin()) {
        for link in links.iter_mut().filter(|link| link.target.origin_str() == own) {
            if let Ok(target) = home.url_at(link.target.path_and_query()) {
                link.target = target;
            }
        }
    }
    links
}

/// Decides, or decides again, on the links of a page.
pub(crate) fn decide_links(context: &CrawlContext, capture: &Capture, links: impl Iterator<Item = Link>) -> Vec<Link> {
    let mut links: Vec<Link> = links.map(|link| decide_link(context, capture, link)).collect();
    let budget = &context.definition.budget;
    limit_requisites_of_page(&mut links, budget.requisites_per_page);
    limit_origins_of_page(&capture.url.origin(), &mut links, budget.origins_per_page);
    links
}

/// Adds the sitemap that a site may have all the same to the document of its robots.txt, if that
/// names none, or does not exist.
pub(crate) fn try_sitemap(context: &CrawlContext, capture: &Capture, mut document: Document) -> Document {
    let Visit { sighting, finality, .. } = &capture.visit;
    let is_robots = sighting.read_as == ReadAs::Robots && capture.url.path_and_query() == ROBOTS_PATH;
    let is_answered = matches!(document.outcome.class(), OutcomeClass::Content | OutcomeClass::Missing);
    let leads_on = |link: &Link| matches!(link.kind, LinkKind::SitemapFile | LinkKind::SitemapTrial);
    if is_robots
        && *finality == Finality::Final
        && context.definition.sitemaps.are_followed()
        && is_answered
        && !document.links.iter().any(leads_on)
        && let Ok(target) = capture.url.origin().url_at(SITEMAP_PATH)
    {
        let kind = LinkKind::SitemapTrial;
        let disposition = decide_disposition(context, &capture.visit, kind, &target);
        let (spelling, rel) = (Spelling::Whole, Rel::Follow);
        document.links.push(Link { kind, target, disposition, spelling, rel, anchor: None });
    }
    document
}

/// Decides, or decides again, on a link.
fn decide_link(context: &CrawlContext, capture: &Capture, link: Link) -> Link {
    let visit = &capture.visit;
    let is_nofollow = link.is_nofollow();
    let is_refused = is_nofollow && context.definition.nofollow.is_obeyed();
    let is_other_name = link.kind == LinkKind::Canonical
        && link.target.is_twin_of(&capture.url)
        && context.allowed.is_home(&capture.url.origin())
        && !context.allowed.is_home(&link.target.origin());
    let disposition = match decide_disposition(context, visit, link.kind, &link.target) {
        // A site that moved to another of its names often goes on calling the old one canonical.
        Disposition::Follow if is_other_name => {
            decide_check(context, visit, &link.target).unwrap_or(Disposition::OutOfScope)
        }
        // Anyone who displays the page loads its requisites.
        Disposition::Follow | Disposition::Blocked(_) if is_refused && link.kind.leads_to_page() => {
            Disposition::NoFollow
        }
        disposition => disposition,
    };
    let disposition = match disposition {
        // Asking whether it is there is not following it.
        Disposition::NoFollow => decide_check(context, visit, &link.target).unwrap_or(Disposition::NoFollow),
        disposition => disposition,
    };
    Link { disposition, rel: if is_nofollow { Rel::NoFollow } else { Rel::Follow }, ..link }
}

/// Returns the disposition of a link that is not nofollow.
pub(crate) fn decide_disposition(
    context: &CrawlContext,
    visit: &Visit,
    kind: LinkKind,
    target: &CrawlUrl,
) -> Disposition {
    if visit.sighting.read_as == ReadAs::Check {
        return decide_check(context, visit, target).unwrap_or(Disposition::OutOfScope);
    }
    match decide_visit(context, visit, kind, target) {
        Disposition::OutOfScope if is_framed(context, visit, kind, target) => Disposition::Framed,
        left @ (Disposition::OutOfScope | Disposition::TooDeep | Disposition::NotAPage) if is_checked(kind) => {
            decide_check(context, visit, target).unwrap_or(left)
        }
        disposition => disposition,
    }
}

/// Whether links of this kind are worth checking: a visitor clicks them, or a browser loads their
/// targets.
const fn is_checked(kind: LinkKind) -> bool {
    (kind.leads_to_page() || kind.is_requisite()) && !kind.is_listed()
}

/// Whether the target, which does not belong to the crawl, is fetched with the page whose frame
/// shows it. What is shown within that in turn is not.
fn is_framed(context: &CrawlContext, visit: &Visit, kind: LinkKind, target: &CrawlUrl) -> bool {
    let Distance { depth, requisite_steps, read_as, .. } = Distance::to_framed(visit);
    kind == LinkKind::Iframe
        && visit.sighting.requisite_steps == 0
        && context.decide(target, depth, requisite_steps, read_as) == Decision::Crawl
}

/// Whether a capture is a page that does not belong to the crawl, and was fetched as a part of
/// another one.
pub(crate) fn is_part_of_page(context: &CrawlContext, capture: &Capture) -> bool {
    let Sighting { depth, requisite_steps, .. } = capture.visit.sighting;
    let by_itself = || context.decide(&capture.url, depth, 0, ReadAs::Typed);
    requisite_steps > 0 && matches!(by_itself(), Decision::OutOfScope(_))
}

/// Adds the icon that browsers ask for at each site to the links of a page where a crawl or a site
/// begins, if the page does not name it.
pub(crate) fn try_icon(context: &CrawlContext, capture: &Capture, mut links: Vec<FoundLink>) -> Vec<FoundLink> {
    let sighting = &capture.visit.sighting;
    let begins = sighting.depth == 0 && sighting.via.is_none() || capture.url.path_and_query() == "/";
    if begins
        && context.definition.requisites == Requisites::Fetch
        && let Ok(target) = capture.url.origin().url_at(ICON_PATH)
        && !links.iter().any(|link| link.target == target)
    {
        links.push(FoundLink::plain(LinkKind::IconTrial, target));
    }
    links
}

/// Where browsers look for a site's icon if its pages name none (HTML, section 4.6.7.7).
const ICON_PATH: &str = "/favicon.ico";

/// Returns the disposition of a link whose target is not visited, but may be checked; `None` if it
/// is not.
fn decide_check(context: &CrawlContext, visit: &Visit, target: &CrawlUrl) -> Option<Disposition> {
    let Distance { depth, requisite_steps, read_as, .. } = Distance::to_checked(visit);
    match context.decide(target, depth, requisite_steps, read_as) {
        Decision::Crawl => Some(Disposition::Check),
        Decision::OutOfScope(_) | Decision::Blocked(_) => None,
    }
}

/// Returns the disposition of a link, regardless of whether links are checked.
fn decide_visit(context: &CrawlContext, visit: &Visit, kind: LinkKind, target: &CrawlUrl) -> Disposition {
    let is_fetched_with_page = kind.is_requisite() && context.definition.requisites == Requisites::Fetch;
    if !(kind.leads_to_page() || is_fetched_with_page) {
        return Disposition::NotAPage;
    }
    let Distance { depth, requisite_steps, read_as, .. } = Distance::to_target(visit, kind, context.definition.feeds);
    match context.decide(target, depth, requisite_steps, read_as) {
        Decision::Crawl => Disposition::Follow,
        Decision::OutOfScope(
            ScopeRule::Depth { .. }
            | ScopeRule::NotListed
            | ScopeRule::SitemapIndexes { .. }
            | ScopeRule::FeedParts { .. },
        ) => Disposition::TooDeep,
        Decision::OutOfScope(_) => Disposition::OutOfScope,
        Decision::Blocked(rule) => Disposition::Blocked(rule.to_string()),
    }
}
