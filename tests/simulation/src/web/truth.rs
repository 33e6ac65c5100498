//! What a crawl must find, by walking the site itself.

use std::collections::BTreeSet;

use dragline_domain::url::{CrawlUrl, Origin};
use robotstxt::DefaultMatcher;

use super::{Directive, PageKind, RobotsTxt, Site};

/// The URLs that a crawl of whole origins, without limits or losses, has outcomes for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Those that it has in any case.
    pub certain: BTreeSet<CrawlUrl>,
    /// Those and what depends on which robots.txt held when they were come by.
    pub possible: BTreeSet<CrawlUrl>,
}

impl Site {
    /// What a crawler of this product token reaches from the seeds, within their origins.
    #[must_use]
    pub fn reach(&self, product_token: &str) -> Reach {
        let verdicts = |url: &CrawlUrl| -> Vec<bool> {
            let phases = self.hosts.get(&url.origin()).map_or(&[][..], |host| &host.robots.phases);
            phases.iter().map(|phase| allows(&phase.txt, product_token, url)).collect()
        };
        Reach {
            certain: self.walk(|url| verdicts(url).into_iter().all(|is_allowed| is_allowed)),
            possible: self.walk(|url| verdicts(url).into_iter().any(|is_allowed| is_allowed)),
        }
    }

    fn walk(&self, may_ask: impl Fn(&CrawlUrl) -> bool) -> BTreeSet<CrawlUrl> {
        let mut scope: BTreeSet<Origin> = self.seeds.iter().map(CrawlUrl::origin).collect();
        let mut found: BTreeSet<CrawlUrl> = BTreeSet::new();
        let mut todo: Vec<CrawlUrl> = self.seeds.clone();
        while let Some(url) = todo.pop() {
            if !found.insert(url.clone()) || !may_ask(&url) {
                continue;
            }
            // A seed that moved for good within its site takes its new origin into the scope.
            if self.seeds.contains(&url)
                && let Some(PageKind::Redirect { status: 301 | 308, to }) = self.page(&url).map(|page| &page.kind)
                && to.origin().is_same_site(&url.origin())
            {
                scope.insert(to.origin());
            }
            todo.extend(self.leads_to(&url).into_iter().filter(|to| scope.contains(&to.origin())));
        }
        found
    }

    /// Where a URL leads once it answers.
    fn leads_to(&self, url: &CrawlUrl) -> Vec<CrawlUrl> {
        match self.page(url).map(|page| &page.kind) {
            Some(PageKind::Html { links, directive, canonical, .. }) => {
                let links = links.iter().filter(|_| *directive != Directive::NoFollow);
                links.chain(canonical).cloned().collect()
            }
            Some(PageKind::Redirect { to, .. }) => vec![to.clone()],
            Some(PageKind::File | PageKind::Refused(_)) | None => Vec::new(),
        }
    }
}

/// What a robots.txt says, as the crate `robotstxt` reads it: the crawler's own reader is what is tested.
pub(crate) fn allows(txt: &RobotsTxt, product_token: &str, url: &CrawlUrl) -> bool {
    match txt {
        RobotsTxt::Missing => true,
        RobotsTxt::Text(text) => {
            DefaultMatcher::default().one_agent_allowed_by_robots(text, product_token, url.as_str())
        }
    }
}
