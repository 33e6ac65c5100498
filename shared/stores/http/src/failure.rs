//! Classifies the client's errors.
//!
//! The client wraps its errors several times; the details are somewhere in the chain of sources.

use std::error::Error;
use std::io;

use dragline_domain::no_answer::NoAnswer;
use dragline_domain::shown::one_line;
use dragline_ports::fetcher::{FetchFailure, FetchFailureKind, UnprocessedReason};
use h2::Reason;
use hyper_util::client::legacy;

use crate::guard::{NoConnection, connection_ends};
use crate::timing::Ends;

/// How many links of a chain are examined; real ones have about six.
const CHAIN_MAX: usize = 16;

/// The messages of errors that the client wraps around others.
const WRAPPERS: [&str; 2] = ["error sending request", "client error (Connect)"];

/// The most characters of a detail; some errors quote what the server sent.
const DETAIL_CHARS_MAX: usize = 300;

/// Returns the failure for an error of the client.
pub(crate) fn failure(error: reqwest::Error) -> FetchFailure {
    // The URL is known from the request, and may contain what must not be logged.
    let error = error.without_url();
    failure_from(kind(&error), &error)
}

/// Returns the connection on which the error happened, if the client knows it.
pub(crate) fn connection(error: &reqwest::Error) -> Option<Ends> {
    let client = chain(error).find_map(|link| link.downcast_ref::<legacy::Error>())?;
    client.connect_info().and_then(connection_ends)
}

/// Whether the TLS handshake failed.
pub(crate) fn is_tls(error: &reqwest::Error) -> bool {
    kind(error) == FetchFailureKind::Tls
}

/// Whether the peer closed the connection without a reset or, over TLS, without a closing alert.
pub(crate) fn is_end(error: &reqwest::Error) -> bool {
    chain(error).filter_map(|link| link.downcast_ref()).any(is_unexpected_end)
}

fn is_unexpected_end(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::UnexpectedEof
}

/// Returns why the server did not process a request that got no answer; `None` if it may have, or
/// if the same request would fare no better. `is_used` tells whether its connection had been used
/// before.
pub(crate) fn unprocessed(error: &reqwest::Error, is_used: bool) -> Option<UnprocessedReason> {
    let Some(h2) = http2(error) else {
        return (is_used && kind(error) == FetchFailureKind::Connect).then_some(UnprocessedReason::ConnectionEnded);
    };
    match h2.reason() {
        Some(Reason::HTTP_1_1_REQUIRED) if h2.is_remote() => Some(UnprocessedReason::Http11Required),
        // The response is not allowed over HTTP/2, for instance because of a `connection` field.
        Some(Reason::PROTOCOL_ERROR) if h2.is_library() && h2.is_reset() => Some(UnprocessedReason::Http11Required),
        Some(Reason::ENHANCE_YOUR_CALM) => None,
        Some(Reason::REFUSED_STREAM) if h2.is_remote() => Some(UnprocessedReason::StreamRefused),
        // Only streams beyond the frame's last stream fail because of it.
        _ if h2.is_remote() && h2.is_go_away() => Some(UnprocessedReason::StreamRefused),
        _ if is_used && h2.is_io() => Some(UnprocessedReason::ConnectionEnded),
        _ => None,
    }
}

/// Returns the HTTP/2 error in a chain.
fn http2<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e h2::Error> {
    chain(error).find_map(|link| link.downcast_ref())
}

