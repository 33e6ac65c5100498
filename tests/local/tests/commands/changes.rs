//! Commands that change definitions and running iterations.

use dragline_domain::command::Command;
use dragline_domain::frontier::{IterationBegun, IterationStatus, StatusChange};
use dragline_pipeline::schedule::{CommandResult, Refusal};
use dragline_ports::frontier::Iterations;

use super::desk::{Desk, defaults, docs, name, scheduled, start};

fn change(change: StatusChange) -> Command {
    Command::Change { crawl: name("docs"), change }
}

#[tokio::test]
async fn a_definition_is_stored_and_begun() {
    let desk = Desk::new();
    let CommandResult::Started(IterationBegun::Iteration(row)) =
        desk.deliver("m1", &Command::Define(docs(|_| {}))).await
    else {
        panic!("nothing ran");
    };
    assert_eq!((row.number.number(), desk.added("docs", "https://docs.example").await), (1, 1));
    let held = desk.row("docs").await.unwrap().definition;
    assert_eq!(held.user_agent, defaults().user_agent, "the definition has none of its own");
    assert_eq!(held.ignore_robots, defaults().ignore_robots, "only who deploys can say so");
    let named = docs(|draft| draft.user_agent = "Mine/1".parse().unwrap());
    assert_eq!(desk.deliver("m2", &Command::PutCrawl(named)).await, CommandResult::Stored(2));
    let held = desk.row("docs").await.unwrap().definition;
    assert_eq!(held.user_agent.as_str(), "Mine/1");
    assert_eq!(held.ignore_robots, defaults().ignore_robots, "whatever else it has");
}

#[tokio::test]
async fn what_is_not_there_is_refused() {
    let desk = Desk::new();
    let nobody = || CommandResult::Refused(Refusal::NoSuchCrawl(name("docs")));
    assert_eq!(desk.deliver("m1", &start()).await, nobody());
    assert_eq!(desk.deliver("m2", &Command::Remove(name("docs"))).await, nobody());
    let idle = CommandResult::Refused(Refusal::NotRunning(name("docs")));
    assert_eq!(desk.deliver("m3", &change(StatusChange::Pause)).await, idle, "no crawl");
    desk.deliver("m4", &Command::PutCrawl(docs(|_| {}))).await;
    assert_eq!(desk.deliver("m5", &change(StatusChange::Stop)).await, idle, "no iteration");
}

#[tokio::test]
async fn what_runs_is_paused_resumed_and_stopped() {
    let desk = Desk::new();
    desk.deliver("m1", &Command::Define(docs(|_| {}))).await;
    for (message, requested, expected) in [
        ("m2", StatusChange::Pause, Ok(IterationStatus::Paused)),
        ("m3", StatusChange::Pause, Err(IterationStatus::Paused)),
        ("m4", StatusChange::Resume, Ok(IterationStatus::Open)),
        ("m5", StatusChange::Stop, Ok(IterationStatus::Stopping)),
        ("m6", StatusChange::Resume, Err(IterationStatus::Stopping)),
    ] {
        match (desk.deliver(message, &change(requested)).await, expected) {
            (CommandResult::Changed(row), Ok(status)) => assert_eq!(row.status, status, "{message}"),
            (CommandResult::Refused(refusal), Err(status)) => {
                assert_eq!(
                    refusal,
                    Refusal::DoesNotFit { crawl: name("docs"), status, change: requested },
                    "{message}"
                );
            }
            (handled, _) => panic!("{message}: {handled:?}"),
        }
    }
}

#[tokio::test]
async fn a_stop_that_comes_again_does_not_stop_the_next_iteration() {
    let desk = Desk::new();
    desk.deliver("m1", &Command::Define(docs(|_| {}))).await;
    desk.deliver("m2", &change(StatusChange::Stop)).await;
    desk.end("docs").await;
    desk.deliver("m3", &start()).await;
    assert_eq!(desk.deliver("m2", &change(StatusChange::Stop)).await, CommandResult::Before);
    assert_eq!(desk.latest("docs").await.unwrap().status, IterationStatus::Open);
}

#[tokio::test]
async fn removing_a_crawl_stops_what_runs() {
    let desk = Desk::new();
    desk.deliver("m1", &Command::Define(scheduled())).await;
    assert_eq!(desk.deliver("m2", &Command::Remove(name("docs"))).await, CommandResult::Removed);
    assert_eq!(desk.latest("docs").await.unwrap().status, IterationStatus::Stopping);
    desk.end("docs").await;
    assert_eq!(desk.deliver("m3", &start()).await, CommandResult::Refused(Refusal::SwitchedOff(name("docs"))));
}

#[tokio::test]
async fn an_iteration_that_owes_seeds_goes_on_though_its_crawl_was_removed() {
    let desk = Desk::new();
    desk.deliver("m1", &Command::PutCrawl(docs(|_| {}))).await;
    let begun = desk.begin_and_die("docs", "m2").await;
    assert!(begun.token_out, "it died before the seeds were in");
    desk.deliver("m3", &Command::Remove(name("docs"))).await;
    let again = Command::Start { crawl: name("docs"), trigger: Some(begun.trigger) };
    let handled = desk.deliver("m4", &again).await;
    assert!(matches!(handled, CommandResult::Started(IterationBegun::Iteration(_))), "{handled:?}");
    let row = desk.world.frontier.latest_iteration(&name("docs")).await.unwrap().unwrap();
    assert!(!row.token_out, "otherwise it could never close");
}
