//! How many rows a second are written: `cargo bench --package dragline-sink`.
//!
//! The database is PostgreSQL on this machine, over a socket and without `fsync`: what is measured
//! is what the program and the server compute.

#![expect(clippy::unwrap_used, reason = "a benchmark without its database measures nothing")]

#[path = "../tests/sink/stored.rs"]
#[expect(dead_code, reason = "tests change it in more ways")]
mod stored;

use std::time::Duration;

use divan::Bencher;
use divan::counter::ItemsCount;
use dragline_domain::url::CrawlUrl;
use dragline_sink::{SchemaName, Start, Target, Totals, write};
use dragline_testkit::postgres::{Database, OWNER};
use tokio::runtime::{Builder, Runtime};

use stored::Stored;

/// The pages of a site. Each has three links, a visit and an item.
const PAGES: usize = 20_000;

/// The pages that the others are copies of.
const DISTINCT: u32 = 20;

fn main() {
    divan::main();
}

/// What nobody has written yet.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn all_new(bencher: Bencher<'_, '_>) {
    let (runtime, site) = (runtime(), site());
    bencher
        .counter(ItemsCount::new(6 * PAGES))
        .with_inputs(|| runtime.block_on(Database::create()))
        .bench_local_values(|database| runtime.block_on(write_to(&database, &site, Start::Continue)));
}

/// Every row compared with one that is equal.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn all_equal(bencher: Bencher<'_, '_>) {
    let (runtime, site) = (runtime(), site());
    let database = runtime.block_on(Database::create());
    runtime.block_on(write_to(&database, &site, Start::Continue));
    bencher
        .counter(ItemsCount::new(6 * PAGES))
        .bench_local(|| runtime.block_on(write_to(&database, &site, Start::FromStart)));
}

/// A second iteration that changed one page of a hundred.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn few_changed(bencher: Bencher<'_, '_>) {
    let (runtime, mut site) = (runtime(), site());
    let database = runtime.block_on(Database::create());
    runtime.block_on(write_to(&database, &site, Start::Continue));
    let mut iteration = 1;
    bencher.counter(ItemsCount::new(5 * PAGES)).bench_local(|| {
        iteration += 1;
        site.begin(iteration);
        for page in site.pages.iter_mut().step_by(100) {
            page.title = Some(format!("Changed by {iteration}"));
        }
        runtime.block_on(write_to(&database, &site, Start::Continue))
    });
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

async fn write_to(database: &Database, site: &Stored, start: Start) -> Totals {
    let target = Target {
        address: database.address(OWNER).parse().unwrap(),
        schema: SchemaName::default(),
        reader: None,
        start,
        patience: Duration::ZERO,
        batch_rows: None,
    };
    write(site, &site.crawl, &target, &|_| {}).await.unwrap()
}

/// Returns a site whose pages have as much text as pages have.
fn site() -> Stored {
    let mut site = Stored::with_pages(DISTINCT);
    let text = "A page has some words that people read. ".repeat(75);
    site.pages.iter_mut().for_each(|page| page.text = Some(text.clone()));
    let few = site.clone();
    for folder in 1..PAGES / DISTINCT as usize {
        let anew = |url: &str| url.replace("https://a.example/", &format!("https://a.example/folder/{folder}/"));
        site.pages.extend(few.pages.iter().cloned().map(|mut page| {
            page.url = anew(&page.url);
            page
        }));
        site.links.extend(few.links.iter().cloned().map(|mut link| {
            link.from_url = anew(&link.from_url);
            link
        }));
        site.log.extend(few.log.iter().cloned().map(|mut visit| {
            visit.url = anew(&visit.url);
            visit
        }));
        site.documents.extend(few.documents.iter().cloned().map(|mut row| {
            row.document.url = CrawlUrl::try_from(anew(row.document.url.as_str())).unwrap();
            row
        }));
    }
    site
}
