//! The messages of a batch: worked concurrently, and acknowledged separately.

use std::future::Future;

use dragline_ports::error::PortError;
use serde::Serialize;
use tokio::task::JoinSet;
use tracing::Instrument as _;

use crate::Message;
use crate::run::ReplyCounts;

/// The result of a handled message. Only errors are delivered again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Done.
    Done,
    /// It can never succeed: it was logged, and is acknowledged, as another delivery would have the
    /// same result.
    Refused,
}

/// The answer to an invocation: the messages to deliver again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reply {
    batch_item_failures: Vec<Failure>,
    /// For the metrics.
    #[serde(skip)]
    refused: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
struct Failure {
    item_identifier: String,
}

impl Reply {
    /// Returns the number of messages to deliver again.
    #[must_use]
    pub fn failed_count(&self) -> usize {
        self.batch_item_failures.len()
    }

    /// Returns the number of messages refused for good.
    #[must_use]
    pub const fn refused_count(&self) -> usize {
        self.refused
    }
}

impl ReplyCounts for Reply {
    fn messages_failed(&self) -> usize {
        self.failed_count()
    }

    fn messages_refused(&self) -> usize {
        self.refused_count()
    }
}

/// Works messages concurrently. Those that fail or panic are delivered again.
pub async fn work_all<F>(messages: Vec<Message>, work: impl Fn(Message) -> F) -> Reply
where
    F: Future<Output = Result<Work, PortError>> + Send + 'static,
{
    let (mut tasks, mut pending) = (JoinSet::new(), Vec::new());
    for message in messages {
        let id = message.message_id.clone();
        let task = tasks.spawn(work(message).instrument(tracing::info_span!("message", id = %id)));
        pending.push((task.id(), id));
    }
    let mut reply = Reply::default();
    while let Some(ended) = tasks.join_next_with_id().await {
        let (task, result) = match ended {
            Ok((task, result)) => (task, result.map_err(|error| error.to_string())),
            Err(broken) => (broken.id(), Err(broken.to_string())),
        };
        let Some((_, id)) = pending.iter().find(|(pending, _)| *pending == task) else { continue };
        match result {
            Ok(Work::Done) => {}
            Ok(Work::Refused) => reply.refused += 1,
            Err(error) => {
                tracing::error!(message = %id, %error, "the message will be delivered again");
                reply.batch_item_failures.push(Failure { item_identifier: id.clone() });
            }
        }
    }
    reply.batch_item_failures.sort();
    reply
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dragline_ports::error::PortErrorKind;
    use serde_json::json;
    use tokio::sync::Barrier;

    use super::*;

    fn messages(bodies: &[&str]) -> Vec<Message> {
        bodies.iter().map(|body| Message { message_id: format!("id-{body}"), body: (*body).to_owned() }).collect()
    }

    #[tokio::test]
    async fn only_failed_messages_are_delivered_again() {
        let reply = work_all(messages(&["done", "refused", "error", "panic"]), |message| async move {
            match message.body.as_str() {
                "done" => Ok(Work::Done),
                "refused" => Ok(Work::Refused),
                "error" => Err(PortError::new(PortErrorKind::Unavailable, "test", "a message", "away")),
                _ => panic!("a bug that one message triggers"),
            }
        })
        .await;
        assert_eq!((reply.failed_count(), reply.refused_count()), (2, 1));
        let expected = json!({"batchItemFailures": [{"itemIdentifier": "id-error"}, {"itemIdentifier": "id-panic"}]});
        assert_eq!(serde_json::to_value(&reply).unwrap(), expected, "as the event source mapping reads it");
    }

    #[tokio::test]
    async fn messages_are_worked_at_the_same_time() {
        let all = Arc::new(Barrier::new(3));
        let reply = work_all(messages(&["a", "b", "c"]), |_| {
            let all = Arc::clone(&all);
            async move {
                all.wait().await;
                Ok(Work::Done)
            }
        })
        .await;
        assert_eq!(reply, Reply::default(), "each waited for the others");
    }
}
