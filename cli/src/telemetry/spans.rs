//! Spans of what a crawl does: each turn with its visits and commits, and each batch of the other
//! steps.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use dragline_domain::capture::Visit;
use dragline_domain::frontier::OriginKey;
use dragline_domain::ids::Turn;
use dragline_domain::time::after;
use dragline_domain::url::{CrawlUrl, Origin};
use dragline_ports::error::PortError;
use dragline_ports::fetcher::{FetchFailureKind, FetchOutcome};
use dragline_ports::observer::{Batch, Event, Observer};
use jiff::Timestamp;
use opentelemetry::trace::{Span as _, SpanBuilder, SpanKind, Status, TraceContextExt as _, Tracer as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::SdkTracer;

/// The most turns at a time of which the visits are known to belong to them.
const TURNS_MAX: usize = 10_000;

/// Makes spans of events.
pub(super) struct Spans {
    tracer: SdkTracer,
    turns: Mutex<HashMap<OriginKey, OpenTurn>>,
}

/// A turn that goes on.
struct OpenTurn {
    turn: Turn,
    /// How often it was begun and not ended. One that was handed out twice is worked once, and the
    /// other one ends at once.
    begun: u32,
    context: Context,
}

impl Spans {
    pub(super) fn new(tracer: SdkTracer) -> Self {
        Self { tracer, turns: Mutex::default() }
    }

    fn turns(&self) -> MutexGuard<'_, HashMap<OriginKey, OpenTurn>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the turn at an origin as the parent of a span; an empty one if none is known.
    fn parent(&self, origin: &OriginKey) -> Context {
        self.turns().get(origin).map(|open| open.context.clone()).unwrap_or_default()
    }

    /// Begins the span of a turn. What it does will belong to it.
    fn begin_turn(&self, origin: &OriginKey, turn: Turn, at: Timestamp) {
        let mut turns = self.turns();
        if let Some(open) = turns.get_mut(origin) {
            open.begun += u32::from(open.turn == turn);
        } else if turns.len() < TURNS_MAX {
            let builder = builder("turn", SpanKind::Internal, at, batch_attributes(&Batch::Turn { origin, turn }));
            let span = self.tracer.build_with_context(builder, &Context::new());
            turns.insert(origin.clone(), OpenTurn { turn, begun: 1, context: Context::new().with_span(span) });
        }
    }

    fn end_turn(&self, origin: &OriginKey, turn: Turn, at: Timestamp, error: Option<&PortError>) {
        let mut turns = self.turns();
        let Some(open) = turns.get_mut(origin).filter(|open| open.turn == turn) else { return };
        open.begun -= 1;
        if open.begun > 0 {
            return;
        }
        let context = turns.remove(origin).map(|open| open.context).unwrap_or_default();
        drop(turns);
        let span = context.span();
        if let Some(error) = error {
            span.set_attribute(error_attribute(error));
            // What happened is in the log, which may name anything.
            span.set_status(Status::error(""));
        }
        span.end_with_timestamp(SystemTime::from(at));
    }

    /// Makes the span of a batch that has ended.
    fn end_batch(&self, batch: &Batch<'_>, (began, at): (Timestamp, Timestamp), error: Option<&PortError>) {
        let parent = match batch {
            Batch::Turn { origin, turn } => return self.end_turn(origin, *turn, at, error),
            Batch::Commit { segment } => self.parent(&segment.origin),
            Batch::Schedule { .. } | Batch::Parse { .. } | Batch::Sweep { .. } => Context::new(),
        };
        let mut attributes = batch_attributes(batch);
        attributes.extend(error.map(error_attribute));
        let mut span =
            self.tracer.build_with_context(builder(batch.name(), SpanKind::Internal, began, attributes), &parent);
        if error.is_some() {
            span.set_status(Status::error(""));
        }
        span.end_with_timestamp(SystemTime::from(at));
    }

    fn visit(&self, (origin, url): (&OriginKey, &CrawlUrl), at: Timestamp, visit: &Visit, sent: Option<&FetchOutcome>) {
        let (name, kind) = if sent.is_some() { ("GET", SpanKind::Client) } else { ("visit", SpanKind::Internal) };
        let builder = builder(name, kind, at, visit_attributes((origin, url), visit, sent));
        let mut span = self.tracer.build_with_context(builder, &self.parent(origin));
        let is_error = sent.is_some_and(|sent| sent.result.as_ref().map_or(true, |answer| answer.status >= 400));
        if is_error {
            // What happened is in the attributes.
            span.set_status(Status::error(""));
        }
        let took = sent.map(|sent| sent.elapsed).unwrap_or_default();
        span.end_with_timestamp(SystemTime::from(after(at, took)));
    }
}

impl Observer for Spans {
    fn observe(&self, event: &Event<'_>) {
        match *event {
            Event::Visited { origin, url, at, visit, fetched } => self.visit((origin, url), at, visit, fetched),
            Event::Began { batch: Batch::Turn { origin, turn }, at } => self.begin_turn(origin, turn, at),
            Event::Ended { ref batch, began, at, error } => self.end_batch(batch, (began, at), error),
            Event::Began { .. } | Event::Read { .. } | Event::At { .. } => {}
        }
    }
}

/// Shows two observers the same.
pub(super) struct Both(pub(super) Arc<dyn Observer>, pub(super) Arc<dyn Observer>);

impl Observer for Both {
    fn observe(&self, event: &Event<'_>) {
        self.0.observe(event);
        self.1.observe(event);
    }
}

fn builder(name: &'static str, kind: SpanKind, at: Timestamp, attributes: Vec<KeyValue>) -> SpanBuilder {
    SpanBuilder::from_name(name).with_kind(kind).with_start_time(SystemTime::from(at)).with_attributes(attributes)
}

fn batch_attributes(batch: &Batch<'_>) -> Vec<KeyValue> {
    let mut attributes = vec![KeyValue::new("dragline.crawl", batch.crawl().to_string())];
    attributes.extend(batch.origin().into_iter().flat_map(|key| server_attributes(&key.origin)));
    match batch {
        Batch::Turn { turn, .. } => attributes.push(KeyValue::new("dragline.turn", turn.to_string())),
        Batch::Commit { segment } | Batch::Parse { segment } => {
            attributes.push(KeyValue::new("dragline.turn", segment.turn.to_string()));
            attributes.push(KeyValue::new("dragline.segment", whole(segment.n)));
        }
        Batch::Schedule { .. } | Batch::Sweep { .. } => {}
    }
    attributes
}

fn server_attributes(origin: &Origin) -> [KeyValue; 2] {
    let port = i64::from(origin.port());
    [KeyValue::new("server.address", origin.host().to_owned()), KeyValue::new("server.port", port)]
}

fn visit_attributes(
    (origin, url): (&OriginKey, &CrawlUrl),
    visit: &Visit,
    sent: Option<&FetchOutcome>,
) -> Vec<KeyValue> {
    let mut attributes = vec![
        KeyValue::new("dragline.crawl", origin.crawl.to_string()),
        KeyValue::new("dragline.outcome", visit.outcome.name()),
        KeyValue::new("url.full", without_values(url)),
    ];
    attributes.extend(server_attributes(&origin.origin));
    let Some(sent) = sent else { return attributes };
    attributes.push(KeyValue::new("http.request.method", "GET"));
    if let Some(remote) = sent.remote {
        attributes.extend(peer_attributes(remote));
    }
    if visit.tries > 1 {
        attributes.push(KeyValue::new("http.request.resend_count", i64::from(visit.tries - 1)));
    }
    match &sent.result {
        Ok(answer) => {
            let status = i64::from(answer.status);
            attributes.push(KeyValue::new("http.response.status_code", status));
            attributes.push(KeyValue::new("http.response.body.size", whole(answer.body.len_bytes())));
            if answer.status >= 400 {
                attributes.push(KeyValue::new("error.type", status.to_string()));
            }
        }
        Err(failure) => attributes.push(KeyValue::new("error.type", failure_name(failure.kind))),
    }
    attributes
}

fn peer_attributes(remote: SocketAddr) -> [KeyValue; 2] {
    let port = i64::from(remote.port());
    [KeyValue::new("network.peer.address", remote.ip().to_string()), KeyValue::new("network.peer.port", port)]
}

/// Returns a URL as it may be shown to others: with the names of its query, as their values may be
/// tokens. A URL of a crawl never has a name and a password.
fn without_values(url: &CrawlUrl) -> String {
    let Some(query) = url.query() else { return url.as_str().to_owned() };
    let hidden = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) => format!("{name}=REDACTED"),
        // It may be a value alone.
        None if pair.is_empty() => String::new(),
        None => "REDACTED".to_owned(),
    });
    format!("{}{}?{}", url.origin_str(), url.path(), hidden.collect::<Vec<_>>().join("&"))
}

