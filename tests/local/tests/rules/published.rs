//! What is published of an iteration: its items by type, the same wherever the publication is
//! interrupted.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use dragline_domain::definition::Definition;
use dragline_domain::ids::{CrawlId, Iteration};
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_local::LocalStore;
use dragline_ports::error::PortResult;
use dragline_ports::publications::{ItemsPart, Publications, ReportPlace, ReportTexts};
use dragline_ports::retention::Forgetting as _;
use dragline_publish::{ItemTotals, PartLimits, Publication, publish_items};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::heard::Heard;
use super::scripted::{Act, Asked, ScriptedSite, page};
use super::shelf::Shelf;

/// A shop of nine products, of which the prices of the first three change with each visit; and a
/// page that says something of another type, too.
fn shop(asked: &Asked) -> Act {
    let product = |n: u64, price: u64| {
        format!(
            r#"<script type=application/ld+json>{{"@context": "https://schema.org", "@type": "Product", "name": "Thing {n}",
                "offers": {{"@type": "Offer", "price": "{price}.50", "priceCurrency": "EUR"}}}}</script>Costs {price}.50"#
        )
    };
    match asked.target.trim_start_matches('/').parse::<u64>() {
        Ok(n) => page(&product(n, if n <= 3 { 10 + asked.earlier as u64 } else { 7 })),
        Err(_) => page(&format!(
            "{}<script type=application/ld+json>{{\"@context\": \"https://schema.org\", \"@type\": \"Organization\", \"name\": \"Shop\"}}</script>",
            (1..=9).map(|n| format!("<a href=/{n}>{n}</a>")).collect::<String>()
        )),
    }
}

fn definition(site: &ScriptedSite) -> Definition {
    let yaml =
        format!("name: shop\nseeds: ['{}']\npoliteness: {{ delay: 0s }}\nbudget: {{ pages: 100 }}", site.url("/"));
    dragline_definition::parse(&yaml, "crawl.yaml").unwrap()
}

fn publication(iteration: u32, documents: u64) -> Publication {
    let limits = PartLimits { documents, ..PartLimits::default() };
    Publication { crawl: "shop".parse().unwrap(), iteration: Iteration::new(iteration).unwrap(), limits }
}

#[tokio::test]
async fn items_are_published_by_iteration_and_type() {
    let site = ScriptedSite::start(shop).await;
    let (data, heard) = (tempfile::tempdir().unwrap(), Heard::default());
    let (data, definition) = (data.path(), definition(&site));
    heard.crawl(data, &definition).await;
    heard.crawl(data, &definition).await;
    let reader = LocalStore::open_read_only(data).unwrap().into_reader(definition.name.clone());
    let whole = |iteration| {
        let reader = &reader;
        async move {
            let shelf = Shelf::default();
            let (published, from) =
                publish_items(reader, &shelf, &publication(iteration, 10_000), None, || panic!("it is one part"))
                    .await
                    .unwrap();
            assert_eq!(from, None);
            (shelf, published)
        }
    };

    let (first, published) = whole(1).await;
    assert_eq!(published, ItemTotals { documents: 10, items: 10, objects: 2 });
    assert_eq!(first.lines("organization")[0]["fields"], json!({"name": "Shop"}));
    let products = first.lines("product");
    assert_eq!(products.len(), 9);
    let thing = products.iter().find(|line| line["url"] == site.url("/4").as_str()).unwrap();
    let at = thing["at"].as_str().unwrap();
    assert!(at.ends_with('Z') && at.len() == "2026-01-01T00:00:00.000Z".len(), "{at}");
    assert_eq!((&thing["n"], &thing["types"]), (&json!(0), &json!("Product")));
    assert_eq!((&thing["fields"]["name"], &thing["fields"]["price"]), (&json!("Thing 4"), &json!("7.5")), "as texts");
    assert_eq!(thing["fields"]["currency"], "EUR");

    let (second, published) = whole(2).await;
    assert_eq!(published.items, 3, "only what changed has new documents");
    assert!(
        second.lines("product").iter().all(|line| line["fields"]["price"] == "11.5"),
        "{:?}",
        second.lines("product")
    );

    // Interrupted after each part, and once more from the beginning: the same.
    let (shelf, once) = (Shelf::default(), publication(1, 1));
    let mut from = None;
    loop {
        let (_, next) = publish_items(&reader, &shelf, &once, from, || ControlFlow::Break(())).await.unwrap();
        match next {
            Some(place) => from = Some(place),
            None => break,
        }
    }
    let sorted = |shelf: &Shelf| {
        let mut lines: Vec<String> = shelf.lines("product").iter().map(Value::to_string).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&shelf), sorted(&first));
    publish_items(&reader, &shelf, &publication(1, 10_000), None, || ControlFlow::Continue(())).await.unwrap();
    assert_eq!(shelf.items(), first.items(), "what was there before is gone");
}

/// Somebody forgets a product when a part was read and is about to be put. Only once.
struct ForgottenMeanwhile<'d> {
    shelf: Shelf,
    data: &'d Path,
    product: CrawlUrl,
    times: AtomicU32,
}

impl Publications for ForgottenMeanwhile<'_> {
    async fn clear_items(&self, crawl: &CrawlId, iteration: Iteration) -> PortResult<()> {
        self.shelf.clear_items(crawl, iteration).await
    }

    async fn put_items(&self, part: &ItemsPart, lines: Vec<u8>) -> PortResult<()> {
        if self.times.fetch_add(1, Ordering::Relaxed) == 0 {
            let store = LocalStore::open(self.data, Timestamp::UNIX_EPOCH).unwrap();
            store.retained().forget_urls(&part.crawl, std::slice::from_ref(&self.product)).await.unwrap();
        }
        self.shelf.put_items(part, lines).await
    }

    async fn put_report(&self, crawl: &CrawlId, iteration: Iteration, texts: ReportTexts) -> PortResult<ReportPlace> {
        self.shelf.put_report(crawl, iteration, texts).await
    }

    async fn has_report(&self, crawl: &CrawlId, iteration: Iteration) -> PortResult<bool> {
        self.shelf.has_report(crawl, iteration).await
    }
}

#[tokio::test]
async fn what_is_forgotten_while_items_are_published_is_not_published() {
    let site = ScriptedSite::start(shop).await;
    let (data, heard, shelf) = (tempfile::tempdir().unwrap(), Heard::default(), Shelf::default());
    let (data, definition) = (data.path(), definition(&site));
    heard.crawl(data, &definition).await;
    let reader = LocalStore::open_read_only(data).unwrap().into_reader(definition.name.clone());
    let product = CrawlUrl::parse(&site.url("/4"), &UrlRules::default()).unwrap();
    let meanwhile = ForgottenMeanwhile { shelf: shelf.clone(), data, product, times: AtomicU32::new(0) };
    let go_on = || ControlFlow::Continue(());
    let (published, _) = publish_items(&reader, &meanwhile, &publication(1, 10_000), None, go_on).await.unwrap();
    assert_eq!(published.items, 9, "eight products and the shop");
    let urls: Vec<_> = shelf.lines("product").iter().map(|line| line["url"].clone()).collect();
    assert!(urls.len() == 8 && !urls.contains(&json!(site.url("/4"))), "{urls:?}");
}
