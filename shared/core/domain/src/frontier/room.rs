//! Limits on claimed links: on those to one origin, if the iteration has a page budget, and on the
//! origins of one page and of an iteration.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::OriginRows;
use crate::document::{Disposition, Document, Link};
use crate::ids::Iteration;
use crate::url::{CrawlUrl, Origin};

/// The limits on waiting URLs at an origin while the iteration has a page budget. Each claim is a
/// row that costs money, whether or not it is ever fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimLimits {
    /// How many may wait for each page left in the iteration.
    pub waiting_per_page: u64,
    /// How many may wait in any case.
    pub waiting_min: u64,
}

impl Default for ClaimLimits {
    fn default() -> Self {
        Self {
            // A URL that robots.txt forbids costs no page: the budget can still be spent if
            // nineteen of twenty are forbidden.
            waiting_per_page: 20,
            // More than a site of usual size has, so that most sites are recorded completely,
            // however small the budget.
            waiting_min: 5_000,
        }
    }
}

impl ClaimLimits {
    /// Returns how many more URLs may be claimed at an origin with these rows (`None` if it is
    /// new), in an iteration with this many pages left.
    #[must_use]
    pub fn room(self, pages_left: u64, iteration: Iteration, rows: Option<&OriginRows>) -> u64 {
        let waiting = rows.filter(|rows| rows.inbox.iteration == iteration).map_or(0, |OriginRows { lease, inbox }| {
            let retries = u64::try_from(lease.retries.len()).unwrap_or(u64::MAX);
            inbox.added.saturating_sub(lease.taken).saturating_add(retries)
        });
        pages_left.saturating_mul(self.waiting_per_page).max(self.waiting_min).saturating_sub(waiting)
    }
}

/// Marks links beyond an origin's room as beyond the budget; the first ones are followed, in the
/// order of the documents. An origin that is not in `room` has no limit. Forbidden URLs become
/// candidates as well, and have the same amount of room of their own.
///
/// Redirects and canonical links are always followed: their target represents a page that was
/// fetched.
pub fn limit_links_per_origin(documents: &mut [Document], mut room: BTreeMap<Origin, u64>) {
    let mut room_for_blocked = room.clone();
    let mut claimed: HashSet<&CrawlUrl> = HashSet::new();
    let mut beyond = Vec::new();
    for (n, document) in documents.iter().enumerate() {
        for (place, link) in document.links.iter().enumerate() {
            let room = match link.disposition {
                Disposition::Follow
                | Disposition::Check
                | Disposition::Last
                | Disposition::Framed
                | Disposition::Changed => &mut room,
                Disposition::Blocked(_) => &mut room_for_blocked,
                _ => continue,
            };
            if claimed.contains(&link.target) {
                continue;
            }
            let Some(room) = room.get_mut(&link.target.origin()) else { continue };
            if *room == 0 && !link.kind.stands_for_its_page() {
                beyond.push((n, place));
                continue;
            }
            *room = room.saturating_sub(1);
            claimed.insert(&link.target);
        }
    }
    for (n, place) in beyond {
        documents[n].links[place].disposition = Disposition::BeyondBudget;
    }
}

/// Limits the other origins of a page at `own` to the first `origins_max`, in the order of the
/// page, and marks links to further ones as beyond the budget. Depends only on the page, so that
/// each parse of it opens the same origins.
///
/// Redirects and canonical links are always followed: their target represents a page that was
/// fetched.
pub fn limit_origins_of_page(own: &Origin, links: &mut [Link], origins_max: u32) {
    let origins_max = usize::try_from(origins_max).unwrap_or(usize::MAX);
    let mut origins: HashSet<&str> = HashSet::new();
    for Link { kind, target, disposition, .. } in links {
        let is_claimed = disposition.is_claimed();
        if !is_claimed || kind.stands_for_its_page() {
            continue;
        }
        let origin = target.origin_str();
        if origin == own.as_str() || origins.contains(origin) {
            continue;
        }
        if origins.len() < origins_max {
            origins.insert(origin);
        } else {
            *disposition = Disposition::BeyondBudget;
        }
    }
}

/// Limits what a page needs to be shown to the first `requisites_max`, in the order of the page,
/// and marks further ones as beyond the budget. Depends only on the page, as above.
pub fn limit_requisites_of_page(links: &mut [Link], requisites_max: u32) {
    let is_part = |link: &Link| link.kind.is_requisite() || link.disposition == Disposition::Framed;
    let requisites = links.iter_mut().filter(|link| is_part(link) && link.disposition.is_claimed());
    for link in requisites.skip(usize::try_from(requisites_max).unwrap_or(usize::MAX)) {
        link.disposition = Disposition::BeyondBudget;
    }
}

