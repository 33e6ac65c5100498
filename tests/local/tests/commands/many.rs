//! A crawl of many origins: how their tickets are sent, and what a sweep does with them.

use std::time::Duration;

use dragline_domain::command::Command;
use dragline_domain::definition::Definition;
use dragline_domain::frontier::{
    Holder, Lease, LeaseState, ObjectKey, OriginKey, Release, Reserve, SegmentCommitted, SegmentId, SegmentRow,
    SegmentState, StatusChange, TakeRequest,
};
use dragline_domain::ids::{Iteration, LeaseToken, Turn};
use dragline_domain::time::after;
use dragline_domain::url::{CrawlUrl, UrlRules};
use dragline_pipeline::sweep::sweep;
use dragline_ports::clock::Clock;
use dragline_ports::frontier::{CommitSegment, Origins, ReleaseLease, Turns};
use dragline_ports::queue::{Message, ParseMessage};

use super::desk::{Desk, docs, name};

/// The definition of the crawl `docs`, with this many origins.
fn origins(count: usize) -> Box<Definition> {
    let seed = |n| CrawlUrl::parse(&format!("https://{n:04}.example/"), &UrlRules::default()).unwrap();
    docs(|draft| draft.seeds = (0..count).map(seed).collect())
}

/// How many tickets each message carries.
fn convoys(messages: &[Message]) -> Vec<usize> {
    let tickets = messages.iter().filter_map(|message| match message {
        Message::Ticket(_) => Some(1),
        Message::Tickets(tickets) => Some(tickets.len()),
        Message::Parse(_) | Message::Start(_) | Message::Prune(_) | Message::Publish(_) => None,
    });
    tickets.collect()
}

#[tokio::test]
async fn tickets_that_are_sent_at_once_travel_together() {
    let desk = Desk::new();
    desk.deliver("m1", &Command::Define(origins(45))).await;
    assert_eq!(convoys(&desk.messages()), [20, 20, 5], "of the seeds");
    desk.pass(3_600).await;
    sweep(&desk.world, &name("docs"), desk.world.clock.now()).await.unwrap();
    assert_eq!(convoys(&desk.messages()), [20, 20, 5], "of a sweep");
}

/// Takes the lease of an origin, commits a segment without pages, and releases the lease.
async fn crawl(desk: &Desk, origin: &OriginKey) -> SegmentId {
    let (frontier, now) = (&desk.world.frontier, desk.world.clock.now());
    let (token, until) = (LeaseToken::from_bits(1), after(now, Duration::from_secs(120)));
    let take = TakeRequest {
        turn: Turn(1),
        token,
        until,
        host_until: until,
        wanted: Reserve::default(),
        now,
        alive: Vec::new(),
        hosts_per_domain: 4,
    };
    let lease = frontier.take_lease(origin, Iteration::FIRST, &take).await.unwrap().unwrap();
    finish(desk, origin, lease, Reserve::default()).await
}

/// Commits a segment without pages, and releases the lease with this much budget unused.
pub(crate) async fn finish(desk: &Desk, origin: &OriginKey, lease: Lease, reserved: Reserve) -> SegmentId {
    let (frontier, now) = (&desk.world.frontier, desk.world.clock.now());
    let Some(Holder { token, until, .. }) = lease.holder().cloned() else { panic!("nobody holds it") };
    let id = SegmentId { origin: origin.clone(), turn: lease.turn, n: 0 };
    let segment = SegmentRow {
        object: ObjectKey::for_segment(&id, Iteration::FIRST, &token),
        id: id.clone(),
        iteration: Iteration::FIRST,
        token: token.clone(),
        state: SegmentState::Crawled { part: 0 },
        object_bytes: 1,
        entries: 1,
        committed_at: now,
        attempts: 0,
        put_off: 0,
        parsing: None,
        due: Some(after(now, Duration::from_secs(60))),
    };
    let holder = Holder { token: token.clone(), until, reserved };
    let lease = Lease { state: LeaseState::Leased(holder), segments: 1, taken: 1, ..lease };
    let commit = CommitSegment { segment, lease: lease.clone(), exhausted: Vec::new() };
    assert_eq!(frontier.commit_segment(&commit).await.unwrap(), SegmentCommitted::Done);
    let seen = frontier.load_origin(origin).await.unwrap().unwrap().inbox;
    let release = ReleaseLease { origin: origin.clone(), token, lease, seen, how: Release::Idle, free_from: now, now };
    assert_eq!(frontier.release(&release).await.unwrap(), Ok(()));
    id
}

#[tokio::test]
async fn the_leases_of_a_paused_crawl_do_not_hide_a_lost_parse() {
    let desk = Desk::new();
    desk.deliver("m1", &Command::Define(origins(1_002))).await;
    desk.pass(60).await;
    let origin = OriginKey { crawl: name("docs"), origin: "https://0000.example".parse().unwrap() };
    let segment = crawl(&desk, &origin).await;
    desk.deliver("m2", &Command::Change { crawl: name("docs"), change: StatusChange::Pause }).await;
    desk.pass(3_600).await;
    desk.messages();
    sweep(&desk.world, &name("docs"), desk.world.clock.now()).await.unwrap();
    let parse = Message::Parse(ParseMessage { segment, iteration: Iteration::FIRST });
    assert_eq!(desk.messages(), [parse], "no ticket, and the parse");
}
