//! The events that invoke the functions, reduced to what these read.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::function_url::HttpRequest;

/// Why a function is invoked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Messages of a queue.
    Messages(Vec<Message>),
    /// A scheduled rule fired.
    Tick,
    /// A request to the function's URL.
    Request(HttpRequest),
}

/// A message of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Its id, for the acknowledgement.
    pub message_id: String,
    /// Its contents.
    pub body: String,
}

/// An unusable event.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// An unknown kind of event: the function is connected to the wrong source.
    #[error("this kind of event is unknown")]
    Unknown,
    /// A batch with an incomplete message, or an incomplete request.
    #[error("an event that cannot be read: {0}")]
    Incomplete(#[from] serde_json::Error),
}

impl Event {
    /// Reads an event.
    ///
    /// # Errors
    /// Returns an [`EventError`].
    pub fn read(event: Value) -> Result<Self, EventError> {
        #[derive(Deserialize)]
        struct Batch {
            #[serde(rename = "Records")]
            records: Vec<Message>,
        }
        if event.get("Records").is_some() {
            return Ok(Self::Messages(serde_json::from_value::<Batch>(event)?.records));
        }
        if event.get("rawPath").is_some() {
            return Ok(Self::Request(serde_json::from_value(event)?));
        }
        let is_tick = event.get("detail-type").and_then(Value::as_str) == Some("Scheduled Event");
        if is_tick { Ok(Self::Tick) } else { Err(EventError::Unknown) }
    }

    /// Returns the number of its messages.
    pub(crate) const fn messages(&self) -> usize {
        match self {
            Self::Messages(messages) => messages.len(),
            Self::Tick | Self::Request(_) => 0,
        }
    }
}

/// A message that cannot be parsed. Another delivery would not help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MessageError(String);

/// Parses a message of a step. `pick` selects the expected kind.
///
/// # Errors
/// It is of another kind, or not one of our messages.
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
            (json!({"Records": 7}), "not a list"),
            (json!({"rawPath": "/docs"}), "a request without a method"),
            (json!({"detail-type": "EC2 Instance Launch"}), "another rule"),
            (json!([]), "not an object"),
        ] {
            assert!(Event::read(event).is_err(), "{why}");
        }
    }

    #[test]
    fn a_message_for_another_step_is_refused() {
        let start = r#"{"start": {"crawl": "docs", "trigger": "t"}}"#;
        let ticket = |message| match message {
            StepMessage::Ticket(ticket) => Some(ticket),
            StepMessage::Tickets(_)
            | StepMessage::Parse(_)
            | StepMessage::Start(_)
            | StepMessage::Prune(_)
            | StepMessage::Publish(_) => None,
        };
        for (body, why) in
            [(start, "a command"), ("{", "not JSON"), (r#"{"ticket": {}}"#, "a ticket without its parts")]
        {
            assert!(read_message(body, ticket).is_err(), "{why}");
        }
    }
}
