//! Sites that are crawled again and again and stay as they were, to see what reading them costs.

use std::collections::BTreeMap;

use dragline_domain::frontier::{OriginKey, PartKind};
use dragline_ports::documents::Documents;
use dragline_ports::frontier::Frontier;

use super::super::samples::{at, key};
use super::super::world::{UNLIMITED, World};
use super::story::{Teller, got, place};

/// Crawls sites of one page in the first iteration, and visits them in all later ones.
pub async fn crawl_again_and_again(
    frontier: &impl Frontier,
    documents: &impl Documents,
    hosts: &[&str],
    iterations: u32,
) {
    let teller = Teller { frontier, documents };
    let origins: Vec<OriginKey> = hosts.iter().map(|host| key(host)).collect();
    let mut first = BTreeMap::new();
    for n in 1..=iterations {
        let by = format!("t{n}");
        let world = World::begin_by(frontier, &by, UNLIMITED).await;
        for (host, origin) in hosts.iter().zip(&origins) {
            world.seed_by(origin, &by, &["/"]).await;
            let second = 1_000 * i64::from(n);
            let segment = world.crawl_again_until_idle(origin, n.into(), second).await;
            let url = format!("https://{host}/");
            let visit = got(0, &url).asked_at(at(second));
            let visit = match first.get(host) {
                Some(&first) => visit.unchanged_since(at(1_000), first),
                None => visit,
            };
            first.entry(host).or_insert_with(|| place(&segment, 0));
            teller.put(&segment, &[visit]).await;
            world.parse(&segment, (0, PartKind::Last), &[]).await;
        }
        world.end(&origins.iter().collect::<Vec<_>>()).await;
    }
}
