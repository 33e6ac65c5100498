//! The rules of a definition that change between iterations, with a reader of their own, as the
//! crawler's is under test.

use std::collections::BTreeSet;

use dragline_domain::definition::{Condition, DoNotCrawl, Draft, TextTest, UrlPattern};
use dragline_domain::url::{CrawlUrl, Origin};
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use crate::scenario::Kind;
use crate::web::{Leads, Site};

/// Which URLs an iteration visits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    seeds: BTreeSet<CrawlUrl>,
    max_depth: Option<u32>,
    /// The path of what is out of scope.
    excluded: Option<String>,
    /// The path of what is not to be crawled.
    not_crawled: Option<String>,
}

/// What the rules say about a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// It is visited.
    Follow,
    /// It is out of scope.
    OutOfScope,
    /// It is too far from a seed.
    TooDeep,
    /// It is not to be crawled.
    Blocked,
}

impl Ruling {
    /// As links have it in the database.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Follow => "follow",
            Self::OutOfScope => "out_of_scope",
            Self::TooDeep => "too_deep",
            Self::Blocked => "blocked",
        }
    }
}

impl Rules {
    /// Draws the rules of each edition. They change only in runs of that kind.
    pub(crate) fn of(kind: Kind, dice: &mut StdRng, editions: &[Site]) -> Vec<Self> {
        let seeds: BTreeSet<CrawlUrl> = editions[0].seeds.iter().cloned().collect();
        let pages = editions[0].hosts.values().flat_map(|host| host.pages.keys());
        let paths: Vec<&String> = pages.filter(|path| *path != "/").collect();
        let mut rules = Self { seeds, max_depth: None, excluded: None, not_crawled: None };
        let draw = |rules: &mut Self, dice: &mut StdRng| {
            let path = paths.choose(dice).map(|path| (*path).clone());
            match dice.random_range(0..5) {
                0 => rules.max_depth = Some(dice.random_range(1..=2)),
                1 => rules.max_depth = None,
                2 => rules.excluded = path.filter(|_| rules.excluded.is_none()),
                3 => rules.not_crawled = path.filter(|_| rules.not_crawled.is_none()),
                _ => {}
            }
        };
        let mut all = Vec::new();
        for _ in editions {
            if kind == Kind::Redefined {
                draw(&mut rules, dice);
            }
            all.push(rules.clone());
        }
        all
    }

    /// Puts them into a definition.
    pub(crate) fn put_into(&self, mut draft: Draft) -> Draft {
        draft.scope.max_depth = self.max_depth;
        let pattern = |path: &String| format!("{path}$").parse::<UrlPattern>().expect("a short path");
        draft.scope.exclude = self.excluded.iter().map(pattern).collect();
        let test = |path: &String| Condition::Path(TextTest::Equals(path.clone()));
        let rule = |path| DoNotCrawl { when: test(path), reason: "drawn".to_owned() };
        draft.do_not_crawl = self.not_crawled.iter().map(rule).collect();
        draft
    }

    /// What they say about a URL that is this many links from a seed.
    #[must_use]
    pub fn ruling(&self, url: &CrawlUrl, depth: u32) -> Ruling {
        let is_at = |path: &Option<String>| path.as_deref() == Some(url.path_and_query());
        let origins: BTreeSet<Origin> = self.seeds.iter().map(CrawlUrl::origin).collect();
        if !origins.contains(&url.origin()) || is_at(&self.excluded) {
            Ruling::OutOfScope
        } else if self.max_depth.is_some_and(|max| depth > max) {
            Ruling::TooDeep
        } else if is_at(&self.not_crawled) {
            Ruling::Blocked
        } else {
            Ruling::Follow
        }
    }

    /// What they say about a link of a page that is this many links from a seed.
    #[must_use]
    pub fn ruling_of_link(&self, leads: Leads, to: &CrawlUrl, depth: u32) -> Ruling {
        self.ruling(to, if leads == Leads::A { depth + 1 } else { depth })
    }

    /// Whether a URL is a seed.
    #[must_use]
    pub fn is_seed(&self, url: &CrawlUrl) -> bool {
        self.seeds.contains(url)
    }
}
