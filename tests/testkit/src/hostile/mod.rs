//! Web servers that misbehave in every way that crawlers meet.
//!
//! They speak raw TCP where an HTTP library would be too polite: for each request a [`HostileSite`]
//! does the steps of its script, byte for byte. [`bombs`] are bodies that grow when decoded,
//! [`Authority`] makes bad certificates, and [`http2`] violates that protocol.

#![expect(clippy::unwrap_used, reason = "a server that cannot be set up fails the test that needs it")]

pub mod bombs;
pub mod http2;
mod messages;
mod server;
mod step;
mod tls;

pub use messages::{brotli, gzip, head, html, links, reply};
pub use server::{Asked, HostileSite};
pub use step::Step;
pub use tls::{Authority, Flaw, Signer, Version};
pub use tokio_rustls::TlsAcceptor;
