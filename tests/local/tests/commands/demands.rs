//! URLs on demand, documents made again, and what comes while either runs.

use dragline_domain::command::Command;
use dragline_domain::frontier::{Demand, IterationBegun, Selection, Task, Visits};
use dragline_domain::ids::TriggerId;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_pipeline::schedule::{CommandResult, Refusal};
use dragline_ports::notifier::Notice;
use dragline_ports::queue::StartCommand;

use super::desk::{Desk, docs, name, start, url};

fn demand(crawl: &str, urls: &[&str]) -> Command {
    let urls = urls.iter().map(|url| CrawlUrl::parse(url, &UrlRules::keep_all()).unwrap()).collect();
    Command::Demand { crawl: name(crawl), urls, demand: Demand { visits: Visits::All, ..Demand::default() } }
}

fn reparse() -> Command {
    Command::Reparse { crawl: name("docs"), selection: Selection::All }
}

async fn desk_with_docs() -> Desk {
    let desk = Desk::new();
    desk.deliver("m1", &Command::PutCrawl(docs(|draft| draft.scope.exclude = vec!["/private/".parse().unwrap()])))
        .await;
    desk
}

#[tokio::test]
async fn a_demand_begins_an_iteration_of_nothing_else_and_later_ones_join_it() {
    let desk = desk_with_docs().await;
    let first = demand("docs", &["https://docs.example/a", "https://docs.example/b"]);
    let CommandResult::Joined(row) = desk.deliver("m2", &first).await else { panic!("it began") };
    assert_eq!((row.number.number(), &row.task, row.token_out), (1, &Task::Demand, false));
    assert_eq!(desk.added("docs", "https://docs.example").await, 2, "and not the seed");
    assert_eq!(desk.deliver("m2", &first).await, CommandResult::Before, "once per message");
    let CommandResult::Joined(row) =
        desk.deliver("m3", &demand("docs", &["https://docs.example/b", "https://docs.example/c"])).await
    else {
        panic!("it joined")
    };
    assert_eq!(row.number.number(), 1);
    assert_eq!(desk.added("docs", "https://docs.example").await, 3, "each URL once");
    let CommandResult::Joined(_) = desk.deliver("m4", &demand("new.example", &["https://new.example/x"])).await else {
        panic!("a crawl of its own")
    };
    assert_eq!(desk.row("new.example").await.unwrap().definition.seeds[0].as_str(), "https://new.example/x");
}

#[tokio::test]
async fn a_demand_joins_a_crawl_that_runs() {
    let desk = desk_with_docs().await;
    desk.deliver("m2", &start()).await;
    let CommandResult::Joined(row) = desk.deliver("m3", &demand("docs", &["https://docs.example/a"])).await else {
        panic!("it joined")
    };
    assert_eq!((row.number.number(), row.task), (1, Task::Crawl));
    assert_eq!(desk.added("docs", "https://docs.example").await, 2, "the seed and this one");
}

#[tokio::test]
async fn urls_out_of_scope_are_left_out_and_told_and_refused_where_none_is_left() {
    let desk = desk_with_docs().await;
    let out = ["https://docs.example/private/1", "https://else.example/"];
    let refused = desk.deliver("m2", &demand("docs", &out)).await;
    assert!(
        matches!(&refused, CommandResult::Refused(Refusal::NotInScope { url, .. }) if url == out[0]),
        "{refused:?}"
    );
    assert_eq!(desk.latest("docs").await, None, "nothing began");
    let CommandResult::Joined(_) =
        desk.deliver("m3", &demand("docs", &[out[0], "https://docs.example/a", out[1]])).await
    else {
        panic!("one is fine")
    };
    let told = desk.heard();
    assert!(matches!(&told[..], [Notice::UrlsRefused { urls: 2, .. }]), "{told:?}");
    assert_eq!(desk.added("docs", "https://docs.example").await, 1);
}

#[tokio::test]
async fn a_crawl_waits_until_an_iteration_of_another_kind_is_over() {
    for (other, why) in [(demand("docs", &["https://docs.example/a"]), "a demand"), (reparse(), "documents made again")]
    {
        let desk = desk_with_docs().await;
        desk.deliver("m2", &other).await;
        let running = desk.latest("docs").await.unwrap();
        assert_ne!(running.task, Task::Crawl);
        desk.messages();
        desk.sent().await;
        let waits = desk.deliver("m3", &start()).await;
        assert_eq!(waits, CommandResult::Started(IterationBegun::Busy(running)), "{why}");
        assert_eq!(desk.heard(), [], "{why}: nobody is told of a start that is only put off");
        desk.pass(60).await;
        let again = desk.sent().await.pop().expect("it is sent again");
        assert_eq!(again, StartCommand { crawl: name("docs"), trigger: TriggerId("m3".to_owned()) }, "{why}");
        desk.end("docs").await;
        let received = Command::Start { crawl: again.crawl, trigger: Some(again.trigger) };
        let CommandResult::Started(IterationBegun::Iteration(row)) = desk.deliver("m9", &received).await else {
            panic!("{why}")
        };
        assert_eq!((row.number.number(), row.task), (2, Task::Crawl), "{why}");
        assert_eq!(desk.deliver("m9", &received).await, CommandResult::Before, "{why}: once");
    }
}

#[tokio::test]
async fn nothing_is_added_where_documents_are_made_again() {
    let desk = desk_with_docs().await;
    let CommandResult::Started(IterationBegun::Iteration(row)) = desk.deliver("m2", &reparse()).await else {
        panic!("it began")
    };
    assert_eq!((row.task, row.open), (Task::Reparse(Selection::All), 0), "there is no document, so nothing is open");
    for (message, command) in
        [("m3", demand("docs", &["https://docs.example/a"])), ("m4", demand("docs", &["https://docs.example/b"]))]
    {
        assert_eq!(desk.deliver(message, &command).await, CommandResult::Refused(Refusal::Reparsing(name("docs"))));
    }
    let of_host = docs(|draft| draft.name = name("docs.example"));
    desk.deliver("m5", &Command::PutCrawl(of_host)).await;
    desk.deliver("m6", &Command::Reparse { crawl: name("docs.example"), selection: Selection::All }).await;
    let refused = desk.deliver("m7", &url("https://docs.example/a")).await;
    assert_eq!(refused, CommandResult::Refused(Refusal::Reparsing(name("docs.example"))));
}
