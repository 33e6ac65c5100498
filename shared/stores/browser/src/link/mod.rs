//! The pipes to a browser, and who waits for which reply.

mod message;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};

pub(crate) use self::message::{Event, text};
use self::message::{Received, parse};

/// The limit on a message of the browser, in bytes. The largest are documents, whose characters
/// take up to six bytes each in JSON.
pub(crate) const MESSAGE_BYTES_MAX: u64 = 64 << 20;

/// The limit on events that wait to be handled, in bytes. They are handled as they come, so only a
/// flood piles up.
const EVENT_BYTES_MAX: usize = 128 << 20;

/// The session of the browser itself.
pub(crate) const BROWSER: &str = "";

/// Why there is no result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoReply {
    /// The browser is gone, or sent what cannot be read.
    Gone,
    /// It refused the command, for this reason.
    Refused(String),
}

/// A result that a command will have.
#[derive(Debug)]
pub(crate) struct Reply(oneshot::Receiver<Result<Value, NoReply>>);

impl Reply {
    /// Waits for the result.
    pub(crate) async fn get(self) -> Result<Value, NoReply> {
        self.0.await.unwrap_or(Err(NoReply::Gone))
    }
}

type Waiting = HashMap<u64, oneshot::Sender<Result<Value, NoReply>>>;

/// The sending side. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    input: mpsc::UnboundedSender<Vec<u8>>,
    next: Arc<AtomicU64>,
    /// Who waits for which reply; `None` once the browser is gone.
    waiting: Arc<Mutex<Option<Waiting>>>,
}

impl Link {
    /// Opens a link over these pipes. Its tasks end with the browser.
    pub(crate) fn open<I, O>(mut input: I, output: O) -> (Self, Events)
    where
        I: AsyncWrite + Unpin + Send + 'static,
        O: AsyncRead + Unpin + Send + 'static,
    {
        let (sender, mut commands) = mpsc::unbounded_channel::<Vec<u8>>();
        let (events, received) = mpsc::unbounded_channel();
        let link =
            Self { input: sender, next: Arc::default(), waiting: Arc::new(Mutex::new(Some(Waiting::default()))) };
        tokio::spawn(async move {
            while let Some(command) = commands.recv().await {
                if input.write_all(&command).await.is_err() {
                    break;
                }
            }
        });
        let queued_bytes = Arc::new(AtomicUsize::default());
        tokio::spawn(read(output, Arc::clone(&link.waiting), events, Arc::clone(&queued_bytes)));
        (link, Events { received, queued_bytes })
    }

    /// Sends a command to a session.
    pub(crate) fn send(&self, session: &str, method: &str, params: Value) -> Reply {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, reply) = oneshot::channel();
        if let Some(waiting) = &mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) {
            waiting.insert(id, sender);
        }
        let mut message = Map::from_iter([("id".into(), id.into()), ("method".into(), method.into())]);
        message.insert("params".into(), params);
        if session != BROWSER {
            message.insert("sessionId".into(), session.into());
        }
        let mut bytes = Value::Object(message).to_string().into_bytes();
        bytes.push(0);
        // Nobody reads it only if the browser is gone, and then the reply says so.
        let _ = self.input.send(bytes);
        Reply(reply)
    }

    /// Sends a command, and waits for its result.
    pub(crate) async fn call(&self, session: &str, method: &str, params: Value) -> Result<Value, NoReply> {
        self.send(session, method, params).get().await
    }

    /// Sends a command whose result makes no difference.
    pub(crate) fn tell(&self, session: &str, method: &str, params: Value) {
        drop(self.send(session, method, params));
    }
}

/// The events of a browser, in order.
#[derive(Debug)]
pub(crate) struct Events {
    received: mpsc::UnboundedReceiver<(Event, usize)>,
    queued_bytes: Arc<AtomicUsize>,
}

