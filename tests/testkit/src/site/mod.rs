//! A web server on loopback with a site to crawl, and an exact record of who asked for what and
//! when.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! use dragline_testkit::site::{GeneratedSite, Site};
//!
//! let mut site = Site::builder().generated(GeneratedSite::benchmark(100)).robots("User-agent: *\nAllow: /\n").start().await?;
//! println!("crawl {} now", site.url());
//! site.stop().await;
//! assert!(site.log().is_empty(), "nobody came");
//! # Ok(())
//! # }
//! ```

mod access;
mod answer;
mod builder;
mod content;
mod directory;
mod generated;
mod media_type;
mod mood;
mod serve;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::task::JoinHandle;

pub use access::Access;
pub use builder::{Reply, SiteBuilder};
pub use content::{Content, Page, PathContent};
pub use directory::Directory;
pub use generated::GeneratedSite;
pub use media_type::media_type;
pub use mood::{Mood, Nth};

/// A running site; dropping it stops it.
#[derive(Debug)]
pub struct Site {
    address: SocketAddr,
    shared: Arc<serve::Shared>,
    accepting: JoinHandle<()>,
}

impl Site {
    /// Describes a site to start: empty and fast unless configured otherwise.
    #[must_use]
    pub fn builder() -> SiteBuilder {
        SiteBuilder::default()
    }

    /// Its first page, such as `http://127.0.0.1:34567/`.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.shared.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}/", self.address)
    }

    /// The address it listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The requests so far, by arrival; available after a stop, too.
    #[must_use]
    pub fn log(&self) -> Vec<Access> {
        self.shared.log.snapshot()
    }

    /// Returns when this many requests have come since the start: at once, if they already have.
    pub async fn reached(&self, requests: usize) {
        self.shared.log.reached(requests).await;
    }

    /// Closes the port and all connections. May be repeated.
    pub async fn stop(&mut self) {
        self.accepting.abort();
        // The end of the task closes its connections; a cancelled task is what we want.
        if !self.accepting.is_finished() {
            let _cancelled = (&mut self.accepting).await;
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}
