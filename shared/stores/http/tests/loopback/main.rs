//! The fetcher against real servers on the loopback interface.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop; clippy knows tests only by their attribute"
)]

mod connections;
mod exchange;
mod guard;
mod limits;
mod rate;
mod session;
mod support;
mod tls;
