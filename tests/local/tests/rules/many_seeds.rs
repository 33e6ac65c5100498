//! Thousands of seeds: what each of them costs does not depend on how many there are.

use std::time::Duration;

use dragline_domain::definition::Within;
use dragline_domain::outcome::Outcome;
use dragline_domain::url::Scheme;
use dragline_formats::http_fields::Headers;
use dragline_ports::fetcher::{FetchOutcome, FetchRequest, FetchedResponse, Fetcher};
use dragline_ports::system::cpu_time;
use dragline_testkit::whole_crawls::definition;

use super::ahead::answered;
use super::counting::{Counts, crawl_counted};

/// Sites of one page. Those that moved answer by http that they are at https now, those that were
/// renamed that they are at `www.`.
#[derive(Clone, Copy, Debug)]
enum Sites {
    Stay,
    Moved,
    Renamed,
}

impl Fetcher for Sites {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        let took = Duration::from_millis(1);
        let (url, origin) = (&request.url, request.url.origin());
        match (self, url.path_and_query()) {
            (_, "/robots.txt") => answered(404, String::new(), took),
            (Self::Moved, "/") if origin.scheme() == Scheme::Http => moved(&format!("https://{}/", url.host()), took),
            (Self::Renamed, "/") if !url.host().starts_with("www.") => {
                moved(&format!("http://www.{}/", url.host()), took)
            }
            _ => answered(200, format!("a page of {origin}"), took),
        }
    }
}

fn moved(location: &str, took: Duration) -> FetchOutcome {
    let fetched = answered(301, String::new(), took);
    let headers = Headers::from_iter([("location", location)]);
    let moved = |response| FetchedResponse { headers, ..response };
    FetchOutcome { result: fetched.result.map(moved), ..fetched }
}

/// Crawls this many sites, and returns what was done for them.
async fn counted(sites: Sites, count: u64) -> Counts {
    let seeds: Vec<String> = (0..count).map(|n| format!("http://s{n}.example/")).collect();
    let definition = definition(&seeds, |draft| draft.scope.within = Within::Origin);
    let counted = Box::pin(crawl_counted(sites, &definition)).await;
    assert_eq!(counted.progress.count(Outcome::FileIngested), count, "each site's page");
    let joined = counted.notices.iter().filter(|notice| notice.kind() == "origin_joined").count();
    assert_eq!(joined, usize::from(!matches!(sites, Sites::Stay)), "told once: {:?}", counted.notices);
    counted.calls
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_seed_costs_does_not_depend_on_how_many_there_are() {
    const FEW: u64 = 30;
    const MANY: u64 = 4 * FEW;
    for sites in [Sites::Stay, Sites::Moved, Sites::Renamed] {
        let (few, many) = (counted(sites, FEW).await, counted(sites, MANY).await);
        let of = |counts: &Counts, operation| counts.get(operation).copied().unwrap_or(0);
        // By the command, and by the process that crawls.
        assert!(of(&many, "frontier.load_definition") <= 2, "{sites:?}: each version is read once: {many:?}");
        assert_eq!(of(&many, "frontier.load_crawl"), of(&few, "frontier.load_crawl"), "{sites:?}: {many:?}");
        let joined = if matches!(sites, Sites::Stay) { 0 } else { MANY };
        assert_eq!(of(&many, "origins read"), joined, "{sites:?}: of those that joined, each is read once");
        let calls = |counts: &Counts, sites: u64| counts.values().sum::<u64>().div_ceil(sites);
        let (each_of_few, each_of_many) = (calls(&few, FEW), calls(&many, MANY));
        // Work that a busy machine leaves waiting is asked for again.
        assert!(each_of_many <= 2 * each_of_few, "{sites:?}: {each_of_few} calls a site, {each_of_many} of many");
    }
}

/// How many sites to crawl in the smaller of two crawls, unless `DRAGLINE_SEEDS` is set, for
/// measuring.
const SITES: u64 = 200;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_seeds_take_that_all_moved_grows_as_they_do() {
    let few = std::env::var("DRAGLINE_SEEDS").map_or(SITES, |count| count.parse().unwrap());
    let mut each = Vec::new();
    for sites in [few, 4 * few] {
        let began = cpu_time();
        let calls = counted(Sites::Moved, sites).await.values().sum::<u64>();
        let took = cpu_time().saturating_sub(began);
        println!("{sites} sites: {:.2} s, {calls} calls", took.as_secs_f64());
        each.push(took / u32::try_from(sites).unwrap());
    }
    // Where each looks at all others it is four times as much. The process has no other tests, as
    // nextest runs each in one of its own.
    assert!(each[1] < 2 * each[0], "{:?} for each of {few}, {:?} for each of {}", each[0], each[1], 4 * few);
}
