//! Whole crawls of servers that misbehave: how the nasty URL ended, what it cost, and that nothing
//! else was affected.

#![expect(clippy::unwrap_used, reason = "a test says more by failing than by an error")]

mod addresses;
mod bodies;
mod bombs;
mod charsets;
mod framing;
mod headers;
mod http2;
mod markup;
mod names;
mod patience;
mod rate_limits;
mod redirects;
mod respelled;
mod robots;
mod sitemaps;
mod support;
mod tls;
mod traps;
