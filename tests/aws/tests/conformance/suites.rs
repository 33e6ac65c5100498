//! The suites of the ports, over fresh tables, buckets and queues each.

use std::time::Duration;

use dragline_aws::{AwsClients, DynamoFrontier, DynamoReader, DynamoRemaking, DynamoRetained, QueueUrls, S3Documents};
use dragline_aws_tests::{Fresh, clients};
use dragline_ports::queue::Message;
use dragline_testkit::conformance::queue::Receiver;
use dragline_testkit::conformance::reader::crawl;

async fn fresh() -> Fresh {
    Fresh::new(clients().await)
}

/// A frontier and documents, and a reader of the suites' crawl over them.
async fn fresh_with_reader() -> (DynamoFrontier, S3Documents, DynamoReader) {
    let fresh = fresh().await;
    let (frontier, documents) = (fresh.frontier().await, fresh.documents());
    let reader = DynamoReader::new(frontier.clone(), documents.clone(), crawl());
    (frontier, documents, reader)
}

mod frontier {
    use super::*;

    dragline_testkit::frontier_suite!(async { (fresh().await.frontier().await, ()) });
}

mod log {
    use super::*;

    dragline_testkit::log_suite!(async {
        let (frontier, _, reader) = fresh_with_reader().await;
        ((frontier, reader), ())
    });
}

mod documents {
    use super::*;

    dragline_testkit::documents_suite!(async {
        let fresh = fresh().await;
        ((fresh.frontier().await, fresh.documents()), ())
    });
}

mod reader {
    use super::*;

    dragline_testkit::reader_suite!(async { (fresh_with_reader().await, ()) });
}

mod retention {
    use super::*;

    dragline_testkit::retention_suite!(async {
        let (frontier, documents, reader) = fresh_with_reader().await;
        let retained = DynamoRetained::new(frontier.clone(), documents.clone());
        ((frontier, documents, reader, retained), ())
    });
}

mod remaking {
    use super::*;

    dragline_testkit::remaking_suite!(async {
        let (frontier, documents, reader) = fresh_with_reader().await;
        let remaking = DynamoRemaking::new(frontier.clone(), documents.clone());
        let retained = DynamoRetained::new(frontier.clone(), documents.clone());
        ((frontier, documents, reader, remaking, retained), ())
    });
}

mod archive {
    use super::*;

    dragline_testkit::archive_suite!(async { (fresh().await.archive().await, ()) });
}

mod queue {
    use super::*;

    // Nothing can move the clock of SQS by the quarter of an hour that the suite's last behaviour
    // takes: `messages.rs` tests that the longest delay is requested.
    dragline_testkit::behaviours! { queue, async {
        let fresh = fresh().await;
        let (queue, urls) = fresh.queue().await;
        ((queue, Mailboxes { clients: fresh.clients().clone(), urls }), ())
    };
        every_kind_of_message_comes_as_it_was_sent
        many_messages_all_come
        a_delayed_message_comes_when_it_is_due
    }
}

/// The receiving end of the queues.
struct Mailboxes {
    clients: AwsClients,
    urls: QueueUrls,
}

impl Receiver for Mailboxes {
    async fn pass(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    async fn receive(&self) -> Vec<Message> {
        let mut messages = Vec::new();
        for url in [&self.urls.turns, &self.urls.segments, &self.urls.commands, &self.urls.publications] {
            loop {
                let request = self.clients.sqs.receive_message().queue_url(url).max_number_of_messages(10);
                let received = request.send().await.unwrap().messages.unwrap_or_default();
                if received.is_empty() {
                    break;
                }
                let bodies = received.iter().map(|message| message.body.as_deref().unwrap());
                messages.extend(bodies.map(|body| serde_json::from_str::<Message>(body).unwrap()));
            }
        }
        messages
    }
}
