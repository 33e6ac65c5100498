//! Politeness is owed to a host, whatever the scheme, the port and the crawl.

use std::time::{Duration, Instant};

use dragline_domain::outcome::Outcome;
use dragline_testkit::whole_crawls::{Crawled, definition};

use super::replies::links;
use super::scripted::{Asked, ScriptedSite, answer, page};

const DELAY: Duration = Duration::from_millis(200);

/// The requests to all of them, in order.
fn together(sites: &[&ScriptedSite]) -> Vec<Asked> {
    let mut asked: Vec<Asked> = sites.iter().flat_map(|site| site.log()).collect();
    asked.sort_by_key(|asked| asked.at);
    asked
}

fn waits(asked: &[Asked]) -> Vec<Duration> {
    asked.windows(2).map(|pair| pair[1].at - pair[0].at).collect()
}

#[tokio::test]
async fn ports_of_one_host_are_asked_in_turn_at_one_pace() {
    let script = |asked: &Asked| match asked.target.as_str() {
        "/robots.txt" => answer(404, &[], ""),
        "/" => page(&links(["/1", "/2"])),
        _ => page("a page"),
    };
    let (one, other) = (ScriptedSite::start(script).await, ScriptedSite::start(script).await);
    let seeds = [one.named("shop.example", "/"), other.named("shop.example", "/")];
    let crawled = Crawled::once(&definition(&seeds, |draft| draft.politeness.delay = DELAY)).await;
    assert_eq!(crawled.progress.count(Outcome::FileIngested), 6, "both are crawled whole");
    let asked = together(&[&one, &other]);
    let waits = waits(&asked);
    // A request may be slow to reach the server while the next one is fast.
    assert!(waits.iter().all(|wait| *wait >= DELAY - Duration::from_millis(20)), "{waits:?}");
    assert!(
        waits.iter().sum::<Duration>() < Duration::from_secs(10),
        "no one waited for the maximum length of a turn: {waits:?}"
    );
}

#[tokio::test]
async fn what_one_port_asked_for_is_obeyed_at_the_other() {
    let slow_down = ScriptedSite::start(|asked: &Asked| match (asked.target.as_str(), asked.earlier) {
        ("/robots.txt", _) => answer(404, &[], ""),
        (_, 0) => answer(429, &["retry-after: 2"], ""),
        _ => page("a page"),
    })
    .await;
    let other = ScriptedSite::start(|asked: &Asked| match asked.target.as_str() {
        "/robots.txt" => answer(404, &[], ""),
        "/" => page(&links(["/1", "/2", "/3", "/4"])),
        _ => page("a page"),
    })
    .await;
    let seeds = [slow_down.named("shop.example", "/"), other.named("shop.example", "/")];
    let crawled = Crawled::once(&definition(&seeds, |_| {})).await;
    assert_eq!(crawled.progress.count(Outcome::FileIngested), 6);
    let refused: Instant = slow_down.log().into_iter().find(|asked| asked.target == "/").unwrap().at;
    let soon = |asked: &Asked| asked.at > refused && asked.at - refused < Duration::from_millis(1_900);
    let asked: Vec<_> = together(&[&slow_down, &other]).into_iter().filter(soon).map(|asked| asked.target).collect();
    assert_eq!(asked, Vec::<String>::new(), "the host was to be left alone for two seconds");
}

#[tokio::test]
async fn a_robots_txt_that_leads_to_another_host_keeps_its_pace() {
    let rules = |asked: &Asked| asked.field("host").is_some_and(|host| host.starts_with("rules."));
    let site = ScriptedSite::start(move |asked: &Asked| {
        let elsewhere = format!("location: http://rules.example:{}/rules.txt", asked.port());
        match (asked.target.as_str(), rules(asked)) {
            ("/robots.txt", false) => answer(302, &[&elsewhere], ""),
            ("/robots.txt" | "/rules.txt", true) => {
                answer(200, &["content-type: text/plain"], "User-agent: *\nAllow: /\n")
            }
            ("/", true) => page(&links(["/1", "/2", "/3"])),
            _ => page("a page"),
        }
    })
    .await;
    let sites = (1..=12).map(|n| site.named(&format!("s{n}.example"), "/"));
    let seeds: Vec<String> = sites.chain([site.named("rules.example", "/")]).collect();
    let crawled = Crawled::once(&definition(&seeds, |draft| draft.politeness.delay = DELAY)).await;
    assert_eq!(crawled.progress.count(Outcome::FileIngested), 16, "every site is crawled in the end");
    let asked: Vec<Asked> = site.log().into_iter().filter(rules).collect();
    assert!(asked.iter().filter(|asked| asked.target == "/rules.txt").count() >= 12, "each reads the rules");
    let waits = waits(&asked);
    assert!(waits.iter().all(|wait| *wait >= DELAY - Duration::from_millis(20)), "{waits:?}");
}
