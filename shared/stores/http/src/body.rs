//! Receiving a response's body, within its limits.

use std::io::{ErrorKind, Write as _};
use std::time::Duration;

use bytes::Bytes;
use dragline_formats::blob::{Blob, MEMORY_BYTES_MAX, Spool, SpoolWriter};
use dragline_formats::content_coding::{Cut, is_binary};
use dragline_formats::http_fields::content_type;
use dragline_formats::warc::Sha1Digest;
use dragline_ports::fetcher::{ArrivingBytes, BodyLimits, BodyUse, Truncation};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use tokio::time::Instant;

use crate::budget::{ByteBudget, NoRoom, Patience, SHARE_BYTES};
use crate::decoded::{Decoded, DecodedMeter, LimitCheck};
use crate::framing::Framing;
use crate::rate::ByteRate;

/// How soon to check again for room on disk.
const NO_ROOM_PAUSE: Duration = Duration::from_millis(100);

/// The number of bytes of a body that are checked for text.
const LOOK_BYTES: u64 = 4 << 10;

/// A body in its content coding, and its decoded measure.
#[derive(Debug)]
pub(crate) struct ReceivedBody {
    pub(crate) body: Blob,
    pub(crate) truncated: Option<Truncation>,
    pub(crate) decoded: Decoded,
    /// How long it waited for room, in memory or on disk.
    pub(crate) waited: Duration,
}

impl ReceivedBody {
    /// Returns the body of an answer without one.
    pub(crate) fn none() -> Self {
        let decoded = Decoded { sha1: *Sha1Digest::compute(b"").as_bytes(), bytes: 0 };
        Self { body: Blob::default(), truncated: None, decoded, waited: Duration::ZERO }
    }
}

/// The room for arriving bodies.
#[derive(Debug)]
pub(crate) struct BodyRooms {
    pub(crate) memory: ByteBudget,
    pub(crate) spool: Spool,
    pub(crate) arriving: ArrivingBytes,
    /// How fast all bodies together are read.
    pub(crate) rate: Option<ByteRate>,
    /// How many bytes of one are read in a second.
    pub(crate) body_bytes_per_second: Option<u64>,
}

/// Receives the body of a response until it ends, a limit cuts it, or the connection breaks. The
/// received part is kept. If the response is not at its end, dropping it closes its connection
/// (HTTP/1.1) or resets its stream (HTTP/2).
pub(crate) async fn receive(
    mut response: reqwest::Response,
    limits: &BodyLimits,
    rooms: &BodyRooms,
    (deadline, room_wait_max): (Instant, Duration),
) -> ReceivedBody {
    let mut kept = BodySoFar::new(&response, limits, &rooms.spool);
    // Waiting for room may take as long again as the whole exchange.
    let mut patience = Patience::new(deadline, room_wait_max);
    // Without room, the part that fitted is kept.
    let filled = fill(&mut kept, &mut response, rooms, &mut patience).await;
    let truncated = filled.unwrap_or(Some(Truncation::Length));
    kept.finish(truncated, patience.waited).await
}

