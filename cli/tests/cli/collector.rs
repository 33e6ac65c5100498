//! A collector of telemetry: an OTLP/HTTP receiver on this machine.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;

/// The longest wait for something that is sent on this machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// How a collector answers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Manner {
    /// It takes everything.
    Takes,
    /// It answers with an error.
    Fails,
    /// It reads, and does not answer.
    Hangs,
}

/// A request that was received.
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// A running collector. It ends with the test.
pub(crate) struct Collector {
    pub(crate) url: String,
    received: Receiver<Received>,
}

impl Collector {
    pub(crate) fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("it listens"));
        let (sender, received) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let sender = sender.clone();
                std::thread::spawn(move || answer(&stream, manner, &sender));
            }
        });
        Self { url, received }
    }

    /// Returns the next request.
    pub(crate) fn next(&self) -> Received {
        self.received.recv_timeout(PATIENCE).expect("something is sent in time")
    }

    /// Returns what was received so far, and not yet returned.
    pub(crate) fn all(&self) -> Vec<Received> {
        self.received.try_iter().collect()
    }
}

/// Answers the requests of a connection.
fn answer(stream: &TcpStream, manner: Manner, sender: &Sender<Received>) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
        }
        let field = |name: &str| {
            let mut fields = head.lines().filter_map(|line| line.split_once(": "));
            fields.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
        };
        let mut body = vec![0; field("content-length").expect("a length").parse().expect("a number")];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let path = head.split(' ').nth(1).expect("a target").to_owned();
        // Nobody may want to know.
        let _ = sender.send(Received { path, head, body });
        let status = match manner {
            Manner::Takes => "200 OK",
            Manner::Fails => "500 Internal Server Error",
            // Until the sender gives up.
            Manner::Hangs => {
                let _ = reader.read(&mut [0]);
                return;
            }
        };
        if write!(&mut &*stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").is_err() {
            return;
        }
    }
}

/// A value of a figure, by its name and its crawl.
pub(crate) type Values = BTreeMap<(String, Option<String>), i64>;

/// The attributes of something, as text.
pub(crate) type Attributes = BTreeMap<String, String>;

fn attributes(list: &[KeyValue]) -> Attributes {
    list.iter().map(|pair| (pair.key.clone(), text(pair.value.as_ref()))).collect()
}

fn text(value: Option<&AnyValue>) -> String {
    match value.and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        other => panic!("another kind of value: {other:?}"),
    }
}

/// A span.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) span: Span,
    pub(crate) attributes: Attributes,
    pub(crate) sender: Attributes,
}

impl Received {
    /// Returns the spans in it; none if it has figures.
    pub(crate) fn spans(&self) -> Vec<Seen> {
        if self.path != "/v1/traces" {
            return Vec::new();
        }
        let request = ExportTraceServiceRequest::decode(self.body.as_slice()).expect("it is a request");
        let mut seen = Vec::new();
        for resource in request.resource_spans {
            let sender = attributes(&resource.resource.expect("a sender").attributes);
            for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
                seen.push(Seen { attributes: attributes(&span.attributes), span, sender: sender.clone() });
            }
        }
        seen
    }

    /// Returns the figures in it; none if it has spans.
    pub(crate) fn values(&self) -> Values {
        if self.path != "/v1/metrics" {
            return Values::new();
        }
        let request = ExportMetricsServiceRequest::decode(self.body.as_slice()).expect("it is a request");
        let scopes = request.resource_metrics.into_iter().flat_map(|resource| resource.scope_metrics);
        let mut values = Values::new();
        for metric in scopes.flat_map(|scope| scope.metrics) {
            let Some(Data::Gauge(gauge)) = metric.data else { panic!("{} is no gauge", metric.name) };
            for point in gauge.data_points {
                let Some(number_data_point::Value::AsInt(value)) = point.value else {
                    panic!("{} is no whole number", metric.name)
                };
                let crawl = attributes(&point.attributes).remove("crawl");
                let before = values.insert((metric.name.clone(), crawl), value);
                assert_eq!(before, None, "{} comes once", metric.name);
            }
        }
        values
    }
}

/// Returns the names of spans.
pub(crate) fn names(seen: &[Seen]) -> BTreeSet<&str> {
    seen.iter().map(|seen| seen.span.name.as_str()).collect()
}
