//! The events that the functions are invoked with, as far as they are looked at.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Why a function is invoked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Messages of a queue.
    Messages(Vec<Message>),
    /// A rule's time has come.
    Tick,
}

/// A message of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// What it is acknowledged by.
    pub message_id: String,
    /// What it says.
    pub body: String,
}

/// An event of another kind: the function is wired to something that it does not know.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// Neither messages nor a rule's time.
    #[error("this event is of no kind that is known here")]
    Unknown,
    /// A batch of which a message lacks its parts.
    #[error("a batch of messages that cannot be read: {0}")]
    Batch(#[from] serde_json::Error),
}

impl Event {
    /// Reads an event.
    ///
    /// # Errors
    /// [`EventError`].
    pub fn read(event: Value) -> Result<Self, EventError> {
        #[derive(Deserialize)]
        struct Batch {
            #[serde(rename = "Records")]
            records: Vec<Message>,
        }
        if event.get("Records").is_some() {
            return Ok(Self::Messages(serde_json::from_value::<Batch>(event)?.records));
        }
        let is_tick = event.get("detail-type").and_then(Value::as_str) == Some("Scheduled Event");
        if is_tick { Ok(Self::Tick) } else { Err(EventError::Unknown) }
    }

    /// How many messages it brought.
    pub(crate) const fn messages(&self) -> usize {
        match self {
            Self::Messages(messages) => messages.len(),
            Self::Tick => 0,
        }
    }
}

/// A message that no later delivery makes any better.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MessageError(String);

/// Reads a message that a step sent, by what `pick` takes of it.
///
/// # Errors
/// It is of another kind, or none of ours.
pub fn read_message<M: DeserializeOwned, T>(body: &str, pick: impl FnOnce(M) -> Option<T>) -> Result<T, MessageError> {
    let message: M = serde_json::from_str(body).map_err(|error| MessageError(error.to_string()))?;
    pick(message).ok_or_else(|| MessageError("a message for another queue".to_owned()))
}

#[cfg(test)]
mod tests {
    use dragline_ports::queue::Message as StepMessage;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_messages_or_a_time() {
        let batch = json!({"Records": [{"messageId": "m", "body": "{}", "receiptHandle": "r"}]});
        let messages = vec![Message { message_id: "m".to_owned(), body: "{}".to_owned() }];
        let tick = json!({"source": "aws.events", "detail-type": "Scheduled Event", "detail": {}});
        assert_eq!(Event::read(batch).unwrap(), Event::Messages(messages));
        assert_eq!(Event::read(tick).unwrap(), Event::Tick);
        for (event, why) in [
            (json!({}), "nothing"),
            (json!({"Records": [{"s3": {}}]}), "an object of S3"),
            (json!({"Records": 7}), "no list"),
            (json!({"detail-type": "EC2 Instance Launch"}), "another rule"),
            (json!([]), "no object"),
        ] {
            assert!(Event::read(event).is_err(), "{why}");
        }
    }

    #[test]
    fn a_message_for_another_step_is_refused() {
        let start = r#"{"start": {"crawl": "docs", "trigger": "t"}}"#;
        let ticket = |message| match message {
            StepMessage::Ticket(ticket) => Some(ticket),
            StepMessage::Tickets(_) | StepMessage::Parse(_) | StepMessage::Start(_) => None,
        };
        for (body, why) in [(start, "a command"), ("{", "no JSON"), (r#"{"ticket": {}}"#, "a ticket without its parts")]
        {
            assert!(read_message(body, ticket).is_err(), "{why}");
        }
    }
}