/// Returns a failure described by an error.
pub(crate) fn failure_from(kind: FetchFailureKind, error: &(dyn Error + 'static)) -> FetchFailure {
    let detail = detail(error);
    FetchFailure { kind, detail: no_answer(kind, error).map_or_else(|| detail.clone(), |why| why.detail(&detail)) }
}

/// Returns the failure for an exceeded time limit.
pub(crate) fn timed_out(what: &str) -> FetchFailure {
    FetchFailure { kind: FetchFailureKind::Timeout, detail: NoAnswer::TimedOut.detail(what) }
}

/// Returns the reason for a missing answer, if people can do something about it.
fn no_answer(kind: FetchFailureKind, error: &(dyn Error + 'static)) -> Option<NoAnswer> {
    let is_refused = || chain(error).filter_map(|link| link.downcast_ref()).any(is_connection_refused);
    let is_of_certificate = || chain(error).filter_map(|link| link.downcast_ref()).any(is_certificate_refused);
    match kind {
        FetchFailureKind::NameNotResolved => Some(NoAnswer::HostNotFound),
        FetchFailureKind::PrivateAddress => Some(NoAnswer::PrivateAddress),
        FetchFailureKind::Timeout => Some(NoAnswer::TimedOut),
        FetchFailureKind::Tls if is_of_certificate() => Some(NoAnswer::CertificateNotTrusted),
        FetchFailureKind::Tls => Some(NoAnswer::NoTls),
        FetchFailureKind::Connect if is_refused() => Some(NoAnswer::ConnectionRefused),
        FetchFailureKind::Connect
        | FetchFailureKind::Protocol
        | FetchFailureKind::Reset
        | FetchFailureKind::TooMany
        | FetchFailureKind::AccessRefused
        | FetchFailureKind::NoRoom => None,
    }
}

fn is_connection_refused(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionRefused
}

fn is_certificate_refused(error: &rustls::Error) -> bool {
    matches!(error, rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented)
}

/// Returns the kind by the outermost specific link: those around it only say that something went
/// wrong.
fn kind(error: &(dyn Error + 'static)) -> FetchFailureKind {
    if chain(error).filter_map(|link| link.downcast_ref()).any(is_out_of_files) {
        return FetchFailureKind::NoRoom;
    }
    chain(error).find_map(link_kind).unwrap_or(FetchFailureKind::Connect)
}

fn link_kind(link: &(dyn Error + 'static)) -> Option<FetchFailureKind> {
    if let Some(refused) = link.downcast_ref::<NoConnection>() {
        return Some(refused.kind());
    }
    if link.is::<rustls::Error>() {
        return Some(FetchFailureKind::Tls);
    }
    if let Some(hyper) = link.downcast_ref::<hyper::Error>() {
        return hyper.is_parse().then_some(FetchFailureKind::Protocol);
    }
    if let Some(h2) = link.downcast_ref::<h2::Error>() {
        return kind_of_http2(h2);
    }
    // The kernel's time-out, not ours.
    let io = link.downcast_ref::<io::Error>()?;
    (io.kind() == io::ErrorKind::TimedOut).then_some(FetchFailureKind::Timeout)
}

fn kind_of_http2(error: &h2::Error) -> Option<FetchFailureKind> {
    match error.reason() {
        Some(Reason::ENHANCE_YOUR_CALM) if error.is_remote() => Some(FetchFailureKind::TooMany),
        _ if error.is_remote() && error.is_reset() => Some(FetchFailureKind::Reset),
        // An error that we found in the server's frames.
        _ if error.is_library() && !error.is_io() => Some(FetchFailureKind::Protocol),
        // The end of a connection.
        _ => None,
    }
}

/// Whether the error is `ENFILE` or `EMFILE`: the machine or this process has the maximum number of
/// files open. `io::ErrorKind` has no name for them.
fn is_out_of_files(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(23 | 24))
}

/// Returns an error and its sources, outermost first.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |link| next(*link)).take(CHAIN_MAX)
}

fn next<'a>(link: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    // An `io::Error` returns the source of the error that it wraps, and so hides that error itself.
    let wrapped = link.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    wrapped.map(|inner| inner as _).or_else(|| link.source())
}

/// Returns the chain as one line that is safe to display.
fn detail(error: &(dyn Error + 'static)) -> String {
    let mut parts: Vec<String> = Vec::new();
    for link in chain(error) {
        let part = link.to_string();
        // Some links repeat the wrapped message, and the client's own say nothing.
        if WRAPPERS.contains(&part.as_str()) && link.source().is_some() {
            continue;
        }
        if !parts.iter().any(|said| said.contains(&part)) {
            parts.push(part);
        }
    }
    one_line(&parts.join(": "), DETAIL_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use FetchFailureKind::{Connect, NameNotResolved, NoRoom, PrivateAddress, Timeout, Tls};
    use dragline_domain::address::{AddressPolicy, check, check_name};

    use super::*;

    /// An error around another, as every library wraps them.
    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Around(&'static str, #[source] Box<dyn Error + Send + Sync>);

    fn around(inner: impl Into<Box<dyn Error + Send + Sync>>) -> Around {
        Around("client error (Connect)", inner.into())
    }

    #[test]
    fn kinds() {
        let io = |kind: io::ErrorKind| io::Error::from(kind);
        let refused = check(AddressPolicy::PublicOnly, [10, 0, 0, 1].into()).unwrap_err();
        let name = check_name(AddressPolicy::PublicOnly, "localhost").unwrap_err();
        let private = NoConnection::PrivateAddresses { host: "a.example".into(), first: refused };
        let lookup = NoConnection::Lookup { host: "a.example".into(), error: io(io::ErrorKind::TimedOut) };
        let tls = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        let cases = [
            (around(private), PrivateAddress, "refused by the guard"),
            (around(NoConnection::from(name)), PrivateAddress, "refused by its name"),
            (around(NoConnection::NoAddress("a.example".into())), NameNotResolved, "no address"),
            (around(io::Error::from_raw_os_error(24)), NoRoom, "EMFILE: our fault, not the server's"),
            (
                around(NoConnection::Lookup { host: "a.example".into(), error: io::Error::from_raw_os_error(23) }),
                NoRoom,
                "ENFILE, met while looking up the name",
            ),
            (around(lookup), NameNotResolved, "not reached: the name server's fault, not the site's"),
            (around(NoConnection::TimedOut(Duration::ZERO)), Timeout, "the connect time-out"),
            (around(io::Error::other(tls.clone())), Tls, "as the TLS stream reports it: inside an I/O error"),
            (around(io::Error::other(io::Error::other(tls))), Tls, "twice inside"),
            (around(io(io::ErrorKind::ConnectionRefused)), Connect, "nobody listens"),
            (around(io(io::ErrorKind::ConnectionReset)), Connect, "the peer hung up"),
            (around(io(io::ErrorKind::TimedOut)), Timeout, "the kernel gave up"),
            (around(h2::Error::from(Reason::PROTOCOL_ERROR)), Connect, "the server ended it"),
            (around("something else"), Connect, "unknown: nothing came, which is all that is known"),
        ];
        for (error, expected, why) in cases {
            assert_eq!(kind(&error), expected, "{why}");
        }
    }

    #[test]
    fn a_detail_begins_with_the_actionable_part() {
        let tls = |error: rustls::Error| around(io::Error::other(error));
        let unknown = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        let lookup = NoConnection::Lookup { host: "a.example".into(), error: io::Error::other("no such name") };
        for (error, expected, why) in [
            (around(lookup), Some(NoAnswer::HostNotFound), "the name server does not know it, or does not answer"),
            (around(NoConnection::NoAddress("a.example".into())), Some(NoAnswer::HostNotFound), "no address"),
            (tls(unknown), Some(NoAnswer::CertificateNotTrusted), "the certificate"),
            (tls(rustls::Error::HandshakeNotComplete), Some(NoAnswer::NoTls), "TLS, but not the certificate"),
            (around(io::Error::from(io::ErrorKind::ConnectionRefused)), Some(NoAnswer::ConnectionRefused), "nobody"),
            (around(io::Error::from(io::ErrorKind::ConnectionReset)), None, "the peer hung up"),
            (around(NoConnection::TimedOut(Duration::ZERO)), Some(NoAnswer::TimedOut), "the connect time-out"),
        ] {
            let failure = failure_from(kind(&error), &error);
            assert_eq!(NoAnswer::from_detail(&failure.detail), expected, "{why}: {}", failure.detail);
        }
    }

    #[test]
    fn details_are_one_safe_line() {
        let quoting = |text: &str| detail(&io::Error::other(text));
        assert_eq!(quoting("a\r\nb\u{1b}[31m"), "a b\\u{1b}[31m", "errors quote what the server sent");
        assert_eq!(quoting(&"x".repeat(1_000)).chars().count(), DETAIL_CHARS_MAX, "however much that is");
    }

    #[test]
    fn a_detail_says_each_thing_once() {
        let inner = io::Error::other(Around("said twice", "said twice".into()));
        assert_eq!(detail(&around(inner)), "said twice");
        assert_eq!(
            detail(&io::Error::other("client error (Connect)")),
            "client error (Connect)",
            "nothing else is known"
        );
    }
}
