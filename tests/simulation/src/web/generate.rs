//! Awkward sites generated from a seed.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use dragline_domain::url::{CrawlUrl, Origin};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use super::wanting;
use super::{
    Directive, Host, Page, PageKind, Revision, RobotsPhase, RobotsPlan, RobotsTxt, Site, Trouble, TroubleKind, Wants,
};

/// The origins that pages of other origins link to.
const LINKED: [&str; 4] = ["http://a.example", "https://b.example", "http://c.example:8080", "https://d.example:8443"];

/// The same, where some share a host, to which politeness is owed whatever the scheme and the port.
const LINKED_OF_ONE_HOST: [&str; 4] =
    ["http://a.example", "https://a.example", "http://c.example:8080", "https://c.example:8443"];

/// The same, where all hosts share a registered domain: only a few of them may be visited at once.
const LINKED_OF_ONE_DOMAIN: [&str; 4] =
    ["http://a.one.example", "https://b.one.example", "http://c.one.example:8080", "https://d.one.example:8443"];

/// A seed that moved permanently, and its target. No page links there: whether such a link is in
/// scope would depend on when it is found.
const MOVED: (&str, &str) = ("http://moved.example", "https://www.moved.example");

/// How many tries may fail before one must succeed: a URL is tried three times in an iteration.
const TROUBLED_REQUESTS_MAX: u32 = 2;

impl Site {
    /// Draws a site of one to six origins, with a few pages or a few dozen together. The same seed
    /// gives the same site.
    #[must_use]
    pub fn generate(seed: u64) -> Self {
        let mut dice = StdRng::seed_from_u64(seed);
        // Most sites are small, as most mistakes show on a few pages.
        let (origins_max, pages_max) = if dice.random_bool(0.1) { (LINKED.len(), 16) } else { (2, 6) };
        Self::draw(seed, dice, 1..=origins_max, pages_max)
    }

    /// Draws a site of several origins, through which ways of several lengths lead to most pages.
    #[must_use]
    pub fn spread(seed: u64) -> Self {
        Self::draw(seed, StdRng::seed_from_u64(seed), 2..=LINKED.len(), 9)
    }

    fn draw(seed: u64, mut dice: StdRng, origins: RangeInclusive<usize>, pages_max: usize) -> Self {
        let names = match seed / 10 % 4 {
            1 => LINKED_OF_ONE_HOST,
            3 => LINKED_OF_ONE_DOMAIN,
            _ => LINKED,
        };
        let linked = &names[..dice.random_range(origins)];
        let linked: Vec<(Origin, usize)> =
            linked.iter().map(|name| (origin(name), dice.random_range(3..=pages_max))).collect();
        let targets: Vec<CrawlUrl> =
            linked.iter().flat_map(|(origin, count)| (0..*count).map(|n| url(origin, &path(n)))).collect();
        let mut seeds: Vec<CrawlUrl> = linked.iter().map(|(origin, _)| url(origin, "/")).collect();
        let mut hosts: BTreeMap<Origin, Host> =
            linked.iter().map(|(origin, count)| (origin.clone(), host(&mut dice, origin, *count, &targets))).collect();
        if dice.random_bool(0.4) {
            let (old, new) = (origin(MOVED.0), origin(MOVED.1));
            let kind = PageKind::Redirect { status: 301, to: url(&new, "/") };
            let page = Page { kind, think: Duration::from_millis(20), trouble: None, wants: Wants::Nothing };
            let robots = RobotsPlan { trouble: None, phases: vec![phase(0, RobotsTxt::Missing)] };
            seeds.push(url(&old, "/"));
            hosts.insert(old, Host { robots, pages: BTreeMap::from([("/".to_owned(), page)]), dies_at: None });
            let count = dice.random_range(2..=4);
            let host = host(&mut dice, &new, count, &targets);
            hosts.insert(new, host);
        }
        wanting::draw(seed, hosts.values_mut(), &wanting::OF_SITES);
        Self { hosts, seeds }
    }
}

pub(super) fn origin(name: &str) -> Origin {
    name.parse().expect("the names of origins are written above")
}

pub(super) fn url(origin: &Origin, path: &str) -> CrawlUrl {
    origin.url_at(path).expect("generated paths are normalised")
}

/// The path of an origin's n-th page. Every fifth one is where robots.txt may forbid it.
fn path(n: usize) -> String {
    match n {
        0 => "/".to_owned(),
        n if n.is_multiple_of(5) => format!("/private/{n}"),
        n => format!("/{n}"),
    }
}

