//! Walks through origins that take several calls, as the time of each is limited.

use std::collections::BTreeMap;
use std::time::Duration;

use dragline_domain::command::Command;
use dragline_domain::definition::{Definition, Within};
use dragline_domain::frontier::{
    Holder, IterationBegun, IterationStatus, Lease, LeftoverReason, OriginCursor, OriginKey, Release, Reserve,
    StatusChange, TakeRefused, TakeRequest, Walk,
};
use dragline_domain::ids::{Iteration, LeaseToken, Turn};
use dragline_domain::time::after;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_pipeline::schedule::CommandResult;
use dragline_pipeline::sweep::{SweepResult, sweep};
use dragline_ports::clock::Clock;
use dragline_ports::frontier::{Iterations, Origins, ReleaseLease, Turns};
use dragline_ports::notifier::Notice;
use dragline_ports::queue::{Message, StartCommand};

use super::desk::{Desk, docs, name};
use super::many::finish;

const ORIGINS: usize = 300;

/// How many origins a call has time for.
const AT_ONCE: u32 = 40;

/// More calls than any walk here takes.
const CALLS_MAX: usize = 100;

fn host(number: usize) -> String {
    format!("https://h{number:04}.docs.example/")
}

fn origin(number: usize) -> OriginKey {
    let url = host(number);
    OriginKey { crawl: name("docs"), origin: url.trim_end_matches('/').parse().unwrap() }
}

/// The definition of the crawl `docs`, with this many origins of one domain.
fn seeds(count: usize, pages: Option<u64>) -> Box<Definition> {
    let seed = |number| CrawlUrl::parse(&host(number), &UrlRules::default()).unwrap();
    docs(|draft| {
        draft.scope.within = Within::Domain;
        draft.seeds = (0..count).map(seed).collect();
        draft.budget.pages = pages;
    })
}

fn tickets(messages: &[Message]) -> usize {
    let tickets = messages.iter().map(|message| match message {
        Message::Ticket(_) => 1,
        Message::Tickets(tickets) => tickets.len(),
        Message::Parse(_) | Message::Start(_) | Message::Prune(_) | Message::Publish(_) => 0,
    });
    tickets.sum()
}

/// Defines the crawl, and delivers start commands until no more are sent. Returns how many calls
/// that takes.
async fn begin(desk: &Desk, message: &str, definition: Box<Definition>) -> usize {
    let mut handled = desk.deliver(message, &Command::Define(definition)).await;
    for call in 1..CALLS_MAX {
        match (desk.sent().await.as_slice(), &handled) {
            ([], CommandResult::Started(IterationBegun::Iteration(row))) if !row.token_out => return call,
            ([again], CommandResult::Started(IterationBegun::Iteration(row))) if row.token_out => {
                let StartCommand { crawl, trigger } = again.clone();
                // The queue gives it another id.
                handled = desk.deliver("again", &Command::Start { crawl, trigger: Some(trigger) }).await;
            }
            (sent, handled) => panic!("{sent:?} after {handled:?}"),
        }
    }
    panic!("it does not end");
}

/// Sweeps until the iteration is closed. Returns how many sweeps that takes.
async fn sweep_until_closed(desk: &Desk) -> usize {
    for call in 1..CALLS_MAX {
        if let SweepResult::Closed(_) = sweep(&desk.world, &name("docs"), desk.world.clock.now()).await.unwrap() {
            return call;
        }
    }
    panic!("it does not close");
}

async fn sweep_once(desk: &Desk) {
    sweep(&desk.world, &name("docs"), desk.world.clock.now()).await.unwrap();
}

async fn cursor(desk: &Desk, walk: Walk) -> OriginCursor {
    desk.latest("docs").await.unwrap().cursors.get(walk).clone()
}