const fn failure_name(kind: FetchFailureKind) -> &'static str {
    match kind {
        FetchFailureKind::NameNotResolved => "name_not_resolved",
        FetchFailureKind::AccessRefused => "access_refused",
        FetchFailureKind::PrivateAddress => "private_address",
        FetchFailureKind::Connect => "connect",
        FetchFailureKind::Tls => "tls",
        FetchFailureKind::Timeout => "timeout",
        FetchFailureKind::Protocol => "protocol",
        FetchFailureKind::Reset => "reset",
        FetchFailureKind::TooMany => "too_many",
        FetchFailureKind::NoRoom => "no_room",
    }
}

fn error_attribute(error: &PortError) -> KeyValue {
    KeyValue::new("error.type", format!("{:?}", error.kind).to_lowercase())
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use dragline_domain::url::UrlRules;

    use super::*;

    #[test]
    fn values_of_a_query_are_hidden() {
        for (url, expected, why) in [
            ("https://a.example/p", "https://a.example/p", "there is none"),
            (
                "https://a.example/p?page=2&token=s3cret",
                "https://a.example/p?page=REDACTED&token=REDACTED",
                "any may be one",
            ),
            ("https://a.example/p?s3cret", "https://a.example/p?REDACTED", "a value without a name"),
            ("https://a.example/p?a=b=s3cret", "https://a.example/p?a=REDACTED", "a value with an equals sign"),
            ("https://a.example/p?a=", "https://a.example/p?a=REDACTED", "an empty one looks like others"),
        ] {
            let url = CrawlUrl::parse(url, &UrlRules::default()).unwrap();
            assert_eq!(without_values(&url), expected, "{why}");
        }
    }
}
