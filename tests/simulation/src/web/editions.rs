//! Sites that change from edition to edition, generated from a seed.

use std::collections::BTreeMap;
use std::time::Duration;

use dragline_domain::url::{CrawlUrl, Origin};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use super::wanting;
use super::{
    Asks, Body, Edited, Host, Page, PageKind, RobotsPhase, RobotsPlan, RobotsTxt, Site, Trouble, TroubleKind,
    Validation, Wants,
};

/// The origins of a site.
const ORIGINS: [&str; 2] = ["http://a.example", "https://b.example"];

/// Where some pages link to, out of scope.
const ELSEWHERE: &str = "http://elsewhere.example/";

/// The most pages of an origin, with those that come later.
const PAGES_MAX: usize = 5;

/// What became of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageState {
    /// It is there.
    There,
    /// It is answered with this status.
    Refused(u16),
    /// It redirects to another page, with this status.
    Moved(u16),
    /// Every request goes wrong.
    Troubled(TroubleKind),
}

/// A page over the editions.
#[derive(Clone, Debug)]
struct Story {
    url: CrawlUrl,
    fate: PageState,
    content: Edited,
    moved_to: CrawlUrl,
}

impl Site {
    /// Draws the editions of a site: a few pages that come, go, change, move, fail, and are
    /// forbidden. The same seed gives the same editions.
    #[must_use]
    pub fn editions(seed: u64, count: usize) -> Vec<Self> {
        let mut dice = StdRng::seed_from_u64(seed);
        let origins = &ORIGINS[..if dice.random_bool(0.25) { 2 } else { 1 }];
        let origins: Vec<Origin> = origins.iter().map(|name| name.parse().expect("written above")).collect();
        let paths = |origin: &Origin, pages: usize| -> Vec<CrawlUrl> {
            (0..pages).map(|n| origin.url_at(&path(n)).expect("normalised")).collect()
        };
        let counts: Vec<usize> = origins.iter().map(|_| dice.random_range(2..=PAGES_MAX)).collect();
        let urls: Vec<CrawlUrl> = origins.iter().zip(counts).flat_map(|(origin, pages)| paths(origin, pages)).collect();
        let mut stories: Vec<Story> = urls.iter().map(|url| story(&mut dice, url, &urls)).collect();
        let seeds: Vec<CrawlUrl> = origins.iter().map(|origin| origin.url_at("/").expect("normalised")).collect();
        let mut editions = Vec::new();
        for edition in 0..count {
            if edition > 0 {
                stories.iter_mut().for_each(|story| next(&mut dice, story, &urls));
            }
            let hosts = origins.iter().map(|origin| (origin.clone(), host(&mut dice, origin, &stories)));
            let mut hosts: BTreeMap<Origin, Host> = hosts.collect();
            wanting::draw(seed, hosts.values_mut(), &wanting::OF_EDITIONS);
            editions.push(Self { hosts, seeds: seeds.clone() });
        }
        editions
    }
}

fn path(n: usize) -> String {
    match n {
        0 => "/".to_owned(),
        4 => "/private/4".to_owned(),
        n => format!("/{n}"),
    }
}

fn is_first(url: &CrawlUrl) -> bool {
    url.path_and_query() == "/"
}

fn story(dice: &mut StdRng, url: &CrawlUrl, urls: &[CrawlUrl]) -> Story {
    let body = if !is_first(url) && dice.random_bool(0.2) {
        Body::File { number: 0 }
    } else {
        // Most pages lead on to the next one, so that depth matters.
        let next = urls.iter().skip_while(|other| *other != url).nth(1).filter(|_| dice.random_bool(0.7));
        let mut links: Vec<CrawlUrl> = next.cloned().into_iter().collect();
        for _ in 0..dice.random_range(0..3) {
            link(dice, &mut links, urls);
        }
        Body::Page { title: 0, text: dice.random_range(0..3), links, canonical: None }
    };
    let validation = *[Validation::Body, Validation::Tag, Validation::Date].choose(dice).expect("not empty");
    let content = Edited { version: 0, body, asks: Asks::Nothing, validation };
    // Some pages come later.
    let fate = if !is_first(url) && dice.random_bool(0.15) { PageState::Refused(404) } else { PageState::There };
    Story { url: url.clone(), fate, content, moved_to: urls[dice.random_range(0..urls.len())].clone() }
}

