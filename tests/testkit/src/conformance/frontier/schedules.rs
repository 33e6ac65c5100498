//! Schedules, the switch of a crawl, and handled triggers.

use dragline_domain::frontier::{CrawlPut, IterationBegun, Switch};
use dragline_domain::ids::CrawlId;
use dragline_ports::frontier::{Frontier, MoveSchedule, PutCrawl};
use jiff::Timestamp;

use super::super::samples::{at, crawl, trigger};
use super::super::world::{UNLIMITED, World, request_to_begin};
use super::crawls::defined;

/// Puts a crawl over the version that was seen, with its next iteration at this second. Returns its
/// name.
async fn scheduled(frontier: &impl Frontier, seen: Option<u32>, second: i64) -> CrawlId {
    let put = PutCrawl { definition: defined("/"), seen, next: Some(at(second)) };
    assert_eq!(frontier.put_crawl(&put).await.unwrap(), CrawlPut::Stored(seen.unwrap_or(0) + 1));
    put.definition.name.clone()
}

async fn switch(frontier: &impl Frontier, crawl: &CrawlId) -> Switch {
    frontier.load_crawl(crawl).await.unwrap().expect("it was put").switch
}

async fn due(frontier: &impl Frontier, second: i64) -> Vec<CrawlId> {
    frontier.due_crawls(at(second), 10).await.unwrap()
}

async fn pass_on(frontier: &impl Frontier, crawl: &CrawlId, seen: i64, next: Option<Timestamp>) {
    frontier.move_schedule(&MoveSchedule { crawl: crawl.clone(), seen: at(seen), next }).await.unwrap();
}

/// A crawl is due from its schedule's time on, until the schedule is advanced.
pub async fn a_schedule_comes_due_until_it_is_passed_on(frontier: &impl Frontier) {
    let name = scheduled(frontier, None, 60).await;
    assert_eq!(switch(frontier, &name).await, Switch::On { next: Some(at(60)) });
    assert_eq!(due(frontier, 59).await, [], "too early");
    assert_eq!(due(frontier, 60).await, std::slice::from_ref(&name), "just now");
    pass_on(frontier, &name, 60, Some(at(120))).await;
    assert_eq!(due(frontier, 119).await, [], "the next time");
    assert_eq!(due(frontier, 120).await, std::slice::from_ref(&name));
    pass_on(frontier, &name, 120, None).await;
    assert_eq!(due(frontier, 1_000).await, [], "it was the last time");
    assert_eq!(switch(frontier, &name).await, Switch::On { next: None });
}

/// A schedule is advanced only from the time that was seen: another definition may have set another
/// time.
pub async fn a_schedule_that_was_moved_is_left_alone(frontier: &impl Frontier) {
    let name = scheduled(frontier, None, 60).await;
    scheduled(frontier, Some(1), 300).await;
    pass_on(frontier, &name, 60, Some(at(120))).await;
    assert_eq!(switch(frontier, &name).await, Switch::On { next: Some(at(300)) });
    pass_on(frontier, &"nobody".parse().unwrap(), 60, Some(at(120))).await;
    assert_eq!(frontier.load_crawl(&"nobody".parse().unwrap()).await.unwrap(), None, "there is no such crawl");
}

/// A crawl that is switched off is not due, and stays off until a definition is put again.
pub async fn a_crawl_that_is_switched_off_is_not_due(frontier: &impl Frontier) {
    let name = scheduled(frontier, None, 60).await;
    for _ in 0..2 {
        frontier.switch_off(&name).await.unwrap();
        assert_eq!((switch(frontier, &name).await, due(frontier, 60).await), (Switch::Off, Vec::new()));
    }
    pass_on(frontier, &name, 60, Some(at(120))).await;
    assert_eq!(switch(frontier, &name).await, Switch::Off, "having seen it on does not switch it on");
    scheduled(frontier, Some(1), 60).await;
    assert_eq!(due(frontier, 60).await, [name]);
    frontier.switch_off(&"nobody".parse().unwrap()).await.unwrap();
    assert_eq!(frontier.load_crawl(&"nobody".parse().unwrap()).await.unwrap(), None, "there is no such crawl");
}

/// A crawl runs from the beginning of its iteration until that is closed.
pub async fn a_crawl_runs_until_its_iteration_closes(frontier: &impl Frontier) {
    assert_eq!(frontier.running_crawls(10).await.unwrap(), [], "none has begun");
    let world = World::begin(frontier, UNLIMITED).await;
    assert_eq!(frontier.running_crawls(10).await.unwrap(), [crawl()]);
    world.end(&[]).await;
    assert_eq!(frontier.running_crawls(10).await.unwrap(), [], "it is closed");
}

/// A trigger counts as handled once it is marked so; having begun an iteration is not enough, and
/// is not forgotten either.
pub async fn what_was_handled_is_known(frontier: &impl Frontier) {
    let handled = |name| async move { frontier.was_handled(&crawl(), &trigger(name)).await.unwrap() };
    assert!(!handled("t").await, "it never came");
    let world = World::begin(frontier, UNLIMITED).await;
    assert!(!handled("t").await, "it began an iteration, and may owe seeds");
    for name in ["t", "u", "u"] {
        frontier.mark_handled(&crawl(), &trigger(name), at(1)).await.unwrap();
        assert!(handled(name).await, "{name}");
    }
    assert!(!handled("v").await, "another's");
    let again = frontier.begin_iteration(&request_to_begin("t", UNLIMITED)).await.unwrap();
    assert_eq!(again, IterationBegun::Iteration(world.row().await), "it still has its iteration");
}
