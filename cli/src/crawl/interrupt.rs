//! Wishes of the system that we end: Ctrl-C, and on Unix SIGTERM as service managers send it.

use std::io;

/// Listens for interruptions. From the first one on, they no longer kill the process by themselves.
pub(super) struct Interrupts {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Interrupts {
    /// Begins to listen.
    pub(super) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Comes back with the next interruption.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
impl Interrupts {
    /// Begins to listen.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Comes back with the next interruption.
    pub(super) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
