//! The `Fetcher` over the simulated servers.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use dragline_domain::time::between;
use dragline_formats::http_fields::Headers;
use dragline_formats::warc::Sha1Digest;
use dragline_ports::clock::Clock;
use dragline_ports::fetcher::{FetchFailure, FetchFailureKind, FetchOutcome, FetchRequest, FetchedResponse, Fetcher};

use jiff::Timestamp;

use super::access::Sent;
use super::servers::{Entry, Moment};
use super::{Answer, Conditions, Response, Servers};

/// Fetches from simulated servers, in this clock's time. Each worker may have its own over the same
/// servers.
#[derive(Clone, Debug)]
pub struct SimulatedWeb<C> {
    servers: Arc<Servers>,
    clock: C,
}

impl<C: Clock> SimulatedWeb<C> {
    /// A fetcher over these servers.
    pub const fn new(servers: Arc<Servers>, clock: C) -> Self {
        Self { servers, clock }
    }
}

impl<C: Clock> Fetcher for SimulatedWeb<C> {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        self.ask(request, self.now()).await.1
    }
}

impl<C: Clock> SimulatedWeb<C> {
    /// The true time, whatever the clock shows.
    pub(crate) fn now(&self) -> Timestamp {
        self.servers.time(self.clock.monotonic())
    }

    fn moment(&self) -> Moment {
        Moment { now: self.now(), shown: self.clock.now() }
    }

    /// A request that is given up before it is sent, as there is no connection in time.
    pub(crate) fn give_up(&self, request: &FetchRequest, way: Duration) -> FetchOutcome {
        self.servers.give_up(&request.url, Sent::from_request(request).sender);
        FetchOutcome::failed(FetchFailureKind::Timeout, "no connection in time", way)
    }

    /// A request whose connection breaks before the answer. It is in the servers' log, as it may
    /// have been read.
    pub(crate) fn refuse(&self, request: &FetchRequest, set_out: Timestamp) -> FetchOutcome {
        let (entry, _, _) = self.servers.begin(&request.url, Sent::from_request(request), set_out, self.moment());
        self.lose(entry, set_out)
    }

    /// An answer that does not arrive. The servers' log has no answer either, as nobody learns what
    /// it was.
    pub(crate) fn lose(&self, entry: Entry, set_out: Timestamp) -> FetchOutcome {
        let (kind, now) = (FetchFailureKind::Connect, self.now());
        self.servers.end(entry, Answer::Nothing(kind), now);
        let request_headers = Headers::from_iter([("host", "")]);
        FetchOutcome { request_headers, ..FetchOutcome::failed(kind, "the connection broke", between(set_out, now)) }
    }

    /// Sends a request and returns its entry in the servers' log. It was on its way to the server
    /// from `set_out` until now.
    pub(crate) async fn ask(&self, request: FetchRequest, set_out: Timestamp) -> (Entry, FetchOutcome) {
        let way = between(set_out, self.now());
        let sent = Sent::from_request(&request);
        let FetchRequest { url, limits, .. } = request;
        let Conditions { if_none_match, if_modified_since } = &sent.conditions;
        let mut request_headers = Headers::from_iter([("host", url.host())]);
        let conditional = [("if-none-match", if_none_match), ("if-modified-since", if_modified_since)];
        for (name, value) in conditional {
            value.iter().for_each(|value| request_headers.push(name, value.as_str()));
        }
        let (entry, think, answer) = self.servers.begin(&url, sent, set_out, self.moment());
        let (elapsed, answer) = match answer.filter(|_| think <= limits.first_byte_timeout) {
            Some(answer) => (think, answer),
            None => (limits.first_byte_timeout, Answer::Nothing(FetchFailureKind::Timeout)),
        };
        self.clock.sleep(elapsed).await;
        self.servers.end(entry, answer.clone(), self.now());
        let has_connected = answer != Answer::Nothing(FetchFailureKind::Connect);
        let unprocessed = match answer {
            Answer::Unprocessed(reason) => Some(reason),
            Answer::Response(_) | Answer::Nothing(_) => None,
        };
        let result = match answer {
            Answer::Response(response) => Ok(fetched_response(response, limits.body_bytes_max)),
            Answer::Nothing(kind) => Err(FetchFailure { kind, detail: format!("{kind:?}, as simulated") }),
            Answer::Unprocessed(reason) => {
                let detail = format!("{reason:?}, as simulated");
                Err(FetchFailure { kind: FetchFailureKind::Connect, detail })
            }
        };
        let fetched = FetchOutcome {
            request_headers: if has_connected { request_headers } else { Headers::default() },
            remote: has_connected.then_some(SocketAddr::from((Ipv4Addr::new(192, 0, 2, 1), url.port()))),
            first_byte: result.is_ok().then_some(way + elapsed),
            elapsed: way + elapsed,
            archived_at: None,
            unprocessed,
            result,
        };
        (entry, fetched)
    }
}

fn fetched_response(response: Response, body_bytes_max: usize) -> FetchedResponse {
    use dragline_ports::fetcher::Truncation;
    let Response { status, fields, mut body, truncated } = response;
    let truncated = if body.len() > body_bytes_max { Some(Truncation::Length) } else { truncated };
    body.truncate(body_bytes_max);
    FetchedResponse {
        status,
        reason: "Simulated".to_owned(),
        protocol: None,
        headers: fields.into_iter().collect(),
        decoded_sha1: *Sha1Digest::compute(&body).as_bytes(),
        decoded_bytes: body.len() as u64,
        body: body.into(),
        truncated,
    }
}
