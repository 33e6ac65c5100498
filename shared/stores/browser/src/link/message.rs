//! Messages of a browser: replies and events
//! (<https://chromedevtools.github.io/devtools-protocol>).

use serde_json::Value;

use super::NoReply;

/// Something that happened in the browser.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// Its name, as `Page.frameNavigated`.
    pub(crate) method: String,
    /// The session that it is about; empty for the browser's own.
    pub(crate) session: String,
    /// Its details; null without any.
    pub(crate) params: Value,
}

/// A message.
#[derive(Debug, PartialEq)]
pub(super) enum Received {
    /// The reply to a command.
    Reply { id: u64, result: Result<Value, NoReply> },
    /// An event.
    Event(Event),
}

/// Returns a text of a message; empty if it is something else.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Reads a message; `None` if it is neither reply nor event.
pub(super) fn parse(mut bytes: Vec<u8>) -> Option<Received> {
    let mut message: Value = serde_json::from_slice(&bytes)
        .or_else(|_| {
            mend_surrogates(&mut bytes);
            serde_json::from_slice(&bytes)
        })
        .ok()?;
    if let Some(id) = message["id"].as_u64() {
        let result = match message["error"]["message"].as_str() {
            Some(reason) => Err(NoReply::Refused(reason.to_owned())),
            None => Ok(message["result"].take()),
        };
        return Some(Received::Reply { id, result });
    }
    let method = message["method"].as_str()?.to_owned();
    let session = text(&message["sessionId"]).to_owned();
    Some(Received::Event(Event { method, session, params: message["params"].take() }))
}

/// Replaces halves of surrogate pairs, which JavaScript has in its texts, and JSON should not: a
/// page that shows one in a dialog must not end the link.
fn mend_surrogates(bytes: &mut [u8]) {
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        match (unit(bytes, at), unit(bytes, at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => at += 12,
            (Some(0xd800..=0xdfff), _) => {
                bytes[at + 2..at + 6].copy_from_slice(b"fffd");
                at += 6;
            }
            _ => at += 2,
        }
    }
}

/// Returns the code unit of an escape `\uXXXX`; `None` if there is none.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_surrogate_pairs_are_replaced() {
        for (json, expected, why) in [
            (r#""\ud83d\ude00""#, "\u{1f600}", "a pair"),
            (r#""a\ud83d""#, "a\u{fffd}", "the first half at the end"),
            (r#""\ude00a""#, "\u{fffd}a", "the second half alone"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}", "a half before a pair"),
            (r#""\ud83d\n""#, "\u{fffd}\n", "before another escape"),
            (r#""\\ud83d\ude00""#, "\\ud83d\u{fffd}", "an escaped backslash begins no escape"),
        ] {
            let message = format!(r#"{{"method":"A.a","params":{{"x":{json}}}}}"#);
            let Some(Received::Event(event)) = parse(message.into_bytes()) else { panic!("{why}") };
            assert_eq!(text(&event.params["x"]), expected, "{why}");
        }
    }

    #[test]
    fn any_bytes_are_mended_without_a_panic() {
        for length in 0..40_usize {
            let mut bytes: Vec<u8> = (0..length).map(|i| b"\\ud8f\"\xff"[(i * 5 + length) % 7]).collect();
            mend_surrogates(&mut bytes);
        }
    }
}
