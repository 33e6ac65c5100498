//! Servers that misbehave, and whole crawls of them: what became of the nasty URL, what it cost, and that nothing else came to harm.

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
mod rate_limits;
mod redirects;
mod robots;
mod support;
mod tls;
mod traps;
