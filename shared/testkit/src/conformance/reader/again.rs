//! A site that is crawled again and again and stays as it was, to see what reading it costs.

use dragline_domain::frontier::PartKind;
use dragline_ports::documents::Documents;
use dragline_ports::frontier::Frontier;

use super::super::samples::{at, key};
use super::super::world::{UNLIMITED, World};
use super::story::{Teller, got, place};

/// Crawls a site of one page in the first iteration, and visits it in all later ones.
pub async fn crawl_again_and_again(frontier: &impl Frontier, documents: &impl Documents, iterations: u32) {
    let (teller, origin) = (Teller { frontier, documents }, key("a.example"));
    let mut first = None;
    for n in 1..=iterations {
        let by = format!("t{n}");
        let world = World::begin_by(frontier, &by, UNLIMITED).await;
        world.seed_by(&origin, &by, &["/"]).await;
        let second = 1_000 * i64::from(n);
        let segment = world.crawl_again_until_idle(&origin, n.into(), second).await;
        let visit = got(0, "https://a.example/").asked_at(at(second));
        let visit = match first {
            Some(first) => visit.unchanged_since(at(1_000), first),
            None => visit,
        };
        first.get_or_insert(place(&segment, 0));
        teller.put(&segment, &[visit]).await;
        world.parse(&segment, (0, PartKind::Last), &[]).await;
        world.end(&[&origin]).await;
    }
}
