//! How far a link's target is from the seeds.

use crate::capture::Visit;
use crate::definition::Feeds;
use crate::document::LinkKind;
use crate::frontier::{CHECK_DEPTH, ReadAs, SeedDistance, Sighting};

/// How many redirects and canonical links in a row do not count as depth. Further ones do, so that
/// an endless chain comes to an end.
const FREE_REDIRECTS_MAX: u8 = 5;

/// The distance of a link's target from the seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distance {
    /// See [`Sighting::depth`].
    pub depth: u32,
    /// See [`Sighting::requisite_steps`].
    pub requisite_steps: u8,
    /// See [`Sighting::read_as`].
    pub read_as: ReadAs,
    /// See [`Visit::redirects`].
    pub redirects: u8,
}

impl Distance {
    /// Returns the distance of a link's target: one deeper than its page. Redirects and canonical
    /// links stand for the same page, and requisites are a part of it, as is the target of their
    /// redirects. The entries of a sitemap count like seeds, and so do the sitemaps that robots.txt
    /// names; those of an index are one deeper each time, so that an endless chain comes to an end.
    /// Feeds that are followed are the same: what they list counts like seeds, and so do those that
    /// pages name.
    #[must_use]
    pub fn to_target(visit: &Visit, kind: LinkKind, feeds: Feeds) -> Self {
        let Sighting { depth, requisite_steps: steps, read_as, ref via } = visit.sighting;
        let counts_like_seed = match kind {
            LinkKind::Sitemap => read_as.is_sitemap() || depth == 0 && via.is_none(),
            // Each language of a listed page is listed with it.
            LinkKind::Alternate => read_as.is_sitemap(),
            LinkKind::SitemapFile | LinkKind::SitemapTrial => read_as == ReadAs::Robots,
            LinkKind::FeedEntry => read_as == ReadAs::Feed || depth == 0 && via.is_none(),
            LinkKind::Feed => feeds.are_followed() && read_as != ReadAs::Feed,
            _ => false,
        };
        let read_as = match kind {
            LinkKind::Redirect => read_as,
            LinkKind::SitemapFile => ReadAs::Sitemap,
            LinkKind::SitemapTrial => ReadAs::SitemapTrial,
            LinkKind::Feed if feeds.are_followed() => ReadAs::Feed,
            _ => ReadAs::Typed,
        };
        if counts_like_seed {
            return Self { depth: 0, requisite_steps: 0, read_as, redirects: 0 };
        }
        let is_free = kind.stands_for_its_page() && visit.redirects < FREE_REDIRECTS_MAX;
        let redirects = if is_free { visit.redirects + 1 } else { 0 };
        let (depth, requisite_steps) = match kind {
            LinkKind::Redirect if steps > 0 => (depth, steps.saturating_add(u8::from(!is_free))),
            _ if kind.is_requisite() => (depth, steps.saturating_add(1)),
            _ => (depth.saturating_add(u32::from(!is_free)), 0),
        };
        Self { depth: depth.min(SeedDistance::FARTHEST_READ.depth), requisite_steps, read_as, redirects }
    }

    /// Returns the distance of a page out of scope that a frame shows: it is a part of the page, as
    /// a picture is.
    #[must_use]
    pub const fn to_framed(visit: &Visit) -> Self {
        let Sighting { depth, requisite_steps, .. } = visit.sighting;
        let requisite_steps = requisite_steps.saturating_add(1);
        Self { depth, requisite_steps, read_as: ReadAs::Typed, redirects: 0 }
    }

    /// Returns the distance of a link's target that is only checked. Each redirect of one makes the
    /// next deeper, so that an endless chain comes to an end.
    #[must_use]
    pub const fn to_checked(visit: &Visit) -> Self {
        let is_redirect_of_checked = matches!(visit.sighting.read_as, ReadAs::Check);
        let depth = if is_redirect_of_checked { visit.sighting.depth.saturating_add(1) } else { CHECK_DEPTH };
        Self { depth, requisite_steps: 0, read_as: ReadAs::Check, redirects: 0 }
    }
}
