//! How much one address may ask for.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use dragline_ports::clock::Clock as _;
use dragline_ports::system::SystemClock;

use crate::access::Access;
use crate::problem::Problem;

/// How many addresses are remembered; beyond them, those that have waited longest are forgotten.
const ADDRESSES_MAX: usize = 10_000;

/// Who sent a request: what listens adds this to each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerAddress(pub IpAddr);

/// A stock of permissions that fills up again with time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Allowance {
    /// The most at once.
    burst: f64,
    /// How many come back in a second.
    per_second: f64,
}

/// Requests of any kind.
const REQUESTS: Allowance = Allowance { burst: 2_000.0, per_second: 500.0 };

/// Secrets that are no token's: ten, and then one in six seconds.
const WRONG_SECRETS: Allowance = Allowance { burst: 10.0, per_second: 1.0 / 6.0 };

#[derive(Clone, Copy, Debug)]
struct Stock {
    left: f64,
    /// By the monotonic clock.
    at: Duration,
}

impl Stock {
    /// Returns what is there at a time.
    fn at(self, now: Duration, allowance: Allowance) -> Self {
        let gained = now.saturating_sub(self.at).as_secs_f64() * allowance.per_second;
        Self { left: (self.left + gained).min(allowance.burst), at: now }
    }
}

/// Counts what addresses ask for.
#[derive(Debug, Default)]
pub(crate) struct Limiter {
    clock: SystemClock,
    requests: Mutex<HashMap<IpAddr, Stock>>,
    wrong_secrets: Mutex<HashMap<IpAddr, Stock>>,
}

/// Takes from the stock of an address. Returns how long it must wait, if nothing is left.
fn take(
    stocks: &Mutex<HashMap<IpAddr, Stock>>,
    address: IpAddr,
    allowance: Allowance,
    now: Duration,
    amount: f64,
) -> Option<Duration> {
    let mut stocks = stocks.lock().unwrap_or_else(PoisonError::into_inner);
    if stocks.len() >= ADDRESSES_MAX && !stocks.contains_key(&address) {
        stocks.retain(|_, stock| stock.at(now, allowance).left < allowance.burst);
        if stocks.len() >= ADDRESSES_MAX
            && let Some(oldest) = stocks.iter().min_by_key(|(_, stock)| stock.at).map(|(address, _)| *address)
        {
            stocks.remove(&oldest);
        }
    }
    let full = Stock { left: allowance.burst, at: now };
    let stock = stocks.entry(address).or_insert(full);
    *stock = stock.at(now, allowance);
    if stock.left < 1.0 {
        return Some(Duration::from_secs_f64((1.0 - stock.left) / allowance.per_second));
    }
    stock.left -= amount;
    None
}

impl Limiter {
    /// Counts a request. Returns how long its sender must wait, if it sent too many.
    fn request(&self, address: IpAddr) -> Option<Duration> {
        take(&self.requests, address, REQUESTS, self.clock.monotonic(), 1.0)
    }

    /// Returns how long an address must wait before it may try another secret.
    fn guess(&self, address: IpAddr) -> Option<Duration> {
        take(&self.wrong_secrets, address, WRONG_SECRETS, self.clock.monotonic(), 0.0)
    }

    /// Counts a secret that is no token's.
    fn wrong_secret(&self, address: IpAddr) {
        take(&self.wrong_secrets, address, WRONG_SECRETS, self.clock.monotonic(), 1.0);
    }
}

/// Answers only those who do not ask for too much.
pub(crate) async fn limit(
    State((limiter, access)): State<(Arc<Limiter>, Arc<Access>)>,
    request: Request,
    next: Next,
) -> Response {
    // Calls within the process come from nowhere.
    let Some(PeerAddress(address)) = request.extensions().get::<PeerAddress>().copied() else {
        return next.run(request).await;
    };
    // Behind a proxy all have one address: whoever guesses keeps nobody out whose token is known.
    let guess = if access.takes_hash(request.headers()) { limiter.guess(address) } else { None };
    if let Some(wait) = limiter.request(address).or(guess) {
        let problem =
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "too many requests", "this address asks for too much");
        let mut response = problem.with_hint("wait as long as `Retry-After` says, in seconds").into_response();
        let seconds = HeaderValue::from(wait.as_secs() + 1);
        response.headers_mut().insert(header::RETRY_AFTER, seconds);
        return response;
    }
    let is_secret = request.headers().contains_key(header::AUTHORIZATION);
    let response = next.run(request).await;
    if is_secret && response.status() == StatusCode::UNAUTHORIZED {
        limiter.wrong_secret(address);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stock_is_spent_and_fills_up_again() {
        let stocks = Mutex::default();
        let allowance = Allowance { burst: 2.0, per_second: 0.5 };
        let began = Duration::ZERO;
        let address = |last| IpAddr::from([127, 0, 0, last]);
        let ask = |last, second| take(&stocks, address(last), allowance, began + Duration::from_secs(second), 1.0);
        assert_eq!((ask(1, 0), ask(1, 0)), (None, None), "two at once");
        assert_eq!(ask(1, 0), Some(Duration::from_secs(2)), "no third");
        assert_eq!(ask(2, 0), None, "another address");
        assert_eq!(ask(1, 1), Some(Duration::from_secs(1)), "half of one has come back");
        assert_eq!(ask(1, 2), None, "one has");
        assert_eq!((ask(1, 100), ask(1, 100)), (None, None), "it is full");
        assert!(ask(1, 100).is_some(), "and no fuller");
    }

    #[test]
    fn no_more_addresses_are_remembered_than_there_is_room_for() {
        let stocks = Mutex::default();
        let allowance = Allowance { burst: 1.0, per_second: 1e-9 };
        let began = Duration::ZERO;
        for n in 0..u32::try_from(ADDRESSES_MAX).unwrap() + 10 {
            take(&stocks, IpAddr::from(n.to_be_bytes()), allowance, began + Duration::from_nanos(n.into()), 1.0);
        }
        assert_eq!(stocks.lock().unwrap().len(), ADDRESSES_MAX);
    }
}
