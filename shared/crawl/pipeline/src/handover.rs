//! The handover from the crawl step to the parse step of the same process, which saves the parser
//! reading, inflating and decoding what was just stored.
//!
//! It is only a shortcut: a parser that finds nothing here reads the segment's object and gets the
//! same captures. So neither a crash nor a lack of room loses anything.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use dragline_domain::capture::{FileEntry, RecordKind, Visit};
use dragline_domain::frontier::{LastCapture, ObjectKey};
use dragline_domain::rendering::Rendering;
use dragline_domain::url::CrawlUrl;
use dragline_formats::http_fields::Headers;
use dragline_formats::warc::{HttpResponseError, RecordSpan, Sha1Digest, Truncation};
use jiff::Timestamp;
use tokio::sync::Notify;

/// How long crawl steps wait for a parser that takes nothing.
const PARSER_COMES_WITHIN: Duration = Duration::from_secs(5);

/// How long captures are kept for their parser. Its message may have been lost, and the sweeper
/// will send it again.
const WAIT_MAX: Duration = Duration::from_secs(300);

/// The memory of a capture besides its body: URL, header and visit. Most take less.
const CAPTURE_BYTES: u64 = 2 << 10;

/// How one URL ended, as its segment stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The URL.
    pub url: CrawlUrl,
    /// When it was requested, or decided on, in milliseconds.
    pub at: Timestamp,
    /// What the crawler knew.
    pub visit: Visit,
    /// The response; `None` if there was none, or it cannot be read.
    pub response: Option<Response>,
    /// Why the response cannot be read, if there is one.
    pub unreadable: Option<String>,
    /// Where and how it is stored; `None` without a response.
    pub file: Option<Box<FileEntry>>,
    /// The document that the page's scripts made, as HTML; `None` if it was not rendered.
    pub dom: Option<Bytes>,
}

/// A response as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The header fields, `X-Archive-Orig-` names included.
    pub headers: Headers,
    /// The body in its content coding; empty for a revisit.
    pub body: Bytes,
}

/// How an answer is stored.
#[derive(Clone, Copy, Debug)]
pub struct AnswerRecord {
    /// The type of its record.
    pub kind: RecordKind,
    /// Where its record is in the segment's object.
    pub span: RecordSpan,
    /// The digest of its body as received.
    pub payload: Option<Sha1Digest>,
    /// Why its body is not complete; `None` if it is.
    pub truncated: Option<Truncation>,
}

impl Capture {
    /// Returns the capture of a URL without an answer.
    #[must_use]
    pub const fn unanswered(url: CrawlUrl, at: Timestamp, visit: Visit) -> Self {
        Self { url, at, visit, response: None, unreadable: None, file: None, dom: None }
    }

    /// Returns the capture of a URL with its answer, read back from its record.
    #[must_use]
    pub fn answered(
        url: CrawlUrl,
        at: Timestamp,
        visit: Visit,
        stored: AnswerRecord,
        answer: Result<Response, HttpResponseError>,
    ) -> Self {
        let (response, unreadable) = match answer {
            Ok(response) => (Some(response), None),
            Err(error) => (None, Some(format!("its response cannot be read: {error}"))),
        };
        let declared = response.as_ref().and_then(|response| response.headers.content_type());
        let body_bytes = response.as_ref().map_or(0, |response| response.body.len() as u64);
        let file = FileEntry {
            record: stored.kind,
            offset: stored.span.offset,
            length: stored.span.length,
            content_type: declared.map(|kind| kind.essence),
            body_bytes: visit.exchange.as_ref().map_or(body_bytes, |exchange| exchange.body_bytes),
            payload_sha1: stored.payload.map_or([0; 20], |digest| *digest.as_bytes()),
            etag: None,
            last_modified: None,
            truncated: stored
                .truncated
                .filter(|_| stored.kind == RecordKind::Response)
                .map(|reason| reason.token().to_owned()),
        };
        let mut capture = Self { url, at, visit, response, unreadable, file: None, dom: None };
        capture.file =
            Some(Box::new(FileEntry { etag: capture.etag(), last_modified: capture.last_modified(), ..file }));
        capture
    }

