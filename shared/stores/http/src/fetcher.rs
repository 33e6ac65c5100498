//! [`HttpFetcher`]: one request from its guard to its last byte.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use dragline_domain::address::{AddressPolicy, check, check_name, literal_address};
use dragline_formats::http_fields::Headers;
use dragline_formats::warc::{FIELDS_MAX, HttpProtocol, REASON_BYTES_MAX};
use dragline_ports::fetcher::{
    AnswerPart, ConnectionWatch, FetchFailure, FetchFailureKind, FetchOutcome, FetchRequest, FetchedResponse, Fetcher,
    UnprocessedReason,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use hyper::ext::ReasonPhrase;
use hyper_util::client::legacy::connect::HttpInfo;
use tokio::time::{Instant, sleep_until};

use crate::access::Access;
use crate::body::{self, BodyRooms, ReceivedBody};
use crate::budget::ByteBudget;
use crate::config::{HttpConfig, HttpConfigError};
use crate::guard::{NameLookup, SystemLookup};
use crate::identity::Signer;
use crate::rate::ByteRate;
use crate::routes::{RouteClients, Routes};
use crate::timing::{self, ATTEMPT, Attempt, Ends, Phase};
use crate::{failure, request};

/// Makes requests over HTTP/1.1 and HTTP/2, with one connection pool for all of them.
///
/// It keeps no cookies but in a request's session, follows no redirects, and sends no
/// referer and no credentials but what the definition's rules for the URL say. It uses a proxy only
/// if a rule or its settings name one, whatever the environment says. It sends nothing twice:
/// if that may help, the answer says so. Its guard decides which addresses it connects to: see
/// [`NameLookup`].
pub struct HttpFetcher {
    routes: Routes,
    access: Access,
    signer: Option<Signer>,
    user_agent: HeaderValue,
    address_policy: AddressPolicy,
    /// Boxed, as futures that run a crawl hold the fetcher.
    rooms: Box<BodyRooms>,
}

impl HttpFetcher {
    /// Returns a fetcher that resolves names as the operating system does.
    ///
    /// # Errors
    /// Returns an [`HttpConfigError`] if the configuration cannot be used.
    pub fn new(config: &HttpConfig) -> Result<Self, HttpConfigError> {
        Self::with_lookup(config, Arc::new(SystemLookup))
    }

    /// Returns a fetcher that resolves names with `lookup`. The addresses are checked in the same
    /// way.
    ///
    /// # Errors
    /// Returns an [`HttpConfigError`] if the configuration cannot be used.
    pub fn with_lookup(config: &HttpConfig, lookup: Arc<dyn NameLookup>) -> Result<Self, HttpConfigError> {
        Self::with_access(config, lookup, Access::default())
    }

    /// Returns a fetcher that sends what these rules say.
    pub(crate) fn with_access(
        config: &HttpConfig,
        lookup: Arc<dyn NameLookup>,
        access: Access,
    ) -> Result<Self, HttpConfigError> {
        let user_agent = HeaderValue::from_str(&config.user_agent)
            .map_err(|_| HttpConfigError::UserAgent(config.user_agent.clone()))?;
        Ok(Self {
            routes: Routes::new(config, lookup)?,
            access,
            signer: None,
            user_agent,
            address_policy: config.address_policy,
            rooms: Box::new(BodyRooms {
                memory: ByteBudget::new(config.in_flight_bytes_max),
                spool: config.spool.clone(),
                arriving: config.arriving.clone(),
                rate: config.rate.clone(),
                body_bytes_per_second: config.body_bytes_per_second,
            }),
        })
    }

    /// Returns the same fetcher, whose requests are signed.
    pub(crate) fn signed_by(self, signer: Option<Signer>) -> Self {
        Self { signer, ..self }
    }

    /// Refuses a URL whose host is a forbidden literal address, or a name that can only be private.
    /// Through a proxy, nothing else is known of where a name leads.
    fn refused_host(&self, request: &FetchRequest) -> Option<FetchFailure> {
        let refused = |error: &(dyn std::error::Error + 'static)| {
            Some(failure::failure_from(FetchFailureKind::PrivateAddress, error))
        };
        match literal_address(&request.url) {
            Some(address) => check(self.address_policy, address).err().and_then(|error| refused(&error)),
            None => check_name(self.address_policy, request.url.host()).err().and_then(|error| refused(&error)),
        }
    }

    /// Returns the client for a request.
    fn client(clients: &RouteClients, request: &FetchRequest, outgoing: &reqwest::Request) -> reqwest::Client {
        let clients = if request::has_stand_in(outgoing) { &clients.stand_ins } else { &clients.hosts };
        clients.client_for(&request.url.origin(), request.connection)
    }

    /// Waits for the response's header, within its time limit.
    async fn head(
        clients: &RouteClients,
        request: &FetchRequest,
        outgoing: reqwest::Request,
        attempt: &Arc<Attempt>,
        times: &Times,
    ) -> Head {
        let mut phases = attempt.watch();
        let client = Self::client(clients, request, &outgoing);
        let mut sending = Box::pin(ATTEMPT.scope(Arc::clone(attempt), client.execute(outgoing)));
        let mut told = ConnectionReport { watch: request.watch.as_deref(), is_connecting: false };
        loop {
            let phase = *phases.borrow_and_update();
            told.enter(phase);
            let header = phase.header_deadline(times.started, times.first_byte_timeout);
            let deadline = header.map_or(times.deadline, |header| header.min(times.deadline));
            tokio::select! {
                biased;
                answer = &mut sending => return answer.map_err(NoHead::Error),
                // `attempt` holds the sender, so this never fails.
                _ = phases.changed() => {}
                () = sleep_until(deadline) => return Err(NoHead::Late),
            }
        }
    }

    /// Returns why the server did not process the request, as far as its answer or the lack of one
    /// tells.
    fn unprocessed(
        clients: &RouteClients,
        request: &FetchRequest,
        head: &Head,
        attempt: &Attempt,
    ) -> Option<UnprocessedReason> {
        let server = request.url.origin();
        let is_used = |ends: Option<Ends>| ends.is_some() && ends != attempt.phase().ends();
        let unprocessed = match head {
            // The answer to a missing request on an idle connection, sent just before this one
            // arrived.
            Ok(response) => (response.status() == StatusCode::REQUEST_TIMEOUT && is_used(response_ends(response)))
                .then_some(UnprocessedReason::ConnectionEnded),
            Err(NoHead::Error(error)) => failure::unprocessed(error, is_used(failure::connection(error))),
            Err(NoHead::Late) => None,
        };
        match (&unprocessed, head) {
            (Some(UnprocessedReason::Http11Required), _) => clients.hosts.remember_http11(&server),
            // The server may offer only HTTP/2 by now.
            (_, Err(NoHead::Error(error))) if failure::is_tls(error) => clients.hosts.forget_http11(&server),
            _ => {}
        }
        unprocessed
    }

    /// Performs the whole exchange, after the guard for literal addresses. Facts learned on the way
    /// are recorded in `known`, however it ends.
    async fn exchange(&self, request: &FetchRequest, times: &Times, known: &mut ExchangeFacts) -> FetchResult {
        let limits = &request.limits;
        let mut outgoing = request::outgoing(request, &self.user_agent)
            .map_err(|error| failure::failure_from(FetchFailureKind::Protocol, &error))?;
        let refused =
            |error: &(dyn std::error::Error + 'static)| failure::failure_from(FetchFailureKind::AccessRefused, error);
        self.access.apply(request, outgoing.headers_mut()).map_err(|error| refused(&error))?;
        if let Some(form) = &request.form {
            let encoded = self.access.encode(form, &request.url).map_err(|error| refused(&error))?;
            request::send_form(&mut outgoing, &form.page, encoded);
        }
        if let Some(signer) = &self.signer {
            signer.sign(&request.url, timing::wall_clock(), outgoing.headers_mut());
        }
        let clients = self.routes.clients(self.access.route(&request.url), &request.url);
        let clients = clients.map_err(|error| refused(&error))?;
        let recorded = request::recorded_headers(&outgoing);
        let attempt = Arc::new(Attempt::new(limits.connect_timeout));
        let head = Self::head(&clients, request, outgoing, &attempt, times).await;
        known.unprocessed = Self::unprocessed(&clients, request, &head, &attempt);
        if attempt.phase().has_connection() {
            known.request_headers = recorded;
        }
        known.remote = match &head {
            // Who answers through a proxy is not known here.
            _ if clients.is_proxied => None,
            Ok(response) => response.remote_addr(),
            Err(NoHead::Error(error)) => failure::connection(error).or(attempt.phase().ends()).map(|ends| ends.peer),
            Err(NoHead::Late) => attempt.phase().ends().map(|ends| ends.peer),
        };
        let response = head.map_err(|none| none.failure(attempt.phase()))?;
        known.first_byte = Some(times.started.elapsed());
        within_header_limit(response.headers(), limits.header_bytes_max)?;
        let status = response.status();
        let headers: Headers =
            response.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        if let Some(session) = &request.session {
            session.keep(&request.url, &headers);
        }
        let reason = reason(&response);
        let protocol = protocol(&response);
        let patience = (times.deadline, limits.total_timeout);
        let received = match request.wanted {
            AnswerPart::All => body::receive(response, &limits.for_body(&headers), &self.rooms, patience).await,
            // Its header may describe a body that does not follow.
            AnswerPart::Header => ReceivedBody::none(),
        };
        let ReceivedBody { body, truncated, decoded, waited } = received;
        known.waited = waited;
        Ok(FetchedResponse {
            status: status.as_u16(),
            reason,
            protocol,
            headers,
            body,
            truncated,
            decoded_sha1: decoded.sha1,
            decoded_bytes: decoded.bytes,
        })
    }
}

impl Fetcher for HttpFetcher {
    async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        if self.rooms.rate.as_ref().is_some_and(ByteRate::is_far_ahead) {
            return FetchOutcome::failed(
                FetchFailureKind::NoRoom,
                "more has come than the rate allows",
                Duration::ZERO,
            );
        }
        let started = timing::now();
        let times = Times {
            started,
            first_byte_timeout: request.limits.first_byte_timeout,
            deadline: timing::deadline(started, request.limits.total_timeout),
        };
        let mut known = ExchangeFacts::default();
        let result = match self.refused_host(&request) {
            Some(refused) => Err(refused),
            None => self.exchange(&request, &times, &mut known).await,
        };
        if result.as_ref().is_err_and(|failure| failure.kind == FetchFailureKind::NoRoom) {
            self.routes.close_idle();
        }
        let ExchangeFacts { request_headers, remote, first_byte, waited, unprocessed } = known;
        // The server's own time: our shortage must not slow anybody down.
        let elapsed = started.elapsed().saturating_sub(waited);
        FetchOutcome { request_headers, remote, first_byte, elapsed, archived_at: None, unprocessed, result }
    }
}

type FetchResult = Result<FetchedResponse, FetchFailure>;

/// The facts reported about a request besides its result.
#[derive(Default)]
struct ExchangeFacts {
    request_headers: Headers,
    remote: Option<SocketAddr>,
    first_byte: Option<Duration>,
    /// How long the body waited for room, or was read more slowly than it came.
    waited: Duration,
    unprocessed: Option<UnprocessedReason>,
}

/// A response's header, or why there is none.
type Head = Result<reqwest::Response, NoHead>;

/// Returns the ends of a response's connection.
fn response_ends(response: &reqwest::Response) -> Option<Ends> {
    response.extensions().get::<HttpInfo>().map(|info| Ends { local: info.local_addr(), peer: info.remote_addr() })
}

/// The time limits of one request.
struct Times {
    started: Instant,
    first_byte_timeout: Duration,
    deadline: Instant,
}

/// The observer's view of a request's connection. Dropping it reports that the connection is open
/// or failed, whether or not that was seen.
struct ConnectionReport<'a> {
    watch: Option<&'a dyn ConnectionWatch>,
    is_connecting: bool,
}

