//! Links that a crawl with a page budget does not follow.

use std::path::Path;
use std::time::Duration;

use dragline_domain::definition::{Condition, Definition, DoNotCrawl, Requisites, TextTest, Within};
use dragline_domain::frontier::{ClaimLimits, LeftoverReason, OriginKey, SegmentId};
use dragline_domain::ids::{Iteration, Turn};
use dragline_domain::outcome::Outcome;
use dragline_local::{DATABASE, LocalStore};
use dragline_pipeline::World as _;
use dragline_pipeline::context::Contexts;
use dragline_pipeline::parse::{KnownUrls, ParseEnd, parse_segment};
use dragline_ports::frontier::{Origins, Progress};
use dragline_ports::queue::ParseMessage;
use dragline_testkit::whole_crawls::{Network, crawl_in, definition};
use rusqlite::Connection;

use super::ahead::{WorldAhead, open_ahead};
use super::clocks::until_free;
use super::scripted::{Act, Asked, ScriptedSite, page};
use crate::support::figures;

/// At most five URLs may wait, or as many as pages are left.
const CLAIMS: ClaimLimits = ClaimLimits { waiting_per_page: 1, waiting_min: 5 };

/// A page with a hundred links to pages without links.
fn site(asked: &Asked) -> Act {
    match asked.target.as_str() {
        "/" => page(&(0..100).map(|n| format!("<a href=/{n}>{n}</a>")).collect::<String>()),
        target => page(target),
    }
}

fn open(data: &Path) -> WorldAhead {
    let mut world = open_ahead(data, Duration::ZERO, 1);
    world.timing.claims = CLAIMS;
    world
}

async fn crawl(data: &Path, definition: &Definition) -> Progress {
    let world = open(data);
    let messages = world.queue.clone();
    let progress = crawl_in(world, messages, Network::default().fetcher(), definition).await;
    until_free(data).await;
    progress
}

/// How many links of the seed have each disposition, and how many URLs are known.
fn dispositions_and_candidates(data: &Path) -> (Vec<(String, u64)>, u64) {
    let connection = LocalStore::open_read_only(data).unwrap();
    let sql =
        "SELECT disposition, count(*) FROM seen_link WHERE iteration = 1 GROUP BY disposition ORDER BY disposition";
    let mut statement = connection.prepare(sql).unwrap();
    let dispositions =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    (dispositions, connection.query_row("SELECT count(*) FROM crawl_candidate", [], |row| row.get(0)).unwrap())
}

fn dispositions(follow: u64, beyond: u64) -> Vec<(String, u64)> {
    let dispositions = [("beyond_budget", beyond), ("follow", follow)];
    dispositions
        .into_iter()
        .filter(|(_, links)| *links > 0)
        .map(|(disposition, links)| (disposition.to_owned(), links))
        .collect()
}

#[tokio::test]
async fn a_page_of_many_links_claims_what_the_budget_calls_for() {
    let (site, data) = (ScriptedSite::start(site).await, tempfile::tempdir().unwrap());
    let seeds = [site.url("/")];
    let progress = crawl(data.path(), &definition(&seeds, |draft| draft.budget.pages = Some(3))).await;
    assert_eq!((progress.added, progress.parser.found), (6, 5), "the seed and five links");
    assert_eq!(progress.leftovers, [(LeftoverReason::BudgetExhausted, 3)]);
    assert_eq!(progress.parser.links_beyond_budget, 95);
    assert_eq!(dispositions_and_candidates(data.path()), (dispositions(5, 95), 6));
    let figures = figures(data.path(), &definition(&seeds, |_| {}).name).await;
    assert_eq!(figures.links_beyond_budget, Some(95), "the summary shows it");
}

#[tokio::test]
async fn links_that_a_rule_forbids_have_as_much_room() {
    let (site, data) = (ScriptedSite::start(site).await, tempfile::tempdir().unwrap());
    let definition = definition(&[site.url("/")], |draft| {
        draft.budget.pages = Some(3);
        let when = Condition::Path(TextTest::Prefix("/9".to_owned()));
        draft.do_not_crawl.push(DoNotCrawl { when, reason: "asked not to".to_owned() });
    });
    let progress = crawl(data.path(), &definition).await;
    assert_eq!(progress.count(Outcome::BlockedUrlByLocalPolicy), 5, "of eleven, as each is a row that costs money");
    let known = dispositions_and_candidates(data.path());
    let dispositions = [("beyond_budget", 90), ("blocked", 5), ("follow", 5)];
    assert_eq!(known, (dispositions.map(|(disposition, links)| (disposition.to_owned(), links)).into(), 11));
}

#[tokio::test]
async fn a_page_leads_to_no_more_origins_than_the_definition_allows() {
    let site = ScriptedSite::start(|asked: &Asked| match asked.target.as_str() {
        "/" => page(
            &(0..12).map(|n| format!("<a href=//h{n}.many.example:{0}/x>{n}</a>", asked.port())).collect::<String>(),
        ),
        target => page(target),
    });
    let (site, data) = (site.await, tempfile::tempdir().unwrap());
    let seed = site.named("www.many.example", "/");
    let definition = definition(&[seed], |draft| {
        draft.scope.within = Within::Domain;
        draft.budget.origins_per_page = 3;
        draft.politeness.hosts_per_domain = 100;
    });
    let progress = crawl(data.path(), &definition).await;
    assert_eq!((progress.origins, progress.parser.found), (4, 3), "its own, and the first three");
    assert_eq!(progress.parser.links_beyond_budget, 9);
    assert_eq!(dispositions_and_candidates(data.path()), (dispositions(3, 9), 4));
    let figures = figures(data.path(), &definition.name).await;
    assert_eq!(figures.links_beyond_budget, Some(9), "the summary shows it");
}