#[tokio::test]
async fn a_start_goes_on_where_it_was_out_of_time() {
    let desk = Desk::hurried(AT_ONCE);
    let calls = begin(&desk, "m1", seeds(ORIGINS, None)).await;
    assert!(calls >= ORIGINS / AT_ONCE as usize, "{calls} calls");
    let [claims, seeded] = desk.world.frontier.before.calls(["claim", "seed_origin"]);
    assert_eq!((claims, seeded), (ORIGINS, ORIGINS), "each origin once");
    assert_eq!(desk.world.frontier.before.most_at_once(), 16, "most of a call is waiting for its answer");
    assert_eq!(tickets(&desk.messages()), ORIGINS, "one for each origin");
    let row = desk.latest("docs").await.unwrap();
    assert_eq!((row.open, row.token_out), (ORIGINS as u64, false));
    let mark = Command::Start { crawl: name("docs"), trigger: Some(row.trigger) };
    assert_eq!(desk.deliver("late", &mark).await, CommandResult::Before, "the last call has marked it as handled");
}

#[tokio::test]
async fn a_stopped_crawl_is_given_up_in_parts() {
    let desk = Desk::hurried(AT_ONCE);
    begin(&desk, "m1", seeds(ORIGINS, None)).await;
    desk.deliver("m2", &Command::Change { crawl: name("docs"), change: StatusChange::Stop }).await;
    desk.world.frontier.before.calls([]);
    desk.world.frontier.before.most_at_once();
    let sweeps = sweep_until_closed(&desk).await;
    assert!(sweeps >= ORIGINS / AT_ONCE as usize, "{sweeps} sweeps");
    let [loads, given_up] = desk.world.frontier.before.calls(["load_origin", "give_up"]);
    assert_eq!((loads, given_up), (ORIGINS, ORIGINS), "each origin once");
    assert_eq!(desk.world.frontier.before.most_at_once(), 16, "most of a call is waiting for its answer");
    let heard = desk.heard();
    let ended = heard.iter().filter(|notice| matches!(notice, Notice::OriginEnded { .. })).count();
    assert_eq!(ended, 1, "they all end alike");
    let closed = heard.iter().find_map(|notice| match notice {
        Notice::IterationClosed(closed) => Some(&closed.leftovers),
        _ => None,
    });
    assert_eq!(closed, Some(&BTreeMap::from([(LeftoverReason::Stopped, ORIGINS as u64)])), "all are counted");
}

#[tokio::test]
async fn known_origins_are_opened_in_parts() {
    let desk = Desk::hurried(AT_ONCE);
    begin(&desk, "m1", seeds(ORIGINS, None)).await;
    desk.deliver("m2", &Command::Change { crawl: name("docs"), change: StatusChange::Stop }).await;
    sweep_until_closed(&desk).await;
    desk.world.frontier.before.calls([]);
    desk.world.frontier.before.most_at_once();
    desk.messages();
    let calls = begin(&desk, "m3", seeds(1, None)).await;
    assert!(calls >= ORIGINS / AT_ONCE as usize, "{calls} calls");
    let [claims, looked, opened] = desk.world.frontier.before.calls(["claim", "due_candidates", "seed_origin"]);
    assert_eq!(
        (claims, looked, opened),
        (1, 2 * (ORIGINS - 1), ORIGINS),
        "the seed, and each of the others, in two pages"
    );
    assert_eq!(desk.world.frontier.before.most_at_once(), 16, "most of a call is waiting for its answer");
    assert_eq!(tickets(&desk.messages()), ORIGINS, "one for each origin");
}

/// Takes the lease of an origin with one page of the budget.
async fn take(desk: &Desk, number: usize) -> Result<Lease, TakeRefused> {
    let now = desk.world.clock.now();
    let take = TakeRequest {
        turn: Turn(1),
        token: LeaseToken::from_bits(number as u128),
        until: after(now, Duration::from_secs(120)),
        host_until: after(now, Duration::from_secs(240)),
        wanted: Reserve { pages: Some(1), bytes: None },
        now,
        alive: Vec::new(),
        hosts_per_domain: 4,
    };
    desk.world.frontier.take_lease(&origin(number), Iteration::FIRST, &take).await.unwrap()
}

