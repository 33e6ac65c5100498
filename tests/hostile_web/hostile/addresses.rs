//! Private addresses in every spelling: as seeds, as links, as redirect targets, as targets of a
//! robots.txt, and behind names.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dragline_domain::address::AddressPolicy;
use dragline_domain::outcome::Outcome::{BlockedPrivateAddress, FileIngested};
use dragline_http::{HttpFetcher, NameLookup};
use dragline_ports::fetcher::{FetchOutcome, FetchRequest, Fetcher};
use dragline_testkit::hostile::{HostileSite, head, html, links, reply};
use dragline_testkit::whole_crawls::{Crawled, Network, definition};

use crate::support::tight;

const SPELLINGS: [&str; 24] = [
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.0.1",
    "2130706433",
    "017700000001",
    "0177.0.0.1",
    "0x7f.1",
    "0x7f000001",
    "0X7F.0.0.1",
    "127.0.0.001",
    "%31%32%37.0.0.1",
    "127%2e0%2e0%2e1",
    "１２７.０.０.１",
    "127。0。0。1",
    "①②⑦.0.0.1",
    "0.0.0.0",
    "0",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
];

/// Resolves every name to this machine, which is not allowed.
fn public_only() -> Network {
    Network { address_policy: AddressPolicy::PublicOnly, ..Network::default() }
}

/// Fetches from one server, which stands for a public one, as if private addresses were allowed;
/// everything else is guarded.
struct OnePublicServer {
    host: &'static str,
    allowed: HttpFetcher,
    guarded: HttpFetcher,
}

impl OnePublicServer {
    fn named(host: &'static str) -> Self {
        Self { host, allowed: Network::default().fetcher(), guarded: public_only().fetcher() }
    }
}

impl Fetcher for OnePublicServer {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        let is_public = request.url.host() == self.host;
        if is_public { self.allowed.fetch(request).await } else { self.guarded.fetch(request).await }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_spelling_of_a_private_address_is_talked_to_as_a_seed() {
    let site = HostileSite::start(|_| html("inside")).await;
    let seeds: Vec<String> = SPELLINGS.iter().map(|host| site.named(host, "/inside")).collect();
    let crawled = Crawled::over(public_only(), &definition(&seeds, tight)).await;
    assert_eq!(site.connections(), 0, "no connection was made");
    assert!(crawled.log.iter().all(|row| row.outcome == BlockedPrivateAddress), "{:?}", crawled.log);
    assert!(!crawled.log.is_empty() && crawled.leftovers().is_empty(), "each has its outcome");
}

const PUBLIC: &str = "public.test";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_spelling_is_talked_to_as_a_link_or_as_a_redirect_target() {
    let inside = HostileSite::start(|_| html("inside")).await;
    let targets = SPELLINGS.map(|host| inside.named(host, "/inside"));
    let public = HostileSite::start(move |asked| match asked.target.strip_prefix("/to/").map(str::parse::<usize>) {
        Some(Ok(n)) => vec![head(301, &[&format!("location: {}", targets[n]), "content-length: 0"])],
        _ if asked.target == "/robots.txt" => reply(404, &[], ""),
        _ if asked.target == "/" => {
            html(links(targets.iter().cloned().chain((0..targets.len()).map(|n| format!("/to/{n}")))))
        }
        _ => html("good"),
    })
    .await;
    // With these seeds every spelling is in scope, so only the guard can refuse it.
    let hosts = SPELLINGS.iter().map(|host| inside.named(host, "/seed"));
    let seeds: Vec<String> =
        [public.named(PUBLIC, "/"), public.named(PUBLIC, "/good")].into_iter().chain(hosts).collect();
    let crawled = Crawled::by(OnePublicServer::named(PUBLIC), &definition(&seeds, tight)).await;
    assert_eq!(inside.connections(), 0, "no connection was made");
    assert_eq!(crawled.row("/good").outcome, FileIngested);
    let asked = public.targets().iter().filter(|target| target.starts_with("/to/")).count();
    assert_eq!(asked, SPELLINGS.len(), "every redirect was met");
    let found = crawled.log.iter().filter(|row| row.url.ends_with("/inside"));
    let found: Vec<_> = found.map(|row| (row.url.as_str(), row.outcome)).collect();
    assert!(!found.is_empty() && found.iter().all(|(_, outcome)| *outcome == BlockedPrivateAddress), "{found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_robots_txt_that_redirects_inside_is_not_followed() {
    let inside = HostileSite::start(|_| html("inside")).await;
    let mut seeds = Vec::new();
    let mut sites = Vec::new();
    for spelling in SPELLINGS {
        let location = format!("location: {}", inside.named(spelling, "/robots.txt"));
        let site = HostileSite::start(move |asked| match asked.target.as_str() {
            "/robots.txt" => vec![head(302, &[&location, "content-length: 0"])],
            _ => html("page"),
        })
        .await;
        seeds.push(site.named(PUBLIC, "/"));
        sites.push(site);
    }
    let crawled = Crawled::by(OnePublicServer::named(PUBLIC), &definition(&seeds, tight)).await;
    assert_eq!(inside.connections(), 0, "no connection was made");
    for (site, spelling) in sites.iter().zip(SPELLINGS) {
        assert_eq!(site.targets(), ["/robots.txt"], "{spelling}: without rules no page is asked for");
    }
    assert!(crawled.log.iter().all(|row| row.outcome == BlockedPrivateAddress), "{:?}", crawled.log);
}

/// Resolves a name to a public address at first, from a block that was never assigned, and to a
/// private one from then on.
#[derive(Default)]
struct Rebinding {
    asked: AtomicUsize,
}

impl NameLookup for Rebinding {
    fn lookup(&self, _host: &str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>> {
        let is_first = self.asked.fetch_add(1, Ordering::SeqCst) == 0;
        let public = Ipv6Addr::new(0x3000, 0, 0, 0, 0, 0, 0, 1).into();
        let address = if is_first { public } else { Ipv4Addr::LOCALHOST.into() };
        Box::pin(async move { Ok(vec![address]) })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_changes_its_mind_after_the_check_leads_nowhere() {
    let inside = HostileSite::start(|_| html("inside")).await;
    let lookup = Arc::new(Rebinding::default());
    let network = Network { lookup: Arc::clone(&lookup) as _, ..public_only() };
    let crawled = Crawled::over(network, &definition(&[inside.named("rebinding.example", "/")], tight)).await;
    assert!(lookup.asked.load(Ordering::SeqCst) > 1, "it was resolved again, to a private address");
    assert_eq!(inside.connections(), 0, "no connection was made");
    assert_eq!(crawled.row("/").outcome, BlockedPrivateAddress, "the address it resolved to in the end");
}