/// Returns the origins other than `own` of the links that would be claimed: all that a parse of the
/// documents may open.
#[must_use]
pub fn linked_origins(own: &Origin, documents: &[Document]) -> BTreeSet<Origin> {
    let links = documents.iter().flat_map(|document| &document.links);
    let claimed = links.filter(|link| link.disposition.is_claimed());
    let names: HashSet<&str> =
        claimed.map(|link| link.target.origin_str()).filter(|name| *name != own.as_str()).collect();
    names.into_iter().filter_map(|name| name.parse().ok()).collect()
}

/// Marks links to origins that are new to the iteration as beyond the budget, except those to the
/// first `left` of them in the order of the documents.
///
/// Redirects and canonical links are always followed: their target represents a page that was
/// fetched.
pub fn limit_new_origins(documents: &mut [Document], new: &BTreeSet<Origin>, left: u64) {
    let new: HashSet<&str> = new.iter().map(Origin::as_str).collect();
    let (mut opened, left) = (HashSet::new(), usize::try_from(left).unwrap_or(usize::MAX));
    for Link { kind, target, disposition, .. } in documents.iter_mut().flat_map(|document| &mut document.links) {
        let is_claimed = disposition.is_claimed();
        let Some(origin) = new.get(target.origin_str()).filter(|_| is_claimed && !kind.stands_for_its_page()) else {
            continue;
        };
        if opened.len() < left {
            opened.insert(*origin);
        } else if !opened.contains(origin) {
            *disposition = Disposition::BeyondBudget;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;

    use super::*;
    use crate::document::{Link, LinkKind, Rel};
    use crate::frontier::{Inbox, Lease, Retry, TodoEntry};
    use crate::outcome::Outcome;
    use crate::politeness::Pace;
    use crate::url::{Spelling, UrlRules};

    fn url(text: &str) -> CrawlUrl {
        CrawlUrl::parse(text, &UrlRules::default()).unwrap()
    }

    fn rows(iteration: Iteration, added: u64, taken: u64, retries: usize) -> OriginRows {
        let pace = Pace::new(Duration::from_secs(1));
        let entry = TodoEntry::new("/");
        let retry = Retry { entry, depth: 0, tries: 1, not_before: Timestamp::UNIX_EPOCH };
        let opened = Lease::opened(None, iteration, pace, Timestamp::UNIX_EPOCH);
        let lease = Lease { taken, retries: vec![retry; retries], ..opened };
        OriginRows { lease, inbox: Inbox { added, ..Inbox::new(iteration) } }
    }

    #[test]
    fn room_follows_from_the_pages_left() {
        let limits = ClaimLimits { waiting_per_page: 20, waiting_min: 100 };
        let (now, before) = (Iteration::FIRST.next(), Iteration::FIRST);
        for (left, rows, expected, why) in [
            (10, None, 200, "nothing waits where nobody was"),
            (10, Some(rows(now, 50, 0, 0)), 150, "what waits takes room"),
            (10, Some(rows(now, 50, 40, 0)), 190, "what was taken takes none"),
            (10, Some(rows(now, 50, 40, 3)), 187, "what is to be tried again waits"),
            (10, Some(rows(now, 201, 0, 0)), 0, "more waits than may"),
            (10, Some(rows(before, 500, 0, 0)), 200, "these counts are another iteration's"),
            (5, None, 100, "twenty for each page, and the least"),
            (0, None, 100, "all pages are set aside, and those who have them go on"),
            (0, Some(rows(now, 100, 0, 0)), 0, "the least waits"),
            (u64::MAX, None, u64::MAX, "a budget beyond all numbers"),
        ] {
            assert_eq!(limits.room(left, now, rows.as_ref()), expected, "{why}");
        }
    }

    fn document(n: u32, links: &[(LinkKind, &str, Disposition)]) -> Document {
        let link = |(kind, target, disposition): &(LinkKind, &str, Disposition)| Link {
            kind: *kind,
            target: url(target),
            disposition: disposition.clone(),
            spelling: Spelling::Whole,
            rel: Rel::Follow,
            anchor: None,
        };
        let bare = Document::bare(n, url("https://a.example/"), Outcome::FileIngested);
        Document { links: links.iter().map(link).collect(), ..bare }
    }

    #[test]
    fn the_origins_of_a_page_are_limited() {
        use Disposition::{BeyondBudget, Follow, OutOfScope};
        use LinkKind::{A, Img, Redirect};
        let blocked = || Disposition::Blocked("rule 1".to_owned());
        let cases = [
            (A, "https://a.example/1", Follow, Follow, "its own origin takes no room"),
            (A, "https://far.example/", OutOfScope, OutOfScope, "what is not followed takes no room"),
            (Img, "https://b.example/1.png", Follow, Follow, "the first"),
            (A, "https://b.example/2", Follow, Follow, "the same origin"),
            (A, "https://c.example/", blocked(), blocked(), "the last that has room: a candidate is a row, too"),
            (Img, "http://b.example/1.png", Follow, BeyondBudget, "another scheme is another origin"),
            (A, "https://d.example/", blocked(), BeyondBudget, "one too many"),
            (A, "https://far.example/2", OutOfScope, OutOfScope, "left alone for a better reason"),
            (Redirect, "https://e.example/", Follow, Follow, "where the page is now"),
            (A, "https://c.example/2", Follow, Follow, "one of the first"),
        ];
        let links: Vec<_> = cases.iter().map(|(kind, target, found, ..)| (*kind, *target, found.clone())).collect();
        let mut links = document(0, &links).links;
        limit_origins_of_page(&url("https://a.example/").origin(), &mut links, 2);
        for (link, (.., expected, why)) in links.iter().zip(&cases) {
            assert_eq!(link.disposition, *expected, "{}: {why}", link.target);
        }
    }

    #[test]
    fn links_are_followed_while_there_is_room() {
        use Disposition::{BeyondBudget, Follow, OutOfScope, TooDeep};
        let blocked = || Disposition::Blocked("rule 1".to_owned());
        use LinkKind::{A, Canonical, Redirect};
        let cases = [
            (0, A, "https://a.example/1", Follow, Follow, "the first"),
            (0, A, "https://a.example/deep", TooDeep, TooDeep, "not to be followed, and takes no room"),
            (0, A, "https://a.example/1#x", Follow, Follow, "the same target takes no more"),
            (0, A, "https://a.example/2", Follow, Follow, "the last that has room"),
            (0, A, "https://a.example/3", Follow, BeyondBudget, "one too many"),
            (0, A, "https://a.example/no/1", blocked(), blocked(), "what a rule forbids has room of its own"),
            (0, A, "https://a.example/no/2", blocked(), blocked(), "of the same size"),
            (0, A, "https://a.example/no/3", blocked(), BeyondBudget, "one too many"),
            (0, A, "https://b.example/1", Follow, Follow, "another origin's room"),
            (0, A, "https://b.example/2", Follow, BeyondBudget, "which is small"),
            (0, A, "https://c.example/1", Follow, Follow, "an origin without a limit"),
            (0, Canonical, "https://a.example/", Follow, Follow, "the page itself by its other name"),
            (1, A, "https://a.example/1", Follow, Follow, "the same target on another page"),
            (1, A, "https://a.example/3", Follow, BeyondBudget, "left alone there, too"),
            (1, A, "https://a.example/4", OutOfScope, OutOfScope, "left alone for a better reason"),
            (1, Redirect, "https://a.example/5", Follow, Follow, "where the page is now"),
            (1, A, "https://a.example/5", Follow, Follow, "which is claimed anyhow"),
        ];
        let of = |n| -> Vec<_> {
            cases
                .iter()
                .filter(|case| case.0 == n)
                .map(|(_, kind, target, disposition, ..)| (*kind, *target, disposition.clone()))
                .collect()
        };
        let mut documents = [document(0, &of(0)), document(1, &of(1))];
        let room = [("https://a.example", 2), ("https://b.example", 1)];
        limit_links_per_origin(&mut documents, room.map(|(origin, room)| (origin.parse().unwrap(), room)).into());
        let dispositions: Vec<_> =
            documents.iter().flat_map(|document| &document.links).map(|link| &link.disposition).collect();
        assert_eq!(dispositions.len(), cases.len());
        for (disposition, (_, _, target, _, expected, why)) in dispositions.into_iter().zip(&cases) {
            assert_eq!(disposition, expected, "{target}: {why}");
        }
    }
}