/// Adds a link that the page does not have.
fn link(dice: &mut StdRng, links: &mut Vec<CrawlUrl>, urls: &[CrawlUrl]) {
    let elsewhere = || CrawlUrl::try_from(ELSEWHERE.to_owned()).expect("written above");
    let to = if dice.random_bool(0.1) { elsewhere() } else { urls[dice.random_range(0..urls.len())].clone() };
    if !links.contains(&to) {
        links.push(to);
    }
}

/// What becomes of a page in the next edition.
fn next(dice: &mut StdRng, story: &mut Story, urls: &[CrawlUrl]) {
    if story.fate != PageState::There && dice.random_bool(0.6) {
        story.fate = PageState::There;
        if dice.random_bool(0.5) {
            return;
        }
    }
    match dice.random_range(0..100) {
        0..40 => change(dice, story, urls),
        40..60 if !is_first(&story.url) => {
            story.moved_to = urls[dice.random_range(0..urls.len())].clone();
            let fates = [
                PageState::Refused(404),
                PageState::Refused(410),
                PageState::Refused(403),
                PageState::Refused(500),
                PageState::Moved(301),
                PageState::Moved(302),
                PageState::Troubled(TroubleKind::Hangs),
                PageState::Troubled(TroubleKind::BreaksOff),
            ];
            story.fate = match *fates.choose(dice).expect("not empty") {
                // A 304 has no body that could break off.
                PageState::Troubled(TroubleKind::BreaksOff) if story.content.validation != Validation::Body => {
                    PageState::Refused(500)
                }
                fate => fate,
            };
        }
        _ => {}
    }
}

fn change(dice: &mut StdRng, story: &mut Story, urls: &[CrawlUrl]) {
    let content = &mut story.content;
    if content.asks == Asks::NoIndex && dice.random_bool(0.7) {
        // Nobody can tell from a 304 that it is withdrawn, so the body is sent again.
        content.asks = Asks::Nothing;
    } else if dice.random_bool(0.15) {
        // Clients that know the body are sent a 304 that asks for it.
        content.asks = Asks::NoIndex;
        return;
    }
    content.version += 1;
    match &mut content.body {
        Body::File { number } => *number += 1,
        Body::Page { title, text, links, canonical } => match dice.random_range(0..6) {
            0 => *title += 1,
            1 => *text += 1,
            2 => link(dice, links, urls),
            3 if !links.is_empty() => _ = links.remove(dice.random_range(0..links.len())),
            4 => *canonical = urls.choose(dice).filter(|to| **to != story.url && canonical.is_none()).cloned(),
            // The same in other bytes.
            _ => {}
        },
    }
}

fn host(dice: &mut StdRng, origin: &Origin, stories: &[Story]) -> Host {
    let own = stories.iter().filter(|story| story.url.origin() == *origin);
    let pages: BTreeMap<String, Page> =
        own.map(|story| (story.url.path_and_query().to_owned(), page(dice, story))).collect();
    let forbids = |what: &str| RobotsTxt::Text(format!("User-agent: *\nDisallow: {what}\n"));
    let txt = match dice.random_range(0..10) {
        0 | 1 => forbids("/private/"),
        2 => forbids("/2"),
        3..6 => forbids("/nowhere/"),
        _ => RobotsTxt::Missing,
    };
    let trouble = dice.random_bool(0.04).then_some(Trouble { requests: u32::MAX, kind: TroubleKind::Unavailable });
    Host {
        robots: RobotsPlan { trouble, phases: vec![RobotsPhase { from: Duration::ZERO, txt }] },
        pages,
        dies_at: None,
    }
}

fn page(dice: &mut StdRng, story: &Story) -> Page {
    let content = || PageKind::Edited(story.content.clone());
    let (kind, trouble) = match story.fate {
        PageState::There => (content(), None),
        PageState::Refused(status) => (PageKind::Refused(status), None),
        PageState::Moved(status) => (PageKind::Redirect { status, to: story.moved_to.clone() }, None),
        PageState::Troubled(kind) => (content(), Some(Trouble { requests: u32::MAX, kind })),
    };
    Page { kind, think: Duration::from_millis(dice.random_range(5..300)), trouble, wants: Wants::Nothing }
}
