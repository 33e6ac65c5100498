//! Messages and notices as JSON, the form in which other programs receive them.

use std::time::Duration;

use aws_sdk_sqs::types::{Message as Received, QueueAttributeName};
use dragline_aws::{AwsClients, SnsNotifier};
use dragline_aws_tests::{Fresh, clients};
use dragline_domain::frontier::{LeftoverReason, OriginKey, SegmentId};
use dragline_domain::ids::{Iteration, TriggerId, Turn};
use dragline_ports::notifier::{Notice, Notifier};
use dragline_ports::queue::{Message, ParseMessage, Queue, StartCommand, Ticket};
use serde_json::{Value, json};

fn origin() -> OriginKey {
    OriginKey { crawl: "docs".parse().unwrap(), origin: "https://a.example".parse().unwrap() }
}

async fn receive(clients: &AwsClients, url: &str) -> Received {
    let request = clients.sqs.receive_message().queue_url(url).wait_time_seconds(20).message_attribute_names("All");
    let received = request.send().await.unwrap().messages.unwrap_or_default();
    received.into_iter().next().expect("a message within twenty seconds")
}

#[tokio::test]
async fn each_kind_of_message_comes_to_its_queue() {
    let fresh = Fresh::new(clients().await);
    let (queue, urls) = fresh.queue().await;
    let segment = SegmentId { origin: origin(), turn: Turn(7), n: 3 };
    let (iteration, trigger) = (Iteration::FIRST, TriggerId("t".into()));
    let origin_json = json!({ "crawl": "docs", "origin": "https://a.example" });
    for (message, url, expected) in [
        (
            Message::Ticket(Ticket { origin: origin(), iteration, turn: Turn(7) }),
            &urls.turns,
            json!({ "ticket": { "origin": origin_json, "iteration": 1, "turn": 7 } }),
        ),
        (
            Message::from_tickets(&[7, 8].map(|turn| Ticket { origin: origin(), iteration, turn: Turn(turn) })),
            &urls.turns,
            json!({ "tickets": [
                { "origin": origin_json, "iteration": 1, "turn": 7 },
                { "origin": origin_json, "iteration": 1, "turn": 8 },
            ] }),
        ),
        (
            Message::Parse(ParseMessage { segment, iteration }),
            &urls.segments,
            json!({ "parse": { "segment": { "origin": origin_json, "turn": 7, "n": 3 }, "iteration": 1 } }),
        ),
        (
            Message::Start(StartCommand { crawl: "docs".parse().unwrap(), trigger }),
            &urls.commands,
            json!({ "start": { "crawl": "docs", "trigger": "t" } }),
        ),
    ] {
        queue.send(message.clone(), Duration::ZERO).await.unwrap();
        let body = receive(fresh.clients(), url).await.body.unwrap();
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
        assert_eq!(serde_json::from_str::<Message>(&body).unwrap(), message, "it is read back as sent");
    }
}

#[tokio::test]
async fn a_delay_beyond_the_longest_is_cut_to_it() {
    let fresh = Fresh::new(clients().await);
    let (queue, urls) = fresh.queue().await;
    let ticket = Ticket { origin: origin(), iteration: Iteration::FIRST, turn: Turn(1) };
    queue.send(Message::Ticket(ticket), Duration::from_secs(86_400)).await.unwrap();
    let delayed = QueueAttributeName::ApproximateNumberOfMessagesDelayed;
    let request = fresh.clients().sqs.get_queue_attributes().queue_url(&urls.turns).attribute_names(delayed.clone());
    let attributes = request.send().await.unwrap().attributes.unwrap();
    assert_eq!(attributes[&delayed], "1", "it is accepted, and waits");
}

#[tokio::test]
async fn a_notice_comes_to_whoever_subscribes() {
    let fresh = Fresh::new(clients().await);
    let (_, urls) = fresh.queue().await;
    let clients = fresh.clients();
    let topic = clients.sns.create_topic().name(urls.turns.rsplit_once('/').unwrap().1).send().await.unwrap();
    let topic = topic.topic_arn.unwrap();
    let arn = QueueAttributeName::QueueArn;
    let request = clients.sqs.get_queue_attributes().queue_url(&urls.turns).attribute_names(arn.clone());
    let queue_arn = request.send().await.unwrap().attributes.unwrap().remove(&arn).unwrap();
    let subscribe = clients.sns.subscribe().topic_arn(&topic).protocol("sqs").endpoint(queue_arn);
    subscribe.attributes("RawMessageDelivery", "true").send().await.unwrap();
    let notice = Notice::OriginEnded { origin: origin(), reason: LeftoverReason::Stopped, count: 7 };
    SnsNotifier::new(clients, &topic).notify(notice, jiff::Timestamp::UNIX_EPOCH).await.unwrap();
    let received = receive(clients, &urls.turns).await;
    let body: Value = serde_json::from_str(&received.body.unwrap()).unwrap();
    assert_eq!((&body["kind"], &body["count"]), (&json!("origin_ended"), &json!(7)));
    let kind = received.message_attributes.unwrap().remove("kind").unwrap();
    assert_eq!(kind.string_value.as_deref(), Some("origin_ended"), "for filters");
}
