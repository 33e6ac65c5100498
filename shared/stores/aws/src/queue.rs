//! The [`Queue`] over SQS: four queues of JSON messages.

use std::time::Duration;

use dragline_ports::error::PortResult;
use dragline_ports::queue::{DELAY_MAX, Message, Queue};

use crate::AwsClients;
use crate::errors::StoreError;

/// The URLs of the queues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueUrls {
    /// Crawlers receive tickets here.
    pub turns: String,
    /// Parsers receive segments here.
    pub segments: String,
    /// The scheduler receives commands here.
    pub commands: String,
    /// The publisher receives closed iterations here.
    pub publications: String,
}

impl QueueUrls {
    fn for_message(&self, message: &Message) -> &str {
        match message {
            Message::Ticket(_) | Message::Tickets(_) => &self.turns,
            Message::Parse(_) => &self.segments,
            Message::Start(_) | Message::Prune(_) => &self.commands,
            Message::Publish(_) => &self.publications,
        }
    }
}

/// Sends messages through SQS: delivered at least once, in any order.
#[derive(Clone, Debug)]
pub struct SqsQueue {
    client: aws_sdk_sqs::Client,
    urls: QueueUrls,
}

impl SqsQueue {
    /// Returns the queues with these URLs.
    #[must_use]
    pub fn new(clients: &AwsClients, urls: QueueUrls) -> Self {
        Self { client: clients.sqs.clone(), urls }
    }

    /// Returns the same queues, with tickets to another one.
    #[must_use]
    pub fn with_turns(&self, url: String) -> Self {
        Self { client: self.client.clone(), urls: QueueUrls { turns: url, ..self.urls.clone() } }
    }

    async fn put(&self, message: &Message, delay: Duration) -> Result<(), StoreError> {
        let request =
            self.client.send_message().queue_url(self.urls.for_message(message)).delay_seconds(delay_seconds(delay));
        let request = request.message_body(serde_json::to_string(message)?);
        request.send().await.map(|_| ()).map_err(|e| StoreError::request("SendMessage", e))
    }
}

impl Queue for SqsQueue {
    async fn send(&self, message: Message, delay: Duration) -> PortResult<()> {
        self.put(&message, delay).await.map_err(|e| e.at("send message", format_args!("{message:?}")))
    }
}

/// Returns a delay in whole seconds, rounded up: an early ticket is refused and would be lost.
fn delay_seconds(delay: Duration) -> i32 {
    let delay = delay.min(DELAY_MAX);
    let seconds = delay.as_secs() + u64::from(delay.subsec_nanos() > 0);
    i32::try_from(seconds).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_rounded_up_and_cut() {
        for (millis, seconds, why) in [
            (0, 0, "at once"),
            (1, 1, "not before it is due"),
            (1_000, 1, "just a second"),
            (1_001, 2, "a millisecond more"),
            (899_999, 900, "the longest"),
            (86_400_000, 900, "cut to the longest"),
        ] {
            assert_eq!(delay_seconds(Duration::from_millis(millis)), seconds, "{why}");
        }
    }
}
