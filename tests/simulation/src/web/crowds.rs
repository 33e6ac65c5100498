//! Sites that are too much: pages with more links, longer ones, or to more origins than a crawl
//! follows, and crawls of many seeds.

use std::collections::BTreeMap;
use std::time::Duration;

use dragline_domain::url::{CrawlUrl, Origin};
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};

use super::generate::{origin, phase, robots, url};
use super::wanting;
use super::{Directive, Host, Page, PageKind, Revision, RobotsPlan, RobotsTxt, Site, Wants};

/// Where pages link to, out of scope.
const ELSEWHERE: &str = "http://elsewhere.example";

/// The length of a long base: with it a reference is about as long as a URL may be.
const LONG_BYTES: usize = 1_900;

/// The most URLs that a page's links take together, and how many links it takes to exceed that. Few
/// sites have such a page, as it takes time.
const LONG_LINKS: usize = 1_200;

impl Site {
    /// Draws a site in one domain whose pages have more links, longer ones, or links to more hosts
    /// than the crawl may follow. Where it `is_rationed`, as few pages are fetched, many links are
    /// in scope. The same seed gives the same site.
    #[must_use]
    pub fn of_many_links(seed: u64, is_rationed: bool) -> Self {
        let mut dice = StdRng::seed_from_u64(seed);
        let own = origin("http://www.many.example");
        let hosts_max = if dice.random_bool(0.25) { 40 } else { 12 };
        let others: Vec<Origin> =
            (0..dice.random_range(4..=hosts_max)).map(|n| origin(&format!("http://h{n}.many.example"))).collect();
        let has_gaps = dice.random_bool(0.15);
        let fronts: Vec<CrawlUrl> = others.iter().map(|other| url(other, "/")).collect();
        let few = dice.random_range(2..=5);
        let hubs: Vec<CrawlUrl> = (1..=few).map(|n| url(&own, &format!("/{n}"))).collect();
        let mut pages = BTreeMap::from([("/".to_owned(), page(&mut dice, hubs.clone(), None))]);
        for hub in &hubs {
            let (base, links) = match dice.random_range(0..10) {
                0..5 => (None, crowd(&mut dice, &fronts, &hubs)),
                5..8 => {
                    let host = if is_rationed && dice.random_bool(0.5) { own.clone() } else { origin(ELSEWHERE) };
                    let count = if dice.random_bool(0.05) { LONG_LINKS } else { dice.random_range(8..40) };
                    long(&host, count, &hubs)
                }
                _ => {
                    let count = if is_rationed { dice.random_range(20..60) } else { dice.random_range(2..5) };
                    (None, (0..count).map(|n| url(&own, &format!("/list/{n}"))).collect())
                }
            };
            pages.insert(hub.path_and_query().to_owned(), page(&mut dice, links, base));
        }
        let mut site = BTreeMap::from([(own.clone(), host(RobotsTxt::Missing, pages))]);
        for other in &others {
            if has_gaps && dice.random_bool(0.2) {
                // Nobody is there.
                continue;
            }
            let mut links = vec![url(&own, "/")];
            if dice.random_bool(0.6) {
                links = crowd(&mut dice, &fronts, &hubs);
            }
            let pages = BTreeMap::from([("/".to_owned(), page(&mut dice, links, None))]);
            site.insert(other.clone(), host(RobotsTxt::Missing, pages));
        }
        wanting::draw(seed, site.values_mut(), &wanting::OF_SITES);
        Self { hosts: site, seeds: vec![url(&own, "/")] }
    }

