use dragline_domain::ids::TriggerId;
use dragline_testkit::clock::HandClock;

use super::*;

fn command(number: usize) -> Message {
    Message::Start(StartCommand { crawl: "c".parse().unwrap(), trigger: TriggerId(number.to_string()) })
}

async fn send(queue: &MemoryQueue<HandClock>, number: usize, delay_s: u64) {
    queue.send(command(number), Duration::from_secs(delay_s)).await.unwrap();
}

async fn receive(queue: &MemoryQueue<HandClock>) -> String {
    queue.commands().receive().await.trigger.0
}

#[tokio::test]
async fn messages_arrive_in_order_when_they_are_due() {
    let clock = HandClock::default();
    let queue = MemoryQueue::new(&clock, 10);
    for (number, delay_s) in [(1, 60), (2, 0), (3, 30), (4, 0), (5, 30)] {
        send(&queue, number, delay_s).await;
    }
    assert_eq!(queue.pending(), 5, "those that wait count");
    assert_eq!([receive(&queue).await, receive(&queue).await], ["2", "4"], "in the order in which they were sent");
    let late = tokio::spawn({
        let queue = queue.clone();
        async move { [receive(&queue).await, receive(&queue).await, receive(&queue).await] }
    });
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert_eq!(queue.pending(), 3, "nothing is due yet");
    clock.pass(Duration::from_secs(60));
    assert_eq!(late.await.unwrap(), ["3", "5", "1"], "by the time at which they are due");
}

#[tokio::test]
async fn a_message_beyond_the_bound_is_dropped_and_counted() {
    let queue = MemoryQueue::new(&HandClock::default(), 2);
    send(&queue, 1, 0).await;
    send(&queue, 2, 60).await;
    send(&queue, 3, 0).await;
    assert_eq!((queue.pending(), queue.dropped()), (2, 1), "one that waits takes room as well");
    assert_eq!(receive(&queue).await, "1");
    send(&queue, 4, 0).await;
    assert_eq!(receive(&queue).await, "4", "there is room again");
}

#[tokio::test]
async fn each_kind_has_its_own_queue() {
    let queue = MemoryQueue::new(&HandClock::default(), 10);
    send(&queue, 1, 0).await;
    assert_eq!((queue.tickets().pending(), queue.parses().pending(), queue.commands().pending()), (0, 0, 1));
}

#[tokio::test]
async fn a_worker_that_waits_learns_of_an_earlier_message_that_another_was_woken_for() {
    let clock = HandClock::default();
    let queue = MemoryQueue::new(&clock, 10);
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let queue = queue.clone();
            tokio::spawn(async move { receive(&queue).await })
        })
        .collect();
    tokio::task::yield_now().await;
    send(&queue, 1, 30).await;
    send(&queue, 2, 0).await;
    tokio::task::yield_now().await;
    clock.pass(Duration::from_secs(30));
    let mut got = Vec::new();
    for worker in workers {
        got.push(worker.await.unwrap());
    }
    got.sort();
    assert_eq!(got, ["1", "2"]);
}