    /// Returns the status of the answer; `None` if there was none.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        let unstored = || self.visit.exchange.as_ref()?.status;
        self.response.as_ref().map(|response| response.status).or_else(unstored)
    }

    /// Returns how its page was rendered; `None` if it was not to be.
    #[must_use]
    pub fn rendering(&self) -> Option<&Rendering> {
        self.visit.exchange.as_ref()?.rendering.as_deref()
    }

    fn short_field(&self, name: &str, bytes_max: usize) -> Option<String> {
        let value = self.response.as_ref()?.headers.get(name)?;
        let value = std::str::from_utf8(value).ok()?.trim();
        (!value.is_empty() && value.len() <= bytes_max).then(|| value.to_owned())
    }

    /// Returns `ETag` as sent, if it is worth sending back.
    #[must_use]
    pub fn etag(&self) -> Option<String> {
        // Of a shell, it says nothing of the page that scripts make.
        if self.rendering().is_some() {
            return None;
        }
        self.short_field("etag", LastCapture::ETAG_BYTES_MAX)
    }

    /// Returns `Last-Modified` as sent, if it is worth sending back.
    #[must_use]
    pub fn last_modified(&self) -> Option<String> {
        // Of a shell, it says nothing of the page that scripts make.
        if self.rendering().is_some() {
            return None;
        }
        self.short_field("last-modified", LastCapture::LAST_MODIFIED_BYTES_MAX)
    }

    /// Takes the rendered document, whose record of this length, with that of its picture, is right
    /// behind the answer's.
    #[must_use]
    pub fn rendered(mut self, dom: Bytes, record_bytes: u64) -> Self {
        self.dom = Some(dom);
        self.extend_file(record_bytes);
        self
    }

    /// Counts a record of this length, which is right behind its others, as its own.
    pub fn extend_file(&mut self, record_bytes: u64) {
        if let Some(file) = &mut self.file {
            file.length += record_bytes;
        }
    }

    fn bytes(&self) -> u64 {
        let dom_bytes = self.dom.as_ref().map_or(0, |dom| dom.len() as u64);
        CAPTURE_BYTES + dom_bytes + self.response.as_ref().map_or(0, |response| response.body.len() as u64)
    }
}

/// The captures on their way from crawl steps to parse steps. Clones share them.
#[derive(Clone, Debug)]
pub struct Handover {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    bytes_max: u64,
    bytes: AtomicU64,
    /// In the order of their commits.
    left: Mutex<VecDeque<QueuedCaptures>>,
    /// Notified each time that a parser has taken something.
    taken: Notify,
}

/// The captures of a committed segment.
#[derive(Debug)]
struct QueuedCaptures {
    object: ObjectKey,
    /// When they were left, by the monotonic clock.
    since: Duration,
    kept: SegmentCaptures,
}

/// The captures of a segment that is being filled. Dropping it frees the memory.
#[derive(Debug)]
pub struct SegmentCaptures {
    shared: Arc<Shared>,
    captures: Vec<Capture>,
    bytes: u64,
}

impl Handover {
    /// Returns a handover of at most this many bytes.
    #[must_use]
    pub fn new(bytes_max: u64) -> Self {
        Self {
            shared: Arc::new(Shared {
                bytes_max,
                bytes: AtomicU64::new(0),
                left: Mutex::default(),
                taken: Notify::new(),
            }),
        }
    }

    /// Returns a handover that keeps nothing, for parsers in other processes.
    #[must_use]
    pub fn none() -> Self {
        Self::new(0)
    }

    /// Begins a segment; `None` if this handover keeps nothing.
    #[must_use]
    pub fn begin(&self) -> Option<SegmentCaptures> {
        let has_room = self.shared.bytes.load(Ordering::Relaxed) < self.shared.bytes_max;
        has_room.then(|| SegmentCaptures { shared: Arc::clone(&self.shared), captures: Vec::new(), bytes: 0 })
    }

    /// Leaves the captures of a committed segment to its parser. `now` is the monotonic clock's
    /// reading.
    pub fn leave(&self, object: &ObjectKey, kept: SegmentCaptures, now: Duration) {
        let mut left = self.shared.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.retain(|left| now.saturating_sub(left.since) < WAIT_MAX);
        left.push_back(QueuedCaptures { object: object.clone(), since: now, kept });
    }

    /// Takes the captures of a segment, in the order of its object; `None` if there are none.
    #[must_use]
    pub fn take(&self, object: &ObjectKey) -> Option<Vec<Capture>> {
        let mut left = self.shared.left.lock().unwrap_or_else(PoisonError::into_inner);
        let place = left.iter().position(|left| left.object == *object)?;
        let taken = left.remove(place).map(|mut left| std::mem::take(&mut left.kept.captures));
        self.shared.taken.notify_waiters();
        taken
    }

    /// Whether so many captures wait for parsers that no segment should begin: its captures would
    /// have to be read back. A parser that takes nothing for a while is not waited for, as its
    /// message may be lost. `now` is the monotonic clock's reading.
    #[must_use]
    pub fn is_crowded(&self, now: Duration) -> bool {
        let left = self.shared.left.lock().unwrap_or_else(PoisonError::into_inner);
        let comes = left.front().is_some_and(|oldest| now.saturating_sub(oldest.since) < PARSER_COMES_WITHIN);
        comes && self.shared.bytes.load(Ordering::Relaxed) > self.shared.bytes_max / 2
    }