    /// Draws small sites with a seed each, a few or more than a hundred. Many of the seeds moved:
    /// to https, to another host of their site, to both one after the other, or away. No page links
    /// to another site. The same seed gives the same sites.
    #[must_use]
    pub fn of_many_seeds(seed: u64) -> Self {
        let mut dice = StdRng::seed_from_u64(seed);
        let count = match dice.random_range(0..40) {
            0 => dice.random_range(100..=150),
            1..5 => dice.random_range(30..=60),
            _ => dice.random_range(5..=12),
        };
        let (mut hosts, mut seeds) = (BTreeMap::new(), Vec::new());
        for n in 0..count {
            let name = |start: &str| origin(&format!("{start}s{n}.example"));
            let (plain, secure, www) = (name("http://"), name("https://"), name("https://www."));
            seeds.push(url(&plain, "/"));
            let any = *[301, 302, 303, 307, 308].choose(&mut dice).expect("not empty");
            let way = match dice.random_range(0..20) {
                0..6 => vec![(plain, any)],
                6..13 => vec![(plain, any), (secure, any)],
                13..15 => vec![(plain, any), (www, any)],
                15..17 => vec![(plain, any), (secure, any), (www, any)],
                17 => vec![(plain, 301), (name("http://new."), any)],
                18 => vec![(plain, 302), (name("http://new."), any)],
                _ => vec![(plain, any), (origin(ELSEWHERE), any)],
            };
            for (at, (own, status)) in way.iter().enumerate() {
                let moved = way.get(at + 1).map(|(to, _)| PageKind::Redirect { status: *status, to: url(to, "/") });
                let mut host = host(RobotsTxt::Missing, small(&mut dice, own));
                if dice.random_bool(0.1) {
                    host.robots = robots(&mut dice);
                }
                if let (Some(kind), Some(first)) = (moved, host.pages.get_mut("/")) {
                    first.kind = kind;
                }
                hosts.insert(own.clone(), host);
            }
        }
        // Some sites are named twice.
        let again: Vec<CrawlUrl> =
            seeds.iter().filter(|_| dice.random_bool(0.05)).map(|seed| url(&seed.origin(), "/1")).collect();
        seeds.extend(again);
        wanting::draw(seed, hosts.values_mut(), &wanting::OF_SITES);
        Self { hosts, seeds }
    }
}

/// Links to most of the hosts, and to some pages, in any order.
fn crowd(dice: &mut StdRng, fronts: &[CrawlUrl], hubs: &[CrawlUrl]) -> Vec<CrawlUrl> {
    let mut links = [fronts, hubs].concat();
    links.shuffle(dice);
    let left_out = dice.random_range(0..=fronts.len() / 2);
    links.truncate(links.len() - left_out);
    links
}

/// A long base at this origin, and so many links that are short for it, behind one that leads on.
fn long(at: &Origin, count: usize, hubs: &[CrawlUrl]) -> (Option<CrawlUrl>, Vec<CrawlUrl>) {
    let base = url(at, &format!("/{}/", "long".repeat(LONG_BYTES / 4)));
    let links = (0..count).map(|n| url(at, &format!("{}{n}", base.path_and_query())));
    let links = hubs.iter().take(1).cloned().chain(links).collect();
    (Some(base), links)
}

/// A page or two.
fn small(dice: &mut StdRng, own: &Origin) -> BTreeMap<String, Page> {
    let more = if dice.random_bool(0.3) { vec![url(own, "/1")] } else { Vec::new() };
    let mut pages: BTreeMap<String, Page> =
        more.iter().map(|url| (url.path_and_query().to_owned(), page(dice, Vec::new(), None))).collect();
    pages.insert("/".to_owned(), page(dice, more, None));
    pages
}

fn page(dice: &mut StdRng, links: Vec<CrawlUrl>, base: Option<CrawlUrl>) -> Page {
    let kind = PageKind::Html { links, directive: Directive::None, canonical: None, revision: Revision::Silent, base };
    Page { kind, think: Duration::from_millis(dice.random_range(5..300)), trouble: None, wants: Wants::Nothing }
}

fn host(txt: RobotsTxt, pages: BTreeMap<String, Page>) -> Host {
    Host { robots: RobotsPlan { trouble: None, phases: vec![phase(0, txt)] }, pages, dies_at: None }
}
