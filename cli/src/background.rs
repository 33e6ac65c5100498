//! Work beside a command, which holds the data directory until it has ended.

use std::future::Future;

use tokio::task::JoinHandle;

/// Work that goes on until this is dropped.
pub(crate) struct Background(JoinHandle<()>);

impl Background {
    /// Begins it.
    pub(crate) fn begin(work: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(work))
    }

    /// Ends it, and waits until it holds nothing of the data directory, which can be closed then.
    pub(crate) async fn end(mut self) {
        self.0.abort();
        // It was aborted, so how it ended says nothing.
        let _ = (&mut self.0).await;
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.0.abort();
    }
}