/// Releases it again, with the unused page.
async fn give_back(desk: &Desk, number: usize, lease: Lease) {
    let (origin, now) = (origin(number), desk.world.clock.now());
    let Some(Holder { token, .. }) = lease.holder().cloned() else { panic!("nobody holds it") };
    let seen = desk.world.frontier.load_origin(&origin).await.unwrap().unwrap().inbox;
    let how = Release::Wake { not_before: now };
    let release = ReleaseLease { origin, token, lease, seen, how, free_from: now, now };
    assert_eq!(desk.world.frontier.release(&release).await.unwrap(), Ok(()));
}

#[tokio::test]
async fn a_search_for_holders_waits_where_it_meets_one() {
    let desk = Desk::hurried(AT_ONCE);
    begin(&desk, "m1", seeds(ORIGINS, Some(2))).await;
    let (first, second) = (take(&desk, 100).await.unwrap(), take(&desk, 200).await.unwrap());
    assert_eq!(take(&desk, 5).await.unwrap_err(), TakeRefused::NoBudget, "the budget is spent");
    desk.world.frontier.before.calls([]);
    for _ in 0..10 {
        sweep_once(&desk).await;
    }
    let [loads, given_up] = desk.world.frontier.before.calls(["load_origin", "give_up"]);
    assert!((100..=110).contains(&loads), "{loads}: each up to the holder once, and the holder at each sweep");
    assert_eq!(given_up, 0, "what it does not use is returned");
    assert_eq!(cursor(&desk, Walk::Holders).await, OriginCursor::After(origin(99).origin));

    let nothing = Reserve { pages: Some(0), bytes: None };
    finish(&desk, &origin(100), first, nothing).await;
    desk.world.frontier.before.calls([]);
    for _ in 0..10 {
        sweep_once(&desk).await;
    }
    let [loads] = desk.world.frontier.before.calls(["load_origin"]);
    assert!((100..=110).contains(&loads), "{loads}: from there to the next holder");

    give_back(&desk, 200, second).await;
    let third = take(&desk, 5).await.unwrap();
    assert_eq!(cursor(&desk, Walk::Holders).await, OriginCursor::NotBegun, "a page was returned, and taken again");
    sweep_once(&desk).await;
    assert_eq!(cursor(&desk, Walk::Holders).await, OriginCursor::After(origin(4).origin));
    finish(&desk, &origin(5), third, nothing).await;

    desk.world.frontier.before.calls([]);
    let mut sweeps = 0;
    while desk.latest("docs").await.unwrap().open > 2 {
        sweep_once(&desk).await;
        sweeps += 1;
        assert!(sweeps < CALLS_MAX, "it does not end");
    }
    let [loads, given_up] = desk.world.frontier.before.calls(["load_origin", "give_up"]);
    assert_eq!(loads, (ORIGINS - 5) + ORIGINS, "the rest is searched, then each is looked at");
    assert_eq!(given_up, ORIGINS - 2, "except those with an unparsed segment");
    let left = desk.world.frontier.progress(&name("docs"), Iteration::FIRST).await.unwrap().leftovers;
    assert_eq!(left, [(LeftoverReason::BudgetExhausted, given_up as u64)]);
}

#[tokio::test]
async fn an_origin_that_cannot_be_given_up_is_met_again() {
    let desk = Desk::hurried(AT_ONCE);
    begin(&desk, "m1", seeds(ORIGINS, Some(ORIGINS as u64))).await;
    let lease = take(&desk, 3).await.unwrap();
    desk.deliver("m2", &Command::Change { crawl: name("docs"), change: StatusChange::Stop }).await;
    desk.world.frontier.before.calls([]);
    let mut sweeps = 0;
    while desk.latest("docs").await.unwrap().open > 1 {
        sweep_once(&desk).await;
        sweeps += 1;
        assert!(sweeps < CALLS_MAX, "it does not end");
    }
    assert!(cursor(&desk, Walk::Leftovers).await != OriginCursor::Done, "a further round may begin");
    let [given_up] = desk.world.frontier.before.calls(["give_up"]);
    assert_eq!(given_up, ORIGINS, "its holder was asked for once in this round");
    give_back(&desk, 3, lease).await;
    sweep_until_closed(&desk).await;
    assert_eq!(desk.latest("docs").await.unwrap().status, IterationStatus::Closed);
}