fn host(dice: &mut StdRng, origin: &Origin, count: usize, targets: &[CrawlUrl]) -> Host {
    // Each page has a parent: a random earlier page, or the one before it where the site is a
    // chain.
    let is_chain = dice.random_bool(0.2);
    let parents: Vec<usize> = (1..count).map(|n| if is_chain { n - 1 } else { dice.random_range(0..n) }).collect();
    let pages = (0..count).map(|n| {
        let children = (1..count).filter(|child| parents[child - 1] == n).map(|child| url(origin, &path(child)));
        let mut links: Vec<CrawlUrl> = children.collect();
        for _ in 0..dice.random_range(0..3) {
            links.extend(targets.choose(dice).cloned());
        }
        (path(n), page(dice, origin, n, links, targets))
    });
    let pages = pages.collect();
    Host { robots: robots(dice), pages, dies_at: None }
}

fn page(dice: &mut StdRng, origin: &Origin, n: usize, links: Vec<CrawlUrl>, targets: &[CrawlUrl]) -> Page {
    let think = Duration::from_millis(if dice.random_bool(0.05) { 8_000 } else { dice.random_range(5..300) });
    let trouble = dice.random_bool(0.12).then(|| trouble(dice));
    let kind = match dice.random_range(0..100) {
        // An origin's first URL is always a page, or there would be little to find.
        _ if n == 0 => html(dice, links, targets),
        0..8 => PageKind::Redirect {
            status: *[301, 302, 303, 307, 308].choose(dice).expect("not empty"),
            // To a child, so that the chain continues; sometimes to itself, or in a circle.
            to: links.first().cloned().unwrap_or_else(|| url(origin, &path(n))),
        },
        8..18 => PageKind::Refused(*[404, 410, 401, 403, 500].choose(dice).expect("not empty")),
        18..24 => PageKind::File,
        _ => html(dice, links, targets),
    };
    Page { kind, think, trouble, wants: Wants::Nothing }
}

fn html(dice: &mut StdRng, mut links: Vec<CrawlUrl>, targets: &[CrawlUrl]) -> PageKind {
    let revisions = [Revision::Silent, Revision::Tagged, Revision::Dated, Revision::New, Revision::Twin];
    let revision = *revisions.choose(dice).expect("not empty");
    if dice.random_bool(0.1) {
        // A broken link.
        let gone = targets.choose(dice).and_then(|target| target.origin().url_at("/gone").ok());
        links.extend(gone);
    }
    let directive = match dice.random_range(0..20) {
        0 => Directive::NoIndex,
        1 => Directive::NoFollow,
        _ => Directive::None,
    };
    let canonical = dice.random_bool(0.08).then(|| targets.choose(dice).cloned()).flatten();
    PageKind::Html { links, directive, canonical, revision, base: None }
}

fn trouble(dice: &mut StdRng) -> Trouble {
    let kinds = [
        TroubleKind::Unavailable,
        TroubleKind::RateLimited,
        TroubleKind::RetryAfterSeconds(30),
        TroubleKind::RetryAfterDate(45),
        TroubleKind::Refuses,
        TroubleKind::Disregards,
        TroubleKind::Hangs,
        TroubleKind::BreaksOff,
    ];
    Trouble { requests: dice.random_range(1..=TROUBLED_REQUESTS_MAX), kind: *kinds.choose(dice).expect("not empty") }
}

pub(super) fn robots(dice: &mut StdRng) -> RobotsPlan {
    let open = || RobotsTxt::Text("User-agent: *\nDisallow: /nowhere/\n".to_owned());
    let private = || RobotsTxt::Text("User-agent: *\nDisallow: /private/\n".to_owned());
    let phases = match dice.random_range(0..6) {
        0 => vec![phase(0, RobotsTxt::Missing)],
        1 => vec![phase(0, private())],
        2 => {
            let delay = dice.random_range(2..=4);
            let text = format!("User-agent: *\nCrawl-delay: {delay}\nDisallow: /private/\n");
            vec![phase(0, RobotsTxt::Text(text))]
        }
        3 => vec![phase(0, open()), phase(60, private())],
        4 => vec![phase(0, private()), phase(60, RobotsTxt::Missing)],
        _ => vec![phase(0, open())],
    };
    RobotsPlan { trouble: dice.random_bool(0.3).then(|| trouble(dice)), phases }
}

pub(super) const fn phase(from_seconds: u64, txt: RobotsTxt) -> RobotsPhase {
    RobotsPhase { from: Duration::from_secs(from_seconds), txt }
}