async fn fill(
    kept: &mut BodySoFar,
    response: &mut reqwest::Response,
    rooms: &BodyRooms,
    patience: &mut Patience,
) -> Result<Option<Truncation>, NoRoom> {
    let mut room = patience.room(rooms.memory.share()).await?;
    let mut arriving = rooms.arriving.begin();
    let framing = Framing::from_response(response);
    let own = rooms.body_bytes_per_second.map(ByteRate::new);
    loop {
        let left = framing.bytes_left(kept.len_bytes());
        if left == 0 {
            return Ok(None);
        }
        let Some(chunk) = patience.server(response.chunk()).await else { return Ok(Some(Truncation::Time)) };
        let mut chunk = match chunk {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return Ok(framing.cut_at_end(kept.len_bytes())),
            // A wrong chunk size or a reset stream ends the readable part, just like a lost
            // connection.
            Err(error) => return Ok(framing.cut_by(&error)),
        };
        chunk.truncate(left);
        let rests = own.iter().chain(&rooms.rate).map(|rate| rate.count(chunk.len()));
        patience.rest(rests.max().unwrap_or_default()).await;
        patience.room(room.hold(kept.memory_bytes_with(chunk.len()))).await?;
        let before = kept.len_bytes();
        let pushed = kept.push(chunk, patience).await?;
        arriving.add(kept.len_bytes() - before);
        if pushed == PushResult::Full {
            return Ok(Some(Truncation::Length));
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PushResult {
    /// There may be more.
    Within,
    /// A limit is exceeded: the body is longer than the part kept, raw or decoded.
    Full,
}

/// The body so far, within its limits.
struct BodySoFar {
    place: BodyStorage,
    bytes_max: usize,
    meter: DecodedMeter,
    text: Text,
}

/// The storage of a body.
enum BodyStorage {
    /// In memory, if it is to be parsed.
    Memory(Vec<u8>),
    /// On disk if it is long, as it is not parsed. `None` while another thread writes to it.
    Spool(Option<SpoolWriter>),
}

/// Whether a body is text, according to its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    Declared,
    NotDeclared,
}

impl Text {
    fn from_headers(headers: &HeaderMap) -> Self {
        let declared =
            headers.get(CONTENT_TYPE).and_then(|value| content_type(&String::from_utf8_lossy(value.as_bytes())));
        if declared.is_some_and(|kind| kind.is_text()) { Self::Declared } else { Self::NotDeclared }
    }
}

impl BodySoFar {
    fn new(response: &reqwest::Response, limits: &BodyLimits, spool: &Spool) -> Self {
        let bytes_max = usize::try_from(limits.received_bytes_max).unwrap_or(usize::MAX);
        // The length is the server's claim: it is worth no more than a share until it proves true.
        let claimed = response.content_length().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
        let place = match limits.body_use {
            BodyUse::Read => BodyStorage::Memory(Vec::with_capacity(claimed.min(SHARE_BYTES).min(bytes_max))),
            BodyUse::Kept => BodyStorage::Spool(Some(spool.begin())),
        };
        Self {
            place,
            bytes_max,
            meter: DecodedMeter::new(response.headers(), limits.decoded_bytes_max),
            text: Text::from_headers(response.headers()),
        }
    }

    fn len_bytes(&self) -> usize {
        match &self.place {
            BodyStorage::Memory(bytes) => bytes.len(),
            BodyStorage::Spool(writer) => {
                let bytes = writer.as_ref().map_or(0, SpoolWriter::len_bytes);
                usize::try_from(bytes).unwrap_or(usize::MAX)
            }
        }
    }

    /// Returns the memory that it would take with `more` further bytes.
    fn memory_bytes_with(&self, more: usize) -> usize {
        let bytes = self.len_bytes().saturating_add(more).min(self.bytes_max);
        match &self.place {
            BodyStorage::Memory(_) => bytes,
            BodyStorage::Spool(_) => bytes.min(MEMORY_BYTES_MAX),
        }
    }

    async fn push(&mut self, mut chunk: Bytes, patience: &mut Patience) -> Result<PushResult, NoRoom> {
        let room = self.bytes_max - self.len_bytes();
        let is_over = chunk.len() > room;
        chunk.truncate(room);
        let measured = match &mut self.place {
            BodyStorage::Memory(bytes) => {
                bytes.extend_from_slice(&chunk);
                self.meter.push(bytes)
            }
            BodyStorage::Spool(writer) => {
                spool(writer, &chunk, patience).await?;
                self.meter.push_chunk(&chunk)
            }
        };
        Ok(if measured == LimitCheck::Within && !is_over { PushResult::Within } else { PushResult::Full })
    }

    /// Finishes the body after the end of its framing.
    async fn finish(self, framed: Option<Truncation>, waited: Duration) -> ReceivedBody {
        let Self { place, meter, text, .. } = self;
        let body = match place {
            BodyStorage::Memory(mut bytes) => {
                // Bodies wait in memory until their segment is committed, so the spare capacity is
                // freed.
                bytes.shrink_to_fit();
                Blob::from(bytes)
            }
            BodyStorage::Spool(None) => Blob::default(),
            BodyStorage::Spool(Some(writer)) => {
                let ended = tokio::task::spawn_blocking(|| writer.finish_partial()).await;
                ended.unwrap_or_default()
            }
        };
        let is_coded = meter.is_coded() && !body.is_empty();
        let (decoded, cut) = meter.finish(&body);
        let is_no_text = || body.beginning(LOOK_BYTES).is_ok_and(|bytes| is_binary(&bytes));
        let truncated = match (framed, cut) {
            // Codings mark their own ends: a body that decodes to its end is complete, whatever
            // length or chunks say.
            (Some(Truncation::Disconnect | Truncation::Time), None) if is_coded => None,
            (None, Some(Cut::Limit)) => Some(Truncation::Length),
            // Some servers declare codings that they did not apply.
            (None, Some(cut)) if cut.is_of_name() && !(text == Text::Declared && is_no_text()) => None,
            (None, Some(Cut::Failed(error))) => Some(Truncation::Coding(error)),
            (framed, _) => framed,
        };
        ReceivedBody { body, truncated, decoded, waited }
    }
}

/// Adds to a body that is not parsed. Another thread writes to the disk.
async fn spool(open: &mut Option<SpoolWriter>, chunk: &Bytes, patience: &mut Patience) -> Result<(), NoRoom> {
    let mut left = chunk.clone();
    while !left.is_empty() {
        let Some(mut writer) = open.take() else { return Err(NoRoom) };
        let (writer, written) = if writer.spills(left.len()) {
            let bytes = left.clone();
            let write = move || {
                let written = writer.write(&bytes);
                (writer, written)
            };
            tokio::task::spawn_blocking(write).await.map_err(|_| NoRoom)?
        } else {
            let written = writer.write(&left);
            (writer, written)
        };
        *open = Some(writer);
        match written {
            Ok(bytes) => drop(left.split_to(bytes)),
            Err(error) if error.kind() == ErrorKind::QuotaExceeded => {
                patience.room(tokio::time::sleep(NO_ROOM_PAUSE)).await?;
            }
            Err(_) => return Err(NoRoom),
        }
    }
    Ok(())
}
