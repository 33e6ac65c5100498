//! The cost and results of each policy for known pages in a year: the table of
//! docs/reference/recrawl.md.

#![expect(clippy::unwrap_used, reason = "a test says more by failing than by an error")]

mod site;
mod year;

use std::fmt::Write as _;

use dragline_definition::parse;
use dragline_domain::definition::Definition;

use crate::site::{DAYS, Page, draw};
use crate::year::{Year, simulate};

const SEED: u64 = 1;
const FILE: &str = include_str!("../../../../../docs/reference/recrawl.md");
const BEGIN: &str = "<!-- year -->\n";
const END: &str = "<!-- end of year -->";

const ALWAYS: &str = "{}";
const WEEKLY: &str = "{ policy: fixed, interval: 7d }";
const ADAPTIVE: &str = "{ interval: 1d }";

/// The definitions to compare, as values of `recrawl` in YAML. `None`: the file's example of rules.
const COMPARED: [(Option<&str>, &str); 6] = [
    (Some(ALWAYS), "`always`"),
    (Some(WEEKLY), "`fixed`, `interval: 7d`"),
    (Some("{ policy: fixed, interval: 30d }"), "`fixed`, `interval: 30d`"),
    (Some(ADAPTIVE), "`adaptive`, `interval: 1d`"),
    (Some("{ interval: 7d, min: 1d, max: 30d }"), "`adaptive`, `interval: 7d`, `min: 1d`, `max: 30d`"),
    (None, "rules: news daily, the archive monthly, the rest `adaptive` (the example above)"),
];

fn definition(recrawl: Option<&str>) -> Definition {
    let recrawl = recrawl.map_or_else(|| example_of_rules().to_owned(), |value| format!("recrawl: {value}\n"));
    let text = format!("{recrawl}seeds: [https://example.org/]");
    parse(&text, "crawl.yaml").unwrap_or_else(|errors| panic!("{errors}"))
}

fn example_of_rules() -> &'static str {
    let blocks = FILE.split("```yaml\n").skip(1).filter_map(|block| block.split("```").next());
    blocks.into_iter().find(|block| block.contains("rules:")).expect("an example of rules")
}

/// Returns the lines between the marks: a table and its summary.
fn lines(site: &[Page]) -> String {
    let year = |recrawl| simulate(&definition(recrawl), site, SEED);
    let mut lines = "\
| policy | requests | for each page that never changes | while pages were gone | changes seen | missed | noticed after |
|---|---|---|---|---|---|---|
"
    .to_owned();
    for (recrawl, title) in COMPARED {
        let year = year(recrawl);
        writeln!(
            lines,
            "| {title} | {} | {:.0} | {} | {} | {} | {:.1} days |",
            grouped(year.requests),
            year.requests_per_steady_page(),
            grouped(year.while_gone),
            grouped(year.seen),
            grouped(year.missed),
            year.days_until_noticed(),
        )
        .unwrap();
    }
    let (always, weekly, adaptive) = (year(Some(ALWAYS)), year(Some(WEEKLY)), year(Some(ADAPTIVE)));
    writeln!(
        lines,
        "
With `interval: 1d`, a page that never changes costs {:.0} requests a year instead of the {:.0} of a crawl that fetches everything daily. The crawl makes {} of the requests, sees {} of the changes, and notices one after {:.1} days.
A fixed interval of a week makes {} of the requests and sees {} of the changes, as it visits a page that changes daily no more often than the others.

There were {} days on which a run could have asked for a page that was gone. With `always`, the crawl asked {} times.",
        adaptive.requests_per_steady_page(),
        always.requests_per_steady_page(),
        percent(adaptive.requests, always.requests),
        percent_seen(&adaptive),
        adaptive.days_until_noticed(),
        percent(weekly.requests, always.requests),
        percent_seen(&weekly),
        grouped(site.iter().map(|page| page.away.end - page.away.start).sum()),
        grouped(always.while_gone),
    )
    .unwrap();
    lines
}

fn percent_seen(year: &Year) -> String {
    percent(year.seen, year.seen + year.missed)
}

fn percent(part: u32, whole: u32) -> String {
    format!("{:.0} %", 100.0 * f64::from(part) / f64::from(whole))
}

/// Formats a number with a comma before its last three digits: `361,432`.
fn grouped(number: u32) -> String {
    if number < 1_000 { number.to_string() } else { format!("{},{:03}", number / 1_000, number % 1_000) }
}

#[test]
fn the_documented_table_matches_the_simulation() {
    let file = FILE.replace("\r\n", "\n");
    let (before, rest) = file.split_once(BEGIN).expect("the first mark");
    let (_, after) = rest.split_once(END).expect("the second mark");
    let page = format!("{before}{BEGIN}{}{END}{after}", lines(&draw(SEED)));
    if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/reference/recrawl.md");
        std::fs::write(path, &page).unwrap();
        return;
    }
    let differs = page.lines().zip(file.lines()).find(|(expected, found)| expected != found);
    assert!(
        file == page,
        "run this test with INSTA_UPDATE=always to write docs/reference/recrawl.md anew: {differs:?}"
    );
}

#[test]
fn every_change_is_seen_or_missed_and_every_page_is_visited() {
    let site = draw(SEED);
    let changes: usize = site.iter().map(|page| page.changes.len()).sum();
    for (recrawl, title) in COMPARED {
        let year = simulate(&definition(recrawl), &site, SEED);
        assert_eq!(usize::try_from(year.seen + year.missed).unwrap(), changes, "{title}");
        assert!(year.noticed.1 >= year.seen && year.noticed.1 <= year.seen + year.missed, "{title}: {year:?}");
        assert!(year.requests_per_steady_page() <= f64::from(DAYS), "{title}");
        assert!(year.while_gone > 0 && year.for_steady.0 > year.for_steady.1, "{title}: {year:?}");
    }
}

#[test]
fn another_site_gives_similar_results() {
    for seed in 2..5 {
        let site = draw(seed);
        let year = |recrawl| simulate(&definition(Some(recrawl)), &site, seed);
        let (always, weekly, adaptive) = (year(ALWAYS), year(WEEKLY), year(ADAPTIVE));
        assert!(always.requests > 7 * adaptive.requests, "{seed}: {} {}", always.requests, adaptive.requests);
        assert!(adaptive.seen > 2 * weekly.seen, "{seed}: {} {}", adaptive.seen, weekly.seen);
        assert!(always.seen > adaptive.seen && always.missed * 100 < always.seen, "{seed}: {}", always.missed);
    }
}