    /// Waits until a parser has taken something and it is no longer crowded.
    pub async fn wait_until_taken(&self, now: Duration) {
        loop {
            let taken = self.shared.taken.notified();
            if !self.is_crowded(now) {
                return;
            }
            taken.await;
        }
    }
}

impl SegmentCaptures {
    /// Keeps a further capture. `None` if there is no room: then none of the segment's captures is
    /// handed over.
    #[must_use]
    pub fn with_capture(mut self, capture: Capture) -> Option<Self> {
        let bytes = capture.bytes();
        self.bytes += bytes;
        let used = self.shared.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.captures.push(capture);
        (used <= self.shared.bytes_max).then_some(self)
    }
}

impl Drop for SegmentCaptures {
    fn drop(&mut self) {
        self.shared.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use dragline_domain::capture::{CrawlType, Finality};
    use dragline_domain::frontier::{Sighting, UrlHistory};
    use dragline_domain::outcome::Outcome;

    use super::*;

    fn capture(path: &str) -> Capture {
        let url = CrawlUrl::try_from(format!("https://a.example{path}")).unwrap();
        let visit = Visit {
            sighting: Sighting::SEED,
            redirects: 0,
            crawl_type: CrawlType::Queued,
            tries: 1,
            outcome: Outcome::FileIngested,
            finality: Finality::Final,
            detail: None,
            exchange: None,
            known: UrlHistory::default(),
            demand: None,
            missing: None,
            uses: Vec::new(),
        };
        Capture::unanswered(url, Timestamp::UNIX_EPOCH, visit)
    }

    fn object(name: &str) -> ObjectKey {
        ObjectKey::try_from(format!("raw/{name}")).unwrap()
    }

    fn keep_captures(handover: &Handover, paths: &[&str]) -> Option<SegmentCaptures> {
        paths.iter().try_fold(handover.begin()?, |kept, path| kept.with_capture(capture(path)))
    }

    #[test]
    fn captures_are_taken_once_and_in_order() {
        let handover = Handover::new(1 << 20);
        handover.leave(&object("one"), keep_captures(&handover, &["/a", "/b"]).unwrap(), Duration::ZERO);
        handover.leave(&object("two"), keep_captures(&handover, &["/c"]).unwrap(), Duration::ZERO);
        assert_eq!(handover.take(&object("two")), Some(vec![capture("/c")]));
        assert_eq!(handover.take(&object("one")), Some(vec![capture("/a"), capture("/b")]));
        assert_eq!(handover.take(&object("one")), None, "another parse reads the object");
        assert_eq!(handover.shared.bytes.load(Ordering::Relaxed), 0, "the memory came back");
    }

    #[test]
    fn no_more_is_kept_than_fits() {
        let handover = Handover::new(2 * CAPTURE_BYTES);
        assert!(
            keep_captures(&handover, &["/a", "/b", "/c"]).is_none(),
            "a segment is handed over as a whole or not at all"
        );
        let first = keep_captures(&handover, &["/a", "/b"]);
        assert!(first.is_some() && handover.begin().is_none(), "what was given up takes nothing; now it is full");
        drop(first);
        assert!(keep_captures(&handover, &["/a"]).is_some(), "there is room again");
        assert!(Handover::none().begin().is_none());
    }

    #[tokio::test]
    async fn crawl_steps_wait_for_a_parser_that_falls_behind() {
        let handover = Handover::new(4 * CAPTURE_BYTES);
        let begun = keep_captures(&handover, &["/a", "/b", "/c"]).unwrap();
        assert!(!handover.is_crowded(Duration::ZERO), "what is not left to a parser no parser takes");
        handover.leave(&object("one"), begun, Duration::ZERO);
        assert!(handover.is_crowded(PARSER_COMES_WITHIN - Duration::from_nanos(1)), "three quarters are full");
        assert!(!handover.is_crowded(PARSER_COMES_WITHIN), "no parser comes");
        let waiting = tokio::spawn({
            let handover = handover.clone();
            async move { handover.wait_until_taken(Duration::ZERO).await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        handover.leave(&object("two"), keep_captures(&handover, &["/d"]).unwrap(), Duration::ZERO);
        assert!(handover.take(&object("one")).is_some());
        waiting.await.unwrap();
        assert!(!handover.is_crowded(Duration::ZERO), "a quarter is full");
    }

    #[test]
    fn captures_that_no_parser_takes_expire() {
        let handover = Handover::new(1 << 20);
        handover.leave(&object("lost"), keep_captures(&handover, &["/a"]).unwrap(), Duration::ZERO);
        handover.leave(&object("late"), keep_captures(&handover, &["/b"]).unwrap(), WAIT_MAX - Duration::from_nanos(1));
        handover.leave(&object("now"), keep_captures(&handover, &["/c"]).unwrap(), WAIT_MAX);
        assert_eq!(handover.take(&object("lost")), None);
        assert!(handover.take(&object("late")).is_some() && handover.take(&object("now")).is_some());
    }
}
