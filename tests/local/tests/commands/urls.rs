//! Crawls of a single URL.

use dragline_domain::command::Command;
use dragline_domain::definition::Within;
use dragline_domain::frontier::StatusChange;
use dragline_pipeline::schedule::{CommandResult, Refusal};

use super::desk::{Desk, defaults, docs, name, url};

fn joined(handled: CommandResult) -> u32 {
    let CommandResult::Joined(row) = handled else { panic!("{handled:?}") };
    row.number.number()
}

fn refused(handled: CommandResult) -> Refusal {
    let CommandResult::Refused(refusal) = handled else { panic!("{handled:?}") };
    refusal
}

#[tokio::test]
async fn a_url_makes_the_crawl_of_its_host() {
    let desk = Desk::new();
    assert_eq!(joined(desk.deliver("m1", &url("https://a.example/b?utm_source=c")).await), 1);
    let row = desk.row("a.example").await.unwrap();
    assert_eq!(row.definition.seeds[0].as_str(), "https://a.example/b", "by the default rules");
    assert_eq!(row.definition.budget.pages, Some(defaults().url_pages_max));
    assert_eq!(row.definition.user_agent, defaults().user_agent, "the deployment's contact");
    assert_eq!(row.definition.ignore_robots, defaults().ignore_robots, "and its own sites");
    assert_eq!(desk.added("a.example", "https://a.example").await, 1);
    let iteration = desk.latest("a.example").await.unwrap();
    assert!(!iteration.token_out, "every seed is added");
}

#[tokio::test]
async fn the_same_message_again_changes_nothing() {
    let desk = Desk::new();
    desk.deliver("m1", &url("https://a.example/b")).await;
    assert_eq!(desk.deliver("m1", &url("https://a.example/b")).await, CommandResult::Before);
    assert_eq!(desk.row("a.example").await.unwrap().version, 1);
    assert_eq!(desk.added("a.example", "https://a.example").await, 1);
}

#[tokio::test]
async fn a_url_joins_what_runs() {
    let desk = Desk::new();
    desk.deliver("m1", &url("https://a.example/b")).await;
    assert_eq!(joined(desk.deliver("m2", &url("https://a.example/c")).await), 1);
    assert_eq!(desk.added("a.example", "https://a.example").await, 2);
    assert_eq!(joined(desk.deliver("m3", &url("https://a.example/b")).await), 1, "it is there already");
    assert_eq!(desk.added("a.example", "https://a.example").await, 2, "each URL once");
}

#[tokio::test]
async fn a_url_begins_an_iteration_where_none_runs() {
    let desk = Desk::new();
    desk.deliver("m1", &url("https://a.example/b")).await;
    desk.end("a.example").await;
    assert_eq!(joined(desk.deliver("m2", &url("https://a.example/c")).await), 2);
    assert_eq!(desk.added("a.example", "https://a.example").await, 2, "the crawl's seed and this one");
    assert_eq!(desk.row("a.example").await.unwrap().version, 1, "the definition is unchanged");
}

#[tokio::test]
async fn a_url_out_of_scope_is_refused_with_the_rule() {
    let desk = Desk::new();
    let held = docs(|draft| {
        draft.name = name("docs.example");
        draft.scope.exclude = vec!["/private/".parse().unwrap()];
        draft.scope.within = Within::Origin;
    });
    desk.deliver("m1", &Command::PutCrawl(held)).await;
    for (address, why) in
        [("https://docs.example/private/a", "scope.exclude"), ("http://docs.example/a", "scope.within")]
    {
        let text = refused(desk.deliver(address, &url(address)).await).to_string();
        assert!(text.starts_with(&format!("{address} is not crawled by `docs.example`")), "{text}");
        assert!(text.contains(why), "{text}");
    }
    assert_eq!(desk.latest("docs.example").await, None, "nothing began");
    assert_eq!(joined(desk.deliver("m2", &url("https://docs.example:8443/a")).await), 1);
    assert!(desk.latest("docs.example-8443").await.is_some(), "another port is another crawl");
}

#[tokio::test]
async fn a_url_does_not_switch_on_what_was_removed_nor_join_what_ends() {
    let desk = Desk::new();
    let crawl = name("a.example");
    desk.deliver("m1", &url("https://a.example/")).await;
    let stop = Command::Change { crawl: crawl.clone(), change: StatusChange::Stop };
    desk.deliver("m2", &stop).await;
    let refusal = refused(desk.deliver("m3", &url("https://a.example/b")).await);
    assert_eq!(refusal, Refusal::Stopping(crawl.clone()));
    desk.deliver("m4", &Command::Remove(crawl.clone())).await;
    assert_eq!(refused(desk.deliver("m5", &url("https://a.example/c")).await), Refusal::SwitchedOff(crawl));
}

#[tokio::test]
async fn a_url_is_not_lost_when_its_iteration_goes_on_without_it() {
    let desk = Desk::new();
    let crawl = name("docs.example");
    let held = docs(|draft| draft.name = name("docs.example"));
    desk.deliver("m1", &Command::PutCrawl(held)).await;
    let begun = desk.begin_and_die("docs.example", "m2").await;
    desk.deliver("m3", &Command::Start { crawl, trigger: Some(begun.trigger) }).await;
    assert_eq!(desk.added("docs.example", "https://docs.example").await, 1, "the sweeper's command seeds the rest");
    assert_eq!(joined(desk.deliver("m2", &url("https://docs.example/late")).await), 1);
    assert_eq!(desk.added("docs.example", "https://docs.example").await, 2);
}
