//! Notices about useless sitemaps: they could not be fetched, are not sitemaps, are empty, or list
//! nothing that the crawl may visit.

use dragline_domain::capture::Finality;
use dragline_domain::document::{Disposition, Document, Link, LinkKind};
use dragline_domain::frontier::{ReadAs, SegmentRow};
use dragline_domain::outcome::Outcome;
use dragline_domain::shown::plural;

use crate::World;
use crate::context::Contexts;
use crate::parse::read::records::Capture;
use crate::parse::tell::{Topic, should_notify};
use crate::tell::tell_all;
use dragline_ports::error::PortResult;
use dragline_ports::notifier::Notice;

/// Tells people about the useless sitemaps among a segment's documents, and about named ones that
/// are not visited.
///
/// # Errors
/// Returns the frontier's errors.
pub(crate) async fn tell_sitemaps(
    world: &impl World,
    contexts: &Contexts,
    segment: &SegmentRow,
    captures: &[Capture],
    documents: &[Document],
) -> PortResult<()> {
    let mut notices = Vec::new();
    for (capture, document) in captures.iter().zip(documents) {
        if capture.visit.finality != Finality::Final {
            continue;
        }
        let own = if capture.visit.sighting.read_as == ReadAs::Sitemap { why_nothing(document) } else { None };
        let own = own.map(|why| format!("{}: {why}", document.url));
        for detail in own.into_iter().chain(document.links.iter().filter_map(unvisited)) {
            if should_notify(world, contexts, segment, Topic::Sitemap, &detail).await? {
                notices.push(Notice::SitemapUseless { origin: segment.id.origin.clone(), detail });
            }
        }
    }
    tell_all(world, notices).await;
    Ok(())
}

/// Returns why a sitemap is useless; `None` if it is not, or leads elsewhere.
fn why_nothing(document: &Document) -> Option<String> {
    let detail = || document.detail.clone();
    // Pictures of pages say nothing of these.
    let listed = || document.links.iter().filter(|link| link.kind.leads_to_page());
    match document.outcome {
        Outcome::PermanentRedirect | Outcome::TemporaryRedirect | Outcome::FileDidNotChange => None,
        _ if document.page.is_some() => detail(),
        _ if document.links.is_empty() => Some(detail().unwrap_or_else(|| document.outcome.name().to_owned())),
        _ if listed().any(|link| !is_unvisited(link)) => None,
        _ => {
            let listed = plural(listed().count() as u64, "URL");
            Some(format!("none of the {listed} that it lists may be visited (scope, do_not_crawl, traps)"))
        }
    }
}

fn is_unvisited(link: &Link) -> bool {
    matches!(link.disposition, Disposition::OutOfScope | Disposition::TooDeep | Disposition::Blocked(_))
}

/// Returns the notice about a named sitemap that is not visited; `None` for any other link.
fn unvisited(link: &Link) -> Option<String> {
    let why = match &link.disposition {
        Disposition::OutOfScope => "it is out of scope",
        Disposition::TooDeep => "too many sitemap indexes in a row led to it",
        Disposition::Blocked(rule) => rule,
        Disposition::Follow
        | Disposition::Check
        | Disposition::Last
        | Disposition::Framed
        | Disposition::Changed
        | Disposition::NotAPage
        | Disposition::NoFollow
        | Disposition::BeyondBudget
        | Disposition::Later => return None,
    };
    (link.kind == LinkKind::SitemapFile).then(|| format!("{}: {why}", link.target))
}
