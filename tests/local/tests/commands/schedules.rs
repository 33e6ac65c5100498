//! Schedules.

use std::collections::BTreeSet;

use dragline_domain::command::Command;
use dragline_domain::definition::Definition;
use dragline_domain::frontier::{IterationBegun, Selection, Switch, Task};
use dragline_domain::ids::TriggerId;
use dragline_pipeline::schedule::{CommandResult, Refusal, tick};
use dragline_ports::clock::Clock as _;
use dragline_ports::frontier::{Crawls as _, PutCrawl};
use dragline_ports::notifier::Notice;
use dragline_ports::queue::{Message, StartCommand};
use futures_util::{StreamExt as _, stream};

use super::desk::{Desk, docs, name, scheduled};

fn command(time: &str) -> StartCommand {
    StartCommand { crawl: name("docs"), trigger: TriggerId(format!("schedule-2026-11-18T{time}Z")) }
}

/// The command that the receiver reads from a tick's message.
fn received(start: &StartCommand) -> Command {
    Command::Start { crawl: start.crawl.clone(), trigger: Some(start.trigger.clone()) }
}

#[tokio::test]
async fn a_schedule_begins_an_iteration_at_its_time_and_once() {
    let desk = Desk::new();
    assert_eq!(desk.deliver("m1", &Command::PutCrawl(scheduled())).await, CommandResult::Stored(1));
    assert_eq!(tick(&desk.world).await.unwrap(), 0, "it is 11:06:40");
    desk.pass(200).await;
    assert_eq!(tick(&desk.world).await.unwrap(), 1, "it is 11:10:00");
    assert_eq!(tick(&desk.world).await.unwrap(), 0, "the schedule has moved on");
    assert_eq!(desk.sent().await, [command("11:10:00")]);
    for expected in ["began", "handled before"] {
        match desk.deliver("m2", &received(&command("11:10:00"))).await {
            CommandResult::Started(IterationBegun::Iteration(row)) => {
                assert_eq!((row.number.number(), expected), (1, "began"));
            }
            other => assert_eq!((other, expected), (CommandResult::Before, "handled before")),
        }
    }
    desk.end("docs").await;
    assert_eq!(
        desk.deliver("m3", &received(&command("11:10:00"))).await,
        CommandResult::Before,
        "even when that is closed"
    );
}

#[tokio::test]
async fn times_that_were_missed_count_as_one() {
    let desk = Desk::new();
    desk.deliver("m1", &Command::PutCrawl(scheduled())).await;
    desk.pass(3_600).await;
    tick(&desk.world).await.unwrap();
    assert_eq!(desk.sent().await, [command("11:10:00")]);
    let next = desk.row("docs").await.unwrap().switch.next();
    assert_eq!(next, Some("2026-11-18T12:10:00Z".parse().unwrap()), "the next time from now");
}

/// Each is put by its own writer, so they are put at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_schedules_of_one_minute_begin_in_one_tick() {
    const CRAWLS: usize = 10_000;
    let desk = Desk::new();
    let puts = (0..CRAWLS).map(|n| {
        let mut draft = scheduled().into_draft();
        draft.name = name(&format!("crawl{n}"));
        let definition = Definition::new(draft).unwrap();
        let next = definition.schedule.as_ref().unwrap().next_after(desk.world.clock.now());
        PutCrawl { definition, seen: None, next }
    });
    let puts: Vec<PutCrawl> = puts.collect();
    let mut stored = stream::iter(&puts).map(|put| desk.world.frontier.put_crawl(put)).buffer_unordered(500);
    while let Some(put) = stored.next().await {
        put.unwrap();
    }
    assert_eq!(tick(&desk.world).await.unwrap(), 0, "none is due yet");
    desk.pass(200).await;
    assert_eq!(tick(&desk.world).await.unwrap(), CRAWLS);
    assert_eq!(tick(&desk.world).await.unwrap(), 0, "all have moved on");
    let begun = |message| match message {
        Message::Start(start) => start.crawl,
        other => panic!("a start: {other:?}"),
    };
    let crawls: BTreeSet<_> = desk.messages().into_iter().map(begun).collect();
    assert_eq!(crawls.len(), CRAWLS, "each once");
}

#[tokio::test]
async fn a_time_that_comes_while_an_iteration_runs_is_skipped_and_told() {
    let desk = Desk::new();
    desk.deliver("m1", &Command::Define(scheduled())).await;
    let running = desk.latest("docs").await.unwrap();
    let late = received(&command("11:10:00"));
    assert_eq!(desk.deliver("m2", &late).await, CommandResult::Started(IterationBegun::Busy(running.clone())));
    assert_eq!(desk.heard(), [Notice::StartSkipped { trigger: command("11:10:00").trigger, running }]);
    desk.end("docs").await;
    assert_eq!(desk.deliver("m2", &late).await, CommandResult::Before, "skipped once is skipped for good");
}

/// A machine's queue is lost with its process, so its schedule is what remembers the time.
#[tokio::test]
async fn a_time_that_comes_while_documents_are_remade_waits_for_their_end() {
    let desk = Desk::new();
    desk.deliver("m1", &Command::Define(scheduled())).await;
    desk.end("docs").await;
    desk.deliver("m2", &Command::Reparse { crawl: name("docs"), selection: Selection::All }).await;
    desk.pass(200).await;
    let due = Some("2026-11-18T11:10:00Z".parse().unwrap());
    assert_eq!(desk.begin_due().await, 0, "documents are being remade");
    assert_eq!(desk.row("docs").await.unwrap().switch, Switch::On { next: due }, "it stays due");
    desk.end("docs").await;
    assert_eq!(desk.begin_due().await, 1);
    let latest = desk.latest("docs").await.unwrap();
    assert_eq!((latest.number.number(), latest.task), (3, Task::Crawl));
    assert!(desk.row("docs").await.unwrap().switch.next() > due, "the schedule has moved on");
    assert_eq!(desk.begin_due().await, 0, "and begins nothing twice");
}

#[tokio::test]
async fn a_crawl_that_was_removed_begins_nothing() {
    let desk = Desk::new();
    desk.deliver("m1", &Command::PutCrawl(scheduled())).await;
    assert_eq!(desk.deliver("m2", &Command::Remove(name("docs"))).await, CommandResult::Removed);
    desk.pass(3_600).await;
    assert_eq!(tick(&desk.world).await.unwrap(), 0);
    let refused = CommandResult::Refused(Refusal::SwitchedOff(name("docs")));
    assert_eq!(desk.deliver("m3", &received(&command("11:10:00"))).await, refused, "sent before it was removed");
}

#[tokio::test]
async fn a_new_definition_has_a_new_next_time() {
    let desk = Desk::new();
    desk.deliver("m1", &Command::PutCrawl(scheduled())).await;
    desk.deliver("m2", &Command::PutCrawl(docs(|_| {}))).await;
    assert_eq!(desk.row("docs").await.unwrap().switch, Switch::On { next: None }, "it no longer has a schedule");
    desk.deliver("m3", &Command::Remove(name("docs"))).await;
    desk.deliver("m4", &Command::PutCrawl(scheduled())).await;
    let next = Some("2026-11-18T11:10:00Z".parse().unwrap());
    assert_eq!(desk.row("docs").await.unwrap().switch, Switch::On { next }, "and is switched on again");
}
