//! How many rows a second are written.

use dragline_ports::clock::Clock as _;
use dragline_ports::system::SystemClock;
use dragline_sink::Target;

use crate::cluster::Database;
use crate::restarts::write_to;
use crate::stored::Stored;

/// Run it with `cargo nextest run --cargo-profile release -p dragline-sink --run-ignored only
/// --no-capture`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "it measures, in the profile `release`"]
async fn rows_are_written_fast() {
    let (database, clock) = (Database::create().await, SystemClock::new());
    let mut stored = Stored::with_pages(20);
    let (pages, links, log, documents) =
        (stored.pages.clone(), stored.links.clone(), stored.log.clone(), stored.documents.clone());
    for n in 1..1_000 {
        let anew = |url: &str| url.replace("https://a.example/", &format!("https://a.example/folder/{n}/"));
        stored.pages.extend(pages.iter().cloned().map(|mut page| {
            page.url = anew(&page.url);
            page.text = Some("A page has some words that people read. ".repeat(75));
            page
        }));
        stored.links.extend(links.iter().cloned().map(|mut link| {
            link.from_url = anew(&link.from_url);
            link
        }));
        stored.log.extend(log.iter().cloned().map(|mut visit| {
            visit.url = anew(&visit.url);
            visit
        }));
        stored.documents.extend(documents.iter().cloned().map(|mut row| {
            row.document.url = dragline_domain::url::CrawlUrl::try_from(anew(row.document.url.as_str())).unwrap();
            row
        }));
    }
    let target = Target { batch_rows: None, ..database.target() };
    for what in ["at first", "with nothing new", "from the start, with every row equal"] {
        let start = if what.starts_with("from") { dragline_sink::Start::FromStart } else { target.start };
        let begun = clock.monotonic();
        let totals = write_to(&stored, &Target { start, ..target.clone() }).await.unwrap();
        let took = clock.monotonic() - begun;
        println!("{what}: {} rows in {took:.1?}, {:.0} a second", totals.rows, totals.rows as f64 / took.as_secs_f64());
        assert!(totals.rows < 100 || totals.rows as f64 / took.as_secs_f64() > 5_000.0);
    }
}
