//! Web servers that misbehave in every way that crawlers meet.
//!
//! They speak raw TCP where an HTTP library would be too polite: a [`HostileSite`] does, request by request, the steps that its script
//! says, byte for byte. [`bombs`] are bodies that grow when they are decoded, [`Authority`] makes certificates that are not
//! good, and [`http2`] speaks that protocol to break it.

#![expect(clippy::unwrap_used, reason = "what cannot be set up fails the test that needs it")]

pub mod bombs;
pub mod http2;
mod messages;
mod server;
mod step;
mod tls;

pub use messages::{head, html, links, reply};
pub use server::{Asked, HostileSite};
pub use step::Step;
pub use tls::{Authority, Flaw, Signer, Version};
pub use tokio_rustls::TlsAcceptor;
