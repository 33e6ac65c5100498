//! What a crawl must find, determined by walking the site itself.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use dragline_domain::definition::{Draft, Within};
use dragline_domain::url::{CrawlUrl, Origin};
use robotstxt::DefaultMatcher;

use super::{Body, Directive, Edited, PageKind, RobotsTxt, Site};

/// The URLs for which a crawl of whole origins, without losses, has outcomes, each with how many
/// links it is from a seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Those that have an outcome in any case.
    pub certain: BTreeMap<CrawlUrl, u32>,
    /// Those, and those that depend on which robots.txt was in force when they were reached.
    pub possible: BTreeMap<CrawlUrl, u32>,
}

/// How one URL leads to another.
enum Step {
    /// The target stands for the same page: of a redirect, or a canonical URL.
    SamePage,
    Link,
}

impl Site {
    /// What a crawl with this definition reaches from the seeds of the site, by its scope and by
    /// how many origins a page may lead to.
    #[must_use]
    pub fn reach(&self, definition: &Draft) -> Reach {
        let product_token = definition.user_agent.product_token();
        let verdicts = |url: &CrawlUrl| -> Vec<bool> {
            let phases = self.hosts.get(&url.origin()).map_or(&[][..], |host| &host.robots.phases);
            phases.iter().map(|phase| allows(&phase.txt, product_token, url)).collect()
        };
        Reach {
            certain: self.walk(definition, |url| verdicts(url).into_iter().all(|is_allowed| is_allowed)),
            possible: self.walk(definition, |url| verdicts(url).into_iter().any(|is_allowed| is_allowed)),
        }
    }

    fn walk(&self, definition: &Draft, may_ask: impl Fn(&CrawlUrl) -> bool) -> BTreeMap<CrawlUrl, u32> {
        let (max_depth, origins_max) = (definition.scope.max_depth, definition.budget.origins_per_page as usize);
        // A seed, and what stands for one.
        let mut moving: BTreeSet<CrawlUrl> = self.seeds.iter().cloned().collect();
        let mut scope: BTreeSet<Origin> = self.seeds.iter().map(CrawlUrl::origin).collect();
        let mut found: BTreeMap<CrawlUrl, u32> = BTreeMap::new();
        // In the order of depth, so that each URL is first reached by the shortest path.
        let mut todo: VecDeque<(CrawlUrl, u32)> = self.seeds.iter().map(|seed| (seed.clone(), 0)).collect();
        while let Some((url, depth)) = todo.pop_front() {
            if max_depth.is_some_and(|max| depth > max) || found.contains_key(&url) {
                continue;
            }
            found.insert(url.clone(), depth);
            if !may_ask(&url) {
                continue;
            }
            // A seed that moved permanently within its site extends the scope to its new origin; to
            // https or www. even a temporary redirect does.
            if moving.contains(&url)
                && let Some(PageKind::Redirect { status, to }) = self.page(&url).map(|page| &page.kind)
                && (matches!(status, 301 | 308) && to.origin().is_same_site(&url.origin())
                    || url.origin().has_alias(&to.origin()))
            {
                scope.insert(to.origin());
            }
            let is_within = |to: &CrawlUrl| match definition.scope.within {
                Within::Domain => scope.iter().any(|origin| origin.is_same_site(&to.origin())),
                Within::Site => scope.iter().any(|origin| origin.site_name() == to.site_name()),
                Within::Host => scope.iter().any(|origin| origin.host() == to.host()),
                Within::Origin => scope.contains(&to.origin()),
            };
            let mut led_to = BTreeSet::new();
            for (to, step) in self.leads_to(&url).into_iter().filter(|(to, _)| is_within(to)) {
                match step {
                    Step::SamePage => {
                        if moving.contains(&url) {
                            moving.insert(to.clone());
                        }
                        todo.push_front((to, depth));
                    }
                    Step::Link => {
                        if to.origin() != url.origin() && !led_to.contains(&to.origin()) {
                            if led_to.len() == origins_max {
                                continue;
                            }
                            led_to.insert(to.origin());
                        }
                        todo.push_back((to, depth + 1));
                    }
                }
            }
        }
        found
    }

    /// Where a URL leads once it answers.
    fn leads_to(&self, url: &CrawlUrl) -> Vec<(CrawlUrl, Step)> {
        match self.page(url).map(|page| &page.kind) {
            Some(PageKind::Html { links, directive, canonical, .. }) => {
                let links = links.iter().filter(|_| *directive != Directive::NoFollow);
                let links = links.map(|to| (to.clone(), Step::Link));
                links.chain(canonical.iter().map(|to| (to.clone(), Step::SamePage))).collect()
            }
            Some(PageKind::Edited(Edited { body: Body::Page { links, canonical, .. }, .. })) => {
                let links = links.iter().map(|to| (to.clone(), Step::Link));
                links.chain(canonical.iter().map(|to| (to.clone(), Step::SamePage))).collect()
            }
            Some(PageKind::Redirect { to, .. }) => vec![(to.clone(), Step::SamePage)],
            Some(PageKind::Edited(_) | PageKind::File | PageKind::Refused(_)) | None => Vec::new(),
        }
    }
}

/// What a robots.txt allows, by the crate `robotstxt`, as the crawler's own reader is under test.
pub(crate) fn allows(txt: &RobotsTxt, product_token: &str, url: &CrawlUrl) -> bool {
    match txt {
        RobotsTxt::Missing => true,
        RobotsTxt::Text(text) => {
            DefaultMatcher::default().one_agent_allowed_by_robots(text, product_token, url.as_str())
        }
    }
}
