//! The suites of the ports, over fresh tables, buckets and queues each.

use std::time::Duration;

use dragline_aws::{AwsClients, DynamoFrontier, DynamoReader, QueueUrls};
use dragline_aws_conformance::{Fresh, clients};
use dragline_domain::frontier::SegmentId;
use dragline_domain::outcome::Outcome;
use dragline_domain::url::CrawlUrl;
use dragline_ports::frontier::Parses;
use dragline_ports::queue::Message;
use dragline_testkit::conformance::log::LogReader;
use dragline_testkit::conformance::queue::Receiver;
use dragline_testkit::conformance::reader::crawl;

async fn fresh() -> Fresh {
    Fresh::new(clients().await)
}

mod frontier {
    use super::*;

    dragline_testkit::frontier_suite!(async { (fresh().await.frontier().await, ()) });
}

mod log {
    use super::*;

    dragline_testkit::log_suite!(async {
        let frontier = fresh().await.frontier().await;
        ((frontier.clone(), Log(frontier)), ())
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

    dragline_testkit::reader_suite!(async {
        let fresh = fresh().await;
        let (frontier, documents) = (fresh.frontier().await, fresh.documents());
        let reader = DynamoReader::new(frontier.clone(), documents.clone(), crawl());
        ((frontier, documents, reader), ())
    });
}

mod archive {
    use super::*;

    dragline_testkit::archive_suite!(async { (fresh().await.archive().await, ()) });
}

mod queue {
    use super::*;

    // Nobody moves the clock of SQS by the quarter of an hour that the suite's last behaviour lets pass: `messages.rs` tests that the
    // longest delay is asked for.
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

/// Reads the log as people do.
struct Log(DynamoFrontier);

impl LogReader for Log {
    async fn entries(&self, segment: &SegmentId) -> Vec<(CrawlUrl, Outcome)> {
        let segment = self.0.load_segment(segment).await.unwrap().unwrap();
        let log = self.0.load_log(&segment).await.unwrap();
        log.into_iter().flat_map(|log| log.entries).map(|entry| (entry.url, entry.visit.outcome)).collect()
    }
}

/// The other end of the queues.
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
        for url in [&self.urls.turns, &self.urls.segments, &self.urls.commands] {
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