impl ConnectionReport<'_> {
    fn enter(&mut self, phase: Phase) {
        let is_connecting = phase == Phase::Connecting;
        if is_connecting == self.is_connecting {
            return;
        }
        self.is_connecting = is_connecting;
        match self.watch {
            Some(watch) if is_connecting => watch.connecting(),
            Some(watch) => watch.connected(),
            None => {}
        }
    }
}

impl Drop for ConnectionReport<'_> {
    fn drop(&mut self) {
        self.enter(Phase::Open);
    }
}

/// Why there is no response header.
enum NoHead {
    Error(reqwest::Error),
    Late,
}

impl NoHead {
    fn failure(self, phase: Phase) -> FetchFailure {
        let waited_for = match (self, phase) {
            (Self::Error(error), _) => return failure::failure(error),
            (Self::Late, Phase::Connecting) => "no connection",
            (Self::Late, Phase::Open | Phase::Connected { .. }) => "no response header",
        };
        failure::timed_out(&format!("{waited_for} in time"))
    }
}

/// Checks the size of the fields as HTTP/1.1 would write them, whatever the version: the archive
/// limits their number and size.
fn within_header_limit(headers: &HeaderMap, bytes_max: usize) -> Result<(), FetchFailure> {
    if headers.len() > FIELDS_MAX {
        let detail = format!("a response header of {} fields, over the limit of {FIELDS_MAX}", headers.len());
        return Err(FetchFailure { kind: FetchFailureKind::Protocol, detail });
    }
    let separators = ": \r\n".len();
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + separators).sum();
    if bytes <= bytes_max {
        return Ok(());
    }
    let detail = format!("a response header of {bytes} bytes, over the limit of {bytes_max}");
    Err(FetchFailure { kind: FetchFailureKind::Protocol, detail })
}

/// Returns the protocol of the response. Neither HTTP/2 without TLS nor HTTP/3 is ever requested.
fn protocol(response: &reqwest::Response) -> Option<HttpProtocol> {
    match response.version() {
        http::Version::HTTP_10 => Some(HttpProtocol::Http10),
        http::Version::HTTP_11 => Some(HttpProtocol::Http11),
        http::Version::HTTP_2 => Some(HttpProtocol::H2),
        http::Version::HTTP_3 => Some(HttpProtocol::H3),
        _ => None,
    }
}

/// Returns the reason phrase, cut to the archive's limit: it is for people, and no limit on fields
/// counts it.
fn reason(response: &reqwest::Response) -> String {
    match response.extensions().get::<ReasonPhrase>() {
        Some(as_sent) => {
            let mut reason = String::from_utf8_lossy(as_sent.as_bytes()).into_owned();
            reason.truncate(reason.floor_char_boundary(REASON_BYTES_MAX));
            reason
        }
        None => response.status().canonical_reason().unwrap_or_default().to_owned(),
    }
}
