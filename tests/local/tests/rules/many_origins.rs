//! Pages that lead to thousands of origins: how many are opened, how often the store is asked, and
//! how much people are told.

use std::time::Duration;

use dragline_domain::definition::{Requisites, Within};
use dragline_ports::fetcher::{FetchFailureKind, FetchOutcome, FetchRequest, Fetcher};
use dragline_ports::notifier::Notice;
use dragline_testkit::whole_crawls::definition;

use super::ahead::answered;
use super::counting::{CountedCrawl, crawl_counted};

/// A site with pages, each of which links to other hosts or loads pictures from them. None of these
/// exists.
#[derive(Clone, Copy)]
struct Crowded {
    pages: usize,
    hosts_per_page: usize,
}

const OWN: &str = "www.many.example";

impl Fetcher for Crowded {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        let (took, url) = (Duration::from_millis(1), &request.url);
        if url.host() != OWN {
            return FetchOutcome::failed(FetchFailureKind::NameNotResolved, "host not found", took);
        }
        let Some(page) = url.path_and_query()[1..].parse::<usize>().ok() else {
            let is_start = url.path_and_query() == "/";
            let links = (0..self.pages).map(|page| format!("<a href=/{page}>{page}</a>")).collect();
            return if is_start { answered(200, links, took) } else { answered(404, String::new(), took) };
        };
        let hosts = (0..self.hosts_per_page).map(|host| format!("//h{page}-{host}.many.example"));
        answered(200, hosts.map(|host| format!("<a href={host}/><img src={host}/p>{host}</a>")).collect(), took)
    }
}

/// What the notice that an iteration is over says of links beyond the budget, and how many other
/// notices there were.
fn told(crawl: &CountedCrawl) -> (u64, usize) {
    let closed = crawl.notices.iter().find_map(|notice| match notice {
        Notice::IterationClosed(closed) => Some(closed.links_beyond_budget),
        _ => None,
    });
    (closed.expect("it closed"), crawl.notices.len() - 1)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_two_thousand_dead_pictures_costs_what_the_budget_allows() {
    let site = Crowded { pages: 1, hosts_per_page: 2_000 };
    let definition = definition(&[format!("https://{OWN}/")], |draft| {
        draft.requisites = Requisites::Fetch;
        draft.budget.origins_per_page = 100;
        draft.politeness.hosts_per_domain = 100;
    });
    let crawl = crawl_counted(site, &definition).await;
    assert_eq!(crawl.progress.origins, 101, "its own, and the first hundred");
    assert_eq!(told(&crawl).0, 1_900, "the other pictures are counted");
    assert!(told(&crawl).1 <= 3, "each reason is told once: {:?}", crawl.notices);
    let calls = crawl.calls.values().sum::<u64>();
    assert!(calls < 101 * 150, "{calls} calls: {:?}", crawl.calls);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_iteration_opens_as_many_origins_as_the_budget_allows() {
    const PAGES: usize = 40;
    const HOSTS: usize = 1_000;
    const MOST: u64 = 100;
    let site = Crowded { pages: PAGES, hosts_per_page: HOSTS };
    let definition = definition(&[format!("https://{OWN}/")], |draft| {
        draft.scope.within = Within::Domain;
        draft.budget.origins_per_page = 10_000;
        draft.budget.origins = MOST;
        draft.politeness.hosts_per_domain = 100;
    });
    let crawl = crawl_counted(site, &definition).await;
    let (beyond, others) = told(&crawl);
    // Parses that are under way at the same time may each open what is left.
    assert!((MOST..=4 * MOST).contains(&crawl.progress.origins), "{} origins", crawl.progress.origins);
    let opened = crawl.progress.origins - 1;
    assert_eq!(beyond, (PAGES * HOSTS) as u64 - opened, "all other links are counted");
    assert!(others <= 3, "each reason is told once: {:?}", crawl.notices);
    // A parse that takes long on a busy machine is done a second time.
    let claims = crawl.calls["frontier.claim"];
    assert!(claims <= 3 * (opened + 10), "{claims} claims: {:?}", crawl.calls);
    let reads = crawl.calls["frontier.load_origin"];
    assert!(reads <= 3 * (PAGES * HOSTS) as u64, "{reads} reads: {:?}", crawl.calls);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_all_fits_no_origin_is_read_for_the_budget() {
    let site = Crowded { pages: 3, hosts_per_page: 20 };
    let within = definition(&[format!("https://{OWN}/")], |draft| {
        draft.scope.within = Within::Domain;
        draft.politeness.hosts_per_domain = 100;
    });
    let crawl = crawl_counted(site, &within).await;
    assert_eq!((crawl.progress.origins, told(&crawl).0), (61, 0), "all are opened");
}