impl Events {
    /// Waits for the next event; `None` once the browser is gone.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        let (event, bytes) = self.received.recv().await?;
        self.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
        Some(event)
    }

    /// Returns an event that has come already; `None` if there is none.
    pub(crate) fn next_ready(&mut self) -> Option<Event> {
        let (event, bytes) = self.received.try_recv().ok()?;
        self.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
        Some(event)
    }
}

/// Reads messages until the browser is gone, or sends more than it may.
async fn read<O: AsyncRead + Unpin>(
    output: O,
    waiting: Arc<Mutex<Option<Waiting>>>,
    events: mpsc::UnboundedSender<(Event, usize)>,
    queued_bytes: Arc<AtomicUsize>,
) {
    let mut output = BufReader::new(output);
    loop {
        let mut message = Vec::new();
        let read = (&mut output).take(MESSAGE_BYTES_MAX).read_until(0, &mut message).await;
        if read.is_err() || message.pop() != Some(0) {
            break;
        }
        let bytes = message.len();
        match parse(message) {
            Some(Received::Reply { id, result }) => {
                let waits = waiting.lock().unwrap_or_else(PoisonError::into_inner).as_mut().and_then(|w| w.remove(&id));
                if let Some(waits) = waits {
                    // Whoever does not wait any more gets nothing.
                    let _ = waits.send(result);
                }
            }
            Some(Received::Event(event)) => {
                let queued = queued_bytes.fetch_add(bytes, Ordering::Relaxed);
                if queued + bytes > EVENT_BYTES_MAX || events.send((event, bytes)).is_err() {
                    break;
                }
            }
            None => break,
        }
    }
    *waiting.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn replies_go_to_whoever_asked_and_events_come_in_order() {
        let (ours, mut theirs) = duplex(1 << 16);
        let (output, input) = tokio::io::split(ours);
        let (link, mut events) = Link::open(input, output);
        let (first, second) = (link.send("S", "A.a", json!({"x": 1})), link.send(BROWSER, "B.b", json!({})));
        let mut sent = vec![0; 2];
        theirs.read_exact(&mut sent).await.unwrap();
        let answers: &[&[u8]] = &[
            br#"{"id":1,"error":{"code":-1,"message":"no such thing"}}"#,
            br#"{"method":"C.c","params":{"n":1},"sessionId":"S"}"#,
            br#"{"id":0,"result":{"y":2}}"#,
            br#"{"method":"C.d"}"#,
            br#"{"id":77,"result":{}}"#,
        ];
        theirs.write_all(&[answers.join(&0), vec![0]].concat()).await.unwrap();
        assert_eq!(first.get().await, Ok(json!({"y": 2})));
        assert_eq!(second.get().await, Err(NoReply::Refused("no such thing".to_owned())));
        let event = events.next().await.unwrap();
        assert_eq!((event.method.as_str(), event.session.as_str(), &event.params["n"]), ("C.c", "S", &json!(1)));
        assert_eq!(events.next().await.unwrap().method, "C.d");
        drop(theirs);
        assert!(events.next().await.is_none(), "the browser is gone");
        assert_eq!(link.call(BROWSER, "D.d", json!({})).await, Err(NoReply::Gone), "nobody waits for ever");
    }

    #[tokio::test]
    async fn what_cannot_be_read_ends_the_link() {
        for (bytes, why) in [(&b"{}\0"[..], "neither reply nor event"), (b"x\0", "not JSON"), (b"{\"id\":1", "cut")] {
            let (ours, mut theirs) = duplex(1 << 16);
            let (output, input) = tokio::io::split(ours);
            let (link, mut events) = Link::open(input, output);
            let reply = link.send(BROWSER, "A.a", json!({}));
            theirs.write_all(bytes).await.unwrap();
            theirs.shutdown().await.unwrap();
            assert_eq!(reply.get().await, Err(NoReply::Gone), "{why}");
            assert!(events.next().await.is_none(), "{why}");
        }
    }
}
