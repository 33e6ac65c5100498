//! Receiving a response's body, within its limits.

use std::time::Duration;

use bytes::Bytes;
use dragline_formats::content_coding::{Cut, is_binary};
use dragline_formats::http_fields::content_type;
use dragline_ports::fetcher::{FetchLimits, Truncation};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use tokio::time::Instant;

use crate::budget::{ByteBudget, NoRoom, Patience, SHARE_BYTES};
use crate::decoded::{Decoded, DecodedMeter, Measured};
use crate::framing::Framing;

/// A body with its content coding as received, and its measure without it.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) bytes: Bytes,
    pub(crate) truncated: Option<Truncation>,
    pub(crate) decoded: Decoded,
    /// How long it waited for room in memory.
    pub(crate) waited: Duration,
}

/// Receives the body of a response until it ends, a limit cuts it, or the connection breaks. What arrived until then is kept. If the response is
/// not at its end, dropping it closes its connection (HTTP/1.1) or resets its stream (HTTP/2).
pub(crate) async fn receive(
    mut response: reqwest::Response,
    limits: &FetchLimits,
    budget: &ByteBudget,
    deadline: Instant,
) -> Received {
    let mut kept = Kept::new(&response, limits);
    // Waiting for room may take as long again as the whole exchange.
    let mut patience = Patience::new(deadline, limits.total_timeout);
    // Without room, as much is kept as fitted.
    let filled = fill(&mut kept, &mut response, budget, &mut patience).await;
    let truncated = filled.unwrap_or(Some(Truncation::Length));
    kept.finish(truncated, patience.waited)
}

async fn fill(
    kept: &mut Kept,
    response: &mut reqwest::Response,
    budget: &ByteBudget,
    patience: &mut Patience,
) -> Result<Option<Truncation>, NoRoom> {
    let mut room = patience.room(budget.share()).await?;
    let framing = Framing::of(response);
    loop {
        let left = framing.bytes_left(kept.bytes.len());
        if left == 0 {
            return Ok(None);
        }
        let Some(chunk) = patience.server(response.chunk()).await else { return Ok(Some(Truncation::Time)) };
        let mut chunk = match chunk {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return Ok(framing.cut_at_end(kept.bytes.len())),
            // A wrong chunk size or a reset stream ends what can be read, just as a lost connection does.
            Err(error) => return Ok(framing.cut_by(&error)),
        };
        chunk.truncate(left);
        let bytes = (kept.bytes.len() + chunk.len()).min(kept.bytes_max);
        patience.room(room.hold(bytes)).await?;
        if kept.push(&chunk) == Pushed::Full {
            return Ok(Some(Truncation::Length));
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pushed {
    /// There may be more.
    Within,
    /// A limit is exceeded: the body is longer than what is kept of it, raw or decoded.
    Full,
}

/// A body so far, within its limits.
struct Kept {
    bytes: Vec<u8>,
    bytes_max: usize,
    meter: DecodedMeter,
    text: Text,
}

/// Whether a body is text, according to its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    Declared,
    NotDeclared,
}

impl Text {
    fn of(headers: &HeaderMap) -> Self {
        let declared =
            headers.get(CONTENT_TYPE).and_then(|value| content_type(&String::from_utf8_lossy(value.as_bytes())));
        if declared.is_some_and(|kind| kind.is_text()) { Self::Declared } else { Self::NotDeclared }
    }
}

impl Kept {
    fn new(response: &reqwest::Response, limits: &FetchLimits) -> Self {
        // The length is the server's claim: it is worth no more than a share until it proves true.
        let claimed = response.content_length().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
        Self {
            bytes: Vec::with_capacity(claimed.min(SHARE_BYTES).min(limits.body_bytes_max)),
            bytes_max: limits.body_bytes_max,
            meter: DecodedMeter::new(response.headers(), limits.decoded_bytes_max),
            text: Text::of(response.headers()),
        }
    }

    fn push(&mut self, chunk: &[u8]) -> Pushed {
        let room = self.bytes_max - self.bytes.len();
        let (fits, over) = chunk.split_at(chunk.len().min(room));
        self.bytes.extend_from_slice(fits);
        match self.meter.push(&self.bytes) {
            Measured::Within if over.is_empty() => Pushed::Within,
            _ => Pushed::Full,
        }
    }

    /// Ends the body, as its framing did.
    fn finish(mut self, framed: Option<Truncation>, waited: Duration) -> Received {
        // Bodies wait in memory until their segment is committed, so what was reserved while growing is given back.
        self.bytes.shrink_to_fit();
        let is_coded = self.meter.is_coded() && !self.bytes.is_empty();
        let (decoded, cut) = self.meter.finish(&self.bytes);
        let truncated = match (framed, cut) {
            // Codings have ends of their own: what is decoded to its end is whole, whatever length or chunks say.
            (Some(Truncation::Disconnect | Truncation::Time), None) if is_coded => None,
            (None, Some(Cut::Limit)) => Some(Truncation::Length),
            // Servers name codings that they did not apply.
            (None, Some(cut)) if cut.is_of_name() && !(self.text == Text::Declared && is_binary(&self.bytes)) => None,
            (None, Some(Cut::Failed(error))) => Some(Truncation::Coding(error)),
            (framed, _) => framed,
        };
        Received { bytes: self.bytes.into(), truncated, decoded, waited }
    }
}
