//! How a fetch ended, in the terms of the crawl log.

use dragline_domain::frontier::{LastCapture, ReadAs};
use dragline_domain::outcome::Outcome;

use dragline_extract::fields::fields_digest;
use dragline_ports::fetcher::{FetchFailure, FetchFailureKind, Fetched, FetchedResponse, Truncation};

/// Returns the outcome of a fetch as far as the crawler can tell, and the detail that a person needs to understand it.
///
/// A parser may find more in the body later: that it is not a page, or calls another URL canonical. `product_token` is the name by which a header
/// may address the crawler.
pub(super) fn outcome_of(
    fetched: &Fetched,
    last: Option<&LastCapture>,
    product_token: &str,
    read_as: ReadAs,
) -> (Outcome, Option<String>) {
    match &fetched.result {
        Err(failure) => (outcome_of_failure(failure), Some(failure.detail.clone())),
        Ok(response) => outcome_of_response(response, last, product_token, read_as),
    }
}

fn outcome_of_failure(failure: &FetchFailure) -> Outcome {
    match failure.kind {
        // `NoRoom` is waited out, and never becomes an outcome.
        FetchFailureKind::NameNotResolved
        | FetchFailureKind::Connect
        | FetchFailureKind::Tls
        | FetchFailureKind::NoRoom => Outcome::ConnectionFailed,
        FetchFailureKind::PrivateAddress => Outcome::BlockedPrivateAddress,
        FetchFailureKind::Timeout => Outcome::RequestTimeout,
        FetchFailureKind::Protocol => Outcome::DidNotUnderstandAnswer,
    }
}

/// Whether a whole body is the known one, to be read as it was then: under another type, say, it would be another document.
fn is_known(response: &FetchedResponse, last: &LastCapture, product_token: &str, read_as: ReadAs) -> bool {
    let is_read_alike = |read_by| read_by == fields_digest(&response.headers, product_token, read_as);
    last.decoded_sha1 == response.decoded_sha1 && last.read_by.is_none_or(is_read_alike)
}

fn outcome_of_response(
    response: &FetchedResponse,
    last: Option<&LastCapture>,
    product_token: &str,
    read_as: ReadAs,
) -> (Outcome, Option<String>) {
    let status = response.status;
    if has_field(response, "cf-mitigated", b"challenge") {
        return (Outcome::BlockedByChallenge, Some("the answer is a challenge meant for people".to_owned()));
    }
    let outcome = Outcome::of_status(status);
    let detail = (status >= 400).then(|| format!("status {status} {}", response.reason).trim_end().to_owned());
    match outcome {
        Outcome::FileIngested if response.truncated == Some(Truncation::Disconnect) => {
            (Outcome::ErrorReadingResponse, Some("the connection ended before the body did".to_owned()))
        }
        Outcome::FileIngested if last.is_some_and(|last| is_known(response, last, product_token, read_as)) => {
            (Outcome::FileDidNotChange, Some("the same body as last time".to_owned()))
        }
        // After a 304 that we did not ask for we have nothing.
        Outcome::FileDidNotChange if last.is_none() => {
            (Outcome::DidNotUnderstandAnswer, Some("status 304 to an unconditional request".to_owned()))
        }
        Outcome::DidNotUnderstandAnswer => (outcome, Some(format!("status {status}"))),
        _ => (outcome, detail),
    }
}

/// Whether a response has a field with this name and value, ignoring case.
fn has_field(response: &FetchedResponse, name: &str, value: &[u8]) -> bool {
    response.headers.all(name).any(|found| found.trim_ascii().eq_ignore_ascii_case(value))
}

/// Whether the connection stays open for the next request, as far as the response tells.
pub(super) fn keeps_connection(response: &FetchedResponse) -> bool {
    !has_field(response, "connection", b"close") && response.truncated.is_none()
}