#[tokio::test]
async fn without_a_budget_of_pages_all_links_are_followed() {
    let (site, data) = (ScriptedSite::start(site).await, tempfile::tempdir().unwrap());
    let progress = crawl(data.path(), &definition(&[site.url("/")], |_| {})).await;
    assert_eq!((progress.added, progress.parser.links_beyond_budget), (101, 0));
}

#[tokio::test]
async fn seeds_are_never_left_alone() {
    let (site, data) = (ScriptedSite::start(site).await, tempfile::tempdir().unwrap());
    let seeds: Vec<String> = ["/"].map(str::to_owned).into_iter().chain((0..9).map(|n| format!("/seed/{n}"))).collect();
    let seeds: Vec<String> = seeds.iter().map(|seed| site.url(seed)).collect();
    let progress = crawl(data.path(), &definition(&seeds, |draft| draft.budget.pages = Some(3))).await;
    assert_eq!(progress.added, 10, "seven of them wait, more than five");
    assert_eq!(dispositions_and_candidates(data.path()), (dispositions(0, 100), 10), "so no link has room");
}

#[tokio::test]
async fn a_parse_that_is_done_again_follows_the_same_links() {
    let (site, data) = (ScriptedSite::start(site).await, tempfile::tempdir().unwrap());
    let definition = definition(&[site.url("/")], |draft| draft.budget.pages = Some(3));
    crawl(data.path(), &definition).await;
    let before = dispositions_and_candidates(data.path());
    let origin = OriginKey { crawl: definition.name.clone(), origin: definition.seeds[0].origin() };
    for (left, why) in [(1_000, "there is room for every link now"), (0, "there is room for none")] {
        let connection = Connection::open(data.path().join(DATABASE)).unwrap();
        let back = format!(
            "UPDATE iteration SET status = 'open', open = open + 1, pages_left = {left}, closed_at = NULL;
             UPDATE segment SET state = 'crawled', part = 0, parsing = NULL WHERE id = (SELECT min(id) FROM segment);"
        );
        connection.execute_batch(&back).unwrap();
        let sql = "SELECT turn, n FROM segment ORDER BY id LIMIT 1";
        let (turn, n) = connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        drop(connection);
        let world = open(data.path());
        let added = || async { world.frontier().load_origin(&origin).await.unwrap().unwrap().inbox.added };
        let earlier = added().await;
        let segment = SegmentId { origin: origin.clone(), turn: Turn(turn), n };
        let message = ParseMessage { segment, iteration: Iteration::FIRST };
        let end = parse_segment(&world, &Contexts::default(), &KnownUrls::new(), &message).await.unwrap();
        assert_eq!((end, added().await), (ParseEnd::Processed, earlier + 5), "{why}");
        drop(world);
        until_free(data.path()).await;
        assert_eq!(dispositions_and_candidates(data.path()), before, "{why}");
    }
}

#[tokio::test]
async fn the_next_iteration_follows_what_was_left_alone() {
    let (site, data) = (ScriptedSite::start(site).await, tempfile::tempdir().unwrap());
    let seeds = [site.url("/")];
    crawl(data.path(), &definition(&seeds, |draft| draft.budget.pages = Some(3))).await;
    let progress = crawl(data.path(), &definition(&seeds, |_| {})).await;
    let told = (progress.finished(), progress.parser.links_beyond_budget);
    assert_eq!(told, (101, 0), "although the page is unchanged");
    assert_eq!(
        progress.count(Outcome::FileDidNotChange),
        3,
        "the links of an unchanged page are decided again as they are stored"
    );
}

#[tokio::test]
async fn what_a_page_shows_takes_no_page_of_the_budget() {
    let site = |asked: &Asked| match asked.target.as_str() {
        "/" => {
            let icon = "<link rel=icon href=/favicon.ico>";
            let pictures: String = (1..9).map(|n| format!("<img src=/seed{n}.png>")).collect();
            page(&format!("{icon}{pictures}{}", (1..9).map(|n| format!("<a href=/{n}>{n}</a>")).collect::<String>()))
        }
        target => page(target),
    };
    for (requisites_max, pictures) in [(500, 9), (4, 4)] {
        let (site, data) = (ScriptedSite::start(site).await, tempfile::tempdir().unwrap());
        let definition = definition(&[site.url("/")], |draft| {
            draft.requisites = Requisites::Fetch;
            draft.budget.pages = Some(5);
            draft.budget.requisites_per_page = requisites_max;
        });
        let world = open_ahead(data.path(), Duration::ZERO, 1);
        let messages = world.queue.clone();
        let progress = crawl_in(world, messages, Network::default().fetcher(), &definition).await;
        let asked = site.targets();
        let is_picture = |path: &str| path.ends_with(".png") || path.ends_with(".ico");
        let count = |pictures: bool| asked.iter().filter(|path| is_picture(path) == pictures).count();
        assert_eq!((count(true), count(false)), (pictures, 5), "{asked:?}");
        assert_eq!(progress.parser.links_beyond_budget, 9 - pictures as u64, "what is left out is counted");
    }
}
